//! `/ui/deliveries`: what was received about an issue, and what was decided; for the operator, what
//! was received last.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};

use super::layout::{clean, field, page, time};
use super::{Logged, Pages, Problem, Query, Shared, Viewer};
use crate::engine::model::intake::{DecisionRecord, Verdict};
use crate::engine::model::trigger::Repo;

/// Maximum number of decisions that are shown.
const MAX_DECISIONS: u32 = 200;

/// `GET /ui/deliveries`, with the fields `repository` and `number`.
pub(super) async fn show(
    State(pages): Shared,
    Extension(session): Logged,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = Query::of(query.as_deref());
    let viewer = session.viewer();
    let number = query.number::<u32>("number")?.map(u64::from);
    let decisions = match (query.get("repository"), number) {
        (Some(name), Some(number)) => match pages.repository(viewer, name).await? {
            Some(repo) => Some(
                pages
                    .history
                    .decisions_at(repo, number, MAX_DECISIONS)
                    .await?,
            ),
            None => Some(Vec::new()),
        },
        (None, None) if *viewer == Viewer::Operator => {
            Some(pages.history.recent_decisions(MAX_DECISIONS).await?)
        }
        (None, None) => None,
        _ => {
            return Err(Problem::Invalid(
                "give both the repository and the number of the issue or pull request".to_owned(),
            ));
        }
    };
    let main = html! {
        p { "Events that were received, what was decided about each, and why." }
        form class="filter" method="get" action="/ui/deliveries" {
            (field("repository", "Repository", "text", query.get("repository")))
            (field("number", "Issue or pull request", "number", query.get("number")))
            button type="submit" { "Show" }
        }
        @if let Some(decisions) = &decisions {
            @if decisions.is_empty() { p { "Nothing was received." } }
            @else { (table(&pages, decisions).await?) }
        }
    };
    Ok(page(
        &pages,
        &session,
        "/ui/deliveries",
        "Deliveries",
        &main,
    ))
}

async fn table(pages: &Pages, decisions: &[DecisionRecord]) -> Result<Markup, Problem> {
    let mut places = Vec::with_capacity(decisions.len());
    let mut repos: HashMap<u64, Option<Repo>> = HashMap::new();
    for id in decisions
        .iter()
        .filter_map(|decision| decision.subject.repo)
    {
        if let Entry::Vacant(unknown) = repos.entry(id) {
            unknown.insert(pages.history.repository_by_id(id).await?);
        }
    }
    for decision in decisions {
        let repo = decision
            .subject
            .repo
            .and_then(|id| repos.get(&id)?.as_ref());
        let number = decision.subject.number;
        places.push(match (repo, number) {
            (Some(repo), Some(number)) => format!("{}#{number}", repo.full_name()),
            (None, Some(number)) => format!("#{number}"),
            (Some(repo), None) => repo.full_name(),
            (None, None) => String::new(),
        });
    }
    Ok(html! {
        table {
            thead { tr { th { "Received" } th { "Event" } th { "Where" } th { "From" } th { "Decision" } th { "Delivery" } } }
            tbody {
                @for (decision, place) in decisions.iter().zip(&places) {
                    tr {
                        td { (time(decision.at)) }
                        td { (clean(&decision.event)) " " (clean(decision.subject.action.as_deref().unwrap_or_default())) }
                        td { (clean(place)) }
                        td { (decision.source.name()) }
                        td class="why" { (verdict(&decision.verdict)) }
                        td { code { (clean(&decision.guid)) } }
                    }
                }
            }
        }
    })
}

fn verdict(verdict: &Verdict) -> Markup {
    html! {
        @match verdict {
            Verdict::Accepted(runs) => {
                "accepted"
                @for run in runs { " " a href={ "/ui/runs/" (run) } { "run" } }
            }
            other => {
                (other.name())
                @if let Some(why) = other.reason() { ": " (clean(why)) }
            }
        }
    }
}
