//! Tests of the workers that wait for a run.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::task::Poll;

use futures_util::{FutureExt as _, poll};

use super::IdleWorkers;

#[tokio::test]
async fn an_event_while_no_worker_waits_is_kept_for_the_next_one() {
    let idle = IdleWorkers::default();
    assert!(!idle.wake(), "none waits");
    assert!(!idle.wake(), "none waits");

    idle.wait().now_or_never().unwrap();
    assert_eq!(idle.wait().now_or_never(), None, "one permit is kept");
}

#[tokio::test]
async fn one_waiting_worker_is_woken_at_a_time() {
    let idle = IdleWorkers::default();
    let mut first = Box::pin(idle.wait());
    let mut second = Box::pin(idle.wait());
    assert_eq!(poll!(&mut first), Poll::Pending);
    assert_eq!(poll!(&mut second), Poll::Pending);

    assert!(idle.wake());
    assert_eq!(poll!(&mut first), Poll::Ready(()));
    assert_eq!(poll!(&mut second), Poll::Pending);
    assert!(idle.wake(), "the second one still waits");
    assert_eq!(poll!(&mut second), Poll::Ready(()));
    assert!(!idle.wake(), "both have run");
}

#[tokio::test]
async fn a_worker_that_gives_up_waiting_is_not_counted() {
    let idle = IdleWorkers::default();
    let mut waiting = Box::pin(idle.wait());
    assert_eq!(poll!(&mut waiting), Poll::Pending);
    drop(waiting);
    assert!(!idle.wake());
}
