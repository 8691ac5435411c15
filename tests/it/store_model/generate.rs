//! Generates sequences of operations from a seed.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use super::*;

/// Few values, so that operations often meet.
pub(super) const OWNERS: [Key; 2] = ["w1", "w2"];
const PLACES: [(u64, u64, Key); 4] = [(1, 1, "1#1"), (1, 2, "1#2"), (2, 1, "2#1"), (3, 1, "3#1")];
const ACTORS: [u64; 3] = [7, 8, 9];
const LOGINS: [Key; 2] = ["ann", "bob"];
const COMMANDS: [Key; 2] = ["save-plan", "plan"];
const LABELS: [Key; 2] = ["Plan", "save-plan"];
const KEYS: [Key; 4] = ["k1", "k1", "k1", "k2"];
const VALUES: [Key; 2] = ["\"a\"", "\"b\""];

/// Generates an operation of some kind.
type Kind = fn(&mut Generator) -> Op;

/// Kinds of operations and how often they occur.
const KINDS: &[(u32, Kind)] = &[
    (20, Generator::accept),
    (16, Generator::claim),
    (5, Generator::claim_unacknowledged),
    (24, Generator::finish),
    (4, |g| g.leased(|_| Write::Acknowledged)),
    (2, |g| g.leased(|g| Write::Progress(g.below(9)))),
    (6, |g| g.leased(|g| Write::BeginEffect(g.key(), g.now))),
    (3, |g| g.leased(|g| Write::RetryEffect(g.key(), g.now))),
    (3, |g| g.leased(|g| Write::DropEffect(g.key()))),
    (3, |g| {
        g.leased(|g| Write::EndEffect(g.key(), g.of(&VALUES), g.now))
    }),
    (8, |g| g.leased(Generator::decide)),
    (9, |g| g.leased(Generator::begin_turn)),
    (6, |g| g.leased(Generator::end_turn)),
    (3, |g| g.leased(Generator::saved)),
    (5, Generator::heartbeat),
    (2, |g| Op::Release(g.of(&OWNERS))),
    (4, |g| Op::Recover(g.now)),
    (4, |g| Op::Cancel(g.place(), g.run(), g.of(&LOGINS))),
    (4, |g| Op::Requeue(g.place())),
    (4, |g| Op::Send(g.run(), g.of(&VALUES), g.now)),
    (2, Generator::record),
    (2, Generator::save_log),
    (1, |g| Op::DropMissed(g.below(g.attempts + 1).into())),
    (1, Generator::save_scan),
    (2, Generator::audit),
    (3, |g| Op::Prune(g.some_time_ago())),
    (3, |g| Op::PruneRefused(g.some_time_ago())),
    (1, |_| Op::NextDue),
    (1, |_| Op::Counts),
    (1, |g| Op::Run(g.run())),
    (1, |g| Op::RunsAt(g.place(), g.below(4))),
    (1, |g| Op::Recent(g.below(4))),
    (1, |g| Op::Position(g.run())),
    (1, |g| Op::Missed(g.below(3))),
    (2, Generator::label_accepted),
    (1, |g| {
        Op::Decided((1..=g.deliveries).map(guid).collect(), g.some_time_ago())
    }),
    (1, |g| {
        Op::Usage(u64::from(g.below(3)) + 1, g.some_time_ago())
    }),
];

/// Generates a sequence of operations.
pub(super) fn sequence(seed: u64, length: usize) -> Vec<Step> {
    let mut generator = Generator::new(seed);
    (1..=length)
        .map(|number| (number, generator.next(number)))
        .collect()
}

