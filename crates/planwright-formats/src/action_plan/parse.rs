//! One pass over the top-level blocks: the slots of the grammar, then action after action.
//!
//! What is wrong inside of a list of keys is collected; the first block out of place ends the pass, since nothing behind
//! it can be trusted.

use std::iter::{Enumerate, Peekable};
use std::slice::Iter;

use super::action::{ActionPlan, Header, Span, Step};
use super::blocks::{Document, Kind, Node};
use super::error::{ErrorKind, InAction, MAX_ERRORS, PlanError, Rejected};
use super::grammar::{self, ActionSpec, List, Need, SLOTS};
use super::keys::{self, Fields};
use super::{fences, items};

/// The pass has ended; the reason is among the errors.
pub(super) struct Stop;

/// The stream of blocks and what has been found out.
pub(super) struct Parser<'d, 'a> {
    pub(super) document: &'d Document<'a>,
    stream: Peekable<Enumerate<Iter<'d, Node<'a>>>>,
    pub(super) errors: Vec<PlanError>,
    /// The action that is being read.
    current: Option<(usize, &'d str)>,
    /// What leaves no block before the next one belongs to a text.
    free: bool,
    /// How many blocks have been taken.
    taken: usize,
    /// Last line that has been taken.
    pub(super) line: usize,
}

/// Reads the plan in `document`.
pub(super) fn plan(document: &Document<'_>) -> Result<ActionPlan, Rejected> {
    let mut parser = Parser {
        document,
        stream: document.nodes.iter().enumerate().peekable(),
        errors: Vec::new(),
        current: None,
        free: false,
        taken: 0,
        line: 0,
    };
    match parser.document() {
        Ok(plan) if parser.errors.is_empty() => Ok(plan),
        _ => {
            let mut errors = parser.errors;
            errors.sort_by_key(|error| error.span.start);
            Err(Rejected {
                errors,
                rows: document
                    .nodes
                    .iter()
                    .map(|node| document.row(node))
                    .collect(),
                checked: parser.taken,
            })
        }
    }
}

impl<'d, 'a> Parser<'d, 'a> {
    fn document(&mut self) -> Result<ActionPlan, Stop> {
        let mut filled: [Option<&Node<'a>>; SLOTS.len()] = [None; SLOTS.len()];
        for (at, slot) in SLOTS.iter().enumerate() {
            if slot.need == Need::WithPrevious && filled[at - 1].is_none() {
                continue;
            }
            match self.look()? {
                Some((_, node)) if (slot.accepts)(&node.kind) => filled[at] = Some(self.take()?),
                _ if slot.need == Need::Never => {}
                _ => return Err(self.mismatch(slot.missing, slot.description)),
            }
        }
        let [title, list, _, rationale, _, memos, _] = filled;
        let mut plan = ActionPlan {
            title: title.map_or_else(String::new, |node| self.title(node)),
            header: list.map_or_else(Header::default, |node| self.header(node)),
            rationale: rationale.map_or_else(String::new, Document::code),
            memos: memos.map(Document::code),
            actions: Vec::new(),
        };
        let mut number = 0;
        while let Some((_, node)) = self.look()? {
            number += 1;
            let spec = self.spec(node)?;
            self.take()?;
            if let Kind::Heading { text, .. } = &node.kind {
                self.current = Some((number, text));
            }
            let action = self.action(spec, node)?;
            self.current = None;
            plan.actions.extend(action.map(|action| Step {
                number,
                span: Span::new(node.span.start, self.line),
                action,
            }));
        }
        if number == 0 {
            return Err(self.mismatch(ErrorKind::NoActions, grammar::ACTION_DUE));
        }
        Ok(plan)
    }

    fn title(&mut self, node: &Node<'a>) -> String {
        let Kind::Heading { text, .. } = &node.kind else {
            return String::new();
        };
        if text.is_empty() {
            let error = PlanError::new(
                ErrorKind::EmptyTitle,
                "a title behind the `#`",
                "nothing",
                node.span,
                "Write what the plan does, in one line.",
            );
            self.errors.push(PlanError {
                index: Some(0),
                ..error
            });
        }
        text.clone()
    }

    fn header(&mut self, node: &Node<'a>) -> Header {
        let before = self.errors.len();
        let header = keys::header(self.document, node, &mut self.errors);
        for error in &mut self.errors[before..] {
            error.index = Some(1);
        }
        header
    }

    /// The list of keys of an action, where it has one.
    pub(super) fn fields(&mut self, spec: &ActionSpec) -> Result<Fields, Stop> {
        let node = match self.look()? {
            Some((_, node)) if spec.list != List::None && matches!(node.kind, Kind::List) => node,
            _ if spec.list == List::Required => {
                return Err(self.mismatch(
                    ErrorKind::NoKeys,
                    &format!("a List with the keys of {}", spec.text),
                ));
            }
            _ => return Ok(Fields::default()),
        };
        self.take()?;
        let before = self.errors.len();
        let fields = keys::fields(self.document, spec, node, &mut self.errors);
        self.place(before);
        if self.errors.len() >= MAX_ERRORS {
            return Err(Stop);
        }
        Ok(fields)
    }

    /// Writes the place, the block taken last, into the errors from `before` on.
    fn place(&mut self, before: usize) {
        for error in &mut self.errors[before..] {
            error.index = Some(self.taken.saturating_sub(1));
            error.action = in_action(self.current);
        }
    }

    /// Reports something about the block taken last.
    pub(super) fn report(&mut self, error: PlanError) {
        self.errors.push(error);
        self.place(self.errors.len() - 1);
    }

    /// The next block and its index. Refuses a link definition before it.
    pub(super) fn look(&mut self) -> Result<Option<(usize, &'d Node<'a>)>, Stop> {
        let next = self.stream.peek().copied();
        let gap = match next {
            Some((_, node)) => node.gap,
            None => self.document.tail,
        };
        match gap {
            Some(line) if !self.free => {
                let error = items::definition(self.document, line);
                self.errors.push(PlanError {
                    index: Some(self.taken),
                    structural: true,
                    ..error
                });
                Err(Stop)
            }
            _ => Ok(next),
        }
    }

    /// The next block, taken. Its fence must be sound.
    pub(super) fn take(&mut self) -> Result<&'d Node<'a>, Stop> {
        let Some((index, node)) = self.stream.next() else {
            return Err(Stop);
        };
        self.free = false;
        self.taken = index + 1;
        self.line = node.span.end;
        match fences::trouble(self.document, node, index) {
            Some(error) => {
                let action = in_action(self.current);
                // A short fence says nothing about where blocks end.
                let goes_on = error.kind == ErrorKind::ShortFence;
                self.errors.push(PlanError { action, ..error });
                if goes_on { Ok(node) } else { Err(Stop) }
            }
            None => Ok(node),
        }
    }

    /// Takes everything up to the next action or a heading of level 1 or 2. Gives its text, and whether any block is in
    /// it.
    pub(super) fn text(&mut self) -> Result<(&'a str, bool), Stop> {
        let from = self.line + 1;
        self.free = true;
        let mut any = false;
        while let Some((_, node)) = self.look()? {
            let ends = match &node.kind {
                Kind::Heading { level, .. } => *level < 3 || attempt(&node.kind).is_some(),
                _ => false,
            };
            if ends {
                break;
            }
            self.take()?;
            self.free = true;
            any = true;
        }
        let to = match self.stream.peek() {
            Some((_, node)) => node.span.start,
            None => self.document.last_line + 1,
        };
        let text = self.document.text(from, to);
        if any {
            let blank = from + self.document.blank_from(from, to);
            self.line = blank + text.bytes().filter(|byte| *byte == b'\n').count();
        }
        Ok((text, any))
    }

    /// The action that a heading names.
    fn spec(&mut self, node: &Node<'a>) -> Result<&'static ActionSpec, Stop> {
        let Some(name) = attempt(&node.kind) else {
            let kind = match &node.kind {
                Kind::Heading { .. } => ErrorKind::StrayHeading,
                Kind::Paragraph => ErrorKind::StrayText,
                Kind::Fence { .. } | Kind::Indented => ErrorKind::StrayCode,
                _ => ErrorKind::StrayBlock,
            };
            return Err(self.mismatch(kind, grammar::ACTION_DUE));
        };
        if let Some(spec) = grammar::action(name) {
            return Ok(spec);
        }
        let names = grammar::ACTIONS.iter().map(|spec| spec.text);
        Err(self.mismatch(
            ErrorKind::UnknownAction,
            &format!("one of the actions {}", grammar::listed(names)),
        ))
    }

    /// Something else is due than the next block, or the end: the pass ends.
    pub(super) fn mismatch(&mut self, kind: ErrorKind, expected: &str) -> Stop {
        // Whoever indents a block into a list misses it behind the list.
        let last = self.errors.last();
        if last.is_some_and(|it| {
            it.kind == ErrorKind::BlockInItem && it.action == in_action(self.current)
        }) {
            return Stop;
        }
        let index = self.taken;
        let before = index.checked_sub(1).map(|at| &self.document.nodes[at]);
        let error = match self.document.nodes.get(index) {
            None => PlanError {
                index: Some(index),
                ..PlanError::new(
                    kind,
                    expected,
                    "EOF",
                    Span::line(self.document.last_line),
                    hint(kind, None),
                )
            },
            Some(node) => {
                let kind = match &node.kind {
                    Kind::Heading { setext: true, .. } => ErrorKind::SetextHeading,
                    Kind::Rule => ErrorKind::ThematicBreak,
                    _ => kind,
                };
                let row = self.document.row(node);
                let mut error = PlanError::new(
                    kind,
                    expected,
                    row.title(),
                    node.span,
                    hint(kind, Some(&node.kind)),
                );
                if kind != ErrorKind::ThematicBreak && before.is_some_and(|it| nests(it, node)) {
                    error.hints.push(NESTING.to_owned());
                }
                error.index = Some(index);
                error
            }
        };
        self.errors.push(PlanError {
            action: in_action(self.current),
            structural: true,
            ..error
        });
        Stop
    }
}

fn in_action(current: Option<(usize, &str)>) -> Option<Box<InAction>> {
    current.map(|(number, name)| {
        Box::new(InAction {
            number,
            name: name.to_owned(),
        })
    })
}

/// The hint when a fence may have ended too early.
const NESTING: &str = "If it is meant to be content of the code block above it, that block ended too early: make its outer \
                       fence longer than any fence inside, or of tildes (~~~~~~) where there are none inside.";

/// `node` may be what a fence should have held: it is one itself, or follows one without a blank line.
fn nests(before: &Node<'_>, node: &Node<'_>) -> bool {
    matches!(node.kind, Kind::Fence { .. })
        || matches!(before.kind, Kind::Fence { .. }) && node.span.start == before.span.end + 1
}

/// The text of a heading that is meant to be an action: a level 3 heading that starts with code, names an action, or
/// nearly does.
fn attempt(kind: &Kind) -> Option<&str> {
    let Kind::Heading {
        level: 3,
        setext: false,
        text,
        code,
    } = kind
    else {
        return None;
    };
    let name = text.split(':').next().unwrap_or(text).trim();
    (*code || grammar::action(name).is_some() || grammar::is_nearly_action(name)).then_some(text)
}

fn hint(kind: ErrorKind, found: Option<&Kind>) -> String {
    match kind {
        ErrorKind::NoTitle => "Start the plan with its title, `# …`, and put nothing before it.",
        ErrorKind::NoMetadata => {
            "Put a list with `- **Status:** …`, `- **Plan Type:** …` and `- **Agent:** …` directly below the title."
        }
        ErrorKind::NoRationale => "Put `## Rationale` and one code block behind the list.",
        ErrorKind::NoRationaleCode => "Put the whole rationale into one code block.",
        ErrorKind::NoMemosCode => "Put the memos into one code block, one `[+]` or `[-]` on each line.",
        ErrorKind::NoActionPlan => "Write `## Action Plan` before the actions, and nothing between.",
        ErrorKind::NoActions => "Write at least one action below `## Action Plan`.",
        ErrorKind::SetextHeading => {
            "Write headings with `#`. A line of `---` or `===` below a text makes it a heading."
        }
        ErrorKind::ThematicBreak => "Remove the line; actions need nothing between them.",
        ErrorKind::NoKeys => "Put a list such as `- **Description:** …` directly below the action's heading.",
        ErrorKind::NoCode => "Put a fenced code block directly behind the list.",
        ErrorKind::IndentedCode => "Write it between fences, at the beginning of the lines.",
        ErrorKind::NoPairs => {
            "Write `#### FIND:` and a code block, then `#### REPLACE:` and a code block, once or more."
        }
        ErrorKind::BadPairHeading => {
            "Write the headings as `#### FIND:` and `#### REPLACE:`, in this order, in capitals and with the colon."
        }
        ErrorKind::NoPairCode => "Put a code block directly below the heading.",
        ErrorKind::IncompletePair => "Put `#### REPLACE:` and a code block behind it; an empty block deletes.",
        ErrorKind::NoQueries => "Put every query into a fenced code block of its own.",
        ErrorKind::NoMessage => "Write the text below the heading, or below the list of keys.",
        ErrorKind::UnknownAction => {
            let near = match found {
                Some(Kind::Heading { text, .. }) => grammar::nearest_action(text),
                _ => None,
            };
            return match near {
                Some(name) => format!("Did you mean `{name}`? Nothing else may stand in the heading."),
                None => "Use one of these actions; for a heading in a text, use level 4.".to_owned(),
            };
        }
        ErrorKind::StrayHeading if matches!(found, Some(Kind::Heading { level: 4.., .. })) => {
            "An action's heading has level 3: `### READ`. Otherwise remove it."
        }
        _ => "Remove it, or move it into the action that it belongs to.",
    }
    .to_owned()
}
