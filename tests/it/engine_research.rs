//! `/research`: which output counts as a report, what is retried, and the order of what is posted.

use planwright::engine::model::failure::Code;
use std::sync::Mutex;

use planwright::engine::agent::Task;
use planwright::engine::model::agent::{Document, Ending, Limit, Wrote};
use planwright::engine::model::research::TopicState;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::settings::ResearchSettings;
use planwright::engine::store::Store;
use planwright::formats::command::Command;

use crate::engine_agent::{rig, status, work_until_idle};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::fake_forge::{Fault, Happening, Where};
use crate::support::research::{report, wordings, works};
use crate::support::rig::{HERE, Rig};

/// Asks for research on `topics`.
async fn ask(rig: &Rig, topics: &str) -> RunId {
    let mut trigger = rig.trigger(Command::Research, "ada", 7, HERE);
    trigger.guidance = Some(topics.to_owned());
    rig.deliver(trigger).await
}

/// The topic that a task is about: the file's name ends in it.
fn topic(task: &Task) -> &str {
    let name = task.wanted[0].trim_end_matches(".md");
    name.split_once('-').unwrap().1
}

fn writes(task: &Task) -> Act {
    // Leaked: the test's own, once.
    let file: &'static str = String::leak(task.wanted[0].clone());
    Act::Write(
        vec![(file, report(topic(task)))],
        format!("REPORT_CREATED: {file}"),
    )
}

fn overloaded() -> Act {
    Act::End(Ending::AgentError {
        subtype: "error_during_execution".to_owned(),
        message: "API Error: 529 overloaded_error".to_owned(),
        status: Some(529),
    })
}

async fn topics(rig: &Rig, run: &RunId) -> Vec<TopicState> {
    let view = rig.store.run(run).await.unwrap().unwrap();
    let progress = view.progress.clone().unwrap_or_default();
    let research = progress.research.unwrap_or_default();
    research.topics.iter().map(|topic| topic.state).collect()
}

#[tokio::test]
async fn research_in_a_locked_conversation_asks_no_agent_and_a_transferred_one_is_followed() {
    for at in 1..=14 {
        for happening in [Happening::Lock, Happening::Transfer] {
            let case = format!("{happening:?} at write {at}");
            let agent = FakeAgent::deciding(writes);
            let rig = rig(&agent).await;
            rig.forge.happen(at, happening, Where::Number(HERE));
            let run = ask(&rig, "queues; limits").await;
            rig.settle().await;
            let state = rig.state(&run).await;
            if happening == Happening::Lock {
                // Two reactions at the end are all that may be left out of a success.
                let posted = rig.forge.own_bodies(HERE).len();
                let asked = agent.tasks.lock().unwrap().len();
                assert!(
                    posted == 3 || asked == 0,
                    "{case}: {asked} asked, {posted} posted"
                );
                let code = rig.view(&run).await.code;
                let told =
                    state == State::Succeeded || code.map(Code::name) == Some("location_gone");
                assert!(told, "{case}: {code:?}");
                continue;
            }
            assert_eq!(state, State::Succeeded, "{case}");
            let place = {
                let world = rig.forge.world.lock().unwrap();
                world.moved.get(&HERE).copied().unwrap_or(HERE)
            };
            let said = rig.forge.own_bodies(place);
            assert_eq!(said.len(), 3, "{case}: {said:#?}");
            for about in ["queues", "limits"] {
                let held = said
                    .iter()
                    .any(|body| body.contains(&format!("What is known of {about}")));
                assert!(held, "{case}: {said:#?}");
            }
        }
    }
}