/// Returns operations that read everything that can be observed after a sequence. The last ones
/// take every lease back and claim what is left, in order.
pub(super) fn observations(steps: &[Step]) -> Vec<Step> {
    let (mut runs, mut ops) = (Vec::new(), Vec::new());
    let (mut effects, mut last, mut places) = (false, at(0), BTreeSet::new());
    for (_, op) in steps {
        match op {
            Op::Accept(Arrival(new)) => {
                runs.extend(new.runs.iter().map(|run| run.id.clone()));
                places.extend(new.runs.iter().map(|run| run.place.clone()));
                last = last.max(new.received);
            }
            Op::Record(decisions) => {
                let subjects = decisions.iter().map(|one| &one.subject);
                let key = |one: &Subject| Some(format!("{}#{}", one.repo?, one.number?));
                places.extend(subjects.filter_map(key));
            }
            Op::Send(run, ..) => ops.push(Op::Messages(run.clone())),
            Op::Audit(entry) => ops.extend(entry.run.clone().map(Op::AuditOf)),
            Op::Leased(_, Write::EndEffect(..)) => effects = true,
            _ => {}
        }
    }
    ops.extend([
        Op::Recent(1000),
        Op::Counts,
        Op::NextDue,
        Op::LogState,
        Op::Missed(1000),
    ]);
    ops.extend(runs.iter().cloned().map(Op::Position));
    ops.extend(runs.iter().filter(|_| effects).cloned().map(Op::Effects));
    for (repo, number, place) in PLACES {
        if places.contains(place) {
            let comments = (1..=3).map(|comment| (number, comment)).collect();
            ops.extend([
                Op::DecisionsAt(repo, number),
                Op::DecidedComments(repo, comments),
            ]);
            ops.extend([Op::RunsAt(place, 1000), Op::SavedAt(place)]);
        }
    }
    ops.extend((1..=3).flat_map(|repo| [Op::Scan(repo), Op::Usage(repo, at(0))]));
    let end = last.plus(DAY * 1000);
    ops.push(Op::Recover(end));
    ops.extend(runs.iter().map(|_| Op::Claim(OWNERS[0], end, DAY)));
    ops.into_iter().map(|op| (usize::MAX, op)).collect()
}

fn guid(number: u32) -> String {
    format!("g{number}")
}

/// The state from which the next operation is chosen. It performs the sequence on a model to know
/// which leases are current.
struct Generator {
    random: StdRng,
    /// Weights of the kinds in this sequence.
    weights: Vec<u32>,
    /// The places that occur in it.
    places: Vec<(u64, u64, Key)>,
    now: Millis,
    model: Model,
    leases: Leases,
    accepted: Vec<NewDelivery>,
    deliveries: u32,
    runs: u32,
    attempts: u32,
}

