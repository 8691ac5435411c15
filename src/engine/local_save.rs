//! Saves a plan from a terminal with the caller's own credentials, without status comment or
//! reactions.
//!
//! It uses the same store, effects and issue format as the bot: an interrupted save is completed by
//! the next one, and a plan that was saved from this machine is not saved again.

use super::effects::StepError;
use super::execute::{self};
use super::forge::ForgeError;
use super::services::Services;
use super::steps::{Context, publish};
use super::store::{ClaimLimits, Claimed, NewDelivery, NewRun, RunOutcome, StoreError};
use crate::engine::model::failure::Code;
use crate::engine::model::intake::Source;
use crate::engine::model::progress::{Prepared, Progress, Saved};
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, IssueRef, Origin, Trigger};
use crate::formats::command::Command;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Maximum duration of a save while a person waits at the terminal. The next call does the rest.
const MAX_DURATION: Duration = Duration::from_mins(2);
/// Pause after a failed request to GitHub.
const PAUSE: Duration = Duration::from_secs(3);
/// Duration of the lease: longer than [`MAX_DURATION`] plus one request.
const LEASE: Duration = Duration::from_mins(5);
/// Name of the worker in the store.
const OWNER: &str = "terminal";

/// Target and origin of a plan to save.
#[derive(Debug, Clone)]
pub struct Order {
    /// Base URL of the API. Repository ids are only unique on one server.
    pub server: String,
    /// Repository, and the issue that the plan belongs to (number zero for none).
    pub place: IssueRef,
    /// Account whose credentials the forge uses.
    pub actor: Actor,
    /// Session that the plan comes from.
    pub session: Option<String>,
    /// Unused value that makes the key unique, to save a plan that was saved before.
    pub again: Option<String>,
    /// Time of the request, by GitHub's clock. Posts of this save are searched from this time on.
    pub at: Millis,
}

/// Outcome of a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The plan was saved.
    Saved {
        /// Plan issue.
        saved: Saved,
        /// Saved plan. It may differ from the given one if an earlier call began with another text
        /// under the same title.
        prepared: Box<Prepared>,
    },
    /// The plan was saved before; nothing was written.
    Before(Before, Box<Prepared>),
}

/// An earlier save of a plan with the same session and title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Plan issue.
    pub saved: Saved,
    /// Whether the saved document equals the one to save.
    pub same: bool,
    /// Whether the issue no longer exists.
    pub gone: bool,
    /// Whether the plan is linked to the issue or pull request given now, or none is given.
    pub linked: bool,
}

/// Reason why a plan could not be saved. The message tells what already exists on GitHub.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// GitHub, the store or a check refused the plan.
    #[error("{0}{1}")]
    Stopped(StepError, Leftover),
    /// GitHub or its rate limit takes longer than a person at the terminal should wait.
    #[error("cannot save now: {why}{left}; run the same command again later")]
    NotNow {
        /// Error, or reason for the wait.
        why: String,
        /// What already exists on GitHub.
        left: Leftover,
    },
}

impl From<StoreError> for SaveError {
    fn from(error: StoreError) -> Self {
        Self::Stopped(StepError::Store(error), Leftover::Nothing)
    }
}

/// What an incomplete save left on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// No plan issue.
    Nothing,
    /// Creation of the plan issue was attempted, with unknown outcome.
    Perhaps,
    /// An incomplete plan issue with this URL.
    Issue(String),
    /// A plan issue with this URL that was begun and no longer exists.
    Gone(String),
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Perhaps => {
                f.write_str("; a plan issue may exist; the same command finds and completes it")
            }
            Self::Issue(url) => write!(
                f,
                "; the plan issue {url} exists but is incomplete; the same command completes it"
            ),
            Self::Gone(url) => write!(
                f,
                "; the unfinished plan issue {url} no longer exists; use --again to save the plan as a new issue"
            ),
        }
    }
}

impl Leftover {
    /// Returns what a save that ended with `stopped` left behind. `doubt`: an earlier attempt to
    /// create the issue may have succeeded.
    fn of(progress: &Progress, stopped: &StepError, doubt: bool) -> Self {
        let gone = matches!(
            stopped,
            StepError::Forge(
                ForgeError::NotFound { .. } | ForgeError::Gone { .. } | ForgeError::Deleted { .. }
            )
        );
        let refused = matches!(stopped, StepError::Forge(error) if error.is_refusal());
        match &progress.saved {
            Some(saved) if gone => Self::Gone(saved.url.clone()),
            Some(saved) => Self::Issue(saved.url.clone()),
            // A refused request has no effect, but an earlier one without a response may have had.
            None if progress.publishing && (doubt || !refused) => Self::Perhaps,
            None => Self::Nothing,
        }
    }
}

