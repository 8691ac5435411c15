//! Why a text is no plan: one type for every error, and what it needs to be shown.

use std::fmt;

use serde::Serialize;

use super::action::Span;
use super::kinds::kinds;

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
    /// No heading `Rationale` where it is due.
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
    /// A paragraph where an action is due.
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
    /// Nothing closes a fence.
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
    /// The key is there already.
    DuplicateKey = "duplicate-key",
    /// A required key is not there.
    MissingKey = "missing-key",
    /// A key without a value.
    EmptyValue = "empty-value",
    /// A value is neither a link, nor code, nor bare text.
    MalformedValue = "malformed-value",
    /// A path that is none of the project's, or an address that is none.
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

/// Most errors that are collected in lists of keys; behind as many, the rest of the text is not looked at.
pub(super) const MAX_ERRORS: usize = 100;

/// An action of the refused text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InAction {
    /// 1-based.
    pub number: usize,
    /// As its heading has it.
    pub name: String,
}

/// One thing that is wrong. Its texts are one line each and quote the plan, so they are data of the plan's author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanError {
    /// What is wrong.
    pub kind: ErrorKind,
    /// The action it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Box<InAction>>,
    /// What is due, as a noun.
    pub expected: String,
    /// What is there, as a noun.
    pub found: String,
    /// Which of the plan's top-level blocks it is in, from 0; their number when the plan ends too soon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// Where.
    pub span: Span,
    /// What to do, one sentence or two each.
    pub hints: Vec<String>,
    /// The order of the blocks is wrong here, so nothing behind it was looked at.
    pub structural: bool,
}

impl PlanError {
    /// An error in `span` that leaves the order of the blocks alone.
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

    /// What is wrong in one sentence, without its place.
    pub fn message(&self) -> String {
        let start = match self.action.as_deref() {
            Some(InAction { number, name }) if self.structural => {
                format!("Plan structure is invalid in action {number} ({name}). ")
            }
            None if self.structural => "Plan structure is invalid. ".to_owned(),
            Some(InAction { number, name }) => format!("Action {number} ({name}): "),
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
    /// `line N: ` and the message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.span.start, self.message())
    }
}

/// A top-level block of the refused text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What it is, such as `Heading (Level 2)`.
    pub node: String,
    /// Start of its text on one line; empty when it has none.
    pub preview: String,
    /// Where.
    pub span: Span,
}

impl Row {
    /// What it is and how it starts.
    pub fn title(&self) -> String {
        if self.preview.is_empty() {
            self.node.clone()
        } else {
            format!("{}: \"{}\"", self.node, self.preview)
        }
    }
}

/// A text that is no plan: everything that is known to be wrong, and the blocks it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// At least one; in the order of their lines.
    pub errors: Vec<PlanError>,
    /// All top-level blocks; none when the text was not even read as Markdown.
    pub rows: Vec<Row>,
    /// How many of the rows were looked at; the others may be right or wrong.
    pub checked: usize,
}

impl fmt::Display for Rejected {
    /// The first error.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errors.first() {
            Some(first) => first.fmt(f),
            None => f.write_str("the plan was refused"),
        }
    }
}

impl std::error::Error for Rejected {}