#[tokio::test]
async fn five_topics_come_to_what_is_there_and_not_to_what_is_said() {
    let tries: Mutex<Vec<(String, u32)>> = Mutex::new(Vec::new());
    let agent = FakeAgent::deciding(move |task| {
        let name = topic(task).to_owned();
        let mut tries = tries.lock().unwrap();
        let before = tries.iter().filter(|(other, _)| *other == name).count();
        tries.push((name.clone(), task.part));
        match (name.as_str(), before) {
            ("elsewhere", _) => Act::Write(
                vec![("docs/findings.md", report("elsewhere"))],
                "Done.".to_owned(),
            ),
            ("only-talks", _) => Act::Say(format!(
                "REPORT_CREATED: {}. I looked at the limits: the gateway takes a hundred requests in a second.",
                task.wanted[0]
            )),
            ("overload", 0 | 1) => overloaded(),
            ("writes" | "overload", _) => writes(task),
            (_, _) => Act::End(Ending::Limited(Limit::Deadline)),
        }
    });
    let rig = rig(&agent).await;
    let run = ask(
        &rig,
        "writes; elsewhere; only talks\n- overload\n5. never ends; Writes",
    )
    .await;
    rig.settle().await;
    let said = status(&rig);
    assert_eq!(rig.state(&run).await, State::Succeeded, "{said}");
    let states = topics(&rig, &run).await;
    let want = [
        TopicState::Written,
        TopicState::Recovered,
        TopicState::Degraded,
        TopicState::Written,
        TopicState::Failed,
    ];
    assert_eq!(states, want);
    assert!(said.contains("3 of 5 topics have a report"), "{said}");
    assert!(said.contains("status: partial"), "{said}");
    // One comment for each topic behind the summary, in the order asked for.
    let bodies = rig.forge.own_bodies(HERE);
    assert_eq!(bodies.len(), 6, "{bodies:#?}");
    for (at, name) in [
        "writes",
        "elsewhere",
        "only talks",
        "overload",
        "never ends",
    ]
    .iter()
    .enumerate()
    {
        let head = format!("### Research {} of 5: {name}", at + 1);
        assert!(bodies[at + 1].starts_with(&head), "{}", bodies[at + 1]);
    }
    assert!(bodies[2].contains("Recovered: the agent wrote it to `docs/findings.md`"));
    assert!(bodies[3].contains("degraded"), "{}", bodies[3]);
    assert!(bodies[3].contains("a hundred requests in a second"));
    assert!(
        bodies[5].contains("exceeded its time limit"),
        "{}",
        bodies[5]
    );
    // Who only talks is asked three times, in stricter words; who never ends once.
    let prompts = agent.prompts();
    let of = |file: &str| -> Vec<&String> {
        prompts
            .iter()
            .filter(|prompt| prompt.contains(file))
            .collect()
    };
    let talks = of("003-only-talks.md");
    assert_eq!(talks.len(), 3);
    assert!(talks[0].starts_with("ABSOLUTE REQUIREMENT"), "{}", talks[0]);
    assert!(talks[1].contains("it was claimed to be written, and was not"));
    assert!(talks[2].contains("STEP 1."), "{}", talks[2]);
    assert_eq!(of("005-never-ends.md").len(), 1);
    assert_eq!(of("004-overload.md").len(), 3);
    assert!(of("004-overload.md")[2].starts_with("ABSOLUTE REQUIREMENT"));
    let parts: Vec<u32> = agent
        .tasks
        .lock()
        .unwrap()
        .iter()
        .map(|task| task.part)
        .collect();
    assert_eq!(parts[..5], [1, 2, 3, 4, 5], "first tries come first");
}

#[tokio::test]
async fn a_write_that_only_the_output_shows_counts_when_it_succeeded() {
    let wrote = |ok| Wrote {
        path: "/tmp/elsewhere/x.md".to_owned(),
        text: report("it"),
        ok,
    };
    for (ok, want) in [
        (Some(true), TopicState::Recovered),
        (Some(false), TopicState::Failed),
        (None, TopicState::Failed),
    ] {
        let agent = FakeAgent::deciding(move |_| Act::Claim(wrote(ok), "Done.".to_owned()));
        let rig = rig(&agent).await;
        let run = ask(&rig, "it").await;
        rig.settle().await;
        assert_eq!(topics(&rig, &run).await, [want], "{ok:?}");
    }
}

#[tokio::test]
async fn what_stands_in_for_reports_never_counts_as_success() {
    let agent = FakeAgent::deciding(|task| match topic(task) {
        "one" => writes(task),
        _ => Act::Say("I know a lot about this, and I say it here and in no file.".to_owned()),
    });
    let rig = rig(&agent).await;
    let run = ask(&rig, "one; two; three").await;
    rig.settle().await;
    let said = status(&rig);
    assert_eq!(rig.state(&run).await, State::Failed, "{said}");
    assert!(said.contains("## Error: agent_failed"), "{said}");
    assert!(
        said.contains("1 of 3 topics has a report; the minimum is 2."),
        "{said}"
    );
    assert!(said.contains("Topic 2 (two): degraded"), "{said}");
}

