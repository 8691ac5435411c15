//! Actions of operators and maintainers on runs: cancelling, retrying, running a command again. Each
//! is recorded in the audit log.

use super::model::failure::Code;
use super::model::intake::Source;
use super::model::run::{RunId, State};
use super::model::time::Millis;
use super::store::{AuditEntry, Change, NewDelivery, NewRun, Store, StoreError};

/// An action on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Stop an unfinished run.
    Cancel,
    /// Continue a failed or cancelled run at the step that failed.
    Retry,
    /// Give the command of an ended run again, as a new run.
    RunAgain,
}

impl Action {
    /// All actions.
    pub const ALL: [Self; 3] = [Self::Cancel, Self::Retry, Self::RunAgain];

    /// Returns the name in addresses and in the audit log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Retry => "retry",
            Self::RunAgain => "run-again",
        }
    }

    /// Returns the action with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }

    /// Returns whether the action is possible for a run in a state, with an error code if it failed.
    pub fn is_possible(self, state: State, code: Option<Code>) -> bool {
        match self {
            Self::Cancel => !state.is_terminal(),
            Self::Retry => {
                matches!(state, State::Failed | State::Cancelled)
                    && code != Some(Code::PermissionDenied)
            }
            Self::RunAgain => state.is_terminal(),
        }
    }
}

/// The result of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it was done.
    pub change: Change,
    /// The run that works on the command now: the run itself or, if its command is given again, the
    /// new run. If that is not done because an earlier repetition has not ended, the repetition.
    pub run: RunId,
}

/// Does `action` to a run, on behalf of `by`, and records it in the audit log.
///
/// # Errors
/// Returns an error if the store fails.
pub async fn act(
    store: &dyn Store,
    action: Action,
    run: &RunId,
    by: &str,
    now: Millis,
) -> Result<Outcome, StoreError> {
    let entry = |why: String| AuditEntry {
        at: now,
        run: Some(run.clone()),
        guid: None,
        actor: by.to_owned(),
        decision: action.name().to_owned(),
        why,
    };
    let requested = || entry("requested by an operator or maintainer".to_owned());
    let (change, new) = match action {
        Action::Cancel => (store.cancel_run(run, &requested()).await?, run.clone()),
        Action::Retry => (store.retry_run(run, &requested()).await?, run.clone()),
        Action::RunAgain => {
            let new = RunId::new();
            let why = format!("run {new} executes the command of this run again");
            run_again(store, run, new, &entry(why), now).await?
        }
    };
    if change == Change::Done {
        tracing::info!(run.id = %run, action = action.name(), by, "run changed on request");
    }
    Ok(Outcome { change, run: new })
}

/// Returns what the GUIDs of all deliveries begin with that give the command of `run` again.
pub fn repetition_prefix(run: &RunId) -> String {
    format!("run-again-{run}-")
}

/// Queues the command of an ended run as the new run `id`. Its permissions are checked again, and it
/// reads the conversation as it is now.
async fn run_again(
    store: &dyn Store,
    run: &RunId,
    id: RunId,
    entry: &AuditEntry,
    now: Millis,
) -> Result<(Change, RunId), StoreError> {
    let Some(view) = store.run(run).await? else {
        return Ok((Change::Unknown, run.clone()));
    };
    let Some(mut trigger) = view.trigger.filter(|_| view.state.is_terminal()) else {
        return Ok((Change::NotNow, run.clone()));
    };
    // The command is given now: nothing that was written since counts as written afterwards, and the
    // opening text is taken as it is.
    trigger.at = now;
    trigger.opening = None;
    trigger.expired = false;
    trigger.repeated = true;
    let place = &trigger.place;
    let repetition = NewDelivery {
        source: Source::Operator,
        guid: format!("{}{id}", repetition_prefix(run)),
        event: "run_again".to_owned(),
        action: None,
        installation: place.repo.installation,
        // Found with what was decided at the place.
        dedup_key: Some(format!("operator {} {id}", place.key())),
        received: now,
        payload: None,
        runs: vec![NewRun {
            id,
            command: view.command,
            serial: trigger.serial(),
            place: place.key(),
            repo_id: place.repo.id,
            installation: place.repo.installation,
            trigger,
        }],
        installation_gone: false,
    };
    store.run_again(run, repetition, entry).await
}