/// Result of earlier calls for the same plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing was written.
    No,
    /// The save was begun. The next call completes it with the text of the earlier call.
    Begun {
        /// URL of the issue, if it is known to exist.
        url: Option<String>,
        /// Whether that text equals the one to save now.
        same: bool,
    },
    /// The plan was saved.
    Saved(Before),
}

/// Looks up whether an earlier call saved or began to save this plan. Writes nothing.
///
/// # Errors
/// Returns an error if the store or GitHub fails.
pub async fn look(
    parts: &Services,
    order: &Order,
    prepared: &Prepared,
) -> Result<Known, SaveError> {
    let place = place_key(order, &key(order, prepared));
    let Some(run) = parts.store.runs_at(&place, 1).await?.into_iter().next() else {
        return Ok(Known::No);
    };
    let progress = run.progress.unwrap_or_default();
    let number = order.place.number;
    let before = run.trigger.map(|trigger| trigger.place.number);
    let linked = number == 0 || before == Some(number);
    let same = progress
        .prepared
        .as_ref()
        .is_some_and(|before| before.document == prepared.document);
    match progress.saved {
        Some(saved) if run.state == State::Succeeded => {
            let place = IssueRef {
                number: saved.number,
                pull_request: false,
                ..order.place.clone()
            };
            let gone = match parts.forge.thread(&place).await {
                Ok(_) => false,
                Err(
                    ForgeError::NotFound { .. }
                    | ForgeError::Gone { .. }
                    | ForgeError::Deleted { .. },
                ) => true,
                Err(error) => return Err(SaveError::Stopped(error.into(), Leftover::Nothing)),
            };
            Ok(Known::Saved(Before {
                saved,
                same,
                gone,
                linked,
            }))
        }
        saved if progress.publishing => Ok(Known::Begun {
            url: saved.map(|saved| saved.url),
            same,
        }),
        _ => Ok(Known::No),
    }
}

/// Returns the number of comments that hold the plan.
///
/// # Errors
/// Returns an error if the plan needs too many comments.
pub fn fits(parts: &Services, prepared: &Prepared) -> Result<usize, SaveError> {
    publish::fitting(prepared, &parts.settings)
        .map(|bodies| bodies.len())
        .map_err(|stop| SaveError::Stopped(stop, Leftover::Nothing))
}

/// Saves `prepared` as a plan issue. No other process may use the store meanwhile. `waiting` is
/// called with a description of each wait.
///
/// # Errors
/// Returns a [`SaveError`]; the state of the save is kept in the store.
pub async fn save(
    parts: &Services,
    order: &Order,
    prepared: &Prepared,
    waiting: impl Fn(&str),
) -> Result<Outcome, SaveError> {
    fits(parts, prepared)?;
    if let Known::Saved(before) = look(parts, order, prepared).await? {
        return Ok(Outcome::Before(before, Box::new(prepared.clone())));
    }
    let key = key(order, prepared);
    let now = parts.clock.now();
    parts.store.accept(delivery(order, &key, now)).await?;
    let claimed = claim(parts, &key).await?;
    let mut context = execute::context(parts, &claimed);
    // A save that was begun is completed with its own text, so that all its comments belong
    // together.
    let prepared = match context.progress.prepared.take() {
        Some(begun) if context.progress.publishing => begun,
        _ => prepared.clone(),
    };
    context.progress.prepared = Some(prepared.clone());
    let result = persevere(&mut context, &prepared, waiting).await;
    let finish = match &result {
        Ok(_) => RunOutcome::Succeeded,
        Err(error) => RunOutcome::Failed {
            code: Code::Internal,
            message: error.to_string(),
        },
    };
    let now = parts.clock.now();
    parts.store.finish(&claimed.lease, &finish, now).await?;
    result.map(|saved| Outcome::Saved {
        saved,
        prepared: Box::new(prepared),
    })
}

