//! An in-memory model of the store: the rules that every implementation of [`Store`] keeps.

mod answers;

use super::operations::{first_claim, first_view};
use super::*;

/// The whole state of a store. Runs are in the order of their acceptance.
#[derive(Default)]
pub(super) struct Model {
    deliveries: Vec<NewDelivery>,
    runs: Vec<Run>,
    /// Times of the first and of the last try, and the result.
    effects: BTreeMap<(RunId, Key), (Millis, Millis, Option<Key>)>,
    messages: Vec<(RunId, Key)>,
    asks: Vec<Asked>,
    turns: Vec<Turn>,
    /// Repository, day, and what one turn used.
    usage: BTreeMap<(RunId, Key), (u64, i64, CommandUsage)>,
    saved: Vec<(String, SavedPlan)>,
    audit: Vec<AuditEntry>,
    decisions: Vec<DecisionRecord>,
    missed: Vec<LoggedAttempt>,
    log: Option<LogState>,
    scans: BTreeMap<u64, ScanState>,
    /// The lease that the last operation claimed.
    pub(super) taken: Option<Lease>,
}

struct Run {
    view: RunView,
    /// What a claim returns, with the last lease.
    claimed: Claimed,
    new: NewRun,
    until: Option<Millis>,
    due_at: Millis,
    started: bool,
    acknowledged: bool,
    deferred: bool,
    /// Whether there is a request to cancel, or a message, that the worker does not know of.
    news: (bool, bool),
}

struct Asked {
    run: RunId,
    at: Millis,
    request: CommandRequest,
    standing: ActorStanding,
    answered: bool,
}

struct Turn {
    run: RunId,
    key: Key,
    at: Millis,
    scope: BudgetScope,
    first: bool,
    cost: u64,
}

impl Run {
    fn ends(&mut self, state: State, at: Millis, code: Option<Code>, note: Option<&str>) {
        (self.view.state, self.view.finished, self.until) = (state, Some(at), None);
        (self.view.code, self.view.note) = (code, note.map(str::to_owned));
    }

    /// Queues it again after it has ended.
    fn again(&mut self) {
        let blocked = self.new.serial.as_ref().map(|_| State::Blocked);
        (self.view.state, self.view.code) = (blocked.unwrap_or(State::Ready), None);
        (self.view.note, self.view.finished) = (None, None);
        (self.claimed.attempt, self.claimed.cancel_requested) = (0, None);
        self.claimed.round += 1;
        (self.due_at, self.started, self.news.0) = (self.view.created, false, false);
    }

    fn finishes(&mut self, outcome: &RunOutcome, now: Millis) {
        match outcome {
            RunOutcome::Succeeded => self.ends(State::Succeeded, now, None, None),
            RunOutcome::Failed { code, message } => {
                self.ends(State::Failed, now, Some(*code), Some(message));
            }
            RunOutcome::Cancelled => self.ends(State::Cancelled, now, None, None),
            RunOutcome::Yield => self.release(false),
            RunOutcome::Park {
                until,
                reason,
                counts,
            } => {
                self.release(*counts);
                (self.view.state, self.due_at) = (State::Waiting, *until);
                self.view.note = Some(reason.clone());
                if self.news.0 || self.news.1 {
                    self.wake();
                }
            }
        }
    }

    /// Makes it claimable at once if it waits.
    fn wake(&mut self) {
        if self.is(State::Waiting) {
            (self.view.state, self.due_at) = (State::Ready, self.view.created);
        }
    }

    /// Takes the lease back; the attempt counts or not.
    fn release(&mut self, counts: bool) {
        if self.is(State::Running) {
            let attempt = self.claimed.attempt.saturating_sub(u32::from(!counts));
            (self.view.state, self.claimed.attempt) = (State::Ready, attempt);
        }
        self.until = None;
    }

    fn take(&mut self, owner: &str, until: Millis) -> Claimed {
        self.claimed.lease.fence += 1;
        owner.clone_into(&mut self.claimed.lease.owner);
        self.until = Some(until);
        self.claimed.clone()
    }

    fn view(&self) -> RunView {
        let mut view = self.view.clone();
        view.attempt = self.claimed.attempt;
        view
    }

    fn is(&self, state: State) -> bool {
        self.view.state == state
    }

    fn is_at(&self, place: &str) -> bool {
        self.new.serial.as_deref() == Some(place)
    }

