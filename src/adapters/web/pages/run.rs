//! `/ui/runs/<id>`: one run, and what can be done to it.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use http::HeaderMap;
use maud::{Markup, html};

use super::super::login::{FORM_TOKEN, Session, Viewer};
use super::layout::{badge, clean, duration, exact_time, external, issue, page, sentence, time};
use super::{Id, Logged, Pages, Problem, Shared};
use crate::engine::model::failure::Code;
use crate::engine::model::progress::Progress;
use crate::engine::model::run::RunId;
use crate::engine::model::trigger::Trigger;
use crate::engine::operate::{Action, act as act_on};
use crate::engine::overview::Turn;
use crate::engine::store::Change;
use crate::engine::timeline::{Event, dollars};
use crate::engine::why::{RunEvidence, doing};

/// Returns a run, if there is one that the viewer may see. Only the operator sees runs whose
/// repository cannot be read.
pub(super) async fn find(
    pages: &Pages,
    session: &Session,
    id: &str,
) -> Result<RunEvidence, Problem> {
    let run = pages.history.run(&RunId(id.to_owned())).await?;
    let run = run.ok_or(Problem::NotFound)?;
    let is_visible = match (session.viewer(), &run.view.trigger) {
        (Viewer::Operator, _) => true,
        (Viewer::Person { .. }, None) => false,
        (viewer, Some(trigger)) => pages.can_read(viewer, &trigger.place.repo).await,
    };
    if is_visible {
        Ok(run)
    } else {
        Err(Problem::NotFound)
    }
}

/// `GET /ui/runs/<id>`.
pub(super) async fn show(
    State(pages): Shared,
    Extension(session): Logged,
    Path(id): Id,
) -> Result<Html<String>, Problem> {
    let run = find(&pages, &session, &id).await?;
    let view = &run.view;
    let history = &pages.history;
    let turns = history.turns(&view.id).await?;
    let links = links(&history.effect_results(&view.id).await?);
    let events = history.timeline(view).await?;
    let can_act = match (session.viewer(), &view.trigger) {
        (Viewer::Operator, _) => true,
        (_, None) => false,
        (viewer, Some(trigger)) => pages.can_act(viewer, &trigger.place.repo).await,
    };
    let main = html! {
        (facts(&pages, &run))
        (outcome(&run))
        @if can_act { (actions(&pages, &session, &run)) }
        @if !events.is_empty() { h2 { "What happened" } (history_table(&events)) }
        @if !turns.is_empty() { h2 { "Agents" } (agents(&turns)) }
        @if !links.is_empty() {
            h2 { "Written to GitHub" }
            ul { @for (key, url) in &links { li { (external(url, key)) } } }
        }
        h2 { "Output of the agents" }
        pre #output data-source={ "/ui/runs/" (view.id) "/output" } aria-live="off" {}
        noscript { p { "JavaScript shows it here; `planwright runs log --output` does without." } }
    };
    let title = format!("/{} · {}", view.command, view.id);
    Ok(page(&pages, &session, "/ui", &title, &main))
}

fn facts(pages: &Pages, run: &RunEvidence) -> Markup {
    let view = &run.view;
    let step = view
        .progress
        .as_ref()
        .and_then(|progress| progress.step.as_ref());
    html! {
        dl {
            dt { "State" }
            dd {
                (badge(view.state))
                @if !view.state.is_terminal() { " " (clean(&doing(run, &pages.limits))) }
            }
            @if let Some(trigger) = &view.trigger {
                dt { "Where" } dd { (issue(pages, &trigger.place)) }
                dt { "By" } dd { (clean(&trigger.actor.login)) (origin(trigger)) }
            }
            dt { "Accepted" } dd { (time(view.created)) }
            @if let Some(finished) = view.finished {
                dt { "Ended" } dd { (time(finished)) }
            } @else if let Some(step) = step {
                dt { "Step" } dd { (clean(step)) }
            }
            @if view.attempt > 1 { dt { "Attempts" } dd { (view.attempt) } }
            @if let Some(spent) = view.progress.as_ref().and_then(Progress::spent) {
                dt { "Cost" } dd { (dollars(spent.cost)) }
                dt { "Turns" } dd { (spent.turns) }
            }
        }
    }
}

/// Returns a link to the comment with the command.
fn origin(trigger: &Trigger) -> Markup {
    use crate::engine::model::trigger::Origin;
    html! {
        @match &trigger.origin {
            Origin::Comment { url, .. } | Origin::Boxes { url, .. } => { ", " (external(url, "comment")) }
            Origin::Label { name } => { ", label " (clean(name)) }
            Origin::Push { .. } => { ", push" }
            Origin::Local { .. } => { ", terminal" }
        }
    }
}

/// Returns the result of a run: the saved plan, or the failure with its remedy.
fn outcome(run: &RunEvidence) -> Markup {
    let Some(progress) = &run.view.progress else {
        return html! {};
    };
    html! {
        @if let Some((_, failure)) = &progress.failure {
            section class="failure" {
                h2 { code { (failure.code.name()) } }
                p { (sentence(&failure.message)) }
                @if !failure.details.is_empty() {
                    ul { @for detail in &failure.details { li { (sentence(detail)) } } }
                }
                p { strong { "What to do: " } (sentence(&failure.remedy)) }
            }
        }
        @if let Some(saved) = &progress.saved {
            p { "Saved as " (external(&saved.url, &format!("issue #{}", saved.number))) "." }
        } @else if let Some(known) = &progress.known {
            p { "Already saved as " (external(&known.issue.url, &format!("issue #{}", known.issue.number))) "." }
        }
        @if let Some(prepared) = &progress.prepared {
            p { "Plan: " strong { (clean(&prepared.title)) } ", " (sentence(&prepared.found)) "." }
            @if !prepared.notes.is_empty() {
                ul { @for note in &prepared.notes { li { (sentence(note)) } } }
            }
        }
    }
}

