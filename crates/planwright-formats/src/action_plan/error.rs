//! Errors of a text that is not a valid plan.

use std::fmt;

use serde::Serialize;

use super::action::Span;

/// Defines an enum whose variants have a stable name for programs and their doc comment as a
/// description for people.
macro_rules! kinds {
    (
        $(#[doc = $about:literal])+ $type:ident:
        $($(#[doc = $doc:literal])+ $name:ident = $code:literal,)+
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $($(#[doc = $doc])+ $name,)+
        }

        impl $type {
            /// All kinds.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Returns the stable name for programs, in kebab case.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// Returns its description, a sentence for people with code in backticks.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+).trim_start(),)+
                }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(super) use kinds;

kinds! {
    /// What is wrong with the text of a plan. The name for programs is stable.
    ErrorKind:
    /// Longer than a plan may be.
    TooLarge = "too-large",
    /// Nothing but white space.
    Empty = "empty",
    /// A NUL character.
    Nul = "nul",
    /// The first block is not the title.
    NoTitle = "no-title",
    /// The title has no text.
    EmptyTitle = "empty-title",
    /// A heading is written with an underline.
    SetextHeading = "setext-heading",
    /// No list follows the title.
    NoMetadata = "no-metadata",
    /// Heading `Rationale` is missing.
    NoRationale = "no-rationale",
    /// No code block below `Rationale`.
    NoRationaleCode = "no-rationale-code",
    /// No code block below `Memos`.
    NoMemosCode = "no-memos-code",
    /// No heading `Action Plan` where it is due.
    NoActionPlan = "no-action-plan",
    /// Nothing below `Action Plan`.
    NoActions = "no-actions",
    /// An action is not one of the known ones.
    UnknownAction = "unknown-action",
    /// A paragraph where an action is expected.
    StrayText = "stray-text",
    /// A code block where an action is due.
    StrayCode = "stray-code",
    /// `---` and the like.
    ThematicBreak = "thematic-break",
    /// A heading that is no action where an action is due.
    StrayHeading = "stray-heading",
    /// Any other block where an action is due.
    StrayBlock = "stray-block",
    /// `[name]: target`, which is never shown.
    LinkDefinition = "link-definition",
    /// A fence is not closed.
    UnclosedFence = "unclosed-fence",
    /// A line inside of a fence looks like the start of another one.
    FenceLookalike = "fence-lookalike",
    /// Markdown in a fence of three characters.
    ShortFence = "short-fence",
    /// An action has no list of keys.
    NoKeys = "no-keys",
    /// An item of a list has no `Key:`.
    MalformedItem = "malformed-item",
    /// A block inside of an item where only a value may be.
    BlockInItem = "block-in-item",
    /// Text directly below a list, which Markdown takes for a part of its last item.
    LazyLine = "lazy-line",
    /// The action has no such key.
    UnknownKey = "unknown-key",
    /// The key is spelled with other capitals.
    MiscasedKey = "miscased-key",
    /// The key occurs twice.
    DuplicateKey = "duplicate-key",
    /// A required key is missing.
    MissingKey = "missing-key",
    /// A key without a value.
    EmptyValue = "empty-value",
    /// A value is neither a link, nor code, nor bare text.
    MalformedValue = "malformed-value",
    /// An invalid path or address.
    BadPath = "bad-path",
    /// No code block where an action has one.
    NoCode = "no-code",
    /// Indented code where a fence is required.
    IndentedCode = "indented-code",
    /// An `EDIT` without any pair.
    NoPairs = "no-pairs",
    /// A heading that is nearly `FIND:` or `REPLACE:`, or the wrong one of them.
    BadPairHeading = "bad-pair-heading",
    /// `FIND:` or `REPLACE:` without code.
    NoPairCode = "no-pair-code",
    /// `FIND:` without `REPLACE:`.
    IncompletePair = "incomplete-pair",
    /// `FIND:` with nothing in it.
    EmptyFind = "empty-find",
    /// `EXECUTE` with nothing to run.
    EmptyCommand = "empty-command",
    /// A `cd` or `export` at the top of a command that is not in the plain form.
    ShellHeader = "shell-header",
    /// An environment variable with an impossible name, or one that is set twice.
    BadVariable = "bad-variable",
    /// `RESEARCH` without a query.
    NoQueries = "no-queries",
    /// No text where an action is one.
    NoMessage = "no-message",
    /// A text behind a list that does not start at the beginning of its line.
    IndentedMessage = "indented-message",
}

/// Maximum number of errors that are collected in lists of keys. The rest of the text is not
/// parsed.
pub(super) const MAX_ERRORS: usize = 100;

/// The action of the rejected text that an error is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionRef {
    /// Number of the action, 1-based.
    pub number: usize,
    /// Text of its heading.
    pub name: String,
}

/// One error of a plan. Its texts are one line each. They quote the plan, so they are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanError {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// The action that contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Box<ActionRef>>,
    /// What the format requires, as a noun phrase.
    pub expected: String,
    /// What the text has instead, as a noun phrase.
    pub found: String,
    /// Index of the top-level block that contains it, from 0; the number of blocks if the text ends
    /// too early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Lines of the error.
    pub span: Span,
    /// How to fix it, one or two sentences each.
    pub hints: Vec<String>,
    /// Whether a block is out of place. The blocks after it have not been checked.
    pub structural: bool,
}

impl PlanError {
    /// Creates an error that is not structural.
    pub(super) fn new(
        kind: ErrorKind,
        expected: impl Into<String>,
        found: impl Into<String>,
        span: Span,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            action: None,
            expected: expected.into(),
            found: found.into(),
            index: None,
            span,
            hints: vec![hint.into()],
            structural: false,
        }
    }

    /// Returns the error as one sentence, without its line.
    pub fn message(&self) -> String {
        let start = match self.action.as_deref() {
            Some(ActionRef { number, name }) if self.structural => {
                format!("Plan structure is invalid in action {number} ({name}). ")
            }
            None if self.structural => "Plan structure is invalid. ".to_owned(),
            Some(ActionRef { number, name }) => format!("Action {number} ({name}): "),
            None => String::new(),
        };
        let verb = if start.is_empty() || self.structural {
            "Expected"
        } else {
            "expected"
        };
        format!("{start}{verb} {}, but found {}.", self.expected, self.found)
    }
}

impl fmt::Display for PlanError {
    /// Writes `line N: ` and the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.span.start, self.message())
    }
}

/// A top-level block of the rejected text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Type of the block, such as `Heading (Level 2)`.
    pub node: String,
    /// Start of its text on one line; empty if it has none.
    pub preview: String,
    /// Lines of the block.
    pub span: Span,
}

impl Row {
    /// Returns the type of the block and the start of its text.
    pub fn title(&self) -> String {
        if self.preview.is_empty() {
            self.node.clone()
        } else {
            format!("{}: \"{}\"", self.node, self.preview)
        }
    }
}

/// A text that is not a valid plan: all known errors, and its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// At least one error, in the order of their lines.
    pub errors: Vec<PlanError>,
    /// All top-level blocks; none if the text was not parsed as Markdown.
    pub rows: Vec<Row>,
    /// Number of rows that were checked; the others may be right or wrong.
    pub checked: usize,
}

impl fmt::Display for Rejected {
    /// Writes the first error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errors.first() {
            Some(first) => first.fmt(f),
            None => f.write_str("the plan was refused"),
        }
    }
}

impl std::error::Error for Rejected {}
