//! Saving from a terminal: once per plan, and completed after every kind of interruption.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use planwright::engine::clock::Clock;
use planwright::engine::local_save::{self, Before, Known, Order, Outcome, SaveError, look};
use planwright::engine::model::progress::{Enriched, Prepared};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::Actor;
use planwright::engine::services::Services;
use planwright::engine::settings::{PublishSettings, Settings};

use crate::support::clock::ManualClock;
use crate::support::fake_forge::{Fault, Happening, Where};
use crate::support::rig::{HERE, PLAN, Rig};

/// The rig's clock, which jumps ahead where somebody sleeps: whoever saves from a terminal waits.
struct Leaping(Arc<ManualClock>);

#[async_trait]
impl Clock for Leaping {
    fn now(&self) -> Millis {
        self.0.now()
    }

    async fn sleep(&self, duration: Duration) {
        self.0.advance_to(self.0.now().plus(duration));
    }
}

async fn save(parts: &Services, order: &Order, prepared: &Prepared) -> Result<Outcome, SaveError> {
    local_save::save(parts, order, prepared, |_| {}).await
}

fn parts(rig: &Rig) -> Services {
    Services {
        clock: Arc::new(Leaping(Arc::clone(&rig.clock))),
        ..rig.parts.clone()
    }
}

fn order(session: &str) -> Order {
    Order {
        server: "https://api.github.test".to_owned(),
        place: Rig::place(HERE),
        actor: Actor {
            id: 7,
            login: "ada".to_owned(),
            bot: false,
        },
        session: Some(session.to_owned()),
        again: None,
        at: Millis(0),
    }
}

fn prepared(text: &str) -> Prepared {
    Prepared {
        issue_title: "Cache the search index".to_owned(),
        title: "Cache the search index".to_owned(),
        document: text.to_owned(),
        found: "found in the session".to_owned(),
        sentence: String::new(),
        steps: Vec::new(),
        notes: Vec::new(),
        source_title: "Search is slow to start".to_owned(),
        log: None,
        enriched: Enriched::No,
        warnings: Vec::new(),
        attached: Vec::new(),
        hidden: None,
        replaces: None,
        base: None,
        files: None,
    }
}

/// Saves until the process "dies" at a fault.
async fn save_and_die(rig: &Rig, parts: &Services) {
    let died = Arc::clone(&rig.forge.died);
    let (order, prepared) = (order("s-1"), prepared(PLAN));
    tokio::select! {
        outcome = save(parts, &order, &prepared) => panic!("{outcome:?}"),
        () = died.notified() => {}
    }
    // The next process opens the store.
    rig.store.recover_all(rig.clock.now()).await.unwrap();
}

