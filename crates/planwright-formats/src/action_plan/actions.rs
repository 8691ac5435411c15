//! What follows the heading of each action, and the typed action that it makes.

use super::action::{
    Action, Chat, Create, Edit, Execute, Invoke, Prune, Read, Replacement, Research, Return, Span,
};
use super::blocks::{Document, Kind, Node, preview};
use super::error::{ErrorKind, PlanError};
use super::execute::{self, Why};
use super::fences;
use super::grammar::{ActionSpec, Body, List, Name};
use super::keys::{self, Fields};
use super::parse::{Parser, Stop};

/// What follows the list of keys.
#[derive(Default)]
struct Content {
    /// Code blocks.
    code: Vec<(String, Span)>,
    edits: Vec<Replacement>,
    text: String,
}

impl<'d, 'a> Parser<'d, 'a> {
    /// Everything behind the heading of an action. `None` when a part that it needs is among the errors.
    pub(super) fn action(
        &mut self,
        spec: &ActionSpec,
        heading: &Node<'a>,
    ) -> Result<Option<Action>, Stop> {
        let fields = self.fields(spec)?;
        let mut content = Content::default();
        match spec.body {
            Body::Nothing => {}
            Body::Fence(what) => {
                let node = self.fence(spec, what)?;
                content.code.push((Document::code(node), node.span));
                self.short(&fields, &[node]);
            }
            Body::Pairs => content.edits = self.pairs(&fields)?,
            Body::Fences => content.code = self.queries(spec)?,
            Body::Text => content.text = self.message(spec, heading)?,
        }
        Ok(self.build(spec.name, fields, content))
    }

    fn build(&mut self, name: Name, fields: Fields, content: Content) -> Option<Action> {
        let Content { code, edits, text } = content;
        let description = fields.description;
        Some(match name {
            Name::Create => {
                let (content, content_span) = code.into_iter().next()?;
                Action::Create(Create {
                    path: fields.path?,
                    description,
                    content,
                    content_span,
                })
            }
            Name::Edit => Action::Edit(Edit {
                path: fields.path?,
                description,
                edits,
            }),
            Name::Read => Action::Read(Read {
                resource: fields.resource?,
                description,
            }),
            Name::Prune => Action::Prune(Prune {
                resource: fields.resource?,
                description,
            }),
            Name::Execute => {
                let (block, span) = code.into_iter().next()?;
                Action::Execute(self.execute(
                    &block,
                    span,
                    Fields {
                        description,
                        ..fields
                    },
                )?)
            }
            Name::Research => Action::Research(Research {
                description,
                queries: code.into_iter().map(|(query, _)| query).collect(),
            }),
            Name::Chat => Action::Chat(Chat { prompt: text }),
            Name::Invoke => Action::Invoke(Invoke {
                agent: fields.agent?,
                handoff_resources: fields.handoff,
                message: text,
            }),
            Name::Return => Action::Return(Return {
                handoff_resources: fields.handoff,
                message: text,
            }),
        })
    }

    /// The one fence of an action.
    fn fence(&mut self, spec: &ActionSpec, what: &str) -> Result<&'d Node<'a>, Stop> {
        let expected = || format!("a CodeFence with the {what} of {}", spec.text);
        match self.look()? {
            Some((_, node)) if matches!(node.kind, Kind::Fence { .. }) => self.take(),
            Some((_, node)) if node.kind == Kind::Indented => {
                Err(self.mismatch(ErrorKind::IndentedCode, &expected()))
            }
            _ => Err(self.mismatch(ErrorKind::NoCode, &expected())),
        }
    }

