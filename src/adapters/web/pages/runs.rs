//! `/ui`: what runs, what is queued and why, what waits, and what has ended.

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};

use super::layout::{badge, clean, duration, field, issue, older, page, time};
use super::{Logged, Pages, Problem, Query, Shared, Viewer};
use crate::engine::model::run::State as RunState;
use crate::engine::overview::{RunFilter, RunSummary, StateFilter, command_named};
use crate::engine::store::QueueCounts;
use crate::engine::why::doing;
use crate::formats::command::{Command, REGISTRY};

/// Maximum number of unfinished runs whose place in the queue is looked up for one page.
const MAX_EXPLAINED: usize = 20;

/// `GET /ui`, with the fields `state`, `repository`, `command` and `before`.
pub(super) async fn show(
    State(pages): Shared,
    Extension(session): Logged,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = Query::of(query.as_deref());
    let viewer = session.viewer();
    let state = match query.get("state") {
        None => None,
        Some(name) => Some(StateFilter::from_name(name).ok_or_else(|| {
            let names = StateFilter::NAMES.join(", ");
            Problem::Invalid(format!("`state` must be one of {names}"))
        })?),
    };
    let command = query.get("command").map(command_named).transpose();
    let command = command.map_err(|error| Problem::Invalid(format!("`command` {error}")))?;
    let mut filter = RunFilter {
        state,
        repo: None,
        command,
        before: query.number("before")?,
    };
    let mut is_unknown = false;
    if let Some(name) = query.get("repository") {
        filter.repo = pages.repository(viewer, name).await?;
        is_unknown = filter.repo.is_none();
    }
    let is_start = query.0.is_empty();
    let (runs, next) = if is_unknown {
        (Vec::new(), None)
    } else {
        list(&pages, viewer, &filter).await?
    };
    let (unfinished, more) = if is_start {
        let filter = RunFilter {
            state: Some(StateFilter::Unfinished),
            ..RunFilter::default()
        };
        list(&pages, viewer, &filter).await?
    } else {
        (Vec::new(), None)
    };
    let counts = match viewer {
        Viewer::Operator => Some(pages.history.counts().await?),
        Viewer::Person { .. } => None,
    };
    let main = html! {
        @if let Some(counts) = &counts { (numbers(&pages, counts)) }
        @if is_start {
            h2 { "Unfinished" }
            @if !unfinished.is_empty() { (table(&pages, &unfinished).await?) }
            @let all = more.map(|before| format!("/ui?state=unfinished&before={before}"));
            (older(all, unfinished.is_empty(), "No command is waiting or running."))
            h2 { "Latest" }
        }
        (form(&query, filter.command))
        @if !runs.is_empty() { (table(&pages, &runs).await?) }
        (older(next.map(|before| query.with("/ui", "before", &before.to_string())), runs.is_empty(), "There are no such runs."))
    };
    Ok(page(&pages, &session, "/ui", "Runs", &main))
}

async fn list(
    pages: &Pages,
    viewer: &Viewer,
    filter: &RunFilter,
) -> Result<(Vec<RunSummary>, Option<i64>), Problem> {
    let read = async |before, limit| {
        let filter = RunFilter {
            before,
            ..filter.clone()
        };
        pages.history.runs(&filter, limit).await
    };
    let key = |run: &RunSummary| {
        let repo = run.origin.as_ref().map(|(place, _)| place.repo.clone());
        (run.seq, repo)
    };
    pages.page(viewer, filter.before, read, key).await
}

/// The number of runs in each state, and the age of the oldest one that could start.
fn numbers(pages: &Pages, counts: &QueueCounts) -> Markup {
    let oldest = counts.oldest_ready.map(|at| {
        let age = pages.clock.now().since(at).as_millis();
        duration(u64::try_from(age).unwrap_or(u64::MAX))
    });
    html! {
        ul class="numbers" {
            @for (state, count) in &counts.by_state {
                li { a href={ "/ui?state=" (state.name()) } { strong { (count) } " " (state.name()) } }
            }
            @if let Some(age) = oldest {
                li { strong { (age) } " oldest ready" }
            }
        }
    }
}

fn form(query: &Query, command: Option<Command>) -> Markup {
    let state = query.get("state");
    html! {
        form class="filter" method="get" action="/ui" {
            label {
                "State "
                select name="state" {
                    option value="" { "any" }
                    @for name in StateFilter::NAMES {
                        option value=(name) selected[state == Some(name)] { (name) }
                    }
                }
            }
            (field("repository", "Repository", "text", query.get("repository")))
            label {
                "Command "
                select name="command" {
                    option value="" { "any" }
                    @for spec in REGISTRY {
                        option value=(spec.name) selected[command == Some(spec.command)] { "/" (spec.name) }
                    }
                }
            }
            button type="submit" { "Filter" }
        }
    }
}

async fn table(pages: &Pages, runs: &[RunSummary]) -> Result<Markup, Problem> {
    let mut reasons = Vec::with_capacity(runs.len());
    let mut explained = 0;
    for run in runs {
        let must_ask = matches!(
            run.state,
            RunState::Ready | RunState::Blocked | RunState::Waiting
        );
        explained += usize::from(must_ask);
        reasons.push(if must_ask && explained <= MAX_EXPLAINED {
            let run = pages.history.run(&run.id).await?;
            run.map_or_else(String::new, |run| doing(&run, &pages.limits))
        } else {
            run.reason()
        });
    }
    let now = pages.clock.now();
    Ok(html! {
        table {
            thead { tr { th { "State" } th { "Command" } th { "Where" } th { "By" } th { "Accepted" } th { "Why" } } }
            tbody {
                @for (run, reason) in runs.iter().zip(&reasons) {
                    tr {
                        td { (badge(run.state)) }
                        td class="command" { a href={ "/ui/runs/" (run.id) } { "/" (clean(&run.command)) } }
                        @if let Some((place, actor)) = &run.origin {
                            td { (issue(pages, place)) }
                            td { (clean(&actor.login)) }
                        } @else {
                            td { "?" } td { "?" }
                        }
                        td {
                            (time(run.created))
                            @let end = run.finished.unwrap_or(now);
                            @let took = u64::try_from(end.since(run.created).as_millis()).unwrap_or(u64::MAX);
                            " " small { (duration(took)) }
                        }
                        td class="why" { (clean(reason)) }
                    }
                }
            }
        }
    })
}
