//! The operations of a sequence, how a store performs them, and the form in which answers are
//! compared.

use std::fmt::{self, Debug};

use super::*;

/// A key, a message or a result.
pub(super) type Key = &'static str;

/// An operation of the store.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Accept(Arrival),
    Record(Vec<DecisionRecord>),
    DecisionsAt(u64, u64),
    Decided(Vec<String>, Millis),
    DecidedComments(u64, Vec<(u64, u64)>),
    LabelAccepted(Key, Key, (Millis, Millis)),
    LogState,
    SaveLog(LogState, Vec<LoggedAttempt>),
    Missed(u32),
    DropMissed(u64),
    Scan(u64),
    SaveScan(u64, ScanState),
    Claim(Key, Millis, Duration),
    ClaimUnacknowledged(Key, Millis, Duration, Millis),
    Heartbeat(Vec<Held>, Millis, Duration),
    Release(Key),
    Recover(Millis),
    NextDue,
    Effects(RunId),
    Run(RunId),
    RunsAt(Key, u32),
    Recent(u32),
    Position(RunId),
    Cancel(Key, RunId, Key),
    Requeue(Key),
    Send(RunId, Key, Millis),
    Messages(RunId),
    Usage(u64, Millis),
    SavedAt(Key),
    Audit(AuditEntry),
    AuditOf(RunId),
    Counts,
    Prune(Millis),
    PruneRefused(Millis),
    Leased(Held, Write),
}

/// A write under a lease.
#[derive(Debug, Clone)]
pub(super) enum Write {
    Acknowledged,
    Progress(u32),
    Finish(RunOutcome, Millis),
    BeginEffect(Key, Millis),
    RetryEffect(Key, Millis),
    DropEffect(Key),
    EndEffect(Key, Key, Millis),
    Decide(CommandRequest, Option<ActorStanding>, AnswerLimits, Millis),
    BeginTurn(Key, BudgetScope, Budget, Millis),
    EndTurn(Key, Spent),
    Saved(SavedPlan),
}

/// The lease that an operation has claimed, or one made up from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Number of the operation.
    pub(super) claim: usize,
    pub(super) forged: Option<Forged>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Forged {
    Owner,
    Fence(i64),
}

/// A delivery, shown on one line.
#[derive(Clone)]
pub(super) struct Arrival(pub(super) NewDelivery);

impl Debug for Arrival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let new = &self.0;
        write!(
            f,
            "{} from {:?} at {:?}",
            new.guid, new.source, new.received
        )?;
        if new.installation_gone {
            write!(f, ", installation {} gone", new.installation)?;
        }
        let trigger = new.runs.first().map(|run| &run.trigger);
        trigger.map_or(Ok(()), |one| {
            write!(f, ", {:?} said at {:?}", one.origin, one.at)
        })?;
        if new.dedup_key.is_none() {
            write!(f, " without a key")?;
        }
        for run in &new.runs {
            let serial = if run.serial.is_some() {
                ""
            } else {
                " not serial"
            };
            let (place, of) = (&run.place, run.installation);
            write!(
                f,
                ", run {} ({}) at {place} of {of}{serial}",
                run.id, run.command
            )?;
        }
        Ok(())
    }
}