#[tokio::test]
async fn a_session_s_plan_becomes_an_issue_and_nothing_is_said_elsewhere() {
    let rig = Rig::new().await;
    let outcome = save(&parts(&rig), &order("s-1"), &prepared(PLAN))
        .await
        .unwrap();
    let plans = rig.forge.plans();
    let [(number, plan)] = plans.as_slice() else {
        panic!("{plans:?}")
    };
    let Outcome::Saved { saved, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(saved.number, *number);
    assert_eq!(saved.comments, plan.comments);
    assert!(
        plan.body.contains(
            "From the local session `s-1` for acme/search#7, saved by ada with `planwright save`.\n"
        ),
        "{}",
        plan.body
    );
    assert!(rig.forge.own_bodies(HERE).is_empty());
    assert!(rig.forge.world.lock().unwrap().reactions.is_empty());
}

#[tokio::test]
async fn the_same_plan_of_a_session_is_saved_once_until_asked_again() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    let first = save(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    let Outcome::Saved { saved, .. } = first else {
        panic!("{first:?}")
    };
    let before = |same| Before {
        saved: saved.clone(),
        same,
        gone: false,
        linked: true,
    };
    let second = save(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    assert!(matches!(second, Outcome::Before(known, _) if known == before(true)));
    let changed = save(
        &parts,
        &order("s-1"),
        &prepared(&format!("{PLAN}\nMore.\n")),
    )
    .await
    .unwrap();
    assert!(matches!(changed, Outcome::Before(known, _) if known == before(false)));
    assert_eq!(rig.forge.plans().len(), 1);
    let again = Order {
        again: Some("1".to_owned()),
        ..order("s-1")
    };
    for order in [again, order("s-2")] {
        let outcome = save(&parts, &order, &prepared(PLAN)).await.unwrap();
        assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
    }
    assert_eq!(rig.forge.plans().len(), 3);
}

#[tokio::test]
async fn every_lost_answer_and_short_limit_is_waited_out_and_nothing_is_written_twice() {
    for fault in [
        Fault::LostBefore,
        Fault::LostAfter,
        Fault::Limited(Duration::from_secs(20)),
    ] {
        for write in 1..=4 {
            let rig = Rig::with(Settings::default()).await;
            rig.forge.fail(write, fault);
            let outcome = save(&parts(&rig), &order("s-1"), &prepared(PLAN))
                .await
                .unwrap();
            let Outcome::Saved { saved, .. } = outcome else {
                panic!("{fault:?} {write}: {outcome:?}")
            };
            let plans = rig.forge.plans();
            assert_eq!(plans.len(), 1, "{fault:?} at write {write}");
            assert_eq!(plans[0].1.comments, saved.comments, "{fault:?} {write}");
            let id = saved.comments[0];
            assert!(
                plans[0].1.body.contains(&format!("plan_comment_id: {id}")),
                "{fault:?} at write {write}: {}",
                plans[0].1.body
            );
        }
    }
}

#[tokio::test]
async fn a_save_that_was_killed_is_completed_as_it_was_begun() {
    for fault in [Fault::DieBefore, Fault::DieAfter] {
        for write in 1..=4 {
            let rig = Rig::new().await;
            rig.forge.fail(write, fault);
            let parts = parts(&rig);
            save_and_die(&rig, &parts).await;
            // By now the session has another plan under the same title.
            let changed = prepared(&format!("{PLAN}\nMore.\n"));
            let outcome = save(&parts, &order("s-1"), &changed).await.unwrap();
            let Outcome::Saved { prepared, .. } = outcome else {
                panic!("{outcome:?}")
            };
            let plans = rig.forge.plans();
            assert_eq!(plans.len(), 1, "{fault:?} at write {write}");
            let bodies = rig.forge.own_bodies(plans[0].0);
            assert_eq!(bodies.len(), 1, "{fault:?} at write {write}");
            // The label alone is nothing that belongs to the old text.
            let more = write == 1;
            assert_eq!(bodies[0].contains("More."), more, "{fault:?} {write}");
            assert_eq!(
                prepared.document.contains("More."),
                more,
                "what is told is what is saved"
            );
        }
    }
}

#[tokio::test]
async fn another_plan_can_be_saved_while_a_killed_save_waits_to_be_asked_for() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    rig.forge.fail(2, Fault::DieAfter);
    save_and_die(&rig, &parts).await;
    let outcome = save(&parts, &order("s-2"), &prepared(PLAN)).await.unwrap();
    assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
    assert_eq!(rig.forge.plans().len(), 2);
    let outcome = save(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
    assert_eq!(rig.forge.plans().len(), 2);
}

#[tokio::test]
async fn what_cannot_be_done_says_why_and_what_exists() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    let fail = async |write, fault| {
        rig.forge.fail(write, fault);
        save(&parts, &order("s-1"), &prepared(PLAN))
            .await
            .unwrap_err()
    };
    let error = fail(1, Fault::Forbidden).await;
    assert!(matches!(error, SaveError::Stopped(..)), "{error:?}");
    assert!(!error.to_string().contains("exist"), "{error}");
    let writes = rig.forge.world.lock().unwrap().writes;
    let error = fail(writes + 3, Fault::Limited(Duration::from_hours(1))).await;
    let text = error.to_string();
    let (number, _) = rig.forge.plans().remove(0);
    assert!(
        text.starts_with("cannot save now: GitHub's rate limit stops "),
        "{text}"
    );
    assert!(
        text.contains(&format!("/{number} exists but is incomplete")),
        "{text}"
    );
    assert!(text.ends_with("run the same command again later"), "{text}");
}

#[tokio::test]
async fn a_plan_that_was_too_large_is_saved_when_it_was_made_shorter() {
    let rig = Rig::with(Settings {
        publish: PublishSettings {
            max_parts: 1,
            ..PublishSettings::default()
        },
        ..Settings::default()
    })
    .await;
    let parts = parts(&rig);
    let large = format!("{PLAN}{}", "- one more step\n".repeat(10_000));
    let error = save(&parts, &order("s-1"), &prepared(&large))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("the limit is 1"), "{error}");
    let outcome = save(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
}

#[tokio::test]
async fn the_same_number_on_another_server_is_another_repository() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    save(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    let other = Order {
        server: "https://github.example/api/v3".to_owned(),
        ..order("s-1")
    };
    let outcome = save(&parts, &other, &prepared(PLAN)).await.unwrap();
    assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
}

#[tokio::test]
async fn without_a_session_the_text_decides_and_for_which_issue_does_not() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    let file = |number| Order {
        session: None,
        place: Rig::place(number),
        ..order("")
    };
    save(&parts, &file(0), &prepared(PLAN)).await.unwrap();
    let same = save(&parts, &file(HERE), &prepared(PLAN)).await.unwrap();
    assert!(matches!(
        same,
        Outcome::Before(Before { same: true, .. }, _)
    ));
    let other = prepared(&format!("{PLAN}\nMore.\n"));
    let outcome = save(&parts, &file(0), &other).await.unwrap();
    assert!(matches!(outcome, Outcome::Saved { .. }), "{outcome:?}");
}

