//! The crash matrix: the bot's process is killed, or GitHub's response is lost, at every write of a
//! save. In the end there is exactly one plan.

use std::time::Instant;

use futures_util::{StreamExt, stream};
use github_simulator::{Fault, FaultKind};
use http::Method;
use planwright::engine::model::run::State;
use planwright::formats::plan::document::plan_text;

use crate::support::rig::PLAN;
#[cfg(unix)]
use crate::support::system::Options;
use crate::support::system::{Moment, System};

const REPO: &str = "acme/search";
/// Cases at work at the same time.
const TOGETHER: usize = 4;
/// Kills at the same time where the next process waits for the end of a lease.
const WAITING: usize = 8;

/// The store of the bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum On {
    Sqlite,
    Postgres,
}

impl On {
    /// Starts the whole system; `None` if there is no PostgreSQL, which is reported.
    async fn system(self) -> Option<System> {
        if self == Self::Sqlite {
            return Some(System::start().await);
        }
        #[cfg(unix)]
        return Some(
            System::with(Options {
                postgres: Some((crate::support::postgres::database().await?, 1)),
                environment: vec![
                    ("PLANWRIGHT_STORE_MAX_CONNECTIONS", "5".to_owned()),
                    // On a busy machine a heartbeat may come too late.
                    ("PLANWRIGHT_WORKER_MAX_ATTEMPTS", "20".to_owned()),
                ],
                ..Options::default()
            })
            .await,
        );
        #[cfg(not(unix))]
        None
    }
}

/// How somebody asks for a save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A command in a comment; the plan fits into one comment.
    Command,
    /// A label; the plan takes two comments.
    Label,
}

/// A conversation with a plan, and the bot listening.
struct Scene {
    system: System,
    way: Way,
    plan: String,
    issue: u64,
    asked: Option<u64>,
}

impl Scene {
    async fn new(on: On, way: Way) -> Option<Self> {
        let system = on.system().await?;
        system.repository(REPO, false);
        let mut plan = PLAN.to_owned();
        if way == Way::Label {
            // Just under GitHub's 65,536 characters for the issue, too much for one comment with
            // its frame.
            plan.push_str(&"\n- Measure once more, @ada\n".repeat(2_350));
        }
        let opened = system.sim.open_issue(REPO, "bob", "Search is slow", &plan);
        system.sim.settle().await;
        Some(Self {
            system,
            way,
            plan,
            issue: opened.unwrap(),
            asked: None,
        })
    }

    fn ask(&mut self) {
        let sim = &self.system.sim;
        match self.way {
            Way::Command => {
                let comment = sim.comment(REPO, self.issue, "ada", "/save-plan");
                self.asked = Some(comment.unwrap());
            }
            Way::Label => sim.label(REPO, self.issue, "ada", "save-plan").unwrap(),
        }
    }

    /// One plan issue with its comments, one status comment in its final form, one closing
    /// reaction, one run.
    async fn assert_saved_once(&self, case: &str) {
        let system = &self.system;
        let runs = system.run_to_rest().await;
        assert_eq!(runs.len(), 1, "{case}: {runs:#?}");
        assert_eq!(
            runs[0].state,
            State::Succeeded,
            "{case}: {:?}\n{}",
            runs[0].code,
            system.last_lines()
        );
        let plans = system.plans(REPO);
        assert_eq!(plans.len(), 1, "{case}: plan issues");
        let plan = &plans[0];
        assert_eq!(plan.title, "Cache the search index", "{case}");
        assert_eq!(plan.labels, ["erk-plan"], "{case}");
        let comments = system.said(REPO, plan.number);
        let parts = if self.way == Way::Label { 2 } else { 1 };
        assert_eq!(comments.len(), parts, "{case}: plan comments");
        let document = system.document(REPO, plan.number);
        assert_eq!(plan_text(&document), self.plan, "{case}");
        let body = plan.body.as_deref().unwrap_or_default();
        let id = format!("plan_comment_id: {}", comments[0].id);
        assert!(body.contains(&id), "{case}: {body}");
        let said = system.said(REPO, self.issue);
        assert_eq!(said.len(), 1, "{case}: {said:#?}");
        let end = "✅ Plan saved: [";
        assert!(said[0].body.contains(end), "{case}: {}", said[0].body);
        let reactions = match self.asked {
            Some(comment) => system.sim.comment_reactions(comment),
            None => system.sim.reactions(REPO, self.issue),
        };
        assert_eq!(reactions.unwrap(), ["rocket"], "{case}");
        let place = system.sim.issue(REPO, self.issue).unwrap();
        assert_eq!(place.labels, [""; 0], "{case}: the label is off");
    }
}