    /// A file of Markdown needs fences of four, as its examples have three.
    fn short(&mut self, fields: &Fields, nodes: &[&Node<'a>]) {
        let path = fields.path.as_ref().map_or("", |path| path.as_str());
        let (_, ending) = path.rsplit_once('.').unwrap_or_default();
        if !["md", "markdown", "mdx"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(ending))
        {
            return;
        }
        for node in nodes {
            // Where the info string says so, it has been reported.
            if let Kind::Fence {
                mark,
                length: 3,
                markdown: false,
                ..
            } = node.kind
            {
                self.report(fences::short(node, mark, 0));
            }
        }
    }

    fn pairs(&mut self, fields: &Fields) -> Result<Vec<Replacement>, Stop> {
        let mut edits = Vec::new();
        loop {
            match self
                .look()?
                .map_or(Side::Other, |(_, node)| side(&node.kind))
            {
                Side::Find => {}
                Side::Other if edits.is_empty() => {
                    return Err(
                        self.mismatch(ErrorKind::NoPairs, "a Level 4 Heading `FIND:` of EDIT")
                    );
                }
                Side::Other => return Ok(edits),
                Side::Replace | Side::Nearly => {
                    return Err(self.mismatch(
                        ErrorKind::BadPairHeading,
                        "a Level 4 Heading `FIND:` of EDIT",
                    ));
                }
            }
            self.take()?;
            let find = self.pair_code("FIND:")?;
            match self
                .look()?
                .map_or(Side::Other, |(_, node)| side(&node.kind))
            {
                Side::Replace => self.take()?,
                other => {
                    let kind = if other == Side::Nearly {
                        ErrorKind::BadPairHeading
                    } else {
                        ErrorKind::IncompletePair
                    };
                    return Err(self.mismatch(
                        kind,
                        &format!(
                            "a Level 4 Heading `REPLACE:` for the `FIND:` of line {}",
                            find.span.start
                        ),
                    ));
                }
            };
            let replace = self.pair_code("REPLACE:")?;
            let pair = Replacement {
                find: Document::code(find),
                replace: Document::code(replace),
                find_span: find.span,
                replace_span: replace.span,
            };
            if pair.find.is_empty() {
                self.report(PlanError::new(
                    ErrorKind::EmptyFind,
                    "the text to look for in the code block of `FIND:`",
                    "nothing",
                    find.span,
                    "Write the lines that are in the file now. To make a new file, use `CREATE`.",
                ));
            }
            self.short(fields, &[find, replace]);
            edits.push(pair);
        }
    }

    fn pair_code(&mut self, of: &str) -> Result<&'d Node<'a>, Stop> {
        match self.look()? {
            Some((_, node)) if matches!(node.kind, Kind::Fence { .. } | Kind::Indented) => {
                self.take()
            }
            _ => Err(self.mismatch(
                ErrorKind::NoPairCode,
                &format!("a CodeFence or BlockCode for `{of}`"),
            )),
        }
    }

    fn queries(&mut self, spec: &ActionSpec) -> Result<Vec<(String, Span)>, Stop> {
        let mut queries = Vec::new();
        loop {
            match self.look()? {
                Some((_, node)) if matches!(node.kind, Kind::Fence { .. }) => {
                    self.take()?;
                    let query = Document::code(node);
                    if query.trim().is_empty() {
                        self.report(PlanError::new(
                            ErrorKind::NoQueries,
                            "a query in the code block",
                            "nothing",
                            node.span,
                            "Write the query into the block, or remove the block.",
                        ));
                    }
                    queries.push((query, node.span));
                }
                next if queries.is_empty() => {
                    let kind = match next {
                        Some((_, node)) if node.kind == Kind::Indented => ErrorKind::IndentedCode,
                        _ => ErrorKind::NoQueries,
                    };
                    let expected = format!("a CodeFence with a query of {}", spec.text);
                    return Err(self.mismatch(kind, &expected));
                }
                _ => return Ok(queries),
            }
        }
    }

    fn message(&mut self, spec: &ActionSpec, heading: &Node<'a>) -> Result<String, Stop> {
        let after_list = self.line > heading.span.end;
        let from = self.line + 1;
        let (text, any) = self.text()?;
        if !any {
            let what = if spec.list == List::None {
                "prompt"
            } else {
                "message"
            };
            return Err(self.mismatch(
                ErrorKind::NoMessage,
                &format!("the {what} of {}", spec.text),
            ));
        }
        if after_list && text.starts_with([' ', '\t']) {
            let line = from + self.document.blank_from(from, usize::MAX);
            self.report(PlanError::new(
                ErrorKind::IndentedMessage,
                "text that starts at the beginning of its line behind the list",
                format!("\"{}\", indented", preview(text.trim_start())),
                Span::line(line),
                "Remove the white space at its start; indented text belongs to a list.",
            ));
        }
        Ok(text.to_owned())
    }

    fn execute(&mut self, block: &str, span: Span, fields: Fields) -> Option<Execute> {
        let header = match execute::split(block) {
            Ok(header) => header,
            Err(bad) => {
                for bad in bad {
                    let line = Span::line(span.start + 1 + bad.line);
                    self.report(shell_error(&bad.text, &bad.why, line));
                }
                return None;
            }
        };
        if header.command.is_empty() {
            self.report(PlanError::new(
                ErrorKind::EmptyCommand,
                "a command in the code block of EXECUTE",
                "nothing to run",
                span,
                "Write the command into the block; `cd` and `export` at its top only say where and with what it runs.",
            ));
        }
        if let (Some(_), Some(second)) = (&fields.cwd, &header.cwd) {
            self.report(shell_error(&format!("cd {second}"), &Why::Twice, span));
        }
        let mut env = fields.env;
        for (name, value) in header.env {
            if env.iter().any(|(known, _)| *known == name) {
                self.report(keys::bad_variable(&name, "which is set already", span));
            } else {
                env.push((name, value));
            }
        }
        Some(Execute {
            command: header.command,
            description: fields.description,
            expected_outcome: fields.expected_outcome,
            cwd: header.cwd.or(fields.cwd),
            env,
            command_span: span,
        })
    }
}

fn shell_error(text: &str, why: &Why, span: Span) -> PlanError {
    let (found, hint) = match why {
        Why::Form => (
            String::new(),
            "Write `cd FOLDER` or `export NAME=VALUE` alone on its line, the last word plain or in matching quotes: no \
             `&&`, `;`, `$`, backslash or comment. Or write it behind the first other command of the block, where \
             nothing is read but run.",
        ),
        Why::Path(error) => (format!(": {error}"), error.remedy()),
        Why::Name => (
            ": no name of a variable".to_owned(),
            "Use letters, digits and `_`, no digit first, and no blank before the `=`.",
        ),
        Why::Twice => (
            ", which is set already".to_owned(),
            "Set the folder and every variable once, in the list or at the top of the command.",
        ),
    };
    PlanError::new(
        ErrorKind::ShellHeader,
        "plain `cd` and `export` lines at the top of the command",
        format!("\"{}\"{found}", preview(text)),
        span,
        hint,
    )
}

/// What a heading is to an `EDIT`.
#[derive(PartialEq, Eq)]
enum Side {
    Find,
    Replace,
    /// Misspelled.
    Nearly,
    Other,
}

fn side(kind: &Kind) -> Side {
    let Kind::Heading {
        level: 4..,
        setext: false,
        text,
        ..
    } = kind
    else {
        return Side::Other;
    };
    // `FIND: (block 1)`
    let is = |name: &str| {
        text.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with('(') && rest.ends_with(')')
        })
    };
    if is("FIND:") {
        Side::Find
    } else if is("REPLACE:") {
        Side::Replace
    } else if begins(text, "FIND") || begins(text, "REPLACE") {
        Side::Nearly
    } else {
        Side::Other
    }
}

/// `text` begins with `word`, in capitals or not.
fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}
