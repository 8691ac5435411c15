//! Runs with an agent: what the agent is asked, which answers are accepted, and what happens if it
//! fails.

use planwright::engine::model::failure::Code;
use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::model::agent::{Ending, Session};
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::Origin;
use planwright::engine::settings::{AgentSettings, Settings};
use planwright::engine::store::{ClaimLimits, Store};
use planwright::formats::command::{Command, Permission};

use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::fake_forge::{Fault, Happening, Where};
use crate::support::rig::{HERE, Rig};

/// An answer that holds.
pub(crate) const GOOD: &str = "# Plan: Cache the search index on disk

## Enrichment Details

### Process Summary

- **Mode**: enriched
- **Guidance applied**: yes
- **Questions asked**: 7
- **Context categories extracted**: 1 of 8

### Context Categories Populated

- ✅ Known Pitfalls

---

## Overview

The index is rebuilt on every start, which takes a minute. Keep it on disk between starts, next to the data it was made from.

## Implementation Steps

1. Write the index to a file after building it, under a temporary name, then rename it
2. Read the file at start when it is newer than the data
3. Delete the file when the format changes

## Testing

- Start twice and compare the times

## Context & Understanding

### Known Pitfalls

- DO NOT trust the file's time alone: a restored backup is older than its data
";

pub(crate) const ASKS: &str = "I need to know something first.\n\n<!--QUESTION:{\"questions\":[{\"question\":\"Where does the file live?\",\
\"header\":\"Place\",\"type\":\"choice\",\"options\":[{\"label\":\"Beside the data\",\"description\":\"moves with it\"},{\"label\":\"In the \
cache folder\"}]},{\"question\":\"How large may it grow?\",\"header\":\"Size\",\"options\":[]}]}-->";

pub(crate) async fn rig(agent: &FakeAgent) -> Rig {
    with(agent, |_| {}).await
}

pub(crate) async fn with(agent: &FakeAgent, change: impl FnOnce(&mut AgentSettings)) -> Rig {
    let mut settings = Settings::default();
    change(&mut settings.agent);
    let mut rig = Rig::with(settings).await;
    rig.parts.agent = Some(std::sync::Arc::new(agent.clone()));
    rig
}

pub(crate) fn say(text: &str) -> Act {
    Act::Say(text.to_owned())
}

/// The plan document on GitHub.
pub(crate) fn document(rig: &Rig) -> String {
    let plans = rig.forge.plans();
    assert_eq!(plans.len(), 1, "{plans:#?}");
    rig.forge.own_bodies(plans[0].0).concat()
}

pub(crate) fn status(rig: &Rig) -> String {
    rig.forge.own_bodies(HERE).remove(0)
}

/// `/answer …` by ada, who asked.
pub(crate) async fn answers(rig: &Rig, text: &str) -> RunId {
    answers_as(rig, "ada", 7, text).await
}

pub(crate) async fn answers_as(rig: &Rig, login: &str, id: u64, text: &str) -> RunId {
    let mut trigger = rig.trigger(Command::Answer, login, id, HERE);
    trigger.guidance = Some(text.to_owned());
    trigger.origin = Origin::Comment {
        id: rig.next_comment(),
        text: format!("/answer {text}"),
        url: "https://github.test/answer".into(),
    };
    rig.deliver(trigger).await
}

/// Works until nothing can be done at the present time.
pub(crate) async fn work_until_idle(rig: &Rig) {
    let worker = rig.worker("rig");
    for _ in 0..200 {
        use planwright::engine::worker::Outcome;
        match worker.step().await.unwrap() {
            Outcome::Did(..) => {}
            Outcome::Wait(until) if until <= rig.clock.now() => {}
            Outcome::Idle | Outcome::Wait(_) => return,
        }
    }
    panic!("no rest");
}

#[tokio::test]
async fn an_enriched_plan_says_what_happened_and_not_what_the_agent_claims() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let saved = document(&rig);
    assert!(saved.contains("- **Mode**: enriched"), "{saved}");
    assert!(saved.contains("- **Questions asked**: 0"), "{saved}");
    assert!(saved.contains("1 of 8"), "{saved}");
    assert!(saved.contains("- ✅ Known Pitfalls"), "{saved}");
    assert!(saved.contains("a restored backup is older"), "{saved}");
    let said = status(&rig);
    assert!(said.contains("✅ Plan saved"), "{said}");
    assert!(said.contains("enriched: 'yes'"), "{said}");
    assert!(
        said.contains("agent: 1 turn, 12.4 k tokens in, 310 out, $0.01, 2 s"),
        "{said}"
    );
    assert_eq!(*agent.forgotten.lock().unwrap(), [run]);
}