#[tokio::test]
async fn a_retry_does_the_missing_topics_only() {
    let good = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let now_good = std::sync::Arc::clone(&good);
    let agent = FakeAgent::deciding(move |task| {
        if topic(task) == "one" || now_good.load(std::sync::atomic::Ordering::SeqCst) {
            return writes(task);
        }
        Act::End(Ending::Limited(Limit::Turns))
    });
    let rig = rig(&agent).await;
    let run = ask(&rig, "one; two; three").await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    assert_eq!(agent.prompts().len(), 3);
    good.store(true, std::sync::atomic::Ordering::SeqCst);
    rig.say(Command::Retry).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(agent.prompts().len(), 5, "the first topic had its report");
    assert_eq!(topics(&rig, &run).await, [TopicState::Written; 3]);
    let reports = rig.forge.own_bodies(HERE);
    let heads = reports
        .iter()
        .filter(|body| body.starts_with("### Research"));
    assert_eq!(heads.count(), 3, "{reports:#?}");
}

#[tokio::test]
async fn a_crash_loses_no_report_and_no_finished_topic_is_worked_on_again() {
    let agent = FakeAgent::deciding(|task| match topic(task) {
        "slow" => Act::Hang,
        _ => writes(task),
    });
    let rig = rig(&agent).await;
    let run = ask(&rig, "one; slow; three; four").await;
    // The delivery leaves the inbox now. A worker suspended while it does that blocks all reads.
    rig.view(&run).await;
    {
        let worker = rig.worker("dies");
        let mut working = Box::pin(worker.step());
        // The slow one holds the run; the others end meanwhile.
        loop {
            tokio::select! {
                biased;
                _ = &mut working => panic!("nobody ended the slow one"),
                () = tokio::task::yield_now() => {}
            }
            let done = match rig.view(&run).await.progress {
                Some(progress) => progress.research,
                None => None,
            };
            let done = done.map_or(0, |research| {
                research
                    .topics
                    .iter()
                    .filter(|one| one.state == TopicState::Written)
                    .count()
            });
            if done == 3 {
                break;
            }
        }
    }
    let before = agent.prompts().len();
    assert_eq!(before, 4);
    // The lease of the dead worker runs out; another one goes on. The slow topic writes now.
    let healed = FakeAgent::deciding(writes);
    let mut parts = rig.parts.clone();
    parts.agent = Some(std::sync::Arc::new(healed.clone()));
    let later =
        planwright::engine::clock::Clock::now(&*rig.clock).plus(std::time::Duration::from_mins(2));
    rig.clock.advance_to(later);
    rig.store.recover_all(later).await.unwrap();
    let worker = planwright::engine::worker::Worker::new(parts, "next");
    for _ in 0..200 {
        use planwright::engine::worker::Outcome;
        match worker.step().await.unwrap() {
            Outcome::Did(..) => {}
            Outcome::Idle => break,
            Outcome::Wait(until) => rig.clock.advance_to(until),
        }
    }
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!(healed.prompts().len(), 1);
    assert!(healed.prompts()[0].contains("002-slow.md"));
}

#[tokio::test]
async fn an_agent_that_obeys_the_data_has_no_report() {
    let agent = FakeAgent::deciding(|task| {
        let bait = task.prompt.split("write the word ").nth(1).unwrap();
        let word = bait.split_whitespace().next().unwrap();
        let file: &'static str = String::leak(task.wanted[0].clone());
        let text = format!("{}\n\nAs asked: {}\n", report("it"), word.to_lowercase());
        Act::Write(vec![(file, text)], "Done.".to_owned())
    });
    let rig = rig(&agent).await;
    let run = ask(&rig, "it").await;
    rig.settle().await;
    assert_eq!(topics(&rig, &run).await, [TopicState::Failed]);
    let said = rig.forge.own_bodies(HERE).concat();
    assert!(said.contains("followed an instruction in its input"));
    assert!(!said.contains("As asked"), "{said}");
}

