//! Saving a plan from a terminal, with the caller's own credentials: the writes of a run, without its conversation.
//!
//! The same store, effects and issue as in the bot: a save that was cut off is completed by the next one, and a plan that
//! was saved from this machine before is not saved again.

use super::effects::Stop;
use super::execute::{self};
use super::forge::ForgeError;
use super::services::Services;
use super::steps::{Context, publish};
use super::store::{Claimed, NewDelivery, NewRun, RunOutcome, StoreError};
use crate::engine::model::failure::Code;
use crate::engine::model::progress::{Prepared, Progress, Saved};
use crate::engine::model::run::{RunId, State};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::{Actor, Origin, Place, Trigger};
use crate::formats::command::Command;
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Somebody waits at the terminal: what takes longer than this is left to the next call.
const PATIENCE: Duration = Duration::from_mins(2);
/// Pause after a fault outside.
const PAUSE: Duration = Duration::from_secs(3);
/// How long the claim holds: longer than the patience and one request.
const LEASE: Duration = Duration::from_mins(5);
/// Name of the worker in the store.
const OWNER: &str = "terminal";

/// What to save, where, and for whom.
#[derive(Debug, Clone)]
pub struct Order {
    /// Base address of the API: ids of repositories mean nothing on another server.
    pub server: String,
    /// The repository, and the issue the plan belongs to (number zero for none).
    pub place: Place,
    /// Whose credentials the forge uses.
    pub actor: Actor,
    /// Session that the plan comes from.
    pub session: Option<String>,
    /// Save although the same plan was saved before: anything that was not used before.
    pub again: Option<String>,
    /// When it was asked for, by GitHub's clock: posts of this save are looked for from then on.
    pub at: Millis,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Saved now.
    Saved {
        /// The plan issue.
        saved: Saved,
        /// What it holds: an earlier call may have begun it with another text under the same title.
        prepared: Box<Prepared>,
    },
    /// It was saved before; nothing was written.
    Before(Before, Box<Prepared>),
}

/// A plan of the same session and title that was saved before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Its issue.
    pub saved: Saved,
    /// Its document is the one that was to be saved.
    pub same: bool,
    /// The issue is not there any more.
    pub gone: bool,
    /// It is linked to the issue or pull request that is named now, or none is.
    pub linked: bool,
}

/// Why it could not be saved. What exists already is said in the text.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// GitHub, the store or a gate said no.
    #[error("{0}{1}")]
    Stopped(Stop, Leftover),
    /// GitHub or its rate limit took longer than anybody waits for.
    #[error("not now: {why}{left}; run the same command again later")]
    NotNow {
        /// What went wrong, or what it waits for.
        why: String,
        /// What exists already.
        left: Leftover,
    },
}

impl From<StoreError> for SaveError {
    fn from(error: StoreError) -> Self {
        Self::Stopped(Stop::Store(error), Leftover::Nothing)
    }
}

/// What a save that did not come to its end left on GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// No plan issue.
    Nothing,
    /// Its creation was tried and nobody knows.
    Perhaps,
    /// This one, not complete.
    Issue(String),
    /// This one was begun, and is not there any more.
    Gone(String),
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Perhaps => {
                f.write_str("; a plan issue may exist, the same command finds and completes it")
            }
            Self::Issue(url) => write!(
                f,
                "; the plan issue {url} exists and is not complete, the same command completes it"
            ),
            Self::Gone(url) => write!(
                f,
                "; the plan issue {url} was begun and is gone: --again saves the plan as a new one"
            ),
        }
    }
}

impl Leftover {
    /// `doubt`: an earlier try to create the issue may have worked.
    fn of(progress: &Progress, stopped: &Stop, doubt: bool) -> Self {
        let gone = matches!(
            stopped,
            Stop::Forge(
                ForgeError::NotFound { .. } | ForgeError::Gone { .. } | ForgeError::Deleted { .. }
            )
        );
        let refused = matches!(stopped, Stop::Forge(error) if error.is_refusal());
        match &progress.saved {
            Some(saved) if gone => Self::Gone(saved.url.clone()),
            Some(saved) => Self::Issue(saved.url.clone()),
            // What GitHub refuses has not happened; what it did not answer before may have.
            None if progress.publishing && (doubt || !refused) => Self::Perhaps,
            None => Self::Nothing,
        }
    }
}