    fn has_ended(&self) -> bool {
        self.view.state.is_terminal()
    }

    fn is_active(&self) -> bool {
        !self.has_ended() && !self.is(State::Blocked)
    }

    fn is_leased(&self, now: Millis) -> bool {
        self.until.is_some_and(|until| until > now)
    }

    fn is_held(&self, lease: &Lease) -> bool {
        self.until.is_some() && self.claimed.lease == *lease
    }

    fn is_refused(&self) -> bool {
        self.view.code == Some(Code::PermissionDenied)
    }

    /// Ids are in the order of acceptance.
    fn order(&self) -> (Millis, RunId) {
        (self.new.trigger.at, self.view.id.clone())
    }

    fn is_unfinished_before(&self, place: &str, order: &(Millis, RunId)) -> bool {
        self.is_at(place) && !self.has_ended() && self.order() < *order
    }
}

impl Model {
    /// Whether a lease is current.
    pub(super) fn holds(&self, lease: &Lease) -> bool {
        self.runs.iter().any(|run| run.is_held(lease))
    }

    fn find(&self, id: &RunId) -> Option<&Run> {
        self.runs.iter().find(|run| run.view.id == *id)
    }

    fn count(&self, is: impl Fn(&Run) -> bool) -> usize {
        self.runs.iter().filter(|run| is(run)).count()
    }

    /// Returns the first of the runs in an order.
    fn pick<K: Ord>(&self, is: impl Fn(&Run) -> bool, key: impl Fn(&Run) -> K) -> Option<usize> {
        let runs = (0..self.runs.len()).filter(|index| is(&self.runs[*index]));
        runs.min_by_key(|index| key(&self.runs[*index]))
    }

    /// Makes the first blocked run at a place ready unless one is active.
    fn promote(&mut self, place: &str) {
        let blocked = |run: &Run| run.is_at(place) && run.is(State::Blocked);
        let first = self.pick(blocked, |run| run.new.trigger.at);
        let first = first.filter(|_| self.count(|run| run.is_at(place) && run.is_active()) == 0);
        if let Some(first) = first {
            self.runs[first].view.state = State::Ready;
        }
    }

    /// Returns what precedes a run and what runs.
    fn position(&self, run: &Run) -> QueuePosition {
        let here = |one: &Run| one.new.installation == run.new.installation;
        let of_repository = |one: &Run| here(one) && one.new.repo_id == run.new.repo_id;
        let place = run.new.serial.as_deref();
        let is_before = |one: &Run| (one.due_at, &one.order().1) < (run.due_at, &run.order().1);
        let waits = |one: &Run| one.is(State::Ready) && !one.deferred;
        let count = |is: &dyn Fn(&Run) -> bool| self.count(is) as u64;
        QueuePosition {
            at_place: count(&|one| {
                place.is_some_and(|place| one.is_unfinished_before(place, &run.order()))
            }),
            in_repository: count(&|one| {
                waits(run) && waits(one) && of_repository(one) && is_before(one)
            }),
            running_in_repository: count(&|one| of_repository(one) && one.is(State::Running)),
            running_in_installation: count(&|one| here(one) && one.is(State::Running)),
        }
    }

    /// Returns the run that is claimed next.
    pub(super) fn choose(&self, now: Millis) -> Option<usize> {
        let running = |run: &Run, one: &Run| {
            one.is(State::Running) && one.new.installation == run.new.installation
        };
        let busy = |run: &Run| {
            let of_installation = self.count(|one| running(run, one));
            let same = |one: &Run| running(run, one) && one.new.repo_id == run.new.repo_id;
            (of_installation, self.count(same))
        };
        let due = |run: &Run| run.is(State::Ready) || run.is(State::Waiting) && run.due_at <= now;
        let due = |run: &Run| due(run) && !run.is_leased(now);
        let other = |run: &Run, one: &Run| {
            one.deferred && one.is(State::Running) && one.new.installation == run.new.installation
        };
        let alone = |run: &Run| self.count(|one| other(run, one)) == 0;
        // Of the repositories without running runs, the first one of each installation.
        let idle = |run: &Run| due(run) && !run.deferred && busy(run).1 == 0;
        let age = |run: &Run| (run.due_at, run.new.repo_id);
        let is_first = |run: &Run| {
            let mine = |one: &Run| one.new.installation == run.new.installation && idle(one);
            !idle(run) || self.count(|one| mine(one) && age(one) < age(run)) == 0
        };
        let first = |run: &Run| (busy(run), run.due_at);
        self.pick(|run| due(run) && !run.deferred && is_first(run), first)
            .or_else(|| {
                self.pick(
                    |run| due(run) && run.deferred && alone(run),
                    |run| run.due_at,
                )
            })
    }