#[tokio::test]
async fn a_raw_plan_asks_no_agent() {
    let agent = FakeAgent::new(Vec::new());
    let rig = rig(&agent).await;
    let run = rig.say(Command::SaveRawPlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert!(agent.prompts().is_empty());
}

#[tokio::test]
async fn questions_are_asked_answered_and_go_back_into_the_same_session() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    let said = rig.forge.own_bodies(HERE);
    assert!(
        said[0].contains("waiting for answers to 2 questions"),
        "{}",
        said[0]
    );
    assert!(said[1].contains("Beside the data"), "{}", said[1]);
    assert!(said[1].contains("- [ ]"), "{}", said[1]);
    assert!(rig.forge.plans().is_empty());

    answers(&rig, "1: a").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    let reply = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(reply.contains("Question 2 is still open"), "{reply}");

    answers(&rig, "2: about 2 GB").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let tasks = agent.tasks.lock().unwrap();
    let Session::New(first) = &tasks[0].session else {
        panic!()
    };
    assert_eq!(tasks[1].session, Session::Resume(first.clone()));
    assert_eq!(tasks[1].system, tasks[0].system);
    assert_eq!(tasks[1].cost_before, 10_000);
    let saved = document(&rig);
    assert!(saved.contains("- **Questions asked**: 2"), "{saved}");
    assert!(saved.contains("**Place**: Beside the data"), "{saved}");
    assert!(saved.contains("**Size**: about 2 GB"), "{saved}");
}

#[tokio::test]
async fn every_state_survives_a_restart() {
    // At each write the process dies once; a new one goes on. The agent is asked again only where
    // its answer was lost.
    for at in 1..=14 {
        let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
        let rig = rig(&agent).await;
        rig.forge.fail(at, Fault::DieAfter);
        let run = rig.say(Command::SavePlan).await;
        let mut answered = false;
        for _ in 0..60 {
            let worker = rig.worker("doomed");
            let died = tokio::select! {
                _ = worker.step() => false,
                () = rig.forge.died.notified() => true,
            };
            if died {
                rig.store.recover_all(rig.clock.now()).await.unwrap();
            }
            rig.clock
                .advance_to(rig.clock.now().plus(Duration::from_secs(13)));
            if !answered && rig.state(&run).await == State::Waiting {
                let asked = rig
                    .forge
                    .own_bodies(HERE)
                    .iter()
                    .any(|body| body.contains("- [ ]"));
                if asked {
                    answers(&rig, "1: b 2: small").await;
                    answered = true;
                }
            }
            if rig.state(&run).await.is_terminal() {
                break;
            }
        }
        assert_eq!(
            rig.state(&run).await,
            State::Succeeded,
            "write {at}: {:#?}",
            rig.forge.own_bodies(HERE)
        );
        assert_eq!(agent.left(), 0, "write {at}");
        assert_eq!(agent.prompts().len(), 2, "write {at}");
        assert_eq!(rig.forge.plans().len(), 1, "write {at}");
        let asked = rig
            .forge
            .own_bodies(HERE)
            .iter()
            .filter(|body| body.contains("How large may it grow?"))
            .count();
        assert_eq!(asked, 1, "write {at}: questions are posted once");
    }
}

#[tokio::test]
async fn cancel_while_the_agent_works_and_while_people_are_asked_ends_in_one_report() {
    for waiting in [false, true] {
        let first = if waiting { say(ASKS) } else { Act::Hang };
        let agent = FakeAgent::new(vec![first]);
        let rig = rig(&agent).await;
        let run = rig.say(Command::SavePlan).await;
        if waiting {
            work_until_idle(&rig).await;
            rig.say(Command::Cancel).await;
            work_until_idle(&rig).await;
        } else {
            let flag = planwright::engine::stop::StopFlag::default();
            let claimed = rig
                .store
                .claim(
                    "w",
                    rig.clock.now(),
                    Duration::from_secs(30),
                    &ClaimLimits::default(),
                )
                .await
                .unwrap()
                .unwrap();
            let attempt = planwright::engine::execute::attempt(&rig.parts, &claimed, &flag);
            let stopping = async {
                agent.begun.notified().await;
                flag.set("bob");
            };
            let (finish, ()) = tokio::join!(attempt, stopping);
            let finish = finish.unwrap();
            rig.store
                .finish(&claimed.lease, &finish, rig.clock.now())
                .await
                .unwrap();
        }
        assert_eq!(
            rig.state(&run).await,
            State::Cancelled,
            "waiting: {waiting}"
        );
        let said = status(&rig);
        assert!(said.starts_with("## Error: cancelled"), "{said}");
        assert!(rig.forge.plans().is_empty());
        assert_eq!(*agent.forgotten.lock().unwrap(), [run]);
    }
}