/// Methods of the writes of a save that nothing disturbs; `None` if there is no such store.
async fn writes_of_a_save(on: On, way: Way) -> Option<Vec<Method>> {
    let mut scene = Scene::new(on, way).await?;
    scene.ask();
    scene.assert_saved_once("undisturbed").await;
    scene.system.stop().await;
    Some(scene.system.gate.writes())
}

async fn killed_at(on: On, way: Way, write: usize, moment: Moment) {
    let mut scene = Scene::new(on, way).await.unwrap();
    scene.system.gate.arm(write, moment);
    scene.ask();
    scene.system.caught().await;
    scene.system.kill().await;
    scene.system.start_bot().await;
    // The kill may have come before the acknowledgement.
    scene.system.redeliver_failed().await;
    let case = format!("{on:?}, {way:?}: killed {moment:?} write {write}");
    scene.assert_saved_once(&case).await;
}

async fn kill_at_every_write(on: On, together: usize) {
    for way in [Way::Command, Way::Label] {
        let Some(writes) = writes_of_a_save(on, way).await else {
            return;
        };
        let writes = writes.len();
        assert!(writes >= 8, "{writes}");
        let began = Instant::now();
        let moments = [Moment::Before, Moment::During, Moment::After];
        let cases =
            (0..writes).flat_map(|write| moments.map(|moment| killed_at(on, way, write, moment)));
        let cases = stream::iter(cases).buffer_unordered(together);
        let count = Box::pin(cases.count()).await;
        println!("{way:?}: {count} kills in {:.1?}", began.elapsed());
        assert_eq!(count, 3 * writes);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_at_any_write_leaves_exactly_one_plan() {
    kill_at_every_write(On::Sqlite, TOGETHER).await;
}

/// The next process finds the lease of the killed one, and waits for its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_at_any_write_leaves_exactly_one_plan_with_postgres() {
    kill_at_every_write(On::Postgres, WAITING).await;
}

async fn answer_spoilt_at(on: On, way: Way, write: usize, methods: &[Method], trouble: FaultKind) {
    let case = format!("{on:?}, {way:?}: {trouble:?} at write {write}");
    let mut scene = Scene::new(on, way).await.unwrap();
    let method = &methods[write];
    let earlier = methods[..write].iter().filter(|other| *other == method);
    let earlier = u32::try_from(earlier.count()).unwrap();
    let fault = Fault::on(method.as_str(), "/repos/**", trouble).after(earlier);
    scene.system.sim.faults().push(fault);
    scene.ask();
    scene.assert_saved_once(&case).await;
    assert_eq!(scene.system.sim.faults().injected(), 1, "{case}");
}

async fn spoil_every_answer(on: On) {
    for way in [Way::Command, Way::Label] {
        let Some(methods) = &writes_of_a_save(on, way).await else {
            return;
        };
        let began = Instant::now();
        let troubles = [FaultKind::BadGatewayAfter, FaultKind::LostResponse];
        let cases = (0..methods.len()).flat_map(|write| {
            troubles
                .clone()
                .map(|trouble| answer_spoilt_at(on, way, write, methods, trouble))
        });
        let cases = stream::iter(cases).buffer_unordered(TOGETHER);
        let count = Box::pin(cases.count()).await;
        println!("{way:?}: {count} spoilt answers in {:.1?}", began.elapsed());
        assert_eq!(count, 2 * methods.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_502_or_no_answer_after_any_write_leaves_exactly_one_plan() {
    spoil_every_answer(On::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_502_or_no_answer_after_any_write_leaves_exactly_one_plan_with_postgres() {
    spoil_every_answer(On::Postgres).await;
}