/// What an earlier call did with this plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    No,
    /// It began to save it; the next call completes that, with the text it had then.
    Begun {
        /// The issue, where it is known to exist.
        url: Option<String>,
        /// The text is the one that is to be saved now.
        same: bool,
    },
    /// It saved it.
    Saved(Before),
}

/// Looks whether an earlier call saved or began to save this plan. Writes nothing.
///
/// # Errors
/// The store or GitHub did not say.
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
            let place = Place {
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

/// How many comments the plan takes.
///
/// # Errors
/// They are too many.
pub fn fits(parts: &Services, prepared: &Prepared) -> Result<usize, SaveError> {
    publish::fitting(prepared, &parts.settings)
        .map(|bodies| bodies.len())
        .map_err(|stop| SaveError::Stopped(stop, Leftover::Nothing))
}

/// Saves `prepared` as a plan issue. Call it with a store that no other process uses. `waiting` is told what it waits for.
///
/// # Errors
/// [`SaveError`]; what was begun is remembered in the store.
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
    // What was begun is completed as it was begun, so that all of its comments belong together.
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

/// One plan of one session is saved once: its session and its title. Without a session its whole text decides.
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

/// The order as the trigger of a run that was given `at`.
pub fn trigger(order: &Order, at: Millis) -> Trigger {
    Trigger {
        command: Command::SaveRawPlan,
        actor: order.actor.clone(),
        place: order.place.clone(),
        origin: Origin::Local {
            session: order.session.clone(),
        },
        options: Vec::new(),
        guidance: String::new(),
        also: Vec::new(),
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

/// Claims the run of `key`. Others that were cut off are put aside until they are asked for again.
async fn claim(parts: &Services, key: &str) -> Result<Claimed, StoreError> {
    loop {
        let now = parts.clock.now();
        let Some(claimed) = parts.store.claim(OWNER, now, LEASE).await? else {
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

/// Writes until it is done, as long as somebody waits.
async fn persevere(
    context: &mut Context,
    prepared: &Prepared,
    waiting: impl Fn(&str),
) -> Result<Saved, SaveError> {
    let clock = context.effects.clock.clone();
    let until = clock.now().plus(PATIENCE);
    let begun = context.progress.publishing;
    let mut fault = None;
    loop {
        let stopped = match attempt(context, prepared).await {
            Ok(saved) => return Ok(saved),
            Err(stopped) => stopped,
        };
        let again = match &stopped {
            Stop::Settling { until } | Stop::Forge(ForgeError::Limited { until, .. }) => *until,
            Stop::Forge(ForgeError::Unknown { .. } | ForgeError::Unreachable { .. }) => {
                fault = Some(stopped.to_string());
                clock.now().plus(PAUSE)
            }
            Stop::Forge(error) if context.again_at(error).is_some() => {
                fault = Some(stopped.to_string());
                clock.now().plus(PAUSE)
            }
            _ => {
                let left = Leftover::of(&context.progress, &stopped, begun || fault.is_some());
                return Err(SaveError::Stopped(stopped, left));
            }
        };
        // That a write of unknown outcome settles is only worth telling with what happened to it.
        let why = match (&stopped, &fault) {
            (Stop::Settling { .. }, Some(fault)) => fault.clone(),
            _ => stopped.to_string(),
        };
        if again > until {
            let left = Leftover::of(&context.progress, &stopped, begun || fault.is_some());
            return Err(SaveError::NotNow { why, left });
        }
        let pause = again.since(clock.now());
        waiting(&format!(
            "{why}; looking again in {} s",
            pause.as_secs().max(1)
        ));
        clock.sleep(pause).await;
    }
}

async fn attempt(context: &mut Context, prepared: &Prepared) -> Result<Saved, Stop> {
    if context.progress.started.is_none() {
        context.progress.started = Some(context.effects.clock.now());
    }
    context.remember().await?;
    let bodies = publish::fitting(prepared, &context.settings)?;
    publish::save(context, prepared, &bodies).await
}