/// Performs an operation on a store and returns its answer; `leases` are those it is under.
pub(super) async fn perform(store: &dyn Store, op: &Op, leases: &[Lease]) -> String {
    match op {
        Op::Accept(arrival) => answer(store.accept(arrival.0.clone()).await),
        Op::Record(decisions) => answer(store.record_decisions(decisions).await),
        Op::DecisionsAt(repo, number) => {
            let decisions = store.decisions_at(*repo, *number, 1000).await;
            decisions.map_or_else(error, |decisions| listed(&decisions))
        }
        Op::Decided(guids, since) => {
            let guids: Vec<_> = guids.iter().map(String::as_str).collect();
            let decided = store.decided(&guids, *since).await;
            answer(decided.map(BTreeSet::from_iter))
        }
        Op::DecidedComments(repo, pairs) => {
            let decided = store.decided_comments(*repo, pairs).await;
            answer(decided.map(BTreeSet::from_iter))
        }
        Op::LabelAccepted(place, label, period) => {
            answer(store.label_accepted(place, label, *period).await)
        }
        Op::LogState => answer(store.log_state().await),
        Op::SaveLog(state, missed) => answer(store.save_log_state(state, missed).await),
        Op::Missed(limit) => answer(store.missed(*limit).await),
        Op::DropMissed(id) => answer(store.drop_missed(*id).await),
        Op::Scan(repo) => answer(store.scan_state(*repo).await),
        Op::SaveScan(repo, state) => answer(store.save_scan_state(*repo, state).await),
        Op::Claim(owner, now, lease) => {
            let claimed = store
                .claim(owner, *now, *lease, &ClaimLimits::default())
                .await;
            claimed.map_or_else(error, took)
        }
        Op::ClaimUnacknowledged(owner, now, lease, ready_before) => {
            let claimed = store.claim_unacknowledged(owner, *now, *lease, *ready_before);
            claimed.await.map_or_else(error, took)
        }
        Op::Heartbeat(_, now, lease) => answer(store.heartbeat(leases, *now, *lease).await),
        Op::Release(owner) => answer(store.release(owner).await),
        Op::Recover(now) => answer(store.recover_expired(*now).await),
        Op::NextDue => answer(store.next_due().await),
        Op::Effects(run) => answer(store.effects(run).await),
        Op::Run(run) => store.run(run).await.map_or_else(error, views),
        Op::RunsAt(place, limit) => store.runs_at(place, *limit).await.map_or_else(error, views),
        Op::Recent(limit) => store.recent_runs(*limit).await.map_or_else(error, views),
        Op::Position(run) => answer(store.queue_position(run).await),
        Op::Cancel(place, before, by) => answer(store.request_cancel(place, before, by).await),
        Op::Requeue(place) => answer(store.requeue_failed(place).await),
        Op::Send(run, message, now) => answer(store.send_message(run, message, *now).await),
        Op::Messages(run) => answer(store.messages(run).await),
        Op::Usage(repo, since) => answer(store.usage(*repo, *since).await),
        Op::SavedAt(place) => answer(store.saved_at(place).await),
        Op::Audit(entry) => answer(store.audit(entry.clone()).await),
        Op::AuditOf(run) => answer(store.audit_of(run).await),
        Op::Counts => answer(store.counts().await.map(|counts| {
            let by_state = counts.by_state.iter();
            let by_state = by_state.map(|(state, count)| (state.name(), *count));
            (by_state.collect::<BTreeMap<_, _>>(), counts.oldest_ready)
        })),
        Op::Prune(before) => answer(store.prune(*before).await),
        Op::PruneRefused(before) => answer(store.prune_refused(*before).await),
        Op::Leased(_, write) => perform_under(store, write, &leases[0]).await,
    }
}

async fn perform_under(store: &dyn Store, write: &Write, lease: &Lease) -> String {
    match write {
        Write::Acknowledged => answer(store.acknowledged(lease).await),
        Write::Progress(step) => answer(store.save_progress(lease, &progress(*step)).await),
        Write::Finish(outcome, now) => answer(store.finish(lease, outcome, *now).await),
        Write::BeginEffect(key, now) => answer(store.begin_effect(lease, key, *now).await),
        Write::RetryEffect(key, now) => answer(store.retry_effect(lease, key, *now).await),
        Write::DropEffect(key) => answer(store.drop_effect(lease, key).await),
        Write::EndEffect(key, result, now) => {
            answer(store.end_effect(lease, key, result, *now).await)
        }
        Write::Decide(request, standing, limits, now) => {
            let decision = store.decide_answer(lease, request, *standing, limits, *now);
            // The reason is a sentence for people.
            decision
                .await
                .map_or_else(error, |decision| match decision {
                    AnswerDecision::Ignore(_) => "Ignore".to_owned(),
                    other => text(other),
                })
        }
        Write::BeginTurn(key, scope, budget, now) => {
            answer(store.begin_turn(lease, key, *scope, budget, *now).await)
        }
        Write::EndTurn(key, spent) => answer(store.end_turn(lease, key, spent).await),
        Write::Saved(saved) => answer(
            store
                .record_saved(lease, saved, &PlanEntry::default())
                .await,
        ),
    }
}

