//! Floods of comments by people without permissions: what they cost, and whom they delay.

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::forge::Reaction;
use planwright::engine::model::failure::Code;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Origin, Trigger};
use planwright::engine::operate::{Action, act};
use planwright::engine::settings::Settings;
use planwright::engine::store::Store;
use planwright::engine::worker::{Outcome, Worker};
use planwright::formats::command::{Command, Permission};

use crate::support::rig::{HERE, PLAN, Rig};

const COMMANDS: [Command; 5] = [
    Command::SavePlan,
    Command::Help,
    Command::Status,
    Command::Answer,
    Command::CheckPlan,
];

/// Comments of the bot at these issues.
fn own_comments(rig: &Rig, issues: &[u64]) -> usize {
    issues
        .iter()
        .map(|issue| rig.forge.own_bodies(*issue).len())
        .sum()
}

/// The trigger's comment.
fn comment_of(trigger: &Trigger) -> u64 {
    match &trigger.origin {
        Origin::Comment { id, .. } => *id,
        other => panic!("a comment expected: {other:?}"),
    }
}

/// A worker that claims first, whatever was accepted before: writes until the reaction to `comment`
/// is there.
async fn writes_until_seen(rig: &Rig, worker: &Worker, comment: u64) -> u64 {
    let to = format!("Comment({comment})");
    let before = rig.forge.world.lock().unwrap().writes;
    for _ in 0..2_000 {
        let stepped = worker.step().await.unwrap();
        let world = rig.forge.world.lock().unwrap();
        if world.reactions.iter().any(|(_, at, _)| *at == to) {
            // The run that reacted wrote this one first, and the rest behind it.
            return world.writes - before;
        }
        assert_ne!(stepped, Outcome::Idle, "the command was never seen");
    }
    panic!("the command was never seen");
}

/// A thousand comments of two hundred strangers within ten minutes, on four issues; every hundredth
/// comment is followed by a command of a maintainer on another issue.
#[tokio::test]
async fn a_thousand_comments_of_strangers_cost_twenty_comments_and_delay_a_maintainer_by_one_write()
{
    const STRANGERS: u64 = 200;
    const COMMENTS: u64 = 1_000;
    let rig = Rig::new().await;
    let issues = [101, 102, 103, 104];
    for issue in issues {
        rig.forge.open(issue, "Spam here", &["Hello.", PLAN]);
    }
    let gap = Duration::from_mins(10) / u32::try_from(COMMENTS).unwrap();
    let worker = rig.worker("rig");
    let mut most = 0;
    let mut maintained = Vec::new();
    for n in 0..COMMENTS {
        let stranger = 10_000 + n % STRANGERS;
        let command = COMMANDS[usize::try_from(n).unwrap() % COMMANDS.len()];
        let issue = issues[usize::try_from(n).unwrap() % issues.len()];
        let trigger = rig.trigger(command, &format!("stranger{stranger}"), stranger, issue);
        rig.deliver(trigger).await;
        rig.clock.advance_to(rig.clock.now().plus(gap));
        // The bot falls behind: it works on a few runs for every ten comments.
        if n % 10 == 9 {
            for _ in 0..3 {
                worker.step().await.unwrap();
            }
        }
        if n % 100 == 99 {
            let trigger = rig.trigger(Command::Status, "ada", 7, HERE);
            let comment = comment_of(&trigger);
            maintained.push(rig.deliver(trigger).await);
            let writes = writes_until_seen(&rig, &worker, comment).await;
            // Of these, a run of the maintainer's own makes four: reaction, answer, reaction,
            // reaction taken off.
            most = most.max(writes.saturating_sub(4));
        }
    }
    rig.settle().await;
    let comments = own_comments(&rig, &issues);
    let requests = rig.forge.world.lock().unwrap().roles_asked.len();
    println!(
        "{COMMENTS} comments of {STRANGERS} strangers: {comments} comments of the bot, a maintainer's command waits for \
         {most} writes of others at most, {requests} questions for roles"
    );
    assert!(comments <= 20, "{comments}");
    assert!(comments >= 5, "some are answered: {comments}");
    assert!(most <= 1, "{most}");
    for run in maintained {
        assert_eq!(rig.state(&run).await, State::Succeeded);
    }
}

#[tokio::test]
async fn whoever_is_over_the_budget_gets_neither_comment_nor_reaction_and_is_recorded() {
    let rig = Rig::with(Settings {
        outsiders: planwright::engine::settings::OutsiderSettings {
            answers_per_person: 1,
            ..Default::default()
        },
        ..Settings::default()
    })
    .await;
    let mut runs: Vec<RunId> = Vec::new();
    for _ in 0..3 {
        runs.push(
            rig.deliver(rig.trigger(Command::Help, "eve", 66, HERE))
                .await,
        );
        rig.settle().await;
    }
    assert_eq!(rig.forge.own_bodies(HERE).len(), 1);
    assert_eq!(rig.state(&runs[0]).await, State::Succeeded);
    {
        let world = rig.forge.world.lock().unwrap();
        let reactions: Vec<Reaction> = world.reactions.iter().map(|it| it.2).collect();
        assert_eq!(reactions, [Reaction::Rocket]);
        assert_eq!(world.writes, 2, "one comment, one reaction");
    }
    let view = rig.view(&runs[2]).await;
    assert_eq!(
        (view.state, view.code.map(Code::name)),
        (State::Failed, Some("permission_denied"))
    );
    let audit = rig.store.audit_of(&runs[2]).await.unwrap();
    let last = audit.last().unwrap();
    assert_eq!(
        (last.decision.as_str(), last.actor.as_str()),
        ("ignored", "eve")
    );
    assert_eq!(
        last.why,
        "This person has had 1 answers to people without permission within the window."
    );
    // The window ends.
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_hours(1)));
    rig.deliver(rig.trigger(Command::Help, "eve", 66, HERE))
        .await;
    rig.settle().await;
    assert_eq!(rig.forge.own_bodies(HERE).len(), 2);
}