#[tokio::test]
async fn nobody_answers_reminded_once_then_saved_with_open_questions() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let said = rig.forge.own_bodies(HERE);
    let reminders = said.iter().filter(|body| body.starts_with('⏰')).count();
    assert_eq!(reminders, 1, "{said:#?}");
    assert!(said[0].contains("questions_unanswered"), "{}", said[0]);
    let saved = document(&rig);
    assert!(saved.contains("## Open Questions"), "{saved}");
    assert!(
        saved.contains(
            "Where does the file live? (considered: Beside the data, In the cache folder)"
        ),
        "{saved}"
    );
    assert!(saved.contains("- **Questions asked**: 2"), "{saved}");
}

#[tokio::test]
async fn questions_that_cannot_be_asked_any_more_stay_open_and_the_plan_is_saved() {
    for happening in [
        Happening::Lock,
        Happening::LockEdits,
        Happening::Transfer,
        Happening::Delete,
    ] {
        for at in 1..=12 {
            let case = format!("{happening:?} at write {at}");
            let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
            let rig = rig(&agent).await;
            rig.forge.happen(at, happening, Where::Number(HERE));
            let run = rig.say(Command::SavePlan).await;
            rig.settle().await;
            let plans = rig.forge.plans();
            let state = rig.state(&run).await;
            if happening == Happening::Delete {
                // Before the plan is worked out there is nothing to save it for.
                assert_eq!(
                    plans.len(),
                    usize::from(state == State::Succeeded),
                    "{case}"
                );
                continue;
            }
            assert_eq!(state, State::Succeeded, "{case}");
            assert_eq!(plans.len(), 1, "{case}");
            let saved = document(&rig);
            assert!(saved.contains("## Open Questions"), "{case}: {saved}");
        }
    }
}

