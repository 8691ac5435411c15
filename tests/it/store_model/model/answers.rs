//! The model's answers to operations.

use super::super::operations::{listed, text, took, views};
use super::*;

impl Model {
    /// Performs an operation of the store; `leases` are those it is under.
    pub(in super::super) fn answer(&mut self, op: &Op, leases: &[Lease]) -> String {
        match op {
            Op::Accept(arrival) => text(self.accept(arrival.0.clone())),
            Op::Record(decisions) => {
                self.decisions.extend_from_slice(decisions);
                text(())
            }
            Op::DecisionsAt(repo, number) => listed(&self.decisions_at(*repo, *number)),
            Op::Decided(guids, since) => {
                let accepted = self.deliveries.iter().map(|one| &one.guid);
                let decided = self.decisions.iter().filter(|one| one.at >= *since);
                let known: BTreeSet<_> = accepted.chain(decided.map(|one| &one.guid)).collect();
                let guids = guids.iter().filter(|guid| known.contains(guid));
                text(guids.collect::<BTreeSet<_>>())
            }
            Op::DecidedComments(repo, pairs) => {
                let known = |&(number, id): &(u64, u64)| {
                    self.decisions_at(*repo, number).iter().any(|one| {
                        let accepted = matches!(one.verdict, Verdict::Accepted(_));
                        let created = one.subject.action.as_deref() == Some("created");
                        one.subject.comment == Some(id) && (accepted || created)
                    })
                };
                let known = pairs.iter().filter(|pair| known(pair));
                text(known.map(|(_, id)| id).collect::<BTreeSet<_>>())
            }
            Op::LabelAccepted(place, label, (from, to)) => {
                let said = |run: &NewRun| match &run.trigger.origin {
                    Origin::Label { name } => name.to_lowercase() == label.to_lowercase(),
                    _ => false,
                };
                let inside = |run: &NewRun| (from..=to).contains(&&run.trigger.at);
                let here = |run: &NewRun| run.place == *place && inside(run) && said(run);
                let known = self.deliveries.iter().filter(|one| one.dedup_key.is_some());
                text(known.flat_map(|one| &one.runs).any(here))
            }
            Op::LogState => text(&self.log),
            Op::SaveLog(state, missed) => {
                for one in missed {
                    match self.missed.iter_mut().find(|known| known.guid == one.guid) {
                        Some(known) => known.delivered = known.delivered.min(one.delivered),
                        None => self.missed.push(one.clone()),
                    }
                }
                self.log = Some(state.clone());
                text(())
            }
            Op::Missed(limit) => {
                self.missed.sort_by_key(|one| (one.delivered, one.id));
                text(self.missed.iter().take(*limit as usize).collect::<Vec<_>>())
            }
            Op::DropMissed(id) => {
                self.missed.retain(|one| one.id != *id);
                text(())
            }
            Op::Scan(repo) => text(self.scans.get(repo)),
            Op::SaveScan(repo, state) => {
                self.scans.insert(*repo, state.clone());
                text(())
            }
            Op::Claim(owner, now, lease) => {
                self.wake_due(*now);
                let index = self.choose(*now);
                let claimed = index.map(|index| {
                    let run = &mut self.runs[index];
                    (run.view.state, run.started) = (State::Running, true);
                    (run.claimed.attempt, run.news) = (run.claimed.attempt + 1, (false, false));
                    run.take(owner, now.plus(*lease))
                });
                self.claimed(claimed)
            }
            Op::ClaimUnacknowledged(owner, now, lease, ready_before) => {
                let late = |run: &Run| run.is(State::Ready) && run.view.created < *ready_before;
                let waits = |run: &Run| !run.acknowledged && !run.deferred && !run.is_leased(*now);
                let index = self.pick(
                    |run| waits(run) && (run.is(State::Blocked) || late(run)),
                    |run| run.view.created,
                );
                let claimed = index.map(|index| self.runs[index].take(owner, now.plus(*lease)));
                self.claimed(claimed)
            }
            Op::Heartbeat(_, now, lease) => {
                let mut statuses = Vec::new();
                for held in leases {
                    let mut status = LeaseStatus {
                        run: held.run.clone(),
                        held: false,
                        cancel_requested: None,
                    };
                    for run in self.runs.iter_mut().filter(|run| run.is_held(held)) {
                        (run.until, run.news.0) = (Some(now.plus(*lease)), false);
                        status.held = true;
                        let cancel = &run.claimed.cancel_requested;
                        status.cancel_requested.clone_from(cancel);
                    }
                    statuses.push(status);
                }
                text(statuses)
            }
            Op::Release(owner) => {
                let theirs =
                    |run: &&mut Run| run.until.is_some() && run.claimed.lease.owner == *owner;
                let runs = self.runs.iter_mut().filter(theirs);
                text(runs.map(|run| run.release(false)).count())
            }
            Op::Recover(now) => {
                let mut recovered = 0;
                for run in &mut self.runs {
                    if run.until.is_some_and(|until| until <= *now) {
                        run.release(true);
                        recovered += 1;
                        let tried = self
                            .effects
                            .iter_mut()
                            .filter(|((id, _), (.., done))| *id == run.view.id && done.is_none());
                        tried.for_each(|(_, (_, last, _))| *last = *now);
                    }
                }
                text(recovered)
            }
            Op::NextDue => {
                let alone = |run: &Run| {
                    let installation = run.new.installation;
                    let other = |one: &Run| one.deferred && one.new.installation == installation;
                    self.count(|one| other(one) && one.is(State::Running)) == 0
                };
                let waiting = |run: &&Run| run.is(State::Waiting) && (!run.deferred || alone(run));
                text(self.runs.iter().filter(waiting).map(|run| run.due_at).min())
            }
            Op::Effects(run) => {
                let of_run = self.effects.iter().filter(|((id, _), _)| id == run);
                let done = of_run.filter_map(|((_, key), (.., done))| Some((key, (*done)?)));
                text(done.collect::<Vec<_>>())
            }
            Op::Run(id) => views(self.find(id).into_iter().map(Run::view)),
            Op::RunsAt(place, limit) => {
                let at = self
                    .runs
                    .iter()
                    .rev()
                    .filter(|run| run.is_at(place) && !run.is_refused());
                views(at.take(*limit as usize).map(Run::view))
            }
            Op::Recent(limit) => views(self.runs.iter().rev().take(*limit as usize).map(Run::view)),
            Op::Position(id) => text(
                self.find(id)
                    .map_or(QueuePosition::default(), |run| self.position(run)),
            ),
            Op::Cancel(place, before, by) => {
                let before = self.find(before).map(Run::order);
                let mut asked = Vec::new();
                for run in &mut self.runs {
                    if before
                        .as_ref()
                        .is_some_and(|it| run.is_unfinished_before(place, it))
                    {
                        run.news.0 |= run.claimed.cancel_requested.is_none();
                        run.claimed.cancel_requested.get_or_insert((*by).to_owned());
                        run.wake();
                        asked.push(&run.view.id);
                    }
                }
                text(asked)
            }
            Op::Requeue(place) => {
                let ended = |run: &Run| run.is(State::Failed) || run.is(State::Cancelled);
                let newest = self
                    .runs
                    .iter()
                    .rposition(|run| run.is_at(place) && ended(run) && !run.is_refused());
                if let Some(newest) = newest {
                    self.runs[newest].again();
                    self.promote(place);
                }
                text(newest.map(|newest| &self.runs[newest].view.id))
            }
            Op::Send(id, message, _) => {
                let run = self
                    .runs
                    .iter_mut()
                    .find(|run| run.view.id == *id && !run.has_ended());
                let sent = run.map(|run| {
                    run.news.1 = true;
                    run.wake();
                    self.messages.push((id.clone(), message));
                });
                text(sent.is_some())
            }
            Op::Messages(run) => {
                let of_run = self.messages.iter().filter(|(id, _)| id == run);
                text(of_run.map(|(_, message)| message).collect::<Vec<_>>())
            }
            Op::Usage(repo, since) => {
                let mut sums: Vec<CommandUsage> = Vec::new();
                for (_, _, one) in self
                    .usage
                    .values()
                    .filter(|(of, on, _)| of == repo && *on >= day(*since))
                {
                    match sums.iter_mut().find(|sum| sum.command == one.command) {
                        Some(sum) => {
                            (sum.runs, sum.turns) = (sum.runs + one.runs, sum.turns + one.turns);
                            sum.cost += one.cost;
                            sum.tokens.add(&one.tokens);
                        }
                        None => sums.push(one.clone()),
                    }
                }
                sums.sort_by(|a, b| (b.cost, &a.command).cmp(&(a.cost, &b.command)));
                text(sums)
            }
            Op::SavedAt(place) => {
                let at = self.saved.iter().rev().filter(|(at, _)| at == place);
                text(at.map(|(_, saved)| saved).collect::<Vec<_>>())
            }
            Op::Audit(entry) => {
                self.audit.push(entry.clone());
                text(())
            }
            Op::AuditOf(run) => {
                let of_run = self
                    .audit
                    .iter()
                    .filter(|one| one.run.as_ref() == Some(run));
                text(of_run.collect::<Vec<_>>())
            }
            Op::Counts => {
                let mut by_state = BTreeMap::new();
                for run in &self.runs {
                    *by_state.entry(run.view.state.name()).or_insert(0_u64) += 1;
                }
                let ready = self.runs.iter().filter(|run| run.is(State::Ready));
                text((by_state, ready.map(|run| run.view.created).min()))
            }
            Op::Prune(before) => {
                self.decisions.retain(|one| one.at >= *before);
                let is_old = |run: &&Run| run.view.finished.is_some_and(|at| at < *before);
                text(self.prune(*before, |one, runs| {
                    one.received < *before && runs.iter().all(is_old)
                }))
            }
            Op::PruneRefused(before) => {
                let is_old = |run: &&Run| {
                    run.is_refused() && run.view.finished.is_some_and(|at| at < *before)
                };
                text(self.prune(*before, |_, runs| {
                    !runs.is_empty() && runs.iter().all(is_old)
                }))
            }
            Op::Leased(_, write) => {
                let index = self.runs.iter().position(|run| run.is_held(&leases[0]));
                let answer = index.and_then(|index| self.write(index, write));
                answer.unwrap_or(format!("Fenced({})", leases[0].run))
            }
        }
    }

