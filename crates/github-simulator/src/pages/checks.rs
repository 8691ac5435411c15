//! What check runs say, for people: on the page of a pull request, and each on a page of its own.

use std::fmt::Write as _;

use super::{html, root, trail};
use crate::model::{Annotation, CheckRun, Issue, Repository};
use html::escape;

/// The check runs of a pull request's head; nothing for an issue.
pub(super) fn section(repository: &Repository, issue: &Issue) -> String {
    let Some(pull) = &issue.pull else {
        return String::new();
    };
    let mut cards = String::new();
    for run in repository.check_runs.values() {
        if run.head_sha == pull.head {
            cards.push_str(&card(repository, run));
        }
    }
    if cards.is_empty() {
        return cards;
    }
    format!("<h2 class=\"checks\" id=\"checks\">Checks</h2>\n{cards}")
}

/// The page of one check run.
pub(super) fn page(repository: &Repository, id: &str) -> Option<String> {
    let run = repository.check_runs.get(&id.parse().ok()?)?;
    let title = format!("{} · {}", run.name, repository.full_name());
    let main = card(repository, run);
    Some(html::page(&title, &trail(repository), &main))
}

fn card(repository: &Repository, run: &CheckRun) -> String {
    let (icon, word) = match run.conclusion.as_deref() {
        Some("success") => ("✅", "success"),
        Some("failure" | "timed_out" | "action_required") => ("❌", "failure"),
        Some(_) => ("⬜", "neutral"),
        None => ("🟡", "pending"),
    };
    let said = run.conclusion.as_ref().unwrap_or(&run.status);
    let mut body = String::new();
    // Writing to a String does not fail.
    if let Some(title) = &run.title {
        let _ = writeln!(body, "<h3>{}</h3>", escape(title));
    }
    for text in [&run.summary, &run.text].into_iter().flatten() {
        body.push_str(&html::render(text));
    }
    if !run.annotations.is_empty() {
        let _ = writeln!(body, "<h4>{} annotations</h4>", run.annotations.len());
    }
    for one in &run.annotations {
        body.push_str(&annotation(one));
    }
    format!(
        "<article class=\"card check {word}\" id=\"check-{id}\"><header>{icon} <b>{name}</b> {said} · \
         commit <code>{commit}</code> · <a href=\"{root}/runs/{id}\">#{id}</a></header>\n\
         <div class=\"body\">{body}</div></article>\n",
        id = run.id,
        name = escape(&run.name),
        said = escape(said),
        commit = escape(run.head_sha.get(..7).unwrap_or(&run.head_sha)),
        root = root(repository),
    )
}

fn annotation(one: &Annotation) -> String {
    let lines = if one.start_line == one.end_line {
        format!("line {}", one.start_line)
    } else {
        format!("lines {} to {}", one.start_line, one.end_line)
    };
    let details = one.raw_details.as_deref().unwrap_or_default();
    let details = if details.is_empty() {
        String::new()
    } else {
        format!(
            "<details><summary>Raw details</summary><pre class=\"source\">{}</pre></details>",
            escape(details)
        )
    };
    format!(
        "<div class=\"annotation {level}\"><b>{level}</b> <code>{path}</code> {lines} <b>{title}</b>\
         <pre class=\"source\">{message}</pre>{details}</div>\n",
        level = escape(&one.level),
        path = escape(&one.path),
        title = escape(one.title.as_deref().unwrap_or_default()),
        message = escape(&one.message),
    )
}
