//! The result of checking one file.

use std::path::{Path, PathBuf};

use crate::adapters::working_copy::WorkingCopy;
use crate::formats::action_plan::check::{Finding, check, required_paths};
use crate::formats::action_plan::{ActionPlan, Rejected, fences, parse};
use crate::formats::plan;

/// A file and the result of checking it.
#[derive(Debug)]
pub(super) struct Checked {
    /// The path as given; `-` for standard input.
    pub(super) file: PathBuf,
    /// The path as text.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) verdict: Verdict,
}

/// The result of the check.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The text is not an action plan. `mended` is the text with longer fences, if these make it
    /// one.
    Refused {
        rejected: Rejected,
        mended: Option<String>,
    },
    /// The text is an action plan. `findings` are the problems with the files of the project;
    /// `None` if the files were not checked.
    Plan {
        plan: ActionPlan,
        findings: Option<Vec<Finding>>,
    },
}

impl Checked {
    pub(super) fn new(file: &Path, text: String, root: Option<&WorkingCopy>) -> Self {
        let verdict = match parse(&text) {
            Err(rejected) => Verdict::Refused {
                rejected,
                mended: fences::repair(&text),
            },
            Ok(plan) => Verdict::Plan {
                findings: root.map(|root| check(&plan, &root.load(&required_paths(&plan)))),
                plan,
            },
        };
        Self {
            file: file.to_owned(),
            name: file.display().to_string(),
            text,
            verdict,
        }
    }

    /// Returns whether the text contains no action plan but could be saved as a plan.
    pub(super) fn is_other_plan(&self) -> bool {
        let is_heading = |line: &str| line.starts_with("## ") && line.contains("Action Plan");
        matches!(self.verdict, Verdict::Refused { .. })
            && !self.text.lines().any(is_heading)
            && plan::check::check(&self.text, None).is_accepted()
    }

    pub(super) fn is_good(&self) -> bool {
        match &self.verdict {
            Verdict::Refused { .. } => false,
            Verdict::Plan { findings, .. } => findings.as_ref().is_none_or(Vec::is_empty),
        }
    }
}