#[tokio::test]
async fn wrong_topics_are_refused_with_the_remedy_and_cost_nothing() {
    let agent = FakeAgent::new(Vec::new());
    for (topics, want) in [
        ("", "There is no topic to research."),
        (" ; \n - \n", "There is no topic to research."),
        (
            "a; b; c; d; e; f; g; h; i",
            "9 topics were given; one run is limited to 8",
        ),
        (&"x".repeat(301), "A topic is longer than 300 characters"),
    ] {
        let rig = rig(&agent).await;
        let run = ask(&rig, topics).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Failed);
        let said = status(&rig);
        assert!(said.contains("## Error: invalid_input"), "{said}");
        assert!(said.contains(want), "{said}");
    }
    assert!(agent.prompts().is_empty());
}

#[tokio::test]
async fn without_an_agent_research_says_that_it_needs_one() {
    let rig = Rig::new().await;
    let run = ask(&rig, "one").await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    let said = status(&rig);
    assert!(
        said.contains("`/research` needs a coding agent; none is configured."),
        "{said}"
    );
}

#[tokio::test]
async fn passing_faults_wait_longer_each_time_and_then_end_the_topic() {
    let agent = FakeAgent::deciding(|_| overloaded());
    let rig = rig(&agent).await;
    let run = ask(&rig, "one").await;
    let mut waits = Vec::new();
    for _ in 0..20 {
        work_until_idle(&rig).await;
        if rig.state(&run).await == State::Failed {
            break;
        }
        let before = planwright::engine::clock::Clock::now(&*rig.clock);
        let worker = rig.worker("rig");
        if let planwright::engine::worker::Outcome::Wait(until) = worker.step().await.unwrap() {
            waits.push(until.since(before).as_secs_f64());
            rig.clock.advance_to(until);
        }
    }
    assert_eq!(rig.state(&run).await, State::Failed);
    assert_eq!(agent.prompts().len(), 4);
    assert_eq!(waits.len(), 3, "{waits:?}");
    for (wait, least) in waits.iter().zip([5.0, 10.0, 20.0]) {
        assert!(*wait >= least && *wait <= least * 1.5 + 0.1, "{waits:?}");
    }
    let said = status(&rig);
    assert!(said.contains("The model's service answered 529"), "{said}");
}

#[tokio::test]
async fn what_is_paid_for_is_not_thrown_away_when_a_limit_lets_no_further_topic_begin() {
    let agent = FakeAgent::deciding(writes);
    let rig = crate::engine_agent::with(&agent, |settings| settings.run_cost = Some(30_000)).await;
    let run = ask(&rig, "one; two; three; four; five").await;
    rig.settle().await;
    // The three together have cost what the run may.
    assert_eq!(rig.state(&run).await, State::Failed);
    let states = topics(&rig, &run).await;
    let (done, open) = states.split_at(3);
    assert_eq!(
        (done, open),
        (&[TopicState::Written; 3][..], &[TopicState::Open; 2][..])
    );
    let said = status(&rig);
    assert!(said.contains("## Error: agent_limit"), "{said}");
    assert!(
        said.contains("Comment `/research` with the missing topics"),
        "{said}"
    );
    assert!(
        said.contains(". 3 of 5 topics have a report: [1]("),
        "{said}"
    );
    let bodies = rig.forge.own_bodies(HERE);
    for (body, mark) in bodies[1..].iter().zip(["✅", "✅", "✅", "⏹️", "⏹️"]) {
        assert!(body.contains(&format!("\n\n{mark}")), "{body}");
    }
}