    /// Makes the runs ready that have waited until now, and ends leases of ready ones that have run
    /// out.
    pub(super) fn wake_due(&mut self, now: Millis) {
        for run in &mut self.runs {
            if run.is(State::Waiting) && run.due_at <= now {
                run.view.state = State::Ready;
            } else if run.is(State::Ready) && !run.is_leased(now) {
                run.until = None;
            }
        }
    }

    fn accept(&mut self, new: NewDelivery) -> Accepted {
        let places: Vec<_> = new
            .runs
            .iter()
            .filter_map(|run| run.serial.clone())
            .collect();
        let said = |one: &NewDelivery| one.dedup_key.is_some() && one.dedup_key == new.dedup_key;
        if self
            .deliveries
            .iter()
            .any(|one| one.guid == new.guid || said(one))
        {
            let known = |run: &Run| run.claimed.guid == new.guid;
            let failed = self.count(|run| known(run) && run.is(State::Failed));
            if failed == 0 || failed < self.count(known) {
                return Accepted::Duplicate;
            }
            let mut places = Vec::new();
            for run in self.runs.iter_mut().filter(|run| known(run)) {
                places.extend(run.new.serial.clone());
                run.again();
            }
            for place in &places {
                self.promote(place);
            }
            return Accepted::Requeued;
        }
        for run in &new.runs {
            let ahead =
                |one: &Run| one.is_active() && run.serial.as_ref().is_some_and(|at| one.is_at(at));
            let state = if self.count(ahead) > 0 {
                State::Blocked
            } else {
                State::Ready
            };
            self.runs.push(Run {
                view: first_view(run, &new, state),
                claimed: first_claim(run, &new),
                new: run.clone(),
                until: None,
                due_at: new.received,
                started: false,
                acknowledged: false,
                deferred: false,
                news: (false, false),
            });
        }
        for place in places.iter().filter(|_| new.source != Source::Webhook) {
            let at = |run: &Run, state| run.is_at(place) && run.is(state);
            let earlier = self.pick(|run| at(run, State::Blocked), |run| run.new.trigger.at);
            let ready = self.pick(|run| at(run, State::Ready) && !run.started, |_| ());
            if let (Some(earlier), Some(ready)) = (earlier, ready)
                && self.runs[earlier].new.trigger.at < self.runs[ready].new.trigger.at
            {
                self.runs[ready].view.state = State::Blocked;
            }
            self.promote(place);
        }
        let mut freed = Vec::new();
        for run in &mut self.runs {
            let gone = new.installation_gone && run.new.installation == new.installation;
            if gone && !run.has_ended() {
                let why = Some("the App was uninstalled");
                run.ends(State::Cancelled, new.received, run.view.code, why);
                freed.extend(run.new.serial.clone());
            }
        }
        for place in freed {
            self.promote(&place);
        }
        self.deliveries.push(new);
        Accepted::New
    }

    /// Decides whether a command is answered, and records it.
    fn decide(
        &mut self,
        index: usize,
        request: &CommandRequest,
        standing: Option<ActorStanding>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> &'static str {
        let id = self.runs[index].view.id.clone();
        let known = self.asks.iter().find(|one| one.run == id);
        let (known, mut answered) = (known.is_some(), known.is_some_and(|one| one.answered));
        if !known {
            let Some(judged) = self.judge(request, standing, limits, now) else {
                return "Undecided";
            };
            answered = judged.1;
            self.asks.push(Asked {
                run: id,
                at: now,
                request: request.clone(),
                standing: judged.0,
                answered,
            });
            if answered && judged.0.outsider && request.comment.is_some() {
                let run = &mut self.runs[index];
                run.deferred = true;
                if run.is(State::Blocked) {
                    run.view.state = State::Ready;
                }
                if let Some(place) = run.new.serial.take() {
                    self.promote(&place);
                }
            }
        }
        if answered { "Answer" } else { "Ignore" }
    }

