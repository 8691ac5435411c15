//! `/ui/audit`: the audit log, for the operator.

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::html;

use super::layout::{clean, field, older, page, time};
use super::{Logged, Problem, Query, Shared, Viewer};
use crate::engine::model::run::RunId;
use crate::engine::overview::{AuditFilter, NumberedEntry};

/// `GET /ui/audit`, with the fields `run`, `actor`, `decision` and `before`.
pub(super) async fn show(
    State(pages): Shared,
    Extension(session): Logged,
    RawQuery(query): RawQuery,
) -> Result<Html<String>, Problem> {
    let viewer = session.viewer();
    if *viewer != Viewer::Operator {
        return Err(Problem::NotFound);
    }
    let query = Query::of(query.as_deref());
    let filter = AuditFilter {
        run: query.get("run").map(|run| RunId(run.to_owned())),
        actor: query.get("actor").map(str::to_owned),
        decision: query.get("decision").map(str::to_owned),
        before: query.number("before")?,
    };
    let read = async |before, limit| {
        let filter = AuditFilter {
            before,
            ..filter.clone()
        };
        pages.history.audit(&filter, limit).await
    };
    let key = |entry: &NumberedEntry| (entry.id, None);
    let (entries, next) = pages.page(viewer, filter.before, read, key).await?;
    let main = html! {
        form class="filter" method="get" action="/ui/audit" {
            (field("run", "Run", "text", query.get("run")))
            (field("actor", "Person", "text", query.get("actor")))
            (field("decision", "Decision", "text", query.get("decision")))
            button type="submit" { "Filter" }
        }
        @if !entries.is_empty() {
            table {
                thead { tr { th { "Time" } th { "Person" } th { "Decision" } th { "Run" } th { "Why" } } }
                tbody {
                    @for NumberedEntry { entry, .. } in &entries {
                        tr {
                            td { (time(entry.at)) }
                            td { (clean(&entry.actor)) }
                            td { (clean(&entry.decision)) }
                            td { @if let Some(run) = &entry.run { a href={ "/ui/runs/" (run) } { "run" } } }
                            td class="why" { (clean(&entry.why)) }
                        }
                    }
                }
            }
        }
        (older(next.map(|before| query.with("/ui/audit", "before", &before.to_string())), entries.is_empty(), "There are no such entries."))
    };
    Ok(page(&pages, &session, "/ui/audit", "Audit log", &main))
}
