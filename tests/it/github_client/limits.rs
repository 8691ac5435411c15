//! Rate limits and the write lane.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use planwright::adapters::github::GitHub;
use planwright::engine::forge::{Forge, ForgeError, ReactTo, Reaction};
use planwright::engine::model::time::Millis;
use planwright::engine::replicas::{PlannedWrite, Replicas, Slot};
use planwright::engine::store::StoreError;
use serde_json::json;

use super::stub::*;

/// Answers reads and writes of one kind each.
fn fine(asked: &Asked) -> Option<Reply> {
    match asked.path.rsplit('/').next()? {
        "permission" => reply(
            200,
            json!({"permission": "read", "user": {"id": 1, "login": "a"}}),
        ),
        "comments" => reply(201, own_comment(1, "b")),
        "reactions" => reply(201, json!({"id": 1})),
        _ => None,
    }
}

#[tokio::test]
async fn a_limited_installation_is_left_alone_until_then() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if asked.path.ends_with("/comments") && asked.before == 0 {
            let headers = vec![("retry-after", "72".to_owned())];
            let body = json!({"message": "You have exceeded a secondary rate limit."});
            return Some(Reply::With(403, headers, body));
        }
        fine(asked)
    })
    .await;
    let github = client(&stub, &clock);
    let error = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    let until = START.plus(Duration::from_secs(72));
    assert_eq!(
        error,
        ForgeError::Limited {
            what: "a new comment on issue #7 of octo/plans".to_owned(),
            until
        }
    );
    assert_eq!(
        error.to_string(),
        "GitHub's rate limit stops a new comment on issue #7 of octo/plans until 2026-01-01T00:01:12Z"
    );
    let asked = stub.asked().len();
    clock.pass(Duration::from_secs(71));
    for error in [
        github.create_comment(&repo(), 7, "b").await.unwrap_err(),
        github.access(&repo(), "a").await.unwrap_err(),
    ] {
        assert!(
            matches!(error, ForgeError::Limited { until: then, .. } if then == until),
            "{error}"
        );
    }
    assert_eq!(stub.asked().len(), asked, "nothing was asked");
    // Other installations have budgets of their own.
    let mut other = repo();
    other.installation = 6;
    github.access(&other, "a").await.unwrap();
    clock.pass(Duration::from_secs(1));
    github.create_comment(&repo(), 7, "b").await.unwrap();
    assert!(clock.slept().is_empty(), "the caller waits, not the client");
}

#[tokio::test]
async fn the_last_request_of_the_hour_succeeds_and_stops_the_next() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| match fine(asked)? {
        Reply::With(status, _, body) => Some(Reply::With(
            status,
            vec![
                ("x-ratelimit-remaining", "0".to_owned()),
                ("x-ratelimit-reset", (START.0 / 1000 + 600).to_string()),
                ("x-ratelimit-resource", "core".to_owned()),
            ],
            body,
        )),
        other => Some(other),
    })
    .await;
    let github = client(&stub, &clock);
    github.create_comment(&repo(), 7, "b").await.unwrap();
    let error = github.access(&repo(), "a").await.unwrap_err();
    let then = START.plus(Duration::from_mins(10));
    assert!(
        matches!(error, ForgeError::Limited { until, .. } if until == then),
        "{error}"
    );
    assert_eq!(stub.lines().len(), 1);
}

#[tokio::test]
async fn a_limited_mint_limits_the_app() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        (asked.path.ends_with("/access_tokens") && asked.before == 0)
            .then(|| {
                reply(
                    429,
                    json!({"message": "You have exceeded a secondary rate limit."}),
                )
            })
            .flatten()
            .or_else(|| fine(asked))
    })
    .await;
    let github = client(&stub, &clock);
    let mut other = repo();
    other.installation = 6;
    for repo in [repo(), other] {
        let error = github.access(&repo, "a").await.unwrap_err();
        let then = START.plus(Duration::from_mins(1));
        assert!(
            matches!(error, ForgeError::Limited { until, .. } if until == then),
            "{error}"
        );
    }
    assert_eq!(stub.asked().len(), 1);
    clock.pass(Duration::from_mins(1));
    github.access(&repo(), "a").await.unwrap();
}

fn paced(stub: &Stub, clock: &std::sync::Arc<TestClock>) -> GitHub {
    let mut config = config(&stub.url);
    config.write_gap = Duration::from_secs(1);
    config.notify_gap = Duration::from_secs(3);
    GitHub::new(config, clock.clone()).unwrap()
}

