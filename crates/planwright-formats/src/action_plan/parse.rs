//! Parses the top-level blocks in one pass: the slots of the grammar, then the actions.
//!
//! Errors inside a list of keys are collected. The first block out of place ends the pass, because
//! nothing after it can be trusted.

use super::action::{ActionPlan, Header, Span, Step};
use super::blocks::{Block, BlockKind, Document};
use super::error::{ActionRef, ErrorKind, MAX_ERRORS, PlanError, Rejected};
use super::grammar::{self, ActionSpec, KeyList, Presence, SLOTS};
use super::keys::{self, Fields};
use super::{fences, items};

/// Ends the pass; the reason is among the errors.
pub(super) struct Stop;

/// The position in the blocks of a plan, and the errors so far.
pub(super) struct Parser<'d, 'a> {
    pub(super) document: &'d Document<'a>,
    pub(super) errors: Vec<PlanError>,
    /// Number and name of the current action.
    current: Option<(usize, &'d str)>,
    /// Whether free text is being parsed, which may contain link definitions.
    in_text: bool,
    /// Number of blocks that have been taken; index of the next one.
    taken: usize,
    /// Last line that has been taken.
    pub(super) line: usize,
}

/// Parses the plan in `document`.
pub(super) fn plan(document: &Document<'_>) -> Result<ActionPlan, Rejected> {
    let mut parser = Parser {
        document,
        errors: Vec::new(),
        current: None,
        in_text: false,
        taken: 0,
        line: 0,
    };
    match parser.plan() {
        Ok(plan) if parser.errors.is_empty() => Ok(plan),
        _ => {
            let mut errors = parser.errors;
            errors.sort_by_key(|error| error.span.start);
            let blocks = document.blocks.iter();
            Err(Rejected {
                errors,
                rows: blocks.map(|block| document.row(block)).collect(),
                checked: parser.taken,
            })
        }
    }
}

impl<'d, 'a> Parser<'d, 'a> {
    fn plan(&mut self) -> Result<ActionPlan, Stop> {
        let mut filled: [Option<&Block<'a>>; SLOTS.len()] = [None; SLOTS.len()];
        for (at, slot) in SLOTS.iter().enumerate() {
            if slot.presence == Presence::WithPrevious && filled[at - 1].is_none() {
                continue;
            }
            match self.peek()? {
                Some(block) if (slot.accepts)(&block.kind) => filled[at] = Some(self.take()?),
                _ if slot.presence == Presence::Optional => {}
                _ => return Err(self.mismatch(slot.missing, slot.description)),
            }
        }
        let [title, list, _, rationale, _, memos, _] = filled;
        let mut plan = ActionPlan {
            title: title.map_or_else(String::new, |block| self.title(block)),
            header: list.map_or_else(Header::default, |block| self.header(block)),
            rationale: rationale.map_or_else(String::new, Block::take_code),
            memos: memos.map(Block::take_code),
            actions: Vec::new(),
        };
        let mut number = 0;
        while let Some(heading) = self.peek()? {
            number += 1;
            let (spec, text) = self.action_spec(heading)?;
            self.take()?;
            self.current = Some((number, text));
            let action = self.action(spec, heading)?;
            self.current = None;
            plan.actions.extend(action.map(|action| Step {
                number,
                span: Span::new(heading.span.start, self.line),
                action,
            }));
        }
        if number == 0 {
            return Err(self.mismatch(ErrorKind::NoActions, grammar::ACTION_DUE));
        }
        Ok(plan)
    }

    fn title(&mut self, block: &Block<'a>) -> String {
        let BlockKind::Heading { text, .. } = &block.kind else {
            return String::new();
        };
        if text.is_empty() {
            let error = PlanError::new(
                ErrorKind::EmptyTitle,
                "a title after the `#`",
                "nothing",
                block.span,
                "Write what the plan does, in one line.",
            );
            let index = Some(0);
            self.errors.push(PlanError { index, ..error });
        }
        text.clone()
    }

    fn header(&mut self, block: &Block<'a>) -> Header {
        let before = self.errors.len();
        let header = keys::header(self.document, block, &mut self.errors);
        for error in &mut self.errors[before..] {
            error.index = Some(1);
        }
        header
    }

    /// Parses the list of keys of an action, if it has one.
    pub(super) fn fields(&mut self, spec: &ActionSpec) -> Result<Fields, Stop> {
        let list = self.peek()?.filter(|block| block.kind == BlockKind::List);
        if list.is_none() && spec.list == KeyList::Required {
            let expected = format!("a List with the keys of {}", spec.text);
            return Err(self.mismatch(ErrorKind::NoKeys, expected));
        }
        let Some(list) = list.filter(|_| spec.list != KeyList::None) else {
            return Ok(Fields::default());
        };
        self.take()?;
        let before = self.errors.len();
        let fields = keys::fields(self.document, spec, list, &mut self.errors);
        self.locate_errors(before);
        if self.errors.len() >= MAX_ERRORS {
            return Err(Stop);
        }
        Ok(fields)
    }

    /// Sets the location of the errors from `before` on to the block that was taken last.
    fn locate_errors(&mut self, before: usize) {
        let action = self.action_ref();
        for error in &mut self.errors[before..] {
            error.index = Some(self.taken.saturating_sub(1));
            error.action.clone_from(&action);
        }
    }

    /// Reports an error in the block that was taken last.
    pub(super) fn report(&mut self, error: PlanError) {
        self.errors.push(error);
        self.locate_errors(self.errors.len() - 1);
    }

    /// Reports an error in the order of the blocks, at the next block.
    fn report_structural(&mut self, error: PlanError) -> Stop {
        self.errors.push(PlanError {
            index: Some(self.taken),
            structural: true,
            ..error
        });
        Stop
    }

    fn action_ref(&self) -> Option<Box<ActionRef>> {
        let (number, name) = self.current?;
        let name = name.to_owned();
        Some(Box::new(ActionRef { number, name }))
    }

    /// Returns the next block. Rejects a link definition before it.
    pub(super) fn peek(&mut self) -> Result<Option<&'d Block<'a>>, Stop> {
        let next = self.document.blocks.get(self.taken);
        let gap = next.map_or(self.document.tail, |block| block.gap);
        match gap {
            Some(line) if !self.in_text => {
                Err(self.report_structural(items::definition(self.document, line)))
            }
            _ => Ok(next),
        }
    }

    /// Takes the next block and checks its fence.
    pub(super) fn take(&mut self) -> Result<&'d Block<'a>, Stop> {
        let block = self.document.blocks.get(self.taken).ok_or(Stop)?;
        self.in_text = false;
        self.taken += 1;
        self.line = block.span.end;
        if let Some(error) = fences::find_problem(self.document, block) {
            // A short fence does not affect where blocks end.
            let recoverable = error.kind == ErrorKind::ShortFence;
            self.report(error);
            if !recoverable {
                return Err(Stop);
            }
        }
        Ok(block)
    }

    /// Takes everything up to the next action or a heading of level 1 or 2, and returns its text;
    /// `None` if there is no block.
    pub(super) fn text(&mut self) -> Result<Option<&'a str>, Stop> {
        let from = self.line + 1;
        let first = self.taken;
        self.in_text = true;
        while let Some(block) = self.peek()? {
            if let BlockKind::Heading { level, .. } = block.kind
                && (level < 3 || action_heading(&block.kind).is_some())
            {
                break;
            }
            self.take()?;
            self.in_text = true;
        }
        if self.taken == first {
            return Ok(None);
        }
        let next = self.document.blocks.get(self.taken);
        let to = next.map_or(self.document.last_line + 1, |block| block.span.start);
        let text = self.document.text(from, to);
        let start = from + self.document.blank_lines(from, to);
        self.line = start + text.bytes().filter(|byte| *byte == b'\n').count();
        Ok(Some(text))
    }

