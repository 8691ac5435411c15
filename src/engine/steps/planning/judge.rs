//! What the planner wrote: a plan, or what is wrong with it.

use super::super::super::agent::{Document, Report};
use super::super::super::effects::Stop;
use super::super::super::progress::{Attached, Enriched, Fault, Prepared};
use super::super::super::say::agent as about_agents;
use super::super::super::say::planning as sentences;
use super::super::super::turns;
use super::super::enrich::{Judged, open_questions, said_of_the_work, work};
use super::super::verify::TITLE_MAX;
use super::super::{Context, publish};
use super::{CONTEXT, PLAN, RESEARCH};
use crate::formats::markdown::{self, Kind};
use crate::formats::plan::enriched;
use crate::formats::plan::gate::{gate_content, gate_title};
use crate::formats::plan::summary::summarise;
use crate::formats::plan::title::title_of;
use crate::formats::report;
use crate::formats::text::truncate_chars;

/// What the planner's files come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A plan.
    Plan {
        /// Its title, without `Plan:`.
        title: String,
        /// The document, with its heading.
        document: String,
        /// `context` and `research`, where they say something.
        attached: Vec<Attached>,
        /// What the reader should know.
        notes: Vec<String>,
    },
    /// None.
    Wrong {
        /// The plan as far as it goes.
        draft: Option<String>,
        /// What is wrong with it.
        faults: Vec<Fault>,
    },
}

/// Where a file was found.
struct Found {
    text: String,
    /// Where, if not at its place.
    elsewhere: Option<String>,
}

