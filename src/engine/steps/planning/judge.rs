//! Assembly of the plan to save from the planner's files.

use crate::engine::effects::StepError;
use crate::engine::messages::{agent as about_agents, planning as sentences};
use crate::engine::model::agent::Ending;
use crate::engine::model::progress::{Attached, Enriched, Prepared};
use crate::engine::planner::PlanFiles;
use crate::engine::steps::enrich::{notes_on_work, open_questions, work};
use crate::engine::steps::verify::MAX_TITLE;
use crate::engine::steps::{Context, publish};
use crate::formats::markdown::{self, BlockKind};
use crate::formats::plan::gate::{gate_content, gate_title};
use crate::formats::plan::summary::summarise;
use crate::formats::plan::title::title_of;
use crate::formats::text::truncate_chars;

/// Attaches the documents that fit into the remaining comments, and adds a note for each one left
/// out.
fn attach(context: &Context, prepared: &mut Prepared, attached: Vec<Attached>) {
    prepared.attached = attached;
    let most = context.settings.publish.max_parts;
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

/// Returns a draft that did not pass all checks as a plan marked incomplete, so that paid work is
/// not lost.
///
/// # Errors
/// Returns [`StepError::Failed`] if there is no draft that can be saved.
pub(in crate::engine::steps) fn fallback(
    context: &mut Context,
    why: &str,
) -> Result<Prepared, StepError> {
    let draft = work(context).draft.clone().unwrap_or_default();
    let title = title_of(&draft).unwrap_or_default();
    if gate_content(&draft).is_err() || gate_title(&title).is_err() {
        return Err(StepError::Failed(sentences::no_plan_written(why)));
    }
    let why = sentences::incomplete(why);
    Ok(assemble(context, &title, draft, Enriched::Fallback, &[why]))
}

/// Returns the end of the first heading, in bytes; 0 for a text without headings.
fn below_title(document: &str) -> usize {
    let blocks = markdown::blocks(document);
    let title = blocks
        .iter()
        .find(|block| matches!(block.kind, BlockKind::Heading { .. }));
    title.map_or(0, |block| block.span.end)
}

/// Builds the plan to save from the planner's files. `cut_short`: how the turn ended before it was
/// complete; the plan is then marked incomplete.
pub(in crate::engine::steps) fn prepared(
    context: &mut Context,
    files: PlanFiles,
    cut_short: Option<&Ending>,
) -> Prepared {
    let PlanFiles {
        title,
        document,
        attached,
        notes,
    } = files;
    let marks = cut_short.map(|ending| sentences::cut_short(&about_agents::ended(ending).1));
    let enriched = match marks {
        Some(_) => Enriched::Fallback,
        None => Enriched::Yes,
    };
    let mut prepared = assemble(context, &title, document, enriched, marks.as_slice());
    prepared.notes.extend(notes);
    attach(context, &mut prepared, attached);
    prepared
}

fn assemble(
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
        // Readers of the plan do not see the report.
        let at = below_title(&document);
        document.insert_str(at, &format!("\n\n> [!WARNING]\n> {mark}\n"));
    }
    notes.extend(notes_on_work(context));
    if !document.ends_with('\n') {
        document.push('\n');
    }
    let warnings = open_questions(context, &mut document, &mut notes);
    if let Some(research) = &context.progress.research {
        notes.push(super::super::super::messages::research::used(research));
    }
    let title = truncate_chars(title, MAX_TITLE);
    let summary = summarise(&document);
    let prefix = &context.settings.publish.title_prefix;
    Prepared {
        issue_title: truncate_chars(&format!("{prefix}{title}"), MAX_TITLE),
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
        base: None,
        files: None,
    }
}
