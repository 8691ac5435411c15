//! What an agent prints is stored for people who watch its run.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use planwright::engine::agent::{About, Agent, Task, TurnObserver};
use planwright::engine::agent_output::RecordedAgent;
use planwright::engine::clock::Clock;
use planwright::engine::model::agent::{Document, Limits, Report, Session};
use planwright::engine::model::run::RunId;
use planwright::engine::model::time::Millis;
use planwright::engine::store::MAX_OUTPUT_PORTION;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::receiver_support::{FakeStore, Mood};
use crate::support::fake_agent::{Act, FakeAgent};

/// A clock on which each call of [`Seconds::pass`] ends one sleep.
struct Seconds {
    passed: AtomicI64,
    sleeps: Semaphore,
}

impl Seconds {
    fn pass(&self) {
        self.passed.fetch_add(1, Ordering::SeqCst);
        self.sleeps.add_permits(1);
    }
}

#[async_trait]
impl Clock for Seconds {
    fn now(&self) -> Millis {
        Millis(self.passed.load(Ordering::SeqCst) * 1_000)
    }

    async fn sleep(&self, duration: Duration) {
        assert_eq!(duration, Duration::from_secs(1));
        self.sleeps.acquire().await.unwrap().forget();
    }
}

/// An agent that prints groups of messages. A second passes between two groups.
struct Talker {
    groups: Vec<Vec<String>>,
    store: Arc<FakeStore>,
    clock: Arc<Seconds>,
    inner: FakeAgent,
}

#[async_trait]
impl Agent for Talker {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn full(&self) -> bool {
        self.inner.full()
    }

    async fn work(&self, task: &Task, seen: &TurnObserver, stop: CancellationToken) -> Report {
        assert!(seen.wants_output());
        for (index, group) in self.groups.iter().enumerate() {
            if index > 0 {
                self.clock.pass();
                self.store.appended.acquire().await.unwrap().forget();
            }
            for message in group {
                seen.print(message.clone());
            }
        }
        self.inner.work(task, seen, stop).await
    }

    async fn give(&self, run: &RunId, documents: Vec<Document>) -> Result<(), String> {
        self.inner.give(run, documents).await
    }

    async fn given(&self, run: &RunId) -> bool {
        self.inner.given(run).await
    }

    async fn forget(&self, run: &RunId) {
        self.inner.forget(run).await;
    }

    async fn kept(&self) -> Vec<RunId> {
        self.inner.kept().await
    }
}

/// Runs a turn that prints these groups; returns the second and the text of each stored portion.
async fn stored(part: u32, mood: Mood, groups: &[&[&str]]) -> Vec<(i64, String)> {
    let store = Arc::new(FakeStore::new());
    *store.mood.lock().unwrap() = mood;
    let clock = Arc::new(Seconds {
        passed: AtomicI64::new(0),
        sleeps: Semaphore::new(0),
    });
    let owned = |group: &&[&str]| group.iter().map(|&text| text.to_owned()).collect();
    let talker = Talker {
        groups: groups.iter().map(owned).collect(),
        store: store.clone(),
        clock: clock.clone(),
        inner: FakeAgent::new(vec![Act::Say("done".to_owned())]),
    };
    let task = Task {
        run: RunId::new(),
        part,
        system: String::new(),
        prompt: String::new(),
        session: Session::New("s-1".to_owned()),
        cost_before: 0,
        limits: Limits {
            deadline: Duration::from_secs(1),
            silence: Duration::from_secs(1),
            turns: 1,
            cost: None,
        },
        wanted: Vec::new(),
        files: Vec::new(),
        model: None,
        repository: None,
    };
    let agent = RecordedAgent::new(Arc::new(talker), store.clone(), clock);
    let (seen, usage) = TurnObserver::new();
    let report = agent.work(&task, &seen, CancellationToken::new()).await;
    assert_eq!(report.spent.turns, 1);
    assert_eq!(usage.borrow().turns, 1, "the caller sees the usage");
    let output = std::mem::take(&mut *store.output.lock().unwrap());
    output
        .into_iter()
        .map(|(run, text, at)| {
            assert_eq!(run, task.run);
            (at.0 / 1_000, text)
        })
        .collect()
}

#[tokio::test]
async fn what_is_printed_within_a_second_is_one_portion() {
    for (part, groups, expected) in [
        (0, &[][..], &[][..]),
        (0, &[&[][..]], &[]),
        (0, &[&["one\n"][..]], &[(0, "one\n")]),
        (0, &[&["one\n", "two\n"][..]], &[(0, "one\ntwo\n")]),
        (
            0,
            &[&["one\n", "two\n"][..], &["three\n"], &["four\n", "five\n"]],
            &[(1, "one\ntwo\n"), (2, "three\n"), (2, "four\nfive\n")],
        ),
        (
            3,
            &[&["one\n", "two\n"][..], &["three\n"]],
            &[(1, "[3] one\n[3] two\n"), (1, "[3] three\n")],
        ),
    ] {
        let portions = stored(part, Mood::Well, groups).await;
        let portions: Vec<(i64, &str)> = portions.iter().map(|(at, text)| (*at, &**text)).collect();
        assert_eq!(portions, expected, "{groups:?}");
    }
}

#[tokio::test]
async fn long_output_is_stored_whole_in_portions_of_limited_size() {
    let long = "é".repeat(MAX_OUTPUT_PORTION);
    let line = format!("{}\n", "x".repeat(MAX_OUTPUT_PORTION - 2));
    for messages in [&[&*long][..], &[&line, &line, &line], &["a", &long, "b"]] {
        let portions = stored(0, Mood::Well, &[messages]).await;
        let all: String = portions.iter().map(|(_, text)| text.as_str()).collect();
        assert!(all == messages.concat(), "something is missing");
        assert!(portions.len() >= 2);
        for (_, text) in &portions {
            assert!((1..=MAX_OUTPUT_PORTION).contains(&text.len()));
        }
    }
}

#[tokio::test]
async fn a_store_that_fails_does_not_disturb_the_turn() {
    let groups = [&["one\n"][..], &["two\n"]];
    assert_eq!(stored(0, Mood::Broken, &groups).await, []);
}

/// The queue holds a bounded number of messages, and the agent does not wait for the store.
#[tokio::test]
async fn a_flood_of_messages_is_cut_rather_than_delayed() {
    let flood = vec!["x"; 10_000];
    let portions = stored(0, Mood::Well, &[&flood]).await;
    let length: usize = portions.iter().map(|(_, text)| text.len()).sum();
    assert!((1..10_000).contains(&length), "{length}");
}