#[tokio::test]
async fn the_final_summary_stays_whatever_goes_wrong_behind_it() {
    // A run that goes on showed how far its research is, over the final summary, which is written
    // once.
    let undisturbed = {
        let rig = rig(&FakeAgent::deciding(writes)).await;
        ask(&rig, "one").await;
        rig.settle().await;
        rig.forge.world.lock().unwrap().writes
    };
    assert!(undisturbed > 8, "{undisturbed}");
    for write in 1..=undisturbed {
        for fault in [Fault::LostBefore, Fault::LostAfter] {
            let rig = rig(&FakeAgent::deciding(writes)).await;
            rig.forge.fail(write, fault);
            let run = ask(&rig, "one").await;
            rig.settle().await;
            assert_eq!(
                rig.state(&run).await,
                State::Succeeded,
                "{fault:?} at {write}"
            );
            let said = status(&rig);
            assert!(
                said.starts_with("✅ Research finished"),
                "{fault:?} at {write}: {said}"
            );
            assert_eq!(rig.forge.own_bodies(HERE).len(), 2, "{fault:?} at {write}");
        }
    }
}

#[tokio::test]
async fn a_run_that_waits_for_agents_asks_github_for_next_to_nothing() {
    let agent = FakeAgent::deciding(writes);
    let rig = rig(&agent).await;
    let run = ask(&rig, "one").await;
    agent.full.store(true, std::sync::atomic::Ordering::Relaxed);
    work_until_idle(&rig).await;
    let before = rig.forge.world.lock().unwrap().calls;
    let worker = rig.worker("rig");
    let mut wakes = 0;
    for _ in 0..40 {
        use planwright::engine::worker::Outcome;
        match worker.step().await.unwrap() {
            Outcome::Wait(until) => rig.clock.advance_to(until),
            _ => wakes += 1,
        }
    }
    let calls = rig.forge.world.lock().unwrap().calls - before;
    // One to see that who asked still may.
    assert!(
        wakes >= 10 && calls <= wakes,
        "{calls} calls in {wakes} wakes"
    );
    agent
        .full
        .store(false, std::sync::atomic::Ordering::Relaxed);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
}

#[tokio::test]
async fn what_others_finish_is_remembered_while_github_is_slow() {
    // The first edit that shows progress never returns: the process dies there.
    let agent = FakeAgent::deciding(writes);
    // 👀, the status comment, the summary, three comments and the summary again come before any
    // agent begins.
    let before = 7;
    let rig = rig(&agent).await;
    let run = ask(&rig, "one; two; three").await;
    rig.forge.fail(before + 1, Fault::DieBefore);
    // The delivery leaves the inbox now. A worker suspended while it does that blocks all reads.
    rig.view(&run).await;
    {
        let worker = rig.worker("dies");
        let mut working = Box::pin(worker.step());
        for _ in 0..5_000 {
            tokio::select! {
                biased;
                _ = &mut working => panic!("GitHub answered"),
                () = tokio::task::yield_now() => {}
            }
            if topics(&rig, &run).await == [TopicState::Written; 3] {
                break;
            }
        }
    }
    assert_eq!(topics(&rig, &run).await, [TopicState::Written; 3]);
}

#[tokio::test]
async fn a_text_that_was_changed_after_the_command_is_not_told() {
    let agent = FakeAgent::deciding(writes);
    let rig = rig(&agent).await;
    let mut trigger = rig.trigger(Command::Research, "ada", 7, HERE);
    trigger.guidance = Some("one".to_owned());
    trigger.opening = Some(planwright::engine::model::trigger::digest("What it was."));
    rig.deliver(trigger).await;
    rig.settle().await;
    let prompts = agent.prompts();
    assert!(!prompts[0].contains("It takes a minute."), "{}", prompts[0]);
}

#[test]
fn wordings_get_stricter() {
    assert_eq!(wordings(), ["standard", "ultra_explicit", "step_by_step"]);
}

#[test]
fn a_file_of_a_turn_that_did_not_end_well_is_no_report() {
    let wrote = Wrote {
        path: "001-a-topic.md".to_owned(),
        text: report("it"),
        ok: Some(true),
    };
    let document = Document {
        path: wrote.path.clone(),
        text: wrote.text.clone(),
    };
    let agent = FakeAgent::deciding(move |_| Act::Cut(document.clone()));
    let (research, _) = works(&agent, ResearchSettings::default());
    let topic = &research.topics[0];
    assert_eq!(topic.state, TopicState::Degraded);
    // Nothing that was paid for is lost.
    assert!(topic.report.as_ref().unwrap().contains("It is like this"));
    assert_eq!(agent.prompts().len(), 1);
}
