//! Parses what follows the heading of an action into a typed [`Action`].

use super::action::{
    Action, Chat, Create, Edit, Execute, Invoke, Prune, Read, Replacement, Research, Return, Span,
};
use super::blocks::{Block, BlockKind, preview};
use super::error::{ErrorKind, PlanError};
use super::execute::{self, Problem};
use super::fences;
use super::grammar::{ActionName, ActionSpec, KeyList};
use super::keys::{self, Fields};
use super::parse::{Parser, Stop};

impl<'d, 'a> Parser<'d, 'a> {
    /// Parses everything after the heading of an action. `None` if a required part is invalid and
    /// has been reported.
    pub(super) fn action(
        &mut self,
        spec: &ActionSpec,
        heading: &Block<'a>,
    ) -> Result<Option<Action>, Stop> {
        let mut fields = self.fields(spec)?;
        let description = fields.description.take();
        Ok(match spec.name {
            ActionName::Create => {
                let block = self.fence(spec, "content")?;
                self.check_fence_length(&fields, &[block]);
                fields.path.map(|path| {
                    Action::Create(Create {
                        path,
                        description,
                        content: block.take_code(),
                        content_span: block.span,
                    })
                })
            }
            ActionName::Edit => {
                let edits = self.pairs(&fields)?;
                fields.path.map(|path| {
                    Action::Edit(Edit {
                        path,
                        description,
                        edits,
                    })
                })
            }
            ActionName::Read => fields.resource.map(|resource| {
                Action::Read(Read {
                    resource,
                    description,
                })
            }),
            ActionName::Prune => fields.resource.map(|resource| {
                Action::Prune(Prune {
                    resource,
                    description,
                })
            }),
            ActionName::Execute => {
                let block = self.fence(spec, "command")?;
                self.execute(block, description, fields)
                    .map(Action::Execute)
            }
            ActionName::Research => Some(Action::Research(Research {
                description,
                queries: self.queries(spec)?,
            })),
            ActionName::Chat => Some(Action::Chat(Chat {
                prompt: self.message(spec, heading)?,
            })),
            ActionName::Invoke => {
                let message = self.message(spec, heading)?;
                fields.agent.map(|agent| {
                    Action::Invoke(Invoke {
                        agent,
                        handoff_resources: fields.handoff,
                        message,
                    })
                })
            }
            ActionName::Return => Some(Action::Return(Return {
                message: self.message(spec, heading)?,
                handoff_resources: fields.handoff,
            })),
        })
    }

    /// Takes the only fence of an action.
    fn fence(&mut self, spec: &ActionSpec, content: &str) -> Result<&'d Block<'a>, Stop> {
        let kind = match self.peek()?.map(|block| &block.kind) {
            Some(BlockKind::Fence { .. }) => return self.take(),
            Some(BlockKind::Indented) => ErrorKind::IndentedCode,
            _ => ErrorKind::NoCode,
        };
        let expected = format!("a CodeFence with the {content} of {}", spec.text);
        Err(self.mismatch(kind, expected))
    }