impl Generator {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        // Every sequence leaves out some kinds and repeats others more often.
        let weights = KINDS.iter().enumerate().map(|(index, (weight, _))| {
            let factor = [0, 1, 1, 3][random.random_range(0..4)];
            weight * if index < 2 { factor.max(1) } else { factor }
        });
        Self {
            weights: weights.collect(),
            places: (0..random.random_range(1..=4))
                .map(|_| PLACES[random.random_range(0..4)])
                .collect(),
            random,
            now: at(0),
            model: Model::default(),
            leases: Leases::default(),
            accepted: Vec::new(),
            deliveries: 0,
            runs: 0,
            attempts: 0,
        }
    }

    fn next(&mut self, number: usize) -> Op {
        self.advance();
        let mut left = self.below(self.weights.iter().sum());
        let chosen = self.weights.iter().position(|weight| {
            let chosen = left < *weight;
            left = left.saturating_sub(*weight);
            chosen
        });
        let op = KINDS[chosen.unwrap_or(0)].1(self);
        self.leases.ask(&mut self.model, number, &op);
        op
    }

    /// Moves the clock: mostly a little ahead, sometimes far ahead or a little back.
    fn advance(&mut self) {
        let step = match self.below(100) {
            0..60 => self.below(200),
            60..85 => self.below(2_000),
            85..92 => 10_000,
            92..96 => 20 * 60_000 + self.below(60 * 60_000),
            96..97 => 25 * 60 * 60_000,
            _ => {
                let back = Duration::from_millis(self.below(300).into());
                self.now = self.now.minus(back).max(at(0));
                0
            }
        };
        self.now = self.now.plus(Duration::from_millis(step.into()));
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.random_range(0..end.max(1))
    }

    /// Returns true in `percent` of 100 cases.
    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.random.random_range(0..values.len())]
    }

    fn key(&mut self) -> Key {
        self.of(&KEYS)
    }

    fn place(&mut self) -> Key {
        self.repo_place().2
    }

    fn repo_place(&mut self) -> (u64, u64, Key) {
        self.places[self.random.random_range(0..self.places.len())]
    }

    /// Returns a run, one of the newest in most cases, or one that does not exist.
    fn run(&mut self) -> RunId {
        let range = if self.chance(80) {
            self.runs.min(8)
        } else {
            self.runs + 1
        };
        run_id(self.runs - self.below(range))
    }

    fn some_time_ago(&mut self) -> Millis {
        let ago = self.of(&[0, 0, 1, 500, 2_000, 60 * 60_000, 24 * 60 * 60_000]);
        self.now.minus(Duration::from_millis(ago))
    }

    fn accept(&mut self) -> Op {
        self.deliveries += 1;
        let known = self.accepted.len().checked_sub(1);
        let known = known.map(|last| last - (self.below(6) as usize).min(last));
        let known = known.map(|index| self.accepted[index].clone());
        let mut new = match known {
            Some(known) if self.chance(25) => {
                let again = NewDelivery {
                    received: self.now,
                    ..known
                };
                // Not signed: the same event may come under another GUID.
                if self.chance(30) {
                    NewDelivery {
                        guid: guid(self.deliveries),
                        ..again
                    }
                } else {
                    again
                }
            }
            _ => self.delivery(),
        };
        for run in &mut new.runs {
            self.runs += 1;
            run.id = run_id(self.runs);
        }
        self.accepted.push(new.clone());
        Op::Accept(Arrival(new))
    }

    fn delivery(&mut self) -> NewDelivery {
        let (repo, number, _) = self.repo_place();
        let installation = repo / 3 + 1;
        let gone = self.chance(3);
        let number_of_runs = if gone { 0 } else { self.of(&[1, 1, 1, 2, 3]) };
        // GitHub's times have a resolution of one second.
        let said = Millis((self.now.0 - i64::from(self.below(4_000))) / 1000 * 1000);
        let comment = u64::from(self.below(3)) + 1;
        let origin = match self.below(5) {
            0 | 1 => Origin::Label {
                name: self.of(&LABELS).to_owned(),
            },
            2 => Origin::Push {
                head: "abc".to_owned(),
            },
            _ => Origin::Comment {
                id: comment,
                text: format!("/plan \"{comment}\""),
                url: String::new(),
            },
        };
        let run = |g: &mut Self| {
            let mut run = new_run(repo, number);
            run.trigger.origin = origin.clone();
            run.trigger.at = said;
            g.of(&COMMANDS).clone_into(&mut run.command);
            run.installation = installation;
            run.serial = run.serial.filter(|_| g.chance(80));
            run
        };
        let runs: Vec<_> = (0..number_of_runs).map(|_| run(self)).collect();
        let keyed = self.chance(80);
        NewDelivery {
            source: self.of(&[
                Source::Webhook,
                Source::Webhook,
                Source::DeliveryLog,
                Source::Scan,
            ]),
            guid: guid(self.deliveries),
            event: "issue_comment".to_owned(),
            action: Some("created".to_owned()),
            installation,
            dedup_key: runs
                .first()
                .filter(|_| keyed)
                .and_then(|run| run.trigger.dedup_key()),
            received: self.now,
            payload: self.chance(50).then(|| b"{}".to_vec()),
            runs,
            installation_gone: gone,
        }
    }

    fn lease_time(&mut self) -> Duration {
        Duration::from_secs(self.of(&[1, 1, 10]))
    }

    fn claim(&mut self) -> Op {
        Op::Claim(self.of(&OWNERS), self.now, self.lease_time())
    }

    fn claim_unacknowledged(&mut self) -> Op {
        let ready_before = self.some_time_ago();
        Op::ClaimUnacknowledged(self.of(&OWNERS), self.now, self.lease_time(), ready_before)
    }

    /// Returns a lease: a current one in most cases, if there is one.
    fn held(&mut self) -> Option<Held> {
        let leases = self.leases.0.iter();
        let leases = leases.map(|(claim, lease)| (self.model.holds(lease), *claim));
        let (mut current, mut all): (Vec<_>, Vec<_>) = leases.partition(|(holds, _)| *holds);
        all.extend(&current);
        if self.chance(12) && !all.is_empty() {
            current = all;
        }
        if current.is_empty() {
            return None;
        }
        current.sort_unstable();
        let (_, claim) = self.of(&current);
        let forged = self
            .chance(6)
            .then(|| self.of(&[Forged::Owner, Forged::Fence(1), Forged::Fence(-1)]));
        Some(Held { claim, forged })
    }

    fn leased(&mut self, write: impl FnOnce(&mut Self) -> Write) -> Op {
        match self.held() {
            Some(held) => Op::Leased(held, write(self)),
            None if self.model.choose(self.now).is_none() && self.chance(70) => self.accept(),
            None => self.claim(),
        }
    }

    fn finish(&mut self) -> Op {
        let outcome = match self.below(12) {
            0 => RunOutcome::Succeeded,
            1..6 => RunOutcome::Failed {
                code: self.of(&[Code::Internal, Code::AgentFailed, Code::PermissionDenied]),
                message: "it broke".to_owned(),
            },
            6 => RunOutcome::Cancelled,
            7 => RunOutcome::Yield,
            _ => RunOutcome::Park {
                until: self
                    .now
                    .plus(Duration::from_millis(self.below(5_000).into())),
                reason: "not now".to_owned(),
                counts: self.chance(50),
            },
        };
        let now = self.now;
        self.leased(|_| Write::Finish(outcome, now))
    }

    fn decide(&mut self) -> Write {
        let (repo, _, place) = self.repo_place();
        let request = CommandRequest {
            installation: repo / 3 + 1,
            place: place.to_owned(),
            actor: self.of(&ACTORS),
            comment: self.chance(80).then(|| u64::from(self.below(4)) + 1),
        };
        let standing = self.chance(80).then(|| ActorStanding {
            outsider: self.chance(60),
            refused: self.chance(30),
        });
        let limits = AnswerLimits {
            person: self.below(4).into(),
            place: 3,
            installation: 4,
            window: Duration::from_hours(1),
        };
        Write::Decide(request, standing, limits, self.now)
    }

    fn begin_turn(&mut self) -> Write {
        let scope = BudgetScope {
            repo: u64::from(self.below(3)) + 1,
            actor: self.of(&ACTORS),
        };
        let mut limit = |end| self.chance(25).then(|| u64::from(self.below(end)));
        let budget = Budget {
            actor_hour_runs: limit(3),
            repo_day_runs: limit(4),
            repo_day_cost: limit(200),
            day_runs: limit(5),
            day_cost: limit(400),
        };
        Write::BeginTurn(self.key(), scope, budget, self.now)
    }

    fn end_turn(&mut self) -> Write {
        let spent = Spent {
            turns: self.below(5),
            cost: self.below(200).into(),
            tokens: Tokens {
                input: self.below(100).into(),
                ..Tokens::default()
            },
            ..Spent::default()
        };
        Write::EndTurn(self.key(), spent)
    }

    fn saved(&mut self) -> Write {
        Write::Saved(SavedPlan {
            run: RunId("of the lease".to_owned()),
            at: self.now,
            text: "t".to_owned(),
            request: "r".to_owned(),
            complete: self.chance(50),
            issue: self.below(9).into(),
            url: String::new(),
            replaces: self.chance(50).then_some(1),
        })
    }

    /// No lease occurs twice, because what is returned then is not specified.
    fn heartbeat(&mut self) -> Op {
        let mut held: Vec<Held> = Vec::new();
        for _ in 0..=self.below(3) {
            held.extend(self.held());
        }
        held.sort_unstable_by_key(|one| one.claim);
        held.dedup_by_key(|one| one.claim);
        if held.len() > 1 {
            for one in &mut held {
                one.forged = None;
            }
        }
        Op::Heartbeat(held, self.now, self.lease_time())
    }

    /// Decisions that are recorded together are of one time.
    fn record(&mut self) -> Op {
        let one = |g: &mut Self| {
            let (repo, number, _) = g.repo_place();
            DecisionRecord {
                at: g.now,
                source: g.of(&[Source::Webhook, Source::Scan]),
                guid: guid(g.below(g.deliveries + 3) + 1),
                event: "issue_comment".to_owned(),
                subject: Subject {
                    action: g
                        .chance(80)
                        .then(|| g.of(&["created", "edited"]).to_owned()),
                    repo: g.chance(90).then_some(repo),
                    number: g.chance(90).then_some(number),
                    comment: g.chance(80).then(|| u64::from(g.below(3)) + 1),
                },
                verdict: match g.below(4) {
                    0 => Verdict::Duplicate,
                    1 => Verdict::Requeued,
                    2 => Verdict::Ignored("no command".to_owned()),
                    _ => Verdict::Refused("no JSON".to_owned()),
                },
            }
        };
        Op::Record((0..self.below(4)).map(|_| one(self)).collect())
    }

    fn save_log(&mut self) -> Op {
        let one = |g: &mut Self| {
            // An attempt may be listed again, and have the GUID of an earlier one.
            let id = if g.chance(30) {
                g.below(g.attempts + 1)
            } else {
                g.attempts + 1
            };
            g.attempts = g.attempts.max(id);
            LoggedAttempt {
                id: id.into(),
                guid: guid(id % 4),
                event: "push".to_owned(),
                action: None,
                delivered: g.now.minus(Duration::from_millis(g.below(3_000).into())),
                status_code: 502,
                repo: g.chance(50).then_some(1),
            }
        };
        let missed = (0..self.below(4)).map(|_| one(self)).collect();
        let state = LogState {
            watermark: self.now,
            walk: None,
        };
        Op::SaveLog(state, missed)
    }

    fn save_scan(&mut self) -> Op {
        let position = ScanPosition {
            since: self.now,
            etag: None,
        };
        let state = ScanState {
            comments: position,
            issues: ScanPosition::default(),
        };
        Op::SaveScan(u64::from(self.below(3)) + 1, state)
    }

    fn audit(&mut self) -> Op {
        Op::Audit(AuditEntry {
            at: self.now,
            run: self.chance(90).then(|| self.run()),
            guid: None,
            actor: self.of(&LOGINS).to_owned(),
            decision: "accepted".to_owned(),
            why: self.of(&VALUES).to_owned(),
        })
    }

    /// Asks for a period that begins or ends at about the time of a known event.
    fn label_accepted(&mut self) -> Op {
        let said = self
            .accepted
            .iter()
            .flat_map(|new| &new.runs)
            .map(|run| run.trigger.at);
        let said: Vec<_> = said.chain([self.now]).collect();
        let (from, to) = (self.of(&said), self.of(&said));
        let from = from.plus(Duration::from_millis(self.below(2).into()));
        let to = to.minus(Duration::from_millis(self.below(2).into()));
        Op::LabelAccepted(self.place(), self.of(&LABELS), (from, to))
    }
}

/// Returns a run id; ids are in the order in which the runs are made.
fn run_id(number: u32) -> RunId {
    RunId(format!("r{number:03}"))
}