#[tokio::test]
async fn a_plan_issue_that_was_deleted_is_not_taken_for_a_saved_plan() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    assert_eq!(
        look(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap(),
        Known::No
    );
    save(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    let (number, _) = rig.forge.plans().remove(0);
    rig.forge.world.lock().unwrap().issues.remove(&number);
    let known = look(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    assert!(
        matches!(known, Known::Saved(Before { gone: true, .. })),
        "{known:?}"
    );
}

#[tokio::test]
async fn a_begun_issue_that_was_deleted_is_not_promised_to_be_completed() {
    let rig = Rig::new().await;
    let parts = parts(&rig);
    rig.forge.happen(3, Happening::Delete, Where::Plan);
    let error = save(&parts, &order("s-1"), &prepared(PLAN))
        .await
        .unwrap_err();
    let deleted = rig.forge.world.lock().unwrap().deleted.clone();
    let number = deleted.first().unwrap();
    assert!(
        error.to_string().ends_with(&format!(
            "/{number} no longer exists; use --again to save the plan as a new issue"
        )),
        "{error}"
    );
    let known = look(&parts, &order("s-1"), &prepared(PLAN)).await.unwrap();
    assert!(
        matches!(known, Known::Begun { same: true, .. }),
        "{known:?}"
    );
}

#[tokio::test]
async fn a_404_on_the_issue_that_was_just_created_is_waited_out() {
    let rig = Rig::new().await;
    rig.forge.fail(3, Fault::Missing);
    let outcome = save(&parts(&rig), &order("s-1"), &prepared(PLAN)).await;
    assert!(matches!(outcome, Ok(Outcome::Saved { .. })), "{outcome:?}");
    assert_eq!(rig.forge.plans().len(), 1);
}

#[tokio::test]
async fn whoever_waits_is_told_what_for() {
    let rig = Rig::new().await;
    rig.forge.fail(2, Fault::LostAfter);
    let told = std::sync::Mutex::new(Vec::new());
    local_save::save(&parts(&rig), &order("s-1"), &prepared(PLAN), |why| {
        told.lock().unwrap().push(why.to_owned());
    })
    .await
    .unwrap();
    let told = told.into_inner().unwrap();
    assert!(
        told.iter()
            .all(|why| why.starts_with("the outcome of ") && why.contains("; checking again in ")),
        "{told:?}"
    );
    assert!(!told.is_empty());
}

#[tokio::test]
async fn a_refusal_after_a_lost_answer_does_not_say_that_nothing_exists() {
    let rig = Rig::new().await;
    rig.forge.fail(2, Fault::LostBefore);
    rig.forge.fail(3, Fault::Forbidden);
    let error = save(&parts(&rig), &order("s-1"), &prepared(PLAN))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("; a plan issue may exist; the same command finds and completes it"),
        "{error}"
    );
}