    /// Returns the standing that counts for a command, and whether it is answered; `None` if that
    /// depends on the standing.
    fn judge(
        &self,
        request: &CommandRequest,
        standing: Option<ActorStanding>,
        limits: &AnswerLimits,
        now: Millis,
    ) -> Option<(ActorStanding, bool)> {
        let (mut person, mut answers, mut refusals, mut at_place, mut inside) = (0, 0, 0, 0, 0);
        let (mut comment, mut known) = (0, false);
        for Asked {
            at,
            request: one,
            standing,
            answered,
            ..
        } in &self.asks
        {
            if one.comment.is_some() && one.comment == request.comment {
                (comment, known) = (comment + 1, known || standing.outsider);
            }
            if *at <= now.minus(limits.window) {
                continue;
            }
            let same = one.installation == request.installation;
            if same && one.actor == request.actor && (standing.outsider || standing.refused) {
                person += 1;
                answers += u64::from(*answered);
                refusals += u64::from(*answered && standing.refused);
            }
            let outsider = *answered && standing.outsider;
            at_place += u64::from(outsider && one.place == request.place);
            inside += u64::from(outsider && same);
        }
        if let Some(standing) = standing {
            let full = answers >= limits.person
                || at_place >= limits.place
                || inside >= limits.installation;
            let ignored = standing.refused && refusals > 0 || standing.outsider && full;
            return Some((standing, !ignored));
        }
        let outsider = known || comment < 8 && person >= 20;
        let refused = false;
        (outsider || comment >= 8).then_some((ActorStanding { outsider, refused }, false))
    }

    /// Returns the limit that is reached, and when its oldest entry expires.
    fn exceeded(
        &self,
        first: bool,
        scope: BudgetScope,
        budget: &Budget,
        now: Millis,
    ) -> Option<String> {
        let limits = [
            ("ActorHourRuns", budget.actor_hour_runs),
            ("RepoDayRuns", budget.repo_day_runs),
            ("RepoDayCost", budget.repo_day_cost),
            ("DayRuns", budget.day_runs),
            ("DayCost", budget.day_cost),
        ];
        limits.into_iter().find_map(|(name, limit)| {
            let limit = limit.filter(|_| first || name.ends_with("Cost"))?;
            let window = if name.contains("Hour") { DAY / 24 } else { DAY };
            let (mut used, mut oldest) = (0, None);
            for turn in self.turns.iter().filter(|turn| turn.at > now.minus(window)) {
                let actor = !name.starts_with("Actor") || turn.scope.actor == scope.actor;
                let repo = !name.starts_with("Repo") || turn.scope.repo == scope.repo;
                let amount = if name.ends_with("Cost") {
                    turn.cost
                } else {
                    u64::from(turn.first)
                };
                if actor && repo && amount > 0 {
                    used += amount;
                    oldest = Some(oldest.unwrap_or(turn.at).min(turn.at));
                }
            }
            let until = oldest.unwrap_or(now).plus(window);
            (used >= limit).then(|| format!("{name} {{ limit: {limit}, until: {until:?} }}"))
        })
    }

    /// Deletes deliveries with their runs, and what is left of runs deleted before.
    fn prune(&mut self, before: Millis, is_old: impl Fn(&NewDelivery, &[&Run]) -> bool) -> u64 {
        let (all, runs) = (self.deliveries.len(), std::mem::take(&mut self.runs));
        self.deliveries.retain(|one| {
            let of = runs.iter().filter(|run| run.claimed.guid == one.guid);
            !is_old(one, &of.collect::<Vec<_>>())
        });
        let kept = |guid: &str| self.deliveries.iter().any(|one| one.guid == guid);
        self.runs = runs
            .into_iter()
            .filter(|run| kept(&run.claimed.guid))
            .collect();
        let exists = |id: &RunId| self.runs.iter().any(|run| run.view.id == *id);
        let day_before = before.minus(DAY);
        self.effects.retain(|(run, _), _| exists(run));
        self.messages.retain(|(run, _)| exists(run));
        self.audit
            .retain(|one| one.at >= before || one.run.as_ref().is_some_and(exists));
        self.turns
            .retain(|turn| turn.at >= day_before || exists(&turn.run));
        self.asks
            .retain(|one| one.at >= day_before || exists(&one.run));
        let first_day = day(before.minus(DAY * USAGE_DAYS));
        self.usage.retain(|_, (_, day, _)| *day >= first_day);
        (all - self.deliveries.len()) as u64
    }
}

/// Returns the day in UTC.
fn day(at: Millis) -> i64 {
    at.0.div_euclid(86_400_000)
}