    /// Reports fences of three around the content of a Markdown file, whose examples would end
    /// them.
    fn check_fence_length(&mut self, fields: &Fields, blocks: &[&Block<'a>]) {
        let path = fields.path.as_ref().map_or("", |path| path.as_str());
        let (_, extension) = path.rsplit_once('.').unwrap_or_default();
        let is_markdown = ["md", "markdown", "mdx"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(extension));
        for block in blocks.iter().filter(|_| is_markdown) {
            // If the info string says Markdown, this has been reported already.
            if let BlockKind::Fence {
                mark,
                length: 3,
                markdown: false,
                ..
            } = block.kind
            {
                self.report(fences::too_short(block, mark));
            }
        }
    }

    fn pairs(&mut self, fields: &Fields) -> Result<Vec<Replacement>, Stop> {
        let mut edits = Vec::new();
        loop {
            let kind = match self.next_pair_heading()? {
                PairHeading::Find => None,
                PairHeading::Other if !edits.is_empty() => return Ok(edits),
                PairHeading::Other => Some(ErrorKind::NoPairs),
                PairHeading::Replace | PairHeading::Misspelled => Some(ErrorKind::BadPairHeading),
            };
            if let Some(kind) = kind {
                return Err(self.mismatch(kind, "a Level 4 Heading `FIND:` of EDIT"));
            }
            self.take()?;
            let find = self.pair_code("FIND:")?;
            let kind = match self.next_pair_heading()? {
                PairHeading::Replace => None,
                PairHeading::Misspelled => Some(ErrorKind::BadPairHeading),
                PairHeading::Find | PairHeading::Other => Some(ErrorKind::IncompletePair),
            };
            if let Some(kind) = kind {
                let line = find.span.start;
                let expected =
                    format!("a Level 4 Heading `REPLACE:` for the `FIND:` of line {line}");
                return Err(self.mismatch(kind, expected));
            }
            self.take()?;
            let replace = self.pair_code("REPLACE:")?;
            let pair = Replacement {
                find: find.take_code(),
                replace: replace.take_code(),
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
            self.check_fence_length(fields, &[find, replace]);
            edits.push(pair);
        }
    }

    fn next_pair_heading(&mut self) -> Result<PairHeading, Stop> {
        let next = self.peek()?;
        Ok(next.map_or(PairHeading::Other, |block| PairHeading::of(&block.kind)))
    }

    fn pair_code(&mut self, heading: &str) -> Result<&'d Block<'a>, Stop> {
        if self.peek()?.is_some_and(|block| block.kind.is_code()) {
            return self.take();
        }
        let expected = format!("a CodeFence or BlockCode for `{heading}`");
        Err(self.mismatch(ErrorKind::NoPairCode, expected))
    }

    fn queries(&mut self, spec: &ActionSpec) -> Result<Vec<String>, Stop> {
        let mut queries = Vec::new();
        loop {
            let kind = match self.peek()?.map(|block| &block.kind) {
                Some(BlockKind::Fence { .. }) => {
                    let block = self.take()?;
                    let query = block.take_code();
                    if query.trim().is_empty() {
                        self.report(PlanError::new(
                            ErrorKind::NoQueries,
                            "a query in the code block",
                            "nothing",
                            block.span,
                            "Write the query into the block, or remove the block.",
                        ));
                    }
                    queries.push(query);
                    continue;
                }
                _ if !queries.is_empty() => return Ok(queries),
                Some(BlockKind::Indented) => ErrorKind::IndentedCode,
                _ => ErrorKind::NoQueries,
            };
            let expected = format!("a CodeFence with a query of {}", spec.text);
            return Err(self.mismatch(kind, expected));
        }
    }

    fn message(&mut self, spec: &ActionSpec, heading: &Block<'a>) -> Result<String, Stop> {
        let after_list = self.line > heading.span.end;
        let from = self.line + 1;
        let Some(text) = self.text()? else {
            let what = if spec.list == KeyList::None {
                "prompt"
            } else {
                "message"
            };
            let expected = format!("the {what} of {}", spec.text);
            return Err(self.mismatch(ErrorKind::NoMessage, expected));
        };
        if after_list && text.starts_with([' ', '\t']) {
            let line = from + self.document.blank_lines(from, usize::MAX);
            self.report(PlanError::new(
                ErrorKind::IndentedMessage,
                "text that starts at the beginning of its line after the list",
                format!("\"{}\", indented", preview(text.trim_start())),
                Span::line(line),
                "Remove the white space at its start; indented text belongs to a list.",
            ));
        }
        Ok(text.to_owned())
    }

    fn execute(
        &mut self,
        block: &Block<'a>,
        description: Option<String>,
        fields: Fields,
    ) -> Option<Execute> {
        let span = block.span;
        let header = match execute::split(&block.take_code()) {
            Ok(header) => header,
            Err(bad_lines) => {
                for bad in bad_lines {
                    let line = Span::line(span.start + 1 + bad.line);
                    self.report(shell_error(&bad.text, &bad.problem, line));
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
            self.report(shell_error(
                &format!("cd {second}"),
                &Problem::Duplicate,
                span,
            ));
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
            description,
            expected_outcome: fields.expected_outcome,
            cwd: header.cwd.or(fields.cwd),
            env,
            command_span: span,
        })
    }
}

fn shell_error(text: &str, problem: &Problem, span: Span) -> PlanError {
    let (found, hint) = match problem {
        Problem::Form => (
            String::new(),
            "Write `cd FOLDER` or `export NAME=VALUE` alone on its line, the last word plain or in \
             matching quotes: no `&&`, `;`, `$`, backslash or comment. Or write it after the first \
             other command of the block, where every line is run as it is.",
        ),
        Problem::Path(error) => (format!(": {error}"), error.remedy()),
        Problem::Name => (
            ": not a variable name".to_owned(),
            "Use letters, digits and `_`, no digit first, and no space before the `=`.",
        ),
        Problem::Duplicate => (
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

/// What a block means among the pairs of an `EDIT`.
enum PairHeading {
    Find,
    Replace,
    Misspelled,
    /// Not part of a pair.
    Other,
}

impl PairHeading {
    fn of(kind: &BlockKind) -> Self {
        let BlockKind::Heading {
            level: 4..,
            setext: false,
            text,
            ..
        } = kind
        else {
            return Self::Other;
        };
        // A remark in parentheses may follow: `FIND: (block 1)`.
        let is = |name: &str| {
            text.strip_prefix(name).is_some_and(|rest| {
                let rest = rest.trim();
                rest.is_empty() || rest.starts_with('(') && rest.ends_with(')')
            })
        };
        let starts_with = |word: &str| {
            text.get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        if is("FIND:") {
            Self::Find
        } else if is("REPLACE:") {
            Self::Replace
        } else if starts_with("FIND") || starts_with("REPLACE") {
            Self::Misspelled
        } else {
            Self::Other
        }
    }
}