#[tokio::test]
async fn who_neither_asked_nor_may_write_cannot_answer() {
    let agent = FakeAgent::new(vec![say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    rig.forge.grant("eve", 66, Permission::Read);
    rig.forge.grant("bob", 8, Permission::Write);
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers_as(&rig, "eve", 66, "1: a 2: x").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    let reply = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(
        reply.starts_with("😕") && reply.contains("write access"),
        "{reply}"
    );
    answers_as(&rig, "bob", 8, "1: a 2: x").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

#[tokio::test]
async fn a_lost_session_is_told_everything_again() {
    let agent = FakeAgent::new(vec![say(ASKS), Act::End(Ending::SessionLost), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers(&rig, "1: b 2: one gigabyte").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert!(matches!(tasks[2].session, Session::New(_)));
    assert!(
        tasks[2].prompt.contains("one gigabyte"),
        "{}",
        tasks[2].prompt
    );
    assert!(
        tasks[2].prompt.contains("It takes a minute."),
        "{}",
        tasks[2].prompt
    );
}

#[tokio::test]
async fn an_agent_without_sessions_is_told_everything_at_every_turn() {
    let agent = FakeAgent::forgetful(vec![say(ASKS), say("Great choice! Done."), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    answers(&rig, "1: b 2: one gigabyte").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let tasks = agent.tasks.lock().unwrap();
    for task in tasks.iter() {
        assert!(matches!(task.session, Session::New(_)));
        assert!(
            task.prompt.contains("It takes a minute."),
            "{}",
            task.prompt
        );
    }
    assert!(
        tasks[2].prompt.contains("Great choice! Done."),
        "{}",
        tasks[2].prompt
    );
    assert!(
        tasks[2].prompt.contains("one gigabyte"),
        "{}",
        tasks[2].prompt
    );
}

#[tokio::test]
async fn an_answer_that_does_not_hold_is_corrected_twice_and_then_not_passed_off_as_a_success() {
    let chat = "Great choice. I have written the plan as you asked.";
    let agent = FakeAgent::new(vec![say(chat), say(chat), say(chat)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let said = status(&rig);
    assert!(
        said.contains("⚠️ Plan saved, **not enriched**: ["),
        "{said}"
    );
    assert!(said.contains("enriched: fallback"), "{said}");
    let saved = document(&rig);
    assert!(!saved.contains("\n## Enrichment Details"), "{saved}");
    assert!(saved.contains("Fallback, not enriched"), "{saved}");
    assert!(
        saved.contains("Delete the file when the format changes"),
        "{saved}"
    );
    let prompts = agent.prompts();
    assert!(prompts[1].contains("# Plan:"), "{}", prompts[1]);
    assert_ne!(prompts[1], prompts[2], "the second correction is stricter");
}

#[tokio::test]
async fn an_error_that_the_agent_claims_does_not_win_over_a_plan_that_is_there() {
    let error = "## Error: no_plan_found\n\nThere is nothing here, says the conversation.\n";
    let agent = FakeAgent::new(vec![say(error), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert!(
        agent.prompts()[1].contains("no_plan_found"),
        "{}",
        agent.prompts()[1]
    );
}

#[tokio::test]
async fn no_plan_for_the_bot_and_none_for_the_agent_is_an_error() {
    let error = "## Error: no_plan_found\n\nNobody proposes anything.\n";
    let agent = FakeAgent::new(vec![say(error)]);
    let rig = rig(&agent).await;
    rig.forge
        .open(8, "A question", &["Does it work on Windows?"]);
    let run = rig
        .deliver(rig.trigger(Command::SavePlan, "ada", 7, 8))
        .await;
    rig.settle().await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("no_plan_found")
    );
    let said = rig.forge.own_bodies(8).remove(0);
    assert!(said.contains("Nobody proposes anything"), "{said}");
}

#[tokio::test]
async fn an_agent_that_obeys_the_conversation_is_held_until_a_writer_decides() {
    let obeys = || {
        Act::Answer(Box::new(|task| {
            let at = task.prompt.find("PW-").expect("the canary is in the data");
            format!("{GOOD}\n\n{}", &task.prompt[at..at + 15])
        }))
    };
    let agent = FakeAgent::new(vec![obeys(), obeys()]);
    let rig = rig(&agent).await;
    rig.forge.grant("ada", 7, Permission::Write);
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting);
    let asked = rig.forge.own_bodies(HERE).pop().unwrap();
    assert!(
        asked.contains("followed an instruction in this conversation"),
        "{asked}"
    );
    assert!(!asked.contains("PW-"), "{asked}");
    answers(&rig, "1: a").await;
    work_until_idle(&rig).await;
    assert_eq!(
        rig.state(&run).await,
        State::Waiting,
        "asked again, obeyed again"
    );
    {
        let tasks = agent.tasks.lock().unwrap();
        assert!(matches!(tasks[1].session, Session::New(_)));
        assert_ne!(tasks[0].prompt, tasks[1].prompt, "the words are new");
    }
    answers(&rig, "1: b").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert!(status(&rig).contains("fallback"), "{}", status(&rig));
    assert!(document(&rig).contains("ada decided to continue without it"));
}

#[tokio::test]
async fn a_failed_publish_and_a_retry_never_ask_the_agent_again() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let rig = rig(&agent).await;
    // 👀, status, and then the label: refused for good.
    rig.forge.fail(4, Fault::Forbidden);
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed, "{}", status(&rig));
    rig.say(Command::Retry).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(agent.prompts().len(), 1);
    assert!(document(&rig).contains("a restored backup"));
}

#[tokio::test]
async fn overload_is_waited_out() {
    let overloaded = || {
        Act::End(Ending::AgentError {
            subtype: "api_error".into(),
            message: "API Error: 529 overloaded".into(),
            status: Some(529),
        })
    };
    let agent = FakeAgent::new(vec![overloaded(), overloaded(), say(GOOD)]);
    let rig_one = rig(&agent).await;
    let run = rig_one.say(Command::SavePlan).await;
    rig_one.settle().await;
    assert_eq!(
        rig_one.state(&run).await,
        State::Succeeded,
        "{}",
        status(&rig_one)
    );
}

/// A marker with a trailing comma.
const UNREADABLE: &str =
    "One thing first.\n\n<!--QUESTION:{\"questions\":[{\"question\":\"Which DB?\",}]}-->";

#[tokio::test]
async fn a_question_that_cannot_be_read_is_asked_again() {
    let agent = FakeAgent::new(vec![say(UNREADABLE), say(ASKS), say(GOOD)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Waiting, "{}", status(&rig));
    let told = agent.prompts().remove(1);
    assert!(
        told.starts_with("Nobody was asked, as your questions could not be read:\n\n- A question marker could not be read: trailing comma"),
        "{told}"
    );
    assert!(told.contains("one marker with valid JSON"), "{told}");
    answers(&rig, "1: a 2: small").await;
    work_until_idle(&rig).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
}

#[tokio::test]
async fn a_question_that_cannot_be_read_beside_a_good_plan_is_reported() {
    let agent = FakeAgent::new(vec![say(&format!("{GOOD}\n{UNREADABLE}"))]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let said = status(&rig);
    assert!(
        said.contains(
            "Some of the agent's questions were not asked: A question marker could not be read"
        ),
        "{said}"
    );
}

#[tokio::test]
async fn the_fifth_question_and_the_seventh_option_are_told_to_the_agent_with_the_answers() {
    let questions: Vec<_> = (1..6)
        .map(|at| serde_json::json!({ "question": format!("q{at}?"), "options": ["a", "b", "c", "d", "e", "f", "g"] }))
        .collect();
    let asks = format!(
        "<!--QUESTION:{}-->",
        serde_json::json!({ "questions": questions })
    );
    for rounds in [1, 2] {
        let agent = FakeAgent::new(vec![say(&asks), say(GOOD)]);
        let rig = with(&agent, |agent| agent.rounds = rounds).await;
        let run = rig.say(Command::SavePlan).await;
        work_until_idle(&rig).await;
        answers(&rig, "1: a 2: a 3: a 4: a").await;
        work_until_idle(&rig).await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
        let told = agent.prompts().remove(1);
        for want in [
            "Not everything that you asked could be put to people:",
            "- The question “q5?” was not asked: a round has at most 4 questions.",
            "- The question “q1?” was asked with its first 6 options, which is the limit; left out: “g”.",
        ] {
            assert!(told.contains(want), "{told}");
        }
        // Where the agent could have asked again, it decided not to.
        let said = status(&rig);
        let reported = said.contains("Some of the agent's questions were not asked");
        assert_eq!(reported, rounds == 1, "{said}");
    }
}

#[tokio::test]
async fn steps_that_quote_our_marks_are_saved() {
    let steps = "4. A mark begins with `<!--QUESTION:`\n5. Never forget the rollback\n6. A mark ends with `-->`, the \
                 last one is `<!-- FINISHED -->`\n";
    let plan = GOOD.replace("\n## Testing", &format!("{steps}\n## Testing"));
    let agent = FakeAgent::new(vec![say(&plan)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let saved = planwright::formats::block::plans(&document(&rig)).concat();
    assert!(saved.contains(steps), "{saved}");
}

#[tokio::test]
async fn questions_after_the_last_round_are_reported() {
    let agent = FakeAgent::new(vec![say(&format!("{GOOD}\n{ASKS}"))]);
    let rig = with(&agent, |agent| agent.rounds = 0).await;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    let said = status(&rig);
    assert!(
        said.contains("The question “Where does the file live?” was not asked: no round of questions was left."),
        "{said}"
    );
}

#[tokio::test]
async fn no_questions_where_the_operator_wants_none() {
    let agent = FakeAgent::new(vec![say(&format!("{GOOD}\n{ASKS}"))]);
    let rig = with(&agent, |agent| agent.ask = false).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert!(!document(&rig).contains("QUESTION"));
}

#[tokio::test]
async fn what_is_kept_for_a_run_that_ended_is_tidied_at_the_next_start() {
    let agent = FakeAgent::new(vec![say(ASKS)]);
    let rig = rig(&agent).await;
    let run = rig.say(Command::SavePlan).await;
    work_until_idle(&rig).await;
    assert_eq!(
        planwright::engine::worker::forget_ended(&rig.parts)
            .await
            .unwrap(),
        0
    );
    rig.say(Command::Cancel).await;
    work_until_idle(&rig).await;
    assert_eq!(
        planwright::engine::worker::forget_ended(&rig.parts)
            .await
            .unwrap(),
        1
    );
    assert_eq!(*agent.forgotten.lock().unwrap(), [run.clone(), run]);
}
