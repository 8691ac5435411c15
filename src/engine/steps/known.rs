//! Detection of plans that were already saved from the same issue or pull request. A plan whose
//! issue is still open is not saved twice, and a new plan names the issue that it replaces.
//!
//! Runs of one place are serial, so the second of two commands sees what the first has saved.

use crate::engine::model::progress::Identity;

use super::{Context, FRESH};
use crate::engine::effects::StepError;
use crate::engine::forge::ForgeError;
use crate::engine::messages;
use crate::engine::model::plan_entry::PlanEntry;
use crate::engine::model::progress::{Enriched, Known, PlanIssue, Prepared, Saved, SearchResult};
use crate::engine::model::trigger::{IssueRef, digest};
use crate::engine::store::SavedPlan;
use crate::formats::command::{Command, read_options};

impl Identity {
    /// Returns the identity of the plan in `found`; `guidance` is given if an agent applies it.
    /// Returns `None` if no plan was found, because a plan written by an agent differs from run to
    /// run.
    fn of(found: &SearchResult, guidance: Option<&str>) -> Option<Self> {
        let text = match (&found.candidate, &found.unclear) {
            (Some(candidate), _) => plain(&candidate.text),
            (None, Some(unclear)) => {
                let among = unclear.among.iter();
                let texts: Vec<String> = among.map(|candidate| plain(&candidate.text)).collect();
                texts.join("\n\0\n")
            }
            (None, None) => return None,
        };
        let text = digest(&text);
        let request = match guidance {
            None => format!("as found {text}"),
            Some(guidance) => format!("enriched {text} {}", plain(guidance)),
        };
        Some(Self {
            request: digest(&request),
            text,
        })
    }
}

/// Normalises line endings and removes surrounding white space.
fn plain(text: &str) -> String {
    text.trim().replace("\r\n", "\n")
}

/// Relation of the current plan to earlier plans of the place.
#[derive(Debug)]
enum Before {
    /// The plan is to be saved, and replaces this issue, if any.
    New(Option<PlanIssue>),
    /// The plan is already saved.
    Same(Known),
}

/// Stores the identity of the plan in `found` in the progress. `agent`: an agent works on the plan.
pub(in crate::engine) fn identify(context: &mut Context, found: &SearchResult, agent: bool) {
    let trigger = &context.trigger;
    let guidance = trigger.guidance.as_deref().unwrap_or_default();
    let guidance = (agent && trigger.command == Command::SavePlan).then_some(guidance);
    context.progress.identity = Identity::of(found, guidance);
}

/// Returns the open plan issue that already holds the same plan, if there is one, and stores it in
/// the progress.
///
/// # Errors
/// Returns an error if GitHub or the store fails, and [`StepError::Settling`] while GitHub may not
/// yet show a plan issue that was just created.
pub(in crate::engine) async fn same(context: &mut Context) -> Result<Option<Known>, StepError> {
    match before(context).await? {
        Before::New(_) => Ok(None),
        Before::Same(known) => decided(context, known).await.map(Some),
    }
}

/// Like [`same`], for a plan that is about to be saved: sets the issue that the plan replaces.
///
/// # Errors
/// See [`same`].
pub(super) async fn before_saving(
    context: &mut Context,
    prepared: &mut Prepared,
) -> Result<Option<Known>, StepError> {
    match before(context).await? {
        Before::Same(known) => decided(context, known).await.map(Some),
        Before::New(replaces) => {
            if prepared.replaces != replaces {
                prepared.replaces = replaces;
                context.progress.prepared = Some(prepared.clone());
                context.remember().await?;
            }
            Ok(None)
        }
    }
}

async fn decided(context: &mut Context, known: Known) -> Result<Known, StepError> {
    context.progress.known = Some(known.clone());
    context.remember().await?;
    Ok(known)
}

async fn before(context: &Context) -> Result<Before, StepError> {
    let Some(identity) = &context.progress.identity else {
        return Ok(Before::New(None));
    };
    let trigger = &context.trigger;
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    let plans = context.effects.store.saved_at(&trigger.place.key()).await?;
    let mut newest = None;
    for plan in plans.iter().filter(|plan| plan.run != *context.run()) {
        // A plan whose enrichment failed is tried again, except by a command accepted before it was
        // saved.
        let answers = plan.complete || plan.at > context.accepted;
        let same = !options.again && answers && plan.request == identity.request;
        if (!same && newest.is_some()) || !is_open(context, plan).await? {
            continue;
        }
        if same {
            let replaced_by = plans.iter().find(|it| it.replaces == Some(plan.issue));
            return Ok(Before::Same(Known {
                issue: issue(plan),
                replaced_by: replaced_by.map(issue),
            }));
        }
        newest = Some(plan);
    }
    let replaced = newest.filter(|plan| plan.text != identity.text || !plan.complete);
    Ok(Before::New(replaced.map(issue)))
}

fn issue(plan: &SavedPlan) -> PlanIssue {
    PlanIssue {
        number: plan.issue,
        url: plan.url.clone(),
    }
}

/// Returns whether the plan issue exists and is open.
async fn is_open(context: &Context, plan: &SavedPlan) -> Result<bool, StepError> {
    let place = IssueRef {
        repo: context.trigger.place.repo.clone(),
        number: plan.issue,
        pull_request: false,
    };
    match context.effects.forge.is_open(&place).await {
        Ok(open) => Ok(open),
        Err(ForgeError::NotFound { .. }) => {
            let ripe = plan.at.plus(context.effects.adopt_delay * FRESH);
            match context.pause(plan.at, ripe) {
                Some(until) => Err(StepError::Settling { until }),
                None => Ok(false),
            }
        }
        Err(error) if error.is_absence() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Records the saved plan, and comments on the issue that it replaces.
///
/// # Errors
/// Returns an error if GitHub or the store fails.
pub(super) async fn record(
    context: &mut Context,
    prepared: &Prepared,
    saved: &Saved,
    key: &str,
) -> Result<(), StepError> {
    let Some(identity) = context.progress.identity.clone() else {
        return Ok(());
    };
    let effects = &context.effects;
    let plan = SavedPlan {
        run: context.run().clone(),
        at: effects.clock.now(),
        text: identity.text,
        request: identity.request,
        complete: prepared.enriched != Enriched::Fallback,
        issue: saved.number,
        url: saved.url.clone(),
        replaces: prepared.replaces.as_ref().map(|old| old.number),
    };
    let actor = &context.trigger.actor.login;
    let entry = PlanEntry::new(actor, &prepared.title, &prepared.document);
    let recorded = effects.store.record_saved(&effects.lease, &plan, &entry);
    recorded.await?;
    let Some(old) = &prepared.replaces else {
        return Ok(());
    };
    let repo = &context.trigger.place.repo;
    let body = messages::known::replaced(&context.trigger, context.run(), saved);
    match effects.create_comment(key, repo, old.number, &body).await {
        // Locked, closed to Apps, or deleted in the meantime: the new issue still names the old
        // one.
        Err(StepError::Forge(error)) if error.is_refusal() => {
            tracing::info!(
                run.id = %context.run(), error = %error, issue = old.number,
                "the comment on the replaced plan issue could not be posted"
            );
            Ok(())
        }
        done => done.map(|_| ()),
    }
}
