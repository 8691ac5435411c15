//! `/ui/costs`: what agents have used, by day, repository and command.

use std::time::Duration;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};

use super::layout::{clean, page};
use super::{Logged, Problem, Query, Shared, Viewer};
use crate::engine::overview::DayUsage;
use crate::engine::timeline::dollars;

/// Number of days that are shown unless the request says otherwise.
const DEFAULT_DAYS: u64 = 30;

/// Maximum number of days, for which usage is kept.
const MAX_DAYS: u64 = 400;

/// Maximum number of entries that are shown.
const MAX_ENTRIES: u32 = 5_000;

const DAY: Duration = Duration::from_hours(24);

/// `GET /ui/costs`, with the field `days`.
pub(super) async fn show(
    State(pages): Shared,
    Extension(session): Logged,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let query = Query::of(query.as_deref());
    let days: u64 = query.number("days")?.unwrap_or(DEFAULT_DAYS);
    if !(1..=MAX_DAYS).contains(&days) {
        return Err(Problem::Invalid(format!("`days` must be 1 to {MAX_DAYS}")));
    }
    let viewer = session.viewer();
    let before = u32::try_from(days - 1).unwrap_or(u32::MAX);
    let since = pages.clock.now().minus(DAY * before);
    let mut usage = pages.history.usage(since, MAX_ENTRIES).await?;
    let is_cut = usage.len() >= MAX_ENTRIES as usize;
    if *viewer != Viewer::Operator {
        let repos = usage.iter().filter_map(|entry| entry.repo.clone());
        let readable = pages.readable(viewer, repos).await;
        let can_read = |entry: &DayUsage| {
            let repo = entry.repo.as_ref();
            repo.is_some_and(|repo| readable.contains(&repo.id))
        };
        usage.retain(can_read);
    }
    let total = usage
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(entry.cost));
    let main = html! {
        form class="filter" method="get" action="/ui/costs" {
            label { "Days " input type="number" name="days" min="1" max=(MAX_DAYS) value=(days); }
            button type="submit" { "Show" }
        }
        @if is_cut {
            p role="alert" { "There are too many entries: the oldest days are left out. Choose fewer days." }
        }
        @if usage.is_empty() { p { "No agent was used in this time." } }
        @else {
            p {
                strong { (dollars(total)) }
                @if is_cut { " in the days shown" } @else { " in " (days) " days" }
            }
            @for day in usage.chunk_by(|a, b| a.day == b.day) { (table(day)) }
        }
    };
    Ok(page(&pages, &session, "/ui/costs", "Costs", &main))
}

/// Returns the table of one day.
fn table(day: &[DayUsage]) -> Markup {
    let total = day
        .iter()
        .fold(0_u64, |sum, entry| sum.saturating_add(entry.cost));
    let date = day.first().map(|entry| entry.day.iso());
    let date = date
        .as_deref()
        .and_then(|iso| iso.get(..10))
        .unwrap_or_default();
    html! {
        table {
            caption { (date) " · " (dollars(total)) }
            thead { tr { th { "Repository" } th { "Command" } th { "Runs" } th { "Turns" } th { "Tokens" } th { "Cost" } } }
            tbody {
                @for entry in day {
                    tr {
                        td { @if let Some(repo) = &entry.repo { (clean(&repo.full_name())) } @else { "?" } }
                        td { "/" (clean(&entry.command)) }
                        td data-label="Runs" { (entry.runs) }
                        td data-label="Turns" { (entry.turns) }
                        td data-label="Tokens" { (entry.tokens.input.saturating_add(entry.tokens.output)) }
                        td data-label="Cost" { (dollars(entry.cost)) }
                    }
                }
            }
        }
    }
}
