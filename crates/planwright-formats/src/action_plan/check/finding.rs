//! One thing that would go wrong, as data.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::action_plan::error::kinds;
use crate::action_plan::{ProjectPath, Span, Step};

kinds! {
    /// What would go wrong. The name for programs is stable.
    FindingKind:
    /// `CREATE` of something that is there.
    TargetExists = "target-exists",
    /// `CREATE` below something that is a file.
    ParentIsFile = "parent-is-file",
    /// What is to be changed, read, handed on or worked in is not there.
    Missing = "missing",
    /// `EDIT` of a folder.
    IsFolder = "is-folder",
    /// A command is to run in a file.
    NotAFolder = "not-a-folder",
    /// `EDIT` of something that is no text.
    NotText = "not-text",
    /// `EDIT` of something that is too large to be loaded.
    TooLarge = "too-large",
    /// It cannot be told what is there.
    Unreadable = "unreadable",
    /// `FIND` with nothing in it.
    EmptyFind = "empty-find",
    /// `REPLACE` is the same as `FIND`.
    SameReplace = "same-replace",
    /// `FIND` is nowhere in the file.
    FindMissing = "find-missing",
    /// `FIND` is in the file several times.
    FindAmbiguous = "find-ambiguous",
    /// Looking for all pairs would take too long.
    TooMuchToSearch = "too-much-to-search",
    /// `EXECUTE` with nothing to run.
    EmptyCommand = "empty-command",
}

impl FindingKind {
    /// A few words for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::TargetExists => "file exists already",
            Self::ParentIsFile => "part of the path is a file",
            Self::Missing => "path does not exist",
            Self::IsFolder => "file is a folder",
            Self::NotAFolder => "folder is a file",
            Self::NotText => "file is no text",
            Self::TooLarge => "file is too large",
            Self::Unreadable => "path cannot be read",
            Self::EmptyFind => "FIND is empty",
            Self::SameReplace => "REPLACE is the same as FIND",
            Self::FindMissing => "FIND is not in the file",
            Self::FindAmbiguous => "FIND is in the file several times",
            Self::TooMuchToSearch => "too much to search",
            Self::EmptyCommand => "no command",
        }
    }
}

/// How alike two texts are, in hundredths: 0 has nothing in common. Never 1.00, since what is equal is no near miss. As
/// JSON: a number such as `0.95`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(u8);

impl Score {
    /// `same` of `all` characters, counted on both sides.
    pub(super) fn of(same: usize, all: usize) -> Self {
        let hundredths = (same * 100 + all / 2).checked_div(all).unwrap_or(0);
        Self(u8::try_from(hundredths).unwrap_or(99).min(99))
    }

    /// From 0 to 99.
    pub fn hundredths(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0.{:02}", self.0)
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 100.0)
    }
}

/// The lines of a file that are most like a `FIND` that is not there. Shown, never used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// How alike.
    pub score: Score,
    /// First line in the file as earlier actions leave it, 1-based.
    pub line: usize,
    /// Last line.
    pub end_line: usize,
    /// Line by line, `- ` for `FIND`, `+ ` for the file, two blanks for both; shortened, no line end at its end.
    pub diff: String,
    /// They are equal but for white space.
    pub only_spaces: bool,
}

/// One thing that would go wrong. Its texts are Markdown of one line each; names from the plan are in code spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Number of the action, 1-based.
    pub action: usize,
    /// Name of the action.
    pub name: &'static str,
    /// Number of the pair within an `EDIT`, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<usize>,
    /// What.
    pub kind: FindingKind,
    /// The path that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<ProjectPath>,
    /// Lines of the plan: the action's heading, or the code block.
    pub span: Span,
    /// What is wrong, without its place, as one sentence.
    pub problem: String,
    /// What to do, one or two sentences each; at least one.
    pub hints: Vec<String>,
    /// Start of the `FIND` that this is about.
    #[serde(skip)]
    pub(super) find: Option<String>,
    /// What is most like a `FIND` that is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_miss: Option<NearMiss>,
}

impl Finding {
    /// About the action as a whole.
    pub(super) fn new(step: &Step, kind: FindingKind, problem: String, hint: &str) -> Self {
        Self {
            action: step.number,
            name: step.action.name(),
            pair: None,
            kind,
            path: None,
            span: Span::line(step.span.start),
            problem,
            hints: vec![hint.to_owned()],
            find: None,
            near_miss: None,
        }
    }

    /// The same about `path`.
    pub(super) fn at(mut self, path: &ProjectPath) -> Self {
        self.path = Some(path.clone());
        self
    }

    /// Action, pair and what is wrong, in one line.
    pub fn message(&self) -> String {
        let pair = match self.pair {
            Some(number) => format!(", pair {number}"),
            None => String::new(),
        };
        format!(
            "Action {} ({}){pair}: {}",
            self.action, self.name, self.problem
        )
    }
}
