//! Saving a plan from a terminal, with the caller's own credentials: the writes of a run, without its conversation.
//!
//! The same store, effects and issue as in the bot: a save that was cut off is completed by the next one, and a plan that
//! was saved from this machine before is not saved again.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::clock::Millis;
use super::effects::Stop;
use super::execute::{self, Parts};
use super::forge::ForgeError;
use super::progress::{Prepared, Progress, Saved};
use super::run::{RunId, State};
use super::steps::{Context, publish};
use super::store::{Accepted, Claimed, Finish, NewDelivery, NewRun, StoreError};
use super::trigger::{Actor, Origin, Place, Trigger};
use crate::formats::command::Command;

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
    /// The repository, and the issue the plan belongs to (number zero for none).
    pub place: Place,
    /// Whose credentials the forge uses.
    pub actor: Actor,
    /// Session that the plan comes from.
    pub session: Option<String>,
    /// Save although the same plan was saved before: anything that was not used before.
    pub again: Option<String>,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Saved now.
    Saved(Saved),
    /// This session's plan with this title was saved before.
    Before {
        /// That plan issue.
        saved: Saved,
        /// Its document is the one that was to be saved.
        same: bool,
    },
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
        /// What it waits for.
        why: String,
        /// What exists already.
        left: Leftover,
    },
}

impl From<StoreError> for SaveError {
    fn from(error: StoreError) -> Self {
        Self::Stopped(Stop::Store(error), Leftover::default())
    }
}

/// What a save that did not come to its end left on GitHub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftover {
    issue: Option<String>,
    perhaps: bool,
}

impl std::fmt::Display for Leftover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.issue, self.perhaps) {
            (Some(url), _) => write!(
                f,
                "; the plan issue {url} exists and is not complete, the same command completes it"
            ),
            (None, true) => {
                f.write_str("; a plan issue may exist, the same command finds and completes it")
            }
            (None, false) => Ok(()),
        }
    }
}

impl Leftover {
    fn of(progress: &Progress) -> Self {
        Self {
            issue: progress.saved.as_ref().map(|saved| saved.url.clone()),
            perhaps: progress.publishing,
        }
    }
}

/// Saves `prepared` as a plan issue. Call it with a store that no other process uses.
///
/// # Errors
/// [`SaveError`]; what was begun is remembered in the store.
pub async fn save(parts: &Parts, order: &Order, prepared: &Prepared) -> Result<Outcome, SaveError> {
    let key = key(order, &prepared.title);
    let now = parts.clock.now();
    parts.store.recover(now, true).await?;
    let accepted = parts.store.accept(delivery(order, &key, now)).await?;
    let place = place_key(order, &key);
    if accepted == Accepted::Duplicate
        && let Some(run) = parts.store.runs_at(&place, 1).await?.into_iter().next()
        && run.state == State::Succeeded
    {
        let progress = Progress::read(run.progress.as_deref()).unwrap_or_default();
        if let (Some(saved), Some(before)) = (progress.saved, progress.prepared) {
            let same = before.document == prepared.document;
            return Ok(Outcome::Before { saved, same });
        }
    }
    let claimed = claim(parts, &key).await?;
    let mut context = match execute::context(parts, &claimed) {
        Ok(context) => context,
        Err(finish) => {
            parts.store.finish(&claimed.lease, &finish, now).await?;
            return Err(StoreError::Corrupt {
                what: format!("run {}", claimed.lease.run),
                why: "it was written by another version".to_owned(),
            }
            .into());
        }
    };
    // What was begun is completed as it was begun, so that all of its comments belong together.
    let prepared = context
        .progress
        .prepared
        .get_or_insert(prepared.clone())
        .clone();
    let result = persevere(&mut context, &prepared).await;
    let finish = match &result {
        Ok(_) => Finish::Succeeded,
        Err(error) => Finish::Failed {
            code: "internal".to_owned(),
            message: error.to_string(),
        },
    };
    let now = parts.clock.now();
    parts.store.finish(&claimed.lease, &finish, now).await?;
    result.map(Outcome::Saved)
}

/// One plan of one session is saved once: its session and its title.
fn key(order: &Order, title: &str) -> String {
    let Order {
        place,
        session,
        again,
        ..
    } = order;
    let parts = (place.repo.id, place.number, session, title, again);
    hex::encode(Sha256::digest(format!("{parts:?}")))
}

fn place_key(order: &Order, key: &str) -> String {
    format!("{}/{key}", order.place.key())
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
        inline: None,
        opening: None,
        at,
    }
}

fn delivery(order: &Order, key: &str, now: Millis) -> NewDelivery {
    let trigger = trigger(order, now);
    let place = place_key(order, key);
    let run = NewRun {
        id: RunId::new(),
        command: "save".to_owned(),
        serial: Some(place.clone()),
        place,
        repo_id: order.place.repo.id,
        installation: order.place.repo.installation,
        // Plain data with string keys: serialisation has no failing case, and an empty text is refused when it is read.
        trigger: serde_json::to_string(&trigger).unwrap_or_default(),
    };
    NewDelivery {
        guid: key.to_owned(),
        event: "local".to_owned(),
        action: None,
        installation: order.place.repo.installation,
        received: now,
        payload: None,
        runs: vec![run],
        installation_gone: false,
    }
}

/// Claims the run of `key`. Others that were cut off are put aside until they are asked for again.
async fn claim(parts: &Parts, key: &str) -> Result<Claimed, StoreError> {
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
        let aside = Finish::Failed {
            code: "internal".to_owned(),
            message: "cut off".to_owned(),
        };
        parts.store.finish(&claimed.lease, &aside, now).await?;
    }
}

/// Writes until it is done, as long as somebody waits.
async fn persevere(context: &mut Context, prepared: &Prepared) -> Result<Saved, SaveError> {
    let clock = context.effects.clock.clone();
    let until = clock.now().plus(PATIENCE);
    loop {
        let stopped = match attempt(context, prepared).await {
            Ok(saved) => return Ok(saved),
            Err(stopped) => stopped,
        };
        let again = match &stopped {
            Stop::Settling { until } | Stop::Forge(ForgeError::Limited { until, .. }) => *until,
            Stop::Forge(ForgeError::Unknown { .. } | ForgeError::Unreachable { .. }) => {
                clock.now().plus(PAUSE)
            }
            _ => {
                let left = Leftover::of(&context.progress);
                return Err(SaveError::Stopped(stopped, left));
            }
        };
        if again > until {
            let left = Leftover::of(&context.progress);
            let why = stopped.to_string();
            return Err(SaveError::NotNow { why, left });
        }
        clock.sleep(again.since(clock.now())).await;
    }
}

async fn attempt(context: &mut Context, prepared: &Prepared) -> Result<Saved, Stop> {
    if context.progress.started.is_none() {
        context.progress.started = Some(context.effects.clock.now());
    }
    context.remember().await?;
    let bodies = publish::fitting(context, prepared)?;
    publish::save(context, prepared, &bodies).await
}