/// Looks for the plan in what the agent left and in what its output says it wrote; never in what it said.
pub fn look(came: &Report) -> Outcome {
    let Some(plan) = find(came, PLAN) else {
        return Outcome::Wrong {
            draft: None,
            faults: vec![missing(came).into()],
        };
    };
    let mut notes: Vec<String> = Vec::new();
    notes.extend(plan.elsewhere.map(|path| sentences::elsewhere(PLAN, &path)));
    let (document, pictures) = enriched::neutralise(report::unwrap_document(&plan.text));
    let mut faults: Vec<Fault> = report::check_plan(&document)
        .iter()
        .map(Fault::from)
        .collect();
    let title = title_of(&document).unwrap_or_default();
    // A missing heading is a complaint of its own.
    if !title.is_empty()
        && let Err(fault) = gate_title(&title)
    {
        faults.push(sentences::title(&fault.to_string()).into());
    }
    if faults.is_empty() && gate_content(&document).is_err() {
        faults.push(sentences::TOO_SHORT.to_owned().into());
    }
    if !faults.is_empty() {
        return Outcome::Wrong {
            draft: Some(document),
            faults,
        };
    }
    let mut attached = Vec::new();
    let mut all_pictures = pictures;
    for (file, name) in [(CONTEXT, "context"), (RESEARCH, "research")] {
        let Some(found) = find(came, file) else {
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
    Outcome::Plan {
        title,
        document,
        attached,
        notes,
    }
}

/// A file at its place, else one of its name elsewhere, else what the output says was written under that name.
fn find(came: &Report, name: &str) -> Option<Found> {
    if let Some(own) = came.files.iter().find(|file| file.path == name) {
        return Some(Found {
            text: own.text.clone(),
            elsewhere: None,
        });
    }
    let named = |path: &str| path.rsplit(['/', '\\']).next() == Some(name);
    let other = came.files.iter().find(|file| named(&file.path));
    if let Some(Document { path, text }) = other {
        return Some(Found {
            text: text.clone(),
            elsewhere: Some(path.clone()),
        });
    }
    let mut wrote = came.wrote.iter().rev();
    let wrote = wrote.find(|one| one.ok == Some(true) && named(&one.path))?;
    Some(Found {
        text: wrote.text.clone(),
        elsewhere: Some(wrote.path.clone()),
    })
}

/// Why there is no plan, as far as what happened tells.
fn missing(came: &Report) -> String {
    match came.wrote.last() {
        Some(wrote) if wrote.ok == Some(false) => sentences::write_failed(&wrote.path),
        Some(wrote) => sentences::wrote_another(&wrote.path),
        None => sentences::NOT_WRITTEN.to_owned(),
    }
}

/// Whether the planner wrote its plan, whatever it said.
pub(in crate::engine::steps) fn wrote(context: &Context, came: &Report) -> bool {
    let brief = context
        .progress
        .work
        .as_ref()
        .and_then(|work| work.brief.as_ref());
    brief.is_some() && holds_plan(came)
}

/// There is a `plan.md`, whatever it is worth.
pub fn holds_plan(came: &Report) -> bool {
    find(came, PLAN).is_some()
}

/// Keeps the planner's own files for its next turn, where they come from an agent that does not obey the data.
pub(in crate::engine::steps) fn keep(context: &mut Context, came: &Report) {
    let work = work(context);
    if work.brief.is_some() && !turns::obeyed(&work.canary, came, &[]) {
        turns::keep(work, came);
    }
}

/// The plan of a turn that did not end well: what was written is paid for, and marked.
pub(in crate::engine::steps) fn rescued(context: &mut Context, came: &Report) -> Option<Prepared> {
    let work = work(context);
    if work.brief.is_none() || turns::obeyed(&work.canary, came, &[]) {
        return None;
    }
    let Outcome::Plan {
        title,
        document,
        attached,
        notes,
    } = look(came)
    else {
        return None;
    };
    let why = about_agents::ended(&came.ending).1;
    let why = sentences::cut_short(&why);
    let mut prepared = prepared(context, &title, document, Enriched::Fallback, &[why]);
    prepared.notes.extend(notes);
    attach(context, &mut prepared, attached);
    Some(prepared)
}

/// Puts the documents beside the plan into as many comments as are left for them; says which have no room.
fn attach(context: &Context, prepared: &mut Prepared, attached: Vec<Attached>) {
    prepared.attached = attached;
    let most = context.settings.most_parts;
    let form = context.settings.erk.plan_form();
    let plan = publish::comments(&prepared.document, form).len();
    while plan + publish::attachments(prepared).len() > most {
        let Some(left_out) = prepared.attached.pop() else {
            return;
        };
        prepared
            .notes
            .push(sentences::no_room(&left_out.name, most));
    }
}

/// Takes in what the planner wrote.
pub(in crate::engine::steps) fn judge(context: &mut Context, came: &Report) -> Judged {
    match look(came) {
        Outcome::Wrong { draft, faults } => Judged::Wrong { draft, faults },
        Outcome::Plan {
            title,
            document,
            attached,
            notes,
        } => {
            let mut prepared = prepared(context, &title, document, Enriched::Yes, &[]);
            prepared.notes.extend(notes);
            attach(context, &mut prepared, attached);
            Judged::Done(Box::new(prepared))
        }
    }
}

/// The plan that did not pass all checks, where it is one at all: nothing that was paid for is lost, and it is marked.
///
/// # Errors
/// [`Stop::Failed`] where there is none.
pub(in crate::engine::steps) fn fallback(
    context: &mut Context,
    why: &str,
) -> Result<Prepared, Stop> {
    let draft = work(context).draft.clone().unwrap_or_default();
    let title = title_of(&draft).unwrap_or_default();
    if gate_content(&draft).is_err() || gate_title(&title).is_err() {
        return Err(Stop::Failed(sentences::no_plan_written(why)));
    }
    let why = sentences::incomplete(why);
    Ok(prepared(context, &title, draft, Enriched::Fallback, &[why]))
}

/// Where the first heading ends; the start of a text without one.
fn below_title(document: &str) -> usize {
    let blocks = markdown::blocks(document);
    let title = blocks
        .iter()
        .find(|block| matches!(block.kind, Kind::Heading { .. }));
    title.map_or(0, |block| block.span.end)
}

fn prepared(
    context: &mut Context,
    title: &str,
    mut document: String,
    enriched: Enriched,
    marks: &[String],
) -> Prepared {
    let brief = work(context).brief.clone().unwrap_or_default();
    let mut notes = marks.to_vec();
    notes.extend(brief.notes.iter().cloned());
    for mark in marks {
        // Who reads the plan does not see the report.
        let at = below_title(&document);
        document.insert_str(at, &format!("\n\n> [!WARNING]\n> {mark}\n"));
    }
    notes.extend(said_of_the_work(context));
    if !document.ends_with('\n') {
        document.push('\n');
    }
    let warnings = open_questions(context, &mut document, &mut notes);
    if let Some(research) = &context.progress.research {
        notes.push(super::super::super::say::research::used(research));
    }
    let title = truncate_chars(title, TITLE_MAX);
    let summary = summarise(&document);
    let prefix = &context.settings.title_prefix;
    Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), TITLE_MAX),
        title,
        document,
        found: about_agents::PLANNED.to_owned(),
        sentence: summary.sentence,
        steps: summary.steps,
        notes,
        source_title: brief.title,
        log: None,
        enriched,
        warnings,
        attached: Vec::new(),
        hidden: None,
        replaces: None,
    }
}
