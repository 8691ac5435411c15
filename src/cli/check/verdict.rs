//! A file that was checked.

use std::path::{Path, PathBuf};

use crate::adapters::working_copy::WorkingCopy;
use crate::formats::action_plan::check::{Finding, check, required_paths};
use crate::formats::action_plan::{ActionPlan, Rejected, fences, parse};
use crate::formats::plan;

/// A file and what was found out about it.
#[derive(Debug)]
pub(super) struct Checked {
    /// As it was given; `-` for standard input.
    pub(super) file: PathBuf,
    /// The same for people and programs.
    pub(super) name: String,
    pub(super) text: String,
    pub(super) verdict: Verdict,
}

/// What it is.
#[derive(Debug)]
pub(super) enum Verdict {
    /// No plan, and what longer fences would make of it.
    Refused {
        rejected: Rejected,
        mended: Option<String>,
    },
    /// A plan, and what would go wrong, where that was looked at.
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

    /// It has no action plan in it, but could be saved as a plan.
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