#[tokio::test]
async fn writes_keep_their_distance_and_reads_do_not() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, fine).await;
    let github = paced(&stub, &clock);
    let (repo, place) = (repo(), place());
    github
        .react(&place, &ReactTo::Issue, Reaction::Eyes)
        .await
        .unwrap();
    assert!(clock.slept().is_empty(), "the first goes at once");
    github.access(&repo, "a").await.unwrap();
    assert!(clock.slept().is_empty(), "reads are not laned");
    github.create_comment(&repo, 7, "b").await.unwrap();
    assert_eq!(clock.slept(), [1]);
    github
        .react(&place, &ReactTo::Issue, Reaction::Rocket)
        .await
        .unwrap();
    assert_eq!(clock.slept(), [1, 1]);
    // Three seconds after the last comment, one of which has passed.
    github.create_comment(&repo, 7, "b").await.unwrap();
    assert_eq!(clock.slept(), [1, 1, 2]);
    clock.pass(Duration::from_secs(10));
    github.create_comment(&repo, 7, "b").await.unwrap();
    assert_eq!(clock.slept(), [1, 1, 2], "nothing to wait for");
}

#[tokio::test]
async fn a_lane_is_one_installations() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, fine).await;
    let github = paced(&stub, &clock);
    let mut other = repo();
    other.installation = 6;
    github.create_comment(&repo(), 7, "b").await.unwrap();
    github.create_comment(&other, 7, "b").await.unwrap();
    assert!(clock.slept().is_empty());
    let repo = repo();
    for answer in join_all((0..3).map(|_| github.create_comment(&repo, 7, "b"))).await {
        answer.unwrap();
    }
    assert_eq!(clock.slept(), [3, 3, 3], "one after another");
}

#[tokio::test]
async fn a_clock_set_back_does_not_stop_the_lane() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, fine).await;
    let github = paced(&stub, &clock);
    github.create_comment(&repo(), 7, "b").await.unwrap();
    clock.set_back(Duration::from_hours(10));
    github.create_comment(&repo(), 7, "b").await.unwrap();
    assert_eq!(clock.slept(), [3]);
}

/// Other processes, with prepared answers. Records what it was asked.
#[derive(Default)]
struct Others {
    slots: Mutex<VecDeque<Result<Slot, StoreError>>>,
    planned: Mutex<Vec<PlannedWrite>>,
    limits: Mutex<Vec<(u64, Millis)>>,
}

#[async_trait]
impl Replicas for Others {
    async fn lead(&self, _: &str, _: &str, _: Millis, _: Duration) -> Result<bool, StoreError> {
        unreachable!()
    }

    async fn reserve_write(&self, write: PlannedWrite, now: Millis) -> Result<Slot, StoreError> {
        self.planned.lock().unwrap().push(write);
        let slot = self.slots.lock().unwrap().pop_front();
        slot.unwrap_or(Ok(Slot::At(now)))
    }

    async fn limit_requests(&self, installation: u64, until: Millis) -> Result<(), StoreError> {
        self.limits.lock().unwrap().push((installation, until));
        Ok(())
    }
}

#[tokio::test]
async fn writes_keep_the_times_and_limits_that_processes_agree_on() {
    let clock = TestClock::new();
    let stub = Stub::start(&clock, |asked| {
        if asked.path.ends_with("/comments") && asked.before == 1 {
            let headers = vec![("retry-after", "72".to_owned())];
            return Some(Reply::With(429, headers, json!({"message": "rate limit"})));
        }
        fine(asked)
    })
    .await;
    let later = START.plus(Duration::from_secs(40));
    let others = Arc::new(Others {
        slots: Mutex::new(VecDeque::from([
            Ok(Slot::At(START.plus(Duration::from_secs(7)))),
            Ok(Slot::LimitedUntil(later)),
            Err(StoreError::Failed("it is closed".to_owned())),
        ])),
        ..Others::default()
    });
    let github = paced(&stub, &clock).with_replicas(Some(Arc::clone(&others) as _));
    github.create_comment(&repo(), 7, "b").await.unwrap();
    assert_eq!(clock.slept(), [7], "until the reserved time");
    let write = PlannedWrite {
        installation: 5,
        gap: Duration::from_secs(1),
        notify_gap: Some(Duration::from_secs(3)),
    };
    assert_eq!(others.planned.lock().unwrap().as_slice(), [write]);

    clock.pass(Duration::from_secs(10));
    let limited = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    assert!(
        matches!(limited, ForgeError::Limited { until, .. } if until == later),
        "another process met the limit: {limited}"
    );
    clock.pass(Duration::from_mins(1));
    let unsent = github.create_comment(&repo(), 7, "b").await.unwrap_err();
    assert_eq!(
        unsent.to_string(),
        "GitHub cannot be reached for a new comment on issue #7 of octo/plans: the write was not sent: the store failed: it \
         is closed"
    );
    let sent = |asked: &[Asked]| {
        asked
            .iter()
            .filter(|one| one.path.ends_with("/comments"))
            .count()
    };
    assert_eq!(sent(&stub.asked()), 1, "neither was sent");

    clock.pass(Duration::from_mins(1));
    let now = planwright::engine::clock::Clock::now(&*clock);
    github.create_comment(&repo(), 7, "b").await.unwrap_err();
    let until = now.plus(Duration::from_secs(72));
    assert_eq!(others.limits.lock().unwrap().as_slice(), [(5, until)]);
}