    fn claimed(&mut self, claimed: Option<Claimed>) -> String {
        self.taken = claimed.as_ref().map(|one| one.lease.clone());
        took(claimed)
    }

    /// Performs a write under a lease of a run; `None` if it is refused.
    fn write(&mut self, index: usize, write: &Write) -> Option<String> {
        let run = &mut self.runs[index];
        let id = run.view.id.clone();
        match write {
            Write::Acknowledged => {
                run.acknowledged = true;
                run.until = run.until.filter(|_| run.is(State::Running));
            }
            Write::Progress(step) => {
                run.claimed.progress = progress(*step);
                run.view.progress = Some(progress(*step));
            }
            Write::Finish(outcome, now) => {
                if !run.is(State::Running) {
                    return None;
                }
                run.finishes(outcome, *now);
                if let Some(place) = run.new.serial.clone() {
                    self.promote(&place);
                }
            }
            Write::BeginEffect(key, now) => {
                let state = match self.effects.get(&(id.clone(), *key)) {
                    None => EffectState::New,
                    Some((_, _, Some(result))) => EffectState::Done((*result).to_owned()),
                    Some(&(since, last, None)) => EffectState::Tried { since, last },
                };
                self.effects.entry((id, *key)).or_insert((*now, *now, None));
                return Some(text(state));
            }
            Write::RetryEffect(key, now) => {
                let effect = self.effects.get_mut(&(id, *key));
                effect.filter(|(.., done)| done.is_none())?.1 = *now;
            }
            Write::DropEffect(key) => {
                let effect = self.effects.get(&(id.clone(), *key));
                effect.filter(|(.., done)| done.is_none())?;
                self.effects.remove(&(id, *key));
            }
            Write::EndEffect(key, result, now) => {
                let effect = self.effects.entry((id, *key)).or_insert((*now, *now, None));
                effect.2 = Some(*result);
            }
            Write::Decide(request, standing, limits, now) => {
                return Some(
                    self.decide(index, request, *standing, limits, *now)
                        .to_owned(),
                );
            }
            Write::BeginTurn(key, scope, budget, now) => {
                let first = !self.turns.iter().any(|turn| turn.run == id);
                if self
                    .turns
                    .iter()
                    .any(|turn| turn.run == id && turn.key == *key)
                {
                    return Some(text(Ok::<_, ()>(())));
                }
                if let Some(exceeded) = self.exceeded(first, *scope, budget, *now) {
                    return Some(format!("Err({exceeded})"));
                }
                let (key, scope, at) = (*key, *scope, *now);
                self.turns.push(Turn {
                    run: id,
                    key,
                    at,
                    scope,
                    first,
                    cost: 0,
                });
                return Some(text(Ok::<_, ()>(())));
            }
            Write::EndTurn(key, spent) => {
                let mut turns = self.turns.iter_mut();
                let Some(turn) = turns.find(|turn| turn.run == id && turn.key == *key) else {
                    return Some("Failed".to_owned());
                };
                turn.cost = spent.cost;
                let used = CommandUsage {
                    command: run.view.command.clone(),
                    runs: turn.first.into(),
                    turns: spent.turns.into(),
                    cost: spent.cost,
                    tokens: spent.tokens,
                };
                self.usage
                    .insert((id, *key), (turn.scope.repo, day(turn.at), used));
            }
            Write::Saved(saved) => {
                let saved = SavedPlan {
                    run: id.clone(),
                    ..saved.clone()
                };
                let place = run.new.place.clone();
                match self.saved.iter_mut().find(|(_, one)| one.run == id) {
                    Some((_, one)) => *one = saved,
                    None => self.saved.push((place.clone(), saved)),
                }
                let at_place = |(at, _): &(String, SavedPlan)| *at == place;
                if self.saved.iter().filter(|one| at_place(one)).count() > MAX_SAVED_PLANS as usize
                {
                    self.saved.extract_if(.., |one| at_place(one)).next();
                }
            }
        }
        Some(text(()))
    }

    /// Returns every decision about an issue or pull request.
    fn decisions_at(&self, repo: u64, number: u64) -> Vec<DecisionRecord> {
        let here = |subject: &Subject| (subject.repo, subject.number) == (Some(repo), Some(number));
        let mut all: Vec<_> = self
            .decisions
            .iter()
            .filter(|one| here(&one.subject))
            .cloned()
            .collect();
        for one in self.deliveries.iter().filter(|one| one.dedup_key.is_some()) {
            let Some(trigger) = one.runs.first().map(|run| &run.trigger) else {
                continue;
            };
            let subject = Subject {
                action: one.action.clone(),
                repo: Some(trigger.place.repo.id),
                number: Some(trigger.place.number),
                comment: match trigger.origin {
                    Origin::Comment { id, .. } => Some(id),
                    _ => None,
                },
            };
            all.extend(here(&subject).then(|| DecisionRecord {
                at: one.received,
                source: one.source,
                guid: one.guid.clone(),
                event: one.event.clone(),
                subject,
                verdict: Verdict::Accepted(one.runs.iter().map(|run| run.id.clone()).collect()),
            }));
        }
        all.sort_by_key(|one| std::cmp::Reverse(one.at));
        all
    }
}