fn actions(pages: &Pages, session: &Session, run: &RunEvidence) -> Markup {
    let view = &run.view;
    let token = pages.login.form_token(session);
    html! {
        div class="actions" {
            @for action in Action::ALL {
                @if action.is_possible(view.state, view.code) {
                    form method="post" action={ "/ui/runs/" (view.id) "/" (action.name()) } {
                        input type="hidden" name=(FORM_TOKEN) value=(token);
                        button type="submit" { (label(action)) }
                    }
                }
            }
        }
    }
}

fn label(action: Action) -> &'static str {
    match action {
        Action::Cancel => "Cancel",
        Action::Retry => "Retry from the step that failed",
        Action::RunAgain => "Run the command again",
    }
}

fn history_table(events: &[Event]) -> Markup {
    html! {
        table {
            thead { tr { th { "Time" } th { "Kind" } th { "What" } th { "Took" } } }
            tbody {
                @for event in events {
                    tr {
                        td { (exact_time(event.at)) }
                        td { (event.kind.name()) }
                        td class="why" { (clean(&event.text)) }
                        td { @if let Some(millis) = event.millis { (duration(millis)) } }
                    }
                }
            }
        }
    }
}

fn agents(turns: &[Turn]) -> Markup {
    let total = turns.iter().filter_map(|turn| turn.used);
    let total = total.fold(0_u64, |sum, used| sum.saturating_add(used.cost));
    html! {
        table {
            thead { tr {
                th { "Turn" } th { "Began" } th { "Model turns" } th { "Tool calls" } th { "Tokens in" } th { "Tokens out" }
                th { "Cost" }
            } }
            tbody {
                @for turn in turns {
                    tr {
                        td { (clean(&turn.key)) }
                        td { (time(turn.at)) }
                        @if let Some(used) = turn.used {
                            td data-label="Model turns" { (used.turns) }
                            td data-label="Tool calls" { (used.tools) }
                            td data-label="Tokens in" { (used.tokens.input) }
                            td data-label="Tokens out" { (used.tokens.output) }
                            td data-label="Cost" { (dollars(used.cost)) }
                        } @else {
                            td colspan="5" { "running, or ended without a report" }
                        }
                    }
                }
            }
            tfoot { tr { th colspan="6" { "Total" } td { (dollars(total)) } } }
        }
    }
}

/// Returns the keys and addresses of the effects that made something with an address.
fn links(results: &[(String, String)]) -> Vec<(String, String)> {
    let link = |(key, result): &(String, String)| {
        let value: serde_json::Value = serde_json::from_str(result).ok()?;
        let url = value.get("url")?.as_str()?;
        Some((key.clone(), url.to_owned()))
    };
    results.iter().filter_map(link).collect()
}

/// `POST /ui/runs/<id>/<action>`. Answers a program with a line of text, and a browser with the page
/// of the run that works on the command.
pub(super) async fn act(
    State(pages): Shared,
    Extension(session): Logged,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let action = Action::from_name(&action).ok_or(Problem::NotFound)?;
    let run = match find(&pages, &session, &id).await {
        // With "nothing here", the program could not tell a wrong id from a wrong token.
        Err(Problem::NotFound) if session.is_program() => return Err(Problem::NoRun(id)),
        found => found?,
    };
    let mut fields = url::form_urlencoded::parse(&body);
    let token = fields.find(|(name, _)| name == FORM_TOKEN);
    let token = token.map_or_else(String::new, |(_, value)| value.into_owned());
    let checked = pages.login.check_form(&session, &headers, &token);
    checked.map_err(Problem::Refused)?;
    let (by, is_allowed) = match (session.viewer(), &run.view.trigger) {
        (Viewer::Operator, _) => ("the operator", true),
        (Viewer::Person { login, .. }, None) => (login.as_str(), false),
        (viewer @ Viewer::Person { login, .. }, Some(trigger)) => {
            let is_allowed = pages.can_act(viewer, &trigger.place.repo).await;
            (login.as_str(), is_allowed)
        }
    };
    if !is_allowed {
        return Err(Problem::Forbidden(
            "the role maintain in the repository is needed to do this",
        ));
    }
    let now = pages.clock.now();
    let outcome = act_on(&*pages.store, action, &run.view.id, by, now).await?;
    match outcome.change {
        Change::Done if session.is_program() => {
            let text = match action {
                Action::Cancel => format!("run {id} is asked to stop"),
                Action::Retry => format!("run {id} is queued again"),
                Action::RunAgain => format!("run {} executes the command again", outcome.run),
            };
            Ok(format!("{text}\n").into_response())
        }
        Change::NotNow if outcome.run == run.view.id => {
            Err(Problem::Conflict(match run.view.code {
                Some(Code::PermissionDenied) if action == Action::Retry => {
                    format!("run {id} was refused for lack of permission; it can only be run again")
                }
                _ => format!(
                    "run {id} is {}, so {} is not possible",
                    run.view.state.name(),
                    action.name()
                ),
            }))
        }
        Change::NotNow if session.is_program() => Err(Problem::Conflict(format!(
            "run {} executes the command of run {id} again and has not ended",
            outcome.run
        ))),
        // Also after a second click: the run that the first one started.
        Change::Done | Change::NotNow => {
            Ok(Redirect::to(&format!("/ui/runs/{}", outcome.run)).into_response())
        }
        Change::Unknown => Err(Problem::NotFound),
    }
}