/// Returns the key under which a plan is saved once: session and title, or the whole text if there
/// is no session.
fn key(order: &Order, prepared: &Prepared) -> String {
    let of = match &order.session {
        Some(session) => (session.as_str(), prepared.title.as_str()),
        None => ("", prepared.document.as_str()),
    };
    let parts = (&order.server, order.place.repo.id, of, &order.again);
    hex::encode(Sha256::digest(format!("{parts:?}")))
}

fn place_key(order: &Order, key: &str) -> String {
    format!("{}/{key}", order.place.repo.id)
}

/// Converts the order to the trigger of a run that was requested `at`.
pub fn trigger(order: &Order, at: Millis) -> Trigger {
    Trigger {
        command: Command::SaveRawPlan,
        actor: order.actor.clone(),
        place: order.place.clone(),
        origin: Origin::Local {
            session: order.session.clone(),
        },
        options: Vec::new(),
        guidance: None,
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: None,
        opening: None,
        at,
    }
}

fn delivery(order: &Order, key: &str, now: Millis) -> NewDelivery {
    let trigger = trigger(order, order.at);
    let place = place_key(order, key);
    let run = NewRun {
        id: RunId::new(),
        command: "save".to_owned(),
        serial: Some(place.clone()),
        place,
        repo_id: order.place.repo.id,
        installation: order.place.repo.installation,
        trigger,
    };
    NewDelivery {
        source: Source::Terminal,
        guid: key.to_owned(),
        event: "local".to_owned(),
        action: None,
        installation: order.place.repo.installation,
        dedup_key: None,
        received: now,
        payload: None,
        runs: vec![run],
        installation_gone: false,
    }
}

/// Claims the run with `key`. Other interrupted runs are ended until they are requested again.
async fn claim(parts: &Services, key: &str) -> Result<Claimed, StoreError> {
    loop {
        let now = parts.clock.now();
        let limits = ClaimLimits::default();
        let Some(claimed) = parts.store.claim(OWNER, now, LEASE, &limits).await? else {
            return Err(StoreError::Failed(
                "the save is not in its queue; delete the file and look for the plan issue by hand"
                    .to_owned(),
            ));
        };
        if claimed.guid == key {
            return Ok(claimed);
        }
        let aside = RunOutcome::Failed {
            code: Code::Internal,
            message: "cut off".to_owned(),
        };
        parts.store.finish(&claimed.lease, &aside, now).await?;
    }
}

/// Retries the save until it succeeds, fails permanently, or would exceed [`MAX_DURATION`].
async fn persevere(
    context: &mut Context,
    prepared: &Prepared,
    waiting: impl Fn(&str),
) -> Result<Saved, SaveError> {
    let clock = context.effects.clock.clone();
    let until = clock.now().plus(MAX_DURATION);
    let begun = context.progress.publishing;
    let mut fault = None;
    loop {
        let stopped = match attempt(context, prepared).await {
            Ok(saved) => return Ok(saved),
            Err(stopped) => stopped,
        };
        let again = match &stopped {
            StepError::Settling { until } | StepError::Forge(ForgeError::Limited { until, .. }) => {
                *until
            }
            StepError::Forge(ForgeError::Unknown { .. } | ForgeError::Unreachable { .. }) => {
                fault = Some(stopped.to_string());
                clock.now().plus(PAUSE)
            }
            StepError::Forge(error) if context.again_at(error).is_some() => {
                fault = Some(stopped.to_string());
                clock.now().plus(PAUSE)
            }
            _ => {
                let left = Leftover::of(&context.progress, &stopped, begun || fault.is_some());
                return Err(SaveError::Stopped(stopped, left));
            }
        };
        // For a write of unknown outcome, the original fault says more than the wait.
        let why = match (&stopped, &fault) {
            (StepError::Settling { .. }, Some(fault)) => fault.clone(),
            _ => stopped.to_string(),
        };
        if again > until {
            let left = Leftover::of(&context.progress, &stopped, begun || fault.is_some());
            return Err(SaveError::NotNow { why, left });
        }
        let pause = again.since(clock.now());
        waiting(&format!(
            "{why}; checking again in {} s",
            pause.as_secs().max(1)
        ));
        clock.sleep(pause).await;
    }
}

async fn attempt(context: &mut Context, prepared: &Prepared) -> Result<Saved, StepError> {
    if context.progress.started.is_none() {
        context.progress.started = Some(context.effects.clock.now());
    }
    context.remember().await?;
    let bodies = publish::fitting(prepared, &context.settings)?;
    publish::save(context, prepared, &bodies).await
}
