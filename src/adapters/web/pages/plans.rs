//! `/ui/plans`: the saved plans, searchable by text, repository, person and date.

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use chrono::{NaiveDate, NaiveTime};
use maud::html;

use super::layout::{clean, external, field, issue, older, page, time};
use super::{Logged, Problem, Query, Shared};
use crate::engine::model::plan_entry::words;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::IssueRef;
use crate::engine::overview::{PlanFilter, PlanSummary};

/// Maximum number of words that are searched for.
const MAX_WORDS: usize = 10;

/// Length of a day, in milliseconds.
const DAY_MS: i64 = 86_400_000;

/// `GET /ui/plans`, with the fields `text`, `repository`, `person`, `from`, `to` and `before`.
pub(super) async fn show(
    State(pages): Shared,
    Extension(session): Logged,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = Query::of(query.as_deref());
    let viewer = session.viewer();
    let searched = words(query.get("text").unwrap_or_default());
    let mut filter = PlanFilter {
        words: searched.into_iter().take(MAX_WORDS).collect(),
        repo: None,
        actor: query
            .get("person")
            .map(|login| login.trim_start_matches('@').to_owned()),
        since: day(&query, "from")?,
        until: day(&query, "to")?.map(|day| Millis(day.0 + DAY_MS)),
        before: query.number("before")?,
    };
    // A text without letters and digits matches nothing.
    let mut is_empty = query.get("text").is_some() && filter.words.is_empty();
    if let Some(name) = query.get("repository") {
        filter.repo = pages.repository(viewer, name).await?;
        is_empty |= filter.repo.is_none();
    }
    let read = async |before, limit| {
        let filter = PlanFilter {
            before,
            ..filter.clone()
        };
        pages.history.plans(&filter, limit).await
    };
    let key = |plan: &PlanSummary| (plan.seq, plan.repo.clone());
    let (plans, next) = if is_empty {
        (Vec::new(), None)
    } else {
        pages.page(viewer, filter.before, read, key).await?
    };
    let main = html! {
        form class="filter" method="get" action="/ui/plans" {
            (field("text", "Text", "search", query.get("text")))
            (field("repository", "Repository", "text", query.get("repository")))
            (field("person", "Person", "text", query.get("person")))
            (field("from", "From", "date", query.get("from")))
            (field("to", "To", "date", query.get("to")))
            button type="submit" { "Search" }
        }
        @if !plans.is_empty() {
            table {
                thead { tr { th { "Plan" } th { "Issue" } th { "From" } th { "By" } th { "Saved" } th { "Run" } } }
                tbody {
                    @for plan in &plans {
                        tr {
                            td { strong { @if plan.title.is_empty() { "?" } @else { (clean(&plan.title)) } } }
                            td { (external(&plan.url, &format!("#{}", plan.issue))) }
                            @if let Some(repo) = &plan.repo {
                                @let place = IssueRef {
                                    repo: repo.clone(), number: plan.number, pull_request: false,
                                };
                                td { (issue(&pages, &place)) }
                            } @else {
                                td { "#" (plan.number) }
                            }
                            td { (clean(&plan.actor)) }
                            td { (time(plan.at)) }
                            td { a href={ "/ui/runs/" (plan.run) } { "run" } }
                        }
                    }
                }
            }
        }
        (older(next.map(|before| query.with("/ui/plans", "before", &before.to_string())), plans.is_empty(), "There are no such plans."))
    };
    Ok(page(&pages, &session, "/ui/plans", "Plans", &main))
}

/// Returns the start of a day (UTC).
fn day(query: &Query, name: &str) -> Result<Option<Millis>, Problem> {
    let Some(text) = query.get(name) else {
        return Ok(None);
    };
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d")
        .map_err(|_| Problem::Invalid(format!("`{name}` must be a date such as 2026-11-24")))?;
    let start = date.and_time(NaiveTime::MIN).and_utc();
    Ok(Some(Millis(start.timestamp_millis())))
}