#[tokio::test]
async fn a_person_is_refused_once_an_hour_whatever_the_role() {
    for (login, id) in [("tess", 9), ("eve", 66)] {
        let rig = Rig::new().await;
        rig.forge.grant("tess", 9, Permission::Triage);
        for command in [Command::SavePlan, Command::Cancel, Command::SaveRawPlan] {
            rig.deliver(rig.trigger(command, login, id, HERE)).await;
            rig.settle().await;
        }
        let said = rig.forge.own_bodies(HERE);
        assert_eq!(said.len(), 1, "{login}: {said:?}");
        assert!(said[0].contains("needs `write` permission"), "{said:?}");
        rig.clock
            .advance_to(rig.clock.now().plus(Duration::from_hours(1)));
        rig.deliver(rig.trigger(Command::SavePlan, login, id, HERE))
            .await;
        rig.settle().await;
        assert_eq!(rig.forge.own_bodies(HERE).len(), 2, "{login}");
    }
}

#[tokio::test]
async fn somebody_who_is_given_write_permission_is_heard_at_once() {
    let rig = Rig::new().await;
    for _ in 0..5 {
        rig.deliver(rig.trigger(Command::SavePlan, "eve", 66, HERE))
            .await;
    }
    rig.settle().await;
    rig.forge.grant("eve", 66, Permission::Write);
    let run = rig
        .deliver(rig.trigger(Command::SavePlan, "eve", 66, HERE))
        .await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

#[tokio::test]
async fn what_an_operator_has_executed_again_is_not_limited_as_strangers_are() {
    let rig = Rig::new().await;
    let refused = rig
        .deliver(rig.trigger(Command::SavePlan, "eve", 66, HERE))
        .await;
    rig.settle().await;
    assert_eq!(rig.state(&refused).await, State::Failed);
    rig.forge.grant("eve", 66, Permission::Write);
    let now = rig.clock.now();
    let again = act(&*rig.store, Action::RunAgain, &refused, "ada", now)
        .await
        .unwrap();
    rig.settle().await;
    assert_eq!(rig.state(&again.run).await, State::Succeeded);
}

#[tokio::test]
async fn several_commands_of_one_comment_are_answered_with_one_comment() {
    let rig = Rig::new().await;
    let mut trigger = rig.trigger(Command::Cancel, "ada", 7, HERE);
    trigger.also = vec![Command::Status, Command::Help];
    rig.deliver(trigger).await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 1, "{said:?}");
    for part in [
        "Nothing is running here, so there is nothing to cancel.\n\n",
        "No command has run here yet.",
        "| command | label | needs | what it does |",
    ] {
        assert!(said[0].contains(part), "{part}: {}", said[0]);
    }
    // What one of them lacks a permission for is refused, and the rest is answered.
    let mut trigger = rig.trigger(Command::Cancel, "eve", 66, HERE);
    trigger.also = vec![Command::Status];
    rig.deliver(trigger).await;
    rig.settle().await;
    let said = rig.forge.own_bodies(HERE);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[1].starts_with("😕 eve: `/cancel` needs `write` permission in acme/search; you have `no access`.\n\nNo command"),
        "{}",
        said[1]
    );
}

#[tokio::test]
async fn commands_of_one_comment_that_is_edited_again_and_again_count_eight_times() {
    let rig = Rig::new().await;
    let first = rig.trigger(Command::Status, "ada", 7, HERE);
    for _ in 0..20 {
        for command in [Command::Status, Command::Help] {
            rig.deliver(Trigger {
                command,
                ..first.clone()
            })
            .await;
        }
        rig.settle().await;
    }
    assert_eq!(rig.forge.own_bodies(HERE).len(), 8);
}

#[tokio::test]
async fn a_maintainers_command_on_the_same_issue_does_not_wait_for_answers_to_strangers() {
    let rig = Rig::new().await;
    for id in 100..110 {
        let stranger = rig.trigger(Command::SavePlan, &format!("s{id}"), id, HERE);
        rig.deliver(stranger).await;
    }
    let trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    let comment = comment_of(&trigger);
    let run = rig.deliver(trigger).await;
    let writes = writes_until_seen(&rig, &rig.worker("rig"), comment).await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let alone = {
        let rig = Rig::new().await;
        rig.say(Command::SavePlan).await;
        rig.settle().await;
        rig.forge.world.lock().unwrap().writes
    };
    assert_eq!(writes, alone, "nothing was written for a stranger before");
}

#[tokio::test]
async fn the_acknowledger_does_not_write_for_strangers() {
    let rig = Rig::new().await;
    rig.deliver(rig.trigger(Command::SavePlan, "eve", 66, HERE))
        .await;
    rig.deliver(rig.trigger(Command::SavePlan, "eve", 66, HERE))
        .await;
    let ada = rig.say(Command::SavePlan).await;
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_secs(10)));
    let worker = rig.worker("rig");
    for _ in 0..2 {
        worker.acknowledge_step().await.unwrap();
        assert_eq!(rig.forge.world.lock().unwrap().writes, 0);
    }
    assert_eq!(
        worker.acknowledge_step().await.unwrap(),
        Outcome::Did(ada, None)
    );
    assert!(rig.forge.world.lock().unwrap().writes > 0);
}
