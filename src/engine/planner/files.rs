//! Finds and checks the plan in the files written by a planner.

use crate::engine::messages::planning as sentences;
use crate::engine::model::agent::{Document, Report};
use crate::engine::model::progress::{Attached, Fault};
use crate::formats::plan::enriched;
use crate::formats::plan::gate::{gate_content, gate_title};
use crate::formats::plan::title::title_of;
use crate::formats::report as formats_report;

/// Name of the file with the plan.
pub const PLAN: &str = "plan.md";

/// Name of the file with the context needed to implement the plan.
pub const CONTEXT: &str = "context.md";

/// Name of the file with the planner's findings.
pub const RESEARCH: &str = "research.md";

/// The files that the planner is asked to write.
pub const FILES: [&str; 3] = [PLAN, CONTEXT, RESEARCH];

/// A plan read from the planner's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFiles {
    /// Title of the plan, without `Plan:`.
    pub title: String,
    /// The document, including its heading.
    pub document: String,
    /// The `context` and `research` documents, if not empty.
    pub attached: Vec<Attached>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// An answer that is not a valid plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The invalid plan, if there is one.
    pub draft: Option<String>,
    /// The problems found.
    pub faults: Vec<Fault>,
}

/// The text of a file, and where it was found.
struct FoundFile {
    text: String,
    /// Path of the file if it differs from the requested one.
    elsewhere: Option<String>,
}

/// Reads the plan from the files that the agent left behind or wrote according to its output, never
/// from its messages.
///
/// # Errors
/// Fails if there is no plan, or if it does not pass the checks.
pub fn read_files(report: &Report) -> Result<PlanFiles, Rejected> {
    let Some(plan) = find(report, PLAN) else {
        return Err(Rejected {
            draft: None,
            faults: vec![missing(report).into()],
        });
    };
    let mut notes: Vec<String> = Vec::new();
    notes.extend(plan.elsewhere.map(|path| sentences::elsewhere(PLAN, &path)));
    let (document, pictures) = enriched::neutralise(formats_report::unwrap_document(&plan.text));
    let mut faults: Vec<Fault> = formats_report::check_plan(&document)
        .iter()
        .map(Fault::from)
        .collect();
    let title = title_of(&document).unwrap_or_default();
    // A missing heading is already reported by `check_plan`.
    if !title.is_empty()
        && let Err(fault) = gate_title(&title)
    {
        faults.push(sentences::title(&fault.to_string()).into());
    }
    if faults.is_empty() && gate_content(&document).is_err() {
        faults.push(sentences::TOO_SHORT.to_owned().into());
    }
    if !faults.is_empty() {
        return Err(Rejected {
            draft: Some(document),
            faults,
        });
    }
    let mut attached = Vec::new();
    let mut all_pictures = pictures;
    for (file, name) in [(CONTEXT, "context"), (RESEARCH, "research")] {
        let Some(found) = find(report, file) else {
            continue;
        };
        let (text, pictures) = enriched::neutralise(&found.text);
        all_pictures += pictures;
        if text.trim().is_empty() {
            continue;
        }
        notes.extend(
            found
                .elsewhere
                .map(|path| sentences::elsewhere(file, &path)),
        );
        attached.push(Attached {
            name: name.to_owned(),
            text,
        });
    }
    notes.extend(sentences::pictures(all_pictures));
    Ok(PlanFiles {
        title,
        document,
        attached,
        notes,
    })
}

/// Returns the file at the requested path, else a file with the same name elsewhere, else the last
/// successful write to that name in the output.
fn find(report: &Report, name: &str) -> Option<FoundFile> {
    if let Some(own) = report.files.iter().find(|file| file.path == name) {
        return Some(FoundFile {
            text: own.text.clone(),
            elsewhere: None,
        });
    }
    let named = |path: &str| path.rsplit(['/', '\\']).next() == Some(name);
    let other = report.files.iter().find(|file| named(&file.path));
    if let Some(Document { path, text }) = other {
        return Some(FoundFile {
            text: text.clone(),
            elsewhere: Some(path.clone()),
        });
    }
    let mut wrote = report.wrote.iter().rev();
    let wrote = wrote.find(|one| one.ok == Some(true) && named(&one.path))?;
    Some(FoundFile {
        text: wrote.text.clone(),
        elsewhere: Some(wrote.path.clone()),
    })
}

/// Returns the reason why there is no plan, as far as known.
fn missing(report: &Report) -> String {
    match report.wrote.last() {
        Some(wrote) if wrote.ok == Some(false) => sentences::write_failed(&wrote.path),
        Some(wrote) => sentences::wrote_another(&wrote.path),
        None => sentences::NOT_WRITTEN.to_owned(),
    }
}

/// Whether there is a `plan.md`, valid or not.
pub(super) fn holds_plan(report: &Report) -> bool {
    find(report, PLAN).is_some()
}
