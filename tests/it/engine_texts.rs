//! Messages to people: refused commands, waiting commands, and comments with more than one meaning.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::model::run::State;
use planwright::engine::worker::Outcome;
use planwright::formats::command::{Command, RawOption, parse};

use crate::support::fake_forge::Fault;
use crate::support::rig::{HERE, PLAN, Rig};

/// The last post of the bot at `number`, after `inline` was to be saved there.
async fn refused(title: &str, inline: &str) -> String {
    let rig = Rig::new().await;
    rig.forge.open(8, title, &["hello"]);
    let mut trigger = rig.trigger(Command::SaveRawPlan, "ada", 7, 8);
    trigger.inline = Some(inline.to_owned());
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    rig.forge.own_bodies(8).pop().unwrap()
}

#[tokio::test]
async fn a_refused_title_is_named_with_its_reason() {
    let text = "\n\n## Steps\n\n1. Write the index to a file after building it\n2. Read the file at start, and test both of these steps\n";
    for (title, said) in [
        (
            "# Plan: 12345",
            "its title `12345` was rejected (Must contain at least one alphabetic character).",
        ),
        (
            "# null",
            "its title `null` was rejected (Too short (4 characters, minimum 5)).",
        ),
        ("# 🎉🎉🎉🎉🎉", "Title is empty or whitespace-only."),
        ("", "Title is empty or whitespace-only."),
    ] {
        let body = refused("bug", &format!("{title}{text}")).await;
        let sentence = format!("The plan was found, but cannot be saved as it is: {said}");
        assert!(body.contains(&sentence), "{body}");
        assert!(
            body.contains("Start the plan with a heading that says what it will do"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn a_search_without_result_does_not_say_that_a_plan_was_saved() {
    let rig = Rig::new().await;
    rig.forge.open(8, "Chat", &["hello", "how are you?"]);
    rig.deliver(rig.trigger(Command::SavePlan, "ada", 7, 8))
        .await;
    rig.settle().await;
    let said = rig.forge.own_bodies(8).remove(0);
    assert!(said.contains("Nothing was saved."), "{said}");
    assert!(!said.contains("the plan was saved"), "{said}");
}

#[tokio::test]
async fn a_conversation_titled_with_a_fence_leaves_the_sentence_around_it_whole() {
    for title in ["~~~", "```", "- ~~~~ x", "``` rust"] {
        let rig = Rig::new().await;
        rig.forge.open(8, title, &["hello", PLAN]);
        let run = rig
            .deliver(rig.trigger(Command::SavePlan, "ada", 7, 8))
            .await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded);
        let (number, plan) = rig.forge.plans().remove(0);
        let sentence = plan
            .body
            .lines()
            .find(|line| line.starts_with("From acme/search#8, "))
            .unwrap();
        assert_eq!(
            sentence,
            "From acme/search#8, saved for ada ([comment](https://github.test/comment))."
        );
        let fences = planwright::formats::markdown::blocks(&plan.body)
            .into_iter()
            .filter(|block| {
                matches!(
                    block.kind,
                    planwright::formats::markdown::BlockKind::Code { fenced: true, .. }
                )
            });
        // The fields of the header and of the source.
        assert_eq!(fences.count(), 2, "{number}: {}", plan.body);
    }
}

#[tokio::test]
async fn a_misspelt_option_is_answered_at_once_while_another_command_waits_for_days() {
    let rig = Rig::new().await;
    let days = Duration::from_hours(7 * 24);
    rig.forge.fail(1, Fault::Limited(days));
    let first = rig.say(Command::SavePlan).await;
    let worker = rig.worker("one");
    worker.step().await.unwrap();
    assert_eq!(rig.state(&first).await, State::Waiting);
    let began = rig.clock.now();
    let mut trigger = rig.trigger(Command::SaveRawPlan, "ada", 7, HERE);
    trigger.options = vec![RawOption {
        name: "sesion".to_owned(),
        value: "logs/a.jsonl".to_owned(),
    }];
    let second = rig.deliver(trigger).await;
    // A command that can run waits behind the first one.
    let third = rig.say(Command::SavePlan).await;
    let done = worker.step().await.unwrap();
    assert_eq!(done, Outcome::Did(second.clone(), Some(State::Failed)));
    assert_eq!(rig.clock.now(), began);
    assert_eq!(
        (rig.state(&first).await, rig.state(&third).await),
        (State::Waiting, State::Blocked)
    );
    let said = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(
        said.starts_with(
            "## Error: invalid_input\n\nThe option `sesion=` of `/save-raw-plan` cannot be used: \
             there is no such option; the closest is `session`."
        ),
        "{said}"
    );
}

#[tokio::test]
async fn commands_within_a_pasted_plan_are_saved_with_it_and_mentioned() {
    let comment = format!("/save-raw-plan\n\n{PLAN}\n/save-plan inner\n\n/research costs\n");
    let found = parse(&comment);
    assert_eq!(found.len(), 1);
    let rig = Rig::new().await;
    let mut trigger = rig.trigger(Command::SaveRawPlan, "ada", 7, HERE);
    trigger.inline = found[0].inline.clone();
    rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.forge.plans().len(), 1);
    let said = rig.forge.own_bodies(HERE).pop().unwrap();
    let note = "The plan contains lines that look like commands (`/save-plan` and 1 more). They \
                are part of the plan and were not run.";
    assert!(said.contains(note), "{said}");
    let (number, _) = rig.forge.plans().remove(0);
    let comment = rig.forge.own_bodies(number).remove(0);
    let plan = planwright::formats::block::plans(&comment).remove(0);
    assert!(
        plan.contains("/save-plan inner\n\n/research costs"),
        "{plan}"
    );
}