    /// Returns the action that a heading names, and the text of the heading.
    fn action_spec(
        &mut self,
        block: &'d Block<'a>,
    ) -> Result<(&'static ActionSpec, &'d str), Stop> {
        let Some(name) = action_heading(&block.kind) else {
            let kind = match &block.kind {
                BlockKind::Heading { .. } => ErrorKind::StrayHeading,
                BlockKind::Paragraph => ErrorKind::StrayText,
                kind if kind.is_code() => ErrorKind::StrayCode,
                _ => ErrorKind::StrayBlock,
            };
            return Err(self.mismatch(kind, grammar::ACTION_DUE));
        };
        if let Some(spec) = grammar::action(name) {
            return Ok((spec, name));
        }
        let names = grammar::listed(grammar::ACTIONS.iter().map(|spec| spec.text));
        let expected = format!("one of the actions {names}");
        Err(self.mismatch(ErrorKind::UnknownAction, expected))
    }

    /// Reports that the next block, or the end, is not what is expected, and ends the pass.
    pub(super) fn mismatch(&mut self, kind: ErrorKind, expected: impl Into<String>) -> Stop {
        let action = self.action_ref();
        // A block that is wrongly indented into a list is reported there, not as missing as well.
        let last = self.errors.last();
        if last.is_some_and(|it| it.kind == ErrorKind::BlockInItem && it.action == action) {
            return Stop;
        }
        let (before, next) = self.document.blocks.split_at(self.taken);
        let next = next.first();
        let kind = match next.map(|block| &block.kind) {
            Some(BlockKind::Heading { setext: true, .. }) => ErrorKind::SetextHeading,
            Some(BlockKind::Rule) => ErrorKind::ThematicBreak,
            _ => kind,
        };
        let (found, span) = match next {
            Some(block) => (self.document.row(block).title(), block.span),
            None => ("EOF".to_owned(), Span::line(self.document.last_line)),
        };
        let hint = hint(kind, next.map(|block| &block.kind));
        let mut error = PlanError::new(kind, expected, found, span, hint);
        error.action = action;
        if let (Some(before), Some(next)) = (before.last(), next)
            && kind != ErrorKind::ThematicBreak
            && may_belong_to_fence(before, next)
        {
            error.hints.push(NESTING.to_owned());
        }
        self.report_structural(error)
    }
}

/// The hint when a fence may have ended too early.
const NESTING: &str = "If it is meant to be content of the code block above it, that block ended too early: make its outer \
                       fence longer than any fence inside, or of tildes (~~~~~~) where there are none inside.";

/// Whether `block` may be content of a fence that ended too early: it is a fence itself, or follows
/// one without a blank line.
fn may_belong_to_fence(before: &Block<'_>, block: &Block<'_>) -> bool {
    let is_fence = |block: &Block<'_>| matches!(block.kind, BlockKind::Fence { .. });
    is_fence(block) || is_fence(before) && block.span.start == before.span.end + 1
}

/// Returns the text of a heading that is meant to be an action: a level 3 heading that starts with
/// code or resembles the name of an action.
fn action_heading(kind: &BlockKind) -> Option<&str> {
    let BlockKind::Heading {
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

/// Returns the hint for a block of kind `found` (`None` at the end) where another one is required.
fn hint(kind: ErrorKind, found: Option<&BlockKind>) -> String {
    match kind {
        ErrorKind::NoTitle => "Start the plan with its title, `# …`, and nothing before it.",
        ErrorKind::NoMetadata => {
            "Put a list with `- **Status:** …`, `- **Plan Type:** …` and `- **Agent:** …` directly below the title."
        }
        ErrorKind::NoRationale => "Put `## Rationale` and one code block after the list.",
        ErrorKind::NoRationaleCode => "Put the whole rationale into one code block.",
        ErrorKind::NoMemosCode => "Put the memos into one code block, one `[+]` or `[-]` on each line.",
        ErrorKind::NoActionPlan => "Write `## Action Plan` before the actions, and nothing between.",
        ErrorKind::NoActions => "Write at least one action below `## Action Plan`.",
        ErrorKind::SetextHeading => {
            "Write headings with `#`. A line of `---` or `===` below a text makes it a heading."
        }
        ErrorKind::ThematicBreak => "Remove the line; actions need nothing between them.",
        ErrorKind::NoKeys => "Put a list such as `- **Description:** …` directly below the action's heading.",
        ErrorKind::NoCode => "Put a fenced code block directly after the list.",
        ErrorKind::IndentedCode => "Write it between fences, at the beginning of the lines.",
        ErrorKind::NoPairs => {
            "Write `#### FIND:` and a code block, then `#### REPLACE:` and a code block, once or more."
        }
        ErrorKind::BadPairHeading => {
            "Write the headings as `#### FIND:` and `#### REPLACE:`, in this order, in capitals and with the colon."
        }
        ErrorKind::NoPairCode => "Put a code block directly below the heading.",
        ErrorKind::IncompletePair => "Put `#### REPLACE:` and a code block after it; an empty block deletes.",
        ErrorKind::NoQueries => "Put every query into its own fenced code block.",
        ErrorKind::NoMessage => "Write the text below the heading, or below the list of keys.",
        ErrorKind::UnknownAction => {
            let near = match found {
                Some(BlockKind::Heading { text, .. }) => grammar::nearest_action(text),
                _ => None,
            };
            return match near {
                Some(name) => format!("Did you mean `{name}`? The heading must contain nothing else."),
                None => "Use one of these actions; for a heading in a text, use level 4.".to_owned(),
            };
        }
        ErrorKind::StrayHeading if matches!(found, Some(BlockKind::Heading { level: 4.., .. })) => {
            "An action's heading has level 3: `### READ`. Otherwise remove it."
        }
        _ => "Remove it, or move it into the action that it belongs to.",
    }
    .to_owned()
}