fn answer<T: Debug>(result: Result<T, StoreError>) -> String {
    result.map_or_else(error, text)
}

/// Returns the kind of an error: the rest is for people.
#[allow(
    clippy::needless_pass_by_value,
    reason = "a function for `map_or_else`"
)]
fn error(error: StoreError) -> String {
    match error {
        StoreError::Fenced(run) => format!("Fenced({run})"),
        StoreError::Failed(_) => "Failed".to_owned(),
        other => text(other),
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "a function for `map_or_else`"
)]
pub(super) fn text(value: impl Debug) -> String {
    format!("{value:?}")
}

pub(super) fn took(claimed: Option<Claimed>) -> String {
    claimed.map_or("None".to_owned(), |one| {
        format!(
            "{:?}, {}, {}, attempt {}, round {}, cancel {:?}, created {:?}, {}",
            one.lease,
            brief(&one.trigger),
            step(&one.progress),
            one.attempt,
            one.round,
            one.cancel_requested,
            one.created,
            one.guid
        )
    })
}

pub(super) fn views(runs: impl IntoIterator<Item = RunView>) -> String {
    let shown = runs.into_iter().map(|run| {
        format!(
            "{} ({}) {:?}, {:?}, {:?}, attempt {}, {:?} {:?}, created {:?}, finished {:?}",
            run.id,
            run.command,
            run.state,
            run.trigger.as_ref().map(brief),
            run.progress.as_ref().map(step),
            run.attempt,
            run.code,
            run.note,
            run.created,
            run.finished
        )
    });
    shown.collect::<Vec<_>>().join("; ")
}

fn brief(trigger: &Trigger) -> String {
    format!(
        "{:?} at {} {:?}",
        trigger.origin,
        trigger.place.key(),
        trigger.at
    )
}

fn step(saved: &Progress) -> String {
    if *saved == progress(saved.status_lost) {
        format!("step {}", saved.status_lost)
    } else {
        text(saved)
    }
}

/// Returns the times in the given order, and the decisions in one that does not depend on the order
/// of those made at the same time.
pub(super) fn listed(decisions: &[DecisionRecord]) -> String {
    let times: Vec<_> = decisions.iter().map(|one| one.at).collect();
    let mut all: Vec<_> = decisions.iter().map(text).collect();
    all.sort();
    text((times, all))
}

/// Returns a new run as it is listed.
pub(super) fn first_view(run: &NewRun, delivery: &NewDelivery, state: State) -> RunView {
    RunView {
        id: run.id.clone(),
        command: run.command.clone(),
        state,
        trigger: Some(run.trigger.clone()),
        progress: None,
        attempt: 0,
        code: None,
        note: None,
        created: delivery.received,
        finished: None,
    }
}

/// Returns what a claim of a new run would return, but for the owner, the fence and the attempt.
pub(super) fn first_claim(run: &NewRun, delivery: &NewDelivery) -> Claimed {
    Claimed {
        lease: Lease {
            run: run.id.clone(),
            owner: String::new(),
            fence: 0,
        },
        trigger: run.trigger.clone(),
        progress: Progress::default(),
        attempt: 0,
        round: 0,
        cancel_requested: None,
        created: delivery.received,
        guid: delivery.guid.clone(),
    }
}
