//! Findings for people, and as remarks for check runs.

use std::fmt;

use super::finding::Finding;
use crate::action_plan::diff::{Annotation, MAX_ANNOTATIONS, MAX_ERRORS_SHOWN};
use crate::action_plan::fences;

impl fmt::Display for Finding {
    /// Markdown, no line end at its end: place and problem, the lines in question, what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: {}\n\n{}",
            self.span.start,
            self.message(),
            self.details()
        )
    }
}

/// What follows place and problem of a [`Finding`].
struct Details<'a>(&'a Finding);

impl fmt::Display for Details<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(near) = &self.0.near_miss {
            let (line, end) = (near.line, near.end_line);
            let lines = if line == end {
                format!("line {line}")
            } else {
                format!("lines {line} to {end}")
            };
            write!(
                f,
                "Most like it, with a similarity of {}: {lines} of the file (`-` is `FIND`, `+` is the file):\n\n",
                near.score
            )?;
            block(f, "diff", &near.diff)?;
            f.write_str("\n\n")?;
        } else if let Some(find) = &self.0.find {
            f.write_str("`FIND`:\n\n")?;
            block(f, "text", find)?;
            f.write_str("\n\n")?;
        }
        for (index, hint) in self.0.hints.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}- {hint}")?;
        }
        Ok(())
    }
}

fn block(f: &mut fmt::Formatter<'_>, language: &str, content: &str) -> fmt::Result {
    let fence = fences::around(content);
    write!(f, "{fence}{language}\n{content}\n{fence}")
}

/// The findings as Markdown for people, those behind the first thirty only counted; empty when there are none. No line
/// end at its end.
pub fn text(findings: &[Finding]) -> String {
    let shown = findings
        .iter()
        .take(MAX_ERRORS_SHOWN)
        .map(ToString::to_string);
    let mut parts: Vec<String> = shown.collect();
    match findings.len().saturating_sub(MAX_ERRORS_SHOWN) {
        0 => {}
        1 => parts.push("... and 1 more error".to_owned()),
        more => parts.push(format!("... and {more} more errors")),
    }
    parts.join("\n\n")
}

/// The first findings as remarks for a check run, at most a thousand. Their messages are plain text.
pub fn annotations(findings: &[Finding]) -> Vec<Annotation> {
    let findings = findings.iter().take(MAX_ANNOTATIONS);
    findings.map(Finding::annotation).collect()
}

impl Finding {
    /// Its Markdown without place and problem: the lines in question, what to do.
    pub fn details(&self) -> impl fmt::Display {
        Details(self)
    }

    /// The finding as a remark at its lines; its message is plain text.
    pub fn annotation(&self) -> Annotation {
        let mut message = self.message();
        if let Some(near) = &self.near_miss {
            message.push_str(&format!(
                "\n\nMost like it (similarity {}), from line {} of the file on:\n{}",
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
