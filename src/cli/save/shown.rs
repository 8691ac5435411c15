//! Formats the output of `planwright save`.

use serde_json::json;

use super::terminal;
use crate::adapters::claude_home::FoundPlan;
use crate::engine::local_save::{Before, Known, Order, Outcome};
use crate::engine::messages;
use crate::engine::model::progress::{Prepared, Saved};
use crate::engine::settings::Settings;

/// Returns the output of a dry run, and the reason why saving would fail, if it would.
pub(super) fn dry_run(
    order: &Order,
    prepared: &Prepared,
    comments: usize,
    known: &Known,
    json: bool,
) -> (String, Option<String>) {
    let known = match known {
        Known::Saved(known) if order.again.is_none() => return before(prepared, known, json),
        Known::Begun { url, same } => {
            let url = url.as_deref().unwrap_or("perhaps");
            let text = if *same {
                ""
            } else {
                ", with the text of that call"
            };
            Some(format!(
                "An earlier call was interrupted while saving it ({url}); this one would complete it{text}."
            ))
        }
        _ => None,
    };
    let many = match comments {
        1 => "one comment".to_owned(),
        many => format!("{many} comments"),
    };
    let repo = order.place.repo.full_name();
    let message = known.unwrap_or_else(|| format!("Would save to {repo}, in {many}"));
    if json {
        return (result(prepared, None, [true, false], &message), None);
    }
    let text = format!(
        "{message}:\n\n{}\n\nNothing was written.\n",
        summary(prepared)
    );
    (text, None)
}

/// Returns the output after saving, and the reason for failure, if there is one.
pub(super) fn outcome(
    order: &Order,
    settings: &Settings,
    found: Option<&FoundPlan>,
    outcome: &Outcome,
    json: bool,
) -> (String, Option<String>) {
    let (saved, prepared) = match outcome {
        Outcome::Saved { saved, prepared } => (saved, prepared),
        Outcome::Before(known, prepared) => return before(prepared, known, json),
    };
    let message = "Plan saved to GitHub issue";
    if json {
        let text = result(prepared, Some(saved), [false, false], message);
        return (text, None);
    }
    let from = found.map(|found| {
        let session = found.session.as_deref().unwrap_or("unknown");
        format!("\n\nFrom: session {session}, {}", found.file.display())
    });
    let steps = messages::next_steps(settings, &order.place, saved);
    let steps = match steps.as_str() {
        "" => steps,
        steps => format!("\nNext steps:\n\n{steps}\n"),
    };
    let text = format!(
        "✅ {message}: {}\n\n{}{}\n{steps}",
        saved.url,
        summary(prepared),
        terminal::lines(&from.unwrap_or_default()),
    );
    (text, None)
}

fn before(prepared: &Prepared, before: &Before, json: bool) -> (String, Option<String>) {
    let url = &before.saved.url;
    if before.gone {
        return (
            String::new(),
            Some(format!(
                "the plan was already saved as {url}, which no longer exists; use --again to save it as a new issue"
            )),
        );
    }
    if !before.same {
        return (
            String::new(),
            Some(format!(
                "a plan of this session with the same title but different text was already saved as {url}; use --again to save this one too"
            )),
        );
    }
    if !before.linked {
        return (
            String::new(),
            Some(format!(
                "the plan was already saved as {url}, which is not linked to this issue; use --again to save it again with the link"
            )),
        );
    }
    let message = "The plan was already saved";
    if json {
        let saved = &before.saved;
        let text = result(prepared, Some(saved), [false, true], message);
        return (text, None);
    }
    (format!("{message}: {url}\n"), None)
}

/// Returns the result as JSON. `saved` is the plan issue, if it exists.
fn result(
    prepared: &Prepared,
    saved: Option<&Saved>,
    [dry_run, duplicate]: [bool; 2],
    message: &str,
) -> String {
    let shown = json!({
        "success": true,
        "dry_run": dry_run,
        "issue_number": saved.map(|saved| saved.number),
        "issue_url": saved.map(|saved| &saved.url),
        "title": prepared.issue_title,
        "comments": saved.map_or(&[][..], |saved| &saved.comments),
        "skipped_duplicate": duplicate,
        "message": message,
    });
    format!("{shown:#}\n")
}

/// Returns the title, the summary sentence and the steps of the plan. Control characters are
/// replaced, because the text may come from other people.
fn summary(prepared: &Prepared) -> String {
    let mut text = prepared.issue_title.clone();
    if !prepared.sentence.is_empty() {
        text.push_str(&format!("\n\n{}", prepared.sentence));
    }
    if !prepared.steps.is_empty() {
        text.push_str(&format!("\n\n- {}", prepared.steps.join("\n- ")));
    }
    terminal::lines(&text)
}
