//! A problem that a plan would have, as data, for people, and for check runs.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::action_plan::diff::{MAX_ANNOTATIONS, MAX_ERRORS_SHOWN};
use crate::action_plan::error::kinds;
use crate::action_plan::{Annotation, ProjectPath, Span, Step, fences};

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
    /// Returns a short title for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::TargetExists => "file already exists",
            Self::ParentIsFile => "part of the path is a file",
            Self::Missing => "path does not exist",
            Self::IsFolder => "file is a folder",
            Self::NotAFolder => "folder is a file",
            Self::NotText => "file is not text",
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

/// Similarity of two different texts in hundredths, from 0.00 to 0.99. Serialized as a number such
/// as `0.95`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(u8);

impl Score {
    /// Creates a score from the number of characters in common, counted on both sides.
    pub(super) fn new(same: usize, all: usize) -> Self {
        let hundredths = (same * 100 + all / 2).checked_div(all).unwrap_or(0);
        Self(u8::try_from(hundredths).unwrap_or(99).min(99))
    }

    /// Returns the score in hundredths, from 0 to 99.
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

/// The lines of a file that are most similar to a missing `FIND`. They are shown, never replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearMiss {
    /// Similarity of the texts.
    pub score: Score,
    /// First line, 1-based, in the file as earlier actions leave it.
    pub line: usize,
    /// Last line.
    pub end_line: usize,
    /// Comparison by lines: `- ` for `FIND`, `+ ` for the file, two blanks for both. Shortened,
    /// without a line break at its end.
    pub diff: String,
    /// Whether only white space differs.
    pub only_spaces: bool,
}

/// One problem of a plan. Its texts are single lines of Markdown; names from the plan are in code
/// spans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Number of the action, 1-based.
    pub action: usize,
    /// Name of the action.
    pub name: &'static str,
    /// Number of the pair within an `EDIT`, 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<usize>,
    /// Kind of the problem.
    pub kind: FindingKind,
    /// The path concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<ProjectPath>,
    /// Lines of the plan: the heading of the action, or the code block.
    pub span: Span,
    /// The problem as one sentence, without its location.
    pub problem: String,
    /// How to fix it, one or two sentences each; at least one.
    pub hints: Vec<String>,
    /// Start of the `FIND` concerned.
    #[serde(skip)]
    pub(super) find: Option<String>,
    /// The text that is most similar to a missing `FIND`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_miss: Option<NearMiss>,
}

impl Finding {
    /// Creates a finding about an action as a whole.
    pub(super) fn new(
        step: &Step,
        kind: FindingKind,
        problem: impl Into<String>,
        hint: &str,
    ) -> Self {
        Self {
            action: step.number,
            name: step.action.name(),
            pair: None,
            kind,
            path: None,
            span: Span::line(step.span.start),
            problem: problem.into(),
            hints: vec![hint.to_owned()],
            find: None,
            near_miss: None,
        }
    }

    /// Sets the path concerned.
    pub(super) fn at(mut self, path: &ProjectPath) -> Self {
        self.path = Some(path.clone());
        self
    }

    /// Returns action, pair and problem in one line.
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

    /// Returns the Markdown of the finding without location and problem: the lines in question, and
    /// how to fix it.
    pub fn details(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            if let Some(near) = &self.near_miss {
                let lines = match (near.line, near.end_line) {
                    (line, end) if line == end => format!("line {line}"),
                    (line, end) => format!("lines {line} to {end}"),
                };
                write!(
                    f,
                    "Closest match, similarity {}: {lines} of the file (`-` is `FIND`, `+` is the file):\n\n",
                    near.score
                )?;
                write_code(f, "diff", &near.diff)?;
            } else if let Some(find) = &self.find {
                f.write_str("`FIND`:\n\n")?;
                write_code(f, "text", find)?;
            }
            for (index, hint) in self.hints.iter().enumerate() {
                let gap = if index == 0 { "" } else { "\n" };
                write!(f, "{gap}- {hint}")?;
            }
            Ok(())
        })
    }

    /// Returns the finding as an annotation of its lines.
    pub fn annotation(&self) -> Annotation {
        let mut message = self.message();
        if let Some(near) = &self.near_miss {
            message.push_str(&format!(
                "\n\nClosest match (similarity {}), from line {} of the file:\n{}",
                near.score, near.line, near.diff
            ));
        }
        for hint in &self.hints {
            message.push_str("\n\n");
            message.push_str(hint);
        }
        Annotation {
            line: self.span.start,
            end_line: self.span.end,
            title: format!("Action plan: {}", self.kind.title()),
            message,
        }
    }
}

/// Writes a code block and a blank line.
fn write_code(f: &mut fmt::Formatter<'_>, language: &str, content: &str) -> fmt::Result {
    let fence = fences::around(content);
    write!(f, "{fence}{language}\n{content}\n{fence}\n\n")
}

impl fmt::Display for Finding {
    /// Writes Markdown without a line break at its end: location and problem, the lines in
    /// question, and how to fix it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, message) = (self.span.start, self.message());
        write!(f, "line {line}: {message}\n\n{}", self.details())
    }
}

/// Renders findings as Markdown for people, without a line break at its end. Those after the first
/// thirty are only counted.
pub fn render(findings: &[Finding]) -> String {
    let shown = findings.iter().take(MAX_ERRORS_SHOWN);
    let mut parts: Vec<String> = shown.map(ToString::to_string).collect();
    match findings.len().saturating_sub(MAX_ERRORS_SHOWN) {
        0 => {}
        1 => parts.push("... and 1 more error".to_owned()),
        more => parts.push(format!("... and {more} more errors")),
    }
    parts.join("\n\n")
}

/// Returns the first findings as annotations for a check run, at most a thousand.
pub fn annotations(findings: &[Finding]) -> Vec<Annotation> {
    let findings = findings.iter().take(MAX_ANNOTATIONS);
    findings.map(Finding::annotation).collect()
}
