//! Check runs, on the page of a pull request and each on a page of its own.

use std::fmt::Write as _;

use super::breadcrumb;
use super::html::{self, escape};
use crate::model::{Annotation, CheckRun, Issue, Repository};
use crate::urls::repository_path;

/// Renders the check runs of a pull request's head commit; empty for an issue.
pub(super) fn section(repository: &Repository, issue: &Issue) -> String {
    let Some(pull) = &issue.pull else {
        return String::new();
    };
    let mut cards = String::new();
    for run in repository.check_runs.values() {
        if run.head_sha == pull.head {
            cards.push_str(&render_run(repository, run));
        }
    }
    if cards.is_empty() {
        return cards;
    }
    format!("<h2 class=\"checks\" id=\"checks\">Checks</h2>\n{cards}")
}

/// Renders the page of a check run.
pub(super) fn page(repository: &Repository, id: &str) -> Option<String> {
    let run = repository.check_runs.get(&id.parse().ok()?)?;
    let title = format!("{} · {}", run.name, repository.full_name());
    let main = render_run(repository, run);
    Some(html::page(&title, &breadcrumb(repository), &main))
}

fn render_run(repository: &Repository, run: &CheckRun) -> String {
    let (icon, word) = match run.conclusion.as_deref() {
        Some("success") => ("✅", "success"),
        Some("failure" | "timed_out" | "action_required") => ("❌", "failure"),
        Some(_) => ("⬜", "neutral"),
        None => ("🟡", "pending"),
    };
    let result = run.conclusion.as_ref().unwrap_or(&run.status);
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
    for annotation in &run.annotations {
        body.push_str(&render_annotation(annotation));
    }
    format!(
        "<article class=\"card check {word}\" id=\"check-{id}\"><header>{icon} <b>{name}</b> {result} · \
         commit <code>{commit}</code> · <a href=\"/{repository}/runs/{id}\">#{id}</a></header>\n\
         <div class=\"body\">{body}</div></article>\n",
        id = run.id,
        name = escape(&run.name),
        result = escape(result),
        commit = escape(run.head_sha.get(..7).unwrap_or(&run.head_sha)),
        repository = repository_path(repository),
    )
}

fn render_annotation(annotation: &Annotation) -> String {
    let lines = if annotation.start_line == annotation.end_line {
        format!("line {}", annotation.start_line)
    } else {
        format!("lines {} to {}", annotation.start_line, annotation.end_line)
    };
    let details = annotation.raw_details.as_deref().unwrap_or_default();
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
        level = escape(&annotation.level),
        path = escape(&annotation.path),
        title = escape(annotation.title.as_deref().unwrap_or_default()),
        message = escape(&annotation.message),
    )
}
