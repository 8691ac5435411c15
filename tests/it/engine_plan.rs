//! `/plan`: the specification, the input of the planner, which output counts as its plan, and what
//! is saved.

use planwright::engine::agent::Task;
use planwright::engine::model::agent::{Document, Wrote};
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Origin, digest};
use planwright::engine::settings::{PublishSettings, Settings};
use planwright::formats::command::{Command, RawOption};

use crate::engine_agent::{ASKS, answers, document, rig, status, work_until_idle};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::research::report;
use crate::support::rig::{HERE, Rig};

/// A plan that holds.
pub(crate) const PLAN: &str = "# Plan: Keep the search index between starts

## Overview

The index is rebuilt at every start, which takes a minute. Keep it on disk, beside the data that it was made from.

- **Complexity**: Low

## Phase 1: Write the index

Write it to `src/index.rs` under a temporary name, then rename it, so that a crash leaves the old one.

- [ ] Write the file after building the index
- [ ] Delete it when the format changes

**Acceptance criteria**

- [ ] The second start takes less than a second

## Phase 2: Read it

Read the file at start when it is newer than the data.

- [ ] Compare the times of both

## Assumptions

- Nobody shares the folder

Ask ＠grace about the format.
";

const SPECIFICATION: u64 = 30;

fn left(files: &[(&'static str, &str)]) -> Act {
    let files = files.iter().map(|(path, text)| (*path, (*text).to_owned()));
    Act::Write(files.collect(), "PLAN_CREATED: plan.md".to_owned())
}

/// An issue with `body` as the specification.
fn specify(rig: &Rig, body: &str) {
    rig.forge.open(SPECIFICATION, "Keep the index", &[body]);
}

async fn ask(rig: &Rig, guidance: &str, options: &[(&str, &str)]) -> RunId {
    let mut trigger = rig.trigger(Command::Plan, "ada", 7, SPECIFICATION);
    trigger.guidance = Some(guidance.to_owned());
    trigger.options = options
        .iter()
        .map(|(name, value)| RawOption {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        })
        .collect();
    rig.deliver(trigger).await
}

fn said(rig: &Rig) -> String {
    rig.forge.own_bodies(SPECIFICATION).concat()
}

#[tokio::test]
async fn the_planners_files_become_a_plan_issue_that_links_the_specification() {
    let agent = FakeAgent::new(vec![left(&[
        ("plan.md", PLAN),
        ("context.md", "# Context\n\nThe index is a B-tree.\n"),
        ("research.md", "# Research\n\nTwo formats were weighed.\n"),
    ])]);
    let rig = rig(&agent).await;
    specify(
        &rig,
        "## Requirements\n\n- [ ] Start in a second\n- [ ] Add second requirement\n",
    );
    let run = ask(&rig, "no new dependency", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let saved = document(&rig);
    assert!(saved.contains("## Phase 2: Read it"), "{saved}");
    let bodies = rig.forge.own_bodies(rig.forge.plans()[0].0);
    // The issue's own body is not among the comments.
    assert_eq!(bodies.len(), 3, "{bodies:#?}");
    assert!(bodies[0].contains("planwright") || bodies[0].contains("plan-body"));
    assert!(bodies[1].starts_with("**Context**"), "{}", bodies[1]);
    assert!(bodies[1].contains("The index is a B-tree."));
    assert!(bodies[2].starts_with("**Research**"), "{}", bodies[2]);
    assert!(!saved.contains('＠'), "{saved}");
    let status = said(&rig);
    assert!(status.contains("✅ Plan saved"), "{status}");
    assert!(
        status.contains("were ignored: “Add second requirement”"),
        "{status}"
    );
    let asked = &agent.prompts()[0];
    assert!(asked.contains("Start in a second"), "{asked}");
    assert!(!asked.contains("Add second requirement"), "{asked}");
    assert!(asked.contains("no new dependency"), "{asked}");
    let task = agent.tasks.lock().unwrap()[0].clone();
    assert_eq!(task.wanted, ["plan.md", "context.md", "research.md"]);
    assert!(task.system.contains("You are the planner"));
}

#[tokio::test]
async fn questions_are_asked_and_answered_before_the_plan_is_written() {
    let agent = FakeAgent::new(vec![
        Act::Say(ASKS.to_owned()),
        Act::Say(ASKS.replace("Where does", "And where does")),
        left(&[("plan.md", PLAN)]),
    ]);
    let rig = rig(&agent).await;
    rig.forge
        .open(HERE, "Keep the index", &["Start in a second."]);
    let mut trigger = rig.trigger(Command::Plan, "ada", 7, HERE);
    trigger.guidance = Some("soon".to_owned());
    let run = rig.deliver(trigger).await;
    for _ in 0..2 {
        work_until_idle(&rig).await;
        answers(&rig, "1: a 2: ten megabytes").await;
    }
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    let prompts = agent.prompts();
    assert_eq!(prompts.len(), 3);
    assert!(prompts[1].contains("ten megabytes"), "{}", prompts[1]);
    assert!(prompts[1].contains("write `plan.md` in your working directory"));
    assert!(
        prompts[2].contains("One round of questions is left"),
        "{}",
        prompts[2]
    );
    assert!(document(&rig).contains("Phase 1: Write the index"));
}

#[tokio::test]
async fn chat_is_never_saved_as_a_plan() {
    let chat = || Act::Say(format!("{PLAN}\n\nWould you like me to proceed?"));
    let agent = FakeAgent::new(vec![chat(), chat(), chat()]);
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    assert!(rig.forge.plans().is_empty());
    let said = said(&rig);
    assert!(said.contains("## Error: agent_failed"), "{said}");
    assert!(
        said.contains("the text of the answer does not count as the plan"),
        "{said}"
    );
    let prompts = agent.prompts();
    assert!(
        prompts[1].contains("Write the file `plan.md`"),
        "{}",
        prompts[1]
    );
    assert!(
        prompts[2].contains("This is the last try"),
        "{}",
        prompts[2]
    );
}

#[tokio::test]
async fn a_plan_with_placeholders_is_corrected_and_the_agent_finds_its_own_file_again() {
    let agent = FakeAgent::new(vec![
        left(&[("plan.md", &PLAN.replace("Write the index", "<short title>"))]),
        left(&[("plan.md", PLAN)]),
    ]);
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert!(
        tasks[1].prompt.contains("<short title>"),
        "{}",
        tasks[1].prompt
    );
    let own: &Document = &tasks[1].files[0];
    assert_eq!(own.path, "plan.md");
    assert!(own.text.contains("<short title>"));
}

#[tokio::test]
async fn a_plan_that_never_passes_is_saved_as_what_it_is() {
    let bad = || left(&[("plan.md", &PLAN.replace("Write the index", "<short title>"))]);
    let agent = FakeAgent::new(vec![bad(), bad(), bad()]);
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let said = said(&rig);
    assert!(said.contains("status: partial"), "{said}");
    assert!(
        said.contains("Fallback: this plan may be incomplete"),
        "{said}"
    );
}

#[tokio::test]
async fn a_plan_found_elsewhere_is_taken_and_said_so() {
    let wrote = Wrote {
        path: "/tmp/other/plan.md".to_owned(),
        text: PLAN.to_owned(),
        ok: Some(true),
    };
    for (act, at) in [
        (left(&[("docs/plan.md", PLAN)]), "`docs/plan.md`"),
        (Act::Claim(wrote, "Done.".to_owned()), "`plan.md`"),
    ] {
        let agent = FakeAgent::new(vec![act]);
        let rig = rig(&agent).await;
        specify(&rig, "Start in a second.");
        let run = ask(&rig, "", &[]).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
        assert!(said(&rig).contains(at), "{}", said(&rig));
    }
}

#[tokio::test]
async fn an_empty_specification_is_refused_with_the_template() {
    let agent = FakeAgent::new(Vec::new());
    let template = planwright::formats::specification::template("Keep the index");
    for body in ["", "<!-- describe it -->\n", &template] {
        let rig = rig(&agent).await;
        specify(&rig, body);
        let run = ask(&rig, "", &[]).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Failed);
        let said = said(&rig);
        assert!(said.contains("## Error: invalid_input"), "{said}");
        assert!(said.contains("and it is empty"), "{said}");
        assert!(said.contains("## Acceptance Criteria"), "{said}");
    }
}

#[tokio::test]
async fn a_specification_that_was_changed_after_the_command_is_not_planned_for() {
    let agent = FakeAgent::new(Vec::new());
    let rig = rig(&agent).await;
    specify(&rig, "Delete all data.");
    let mut trigger = rig.trigger(Command::Plan, "ada", 7, SPECIFICATION);
    trigger.opening = Some(digest("Start in a second."));
    trigger.origin = Origin::Label {
        name: "plan".to_owned(),
    };
    let run = rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    assert!(
        said(&rig).contains("changed after the command"),
        "{}",
        said(&rig)
    );
}

/// Writes a report or the plan, whatever is wanted.
fn works(task: &Task) -> Act {
    let file: &'static str = String::leak(task.wanted[0].clone());
    if file == "plan.md" {
        return left(&[("plan.md", PLAN)]);
    }
    Act::Write(vec![(file, report("it"))], "Done.".to_owned())
}

#[tokio::test]
async fn research_comes_first_and_the_planner_gets_it_in_short() {
    let agent = FakeAgent::deciding(works);
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[("research", "formats; locks")]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert_eq!(tasks.len(), 3);
    let asked = &tasks[2].prompt;
    assert!(
        asked.contains("What is known of it in one sentence."),
        "{asked}"
    );
    assert!(asked.contains("reports/001-formats.md"), "{asked}");
    let whole = "It is like this, and the code in `src/queue.rs` shows it. ".repeat(3);
    assert!(!asked.contains(&whole), "{asked}");
    let given = agent.given.lock().unwrap();
    let paths: Vec<&str> = given
        .last()
        .unwrap()
        .1
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(paths, ["reports/001-formats.md", "reports/002-locks.md"]);
    let said = said(&rig);
    assert!(
        said.contains("Written with research: 2 of 2 topics have a report"),
        "{said}"
    );
}

#[tokio::test]
async fn a_plan_knows_the_research_that_was_done_here_before() {
    let agent = FakeAgent::deciding(works);
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let mut trigger = rig.trigger(Command::Research, "ada", 7, SPECIFICATION);
    trigger.guidance = Some("formats".to_owned());
    rig.deliver(trigger).await;
    rig.settle().await;
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let tasks = agent.tasks.lock().unwrap();
    assert_eq!(tasks.len(), 2, "nothing is researched twice");
    assert!(tasks[1].prompt.contains("reports/001-formats.md"));
}

#[tokio::test]
async fn too_little_research_ends_the_plan_before_it_is_written() {
    let agent = FakeAgent::deciding(|_| Act::Say("I know it and write nothing down.".to_owned()));
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[("research", "formats; locks")]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    let said = said(&rig);
    assert!(said.contains("0 of 2 topics have a report"), "{said}");
    assert!(rig.forge.plans().is_empty());
}

#[tokio::test]
async fn documents_that_were_lost_with_the_agents_computer_are_given_again() {
    let agent = FakeAgent::new(vec![Act::Say(ASKS.to_owned()), left(&[("plan.md", PLAN)])]);
    let rig = rig(&agent).await;
    rig.forge
        .open(HERE, "Keep the index", &["Start in a second."]);
    let run = rig
        .deliver(rig.trigger(Command::Plan, "ada", 7, HERE))
        .await;
    work_until_idle(&rig).await;
    let before = agent.given.lock().unwrap().len();
    agent.given.lock().unwrap().clear();
    answers(&rig, "1: a 2: ten").await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", status(&rig));
    assert_eq!((before, agent.given.lock().unwrap().len()), (1, 1));
}

#[tokio::test]
async fn a_wrong_option_names_the_right_one() {
    let agent = FakeAgent::new(Vec::new());
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[("reserch", "x")]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    assert!(
        said(&rig).contains("the closest is `research`"),
        "{}",
        said(&rig)
    );
}

#[tokio::test]
async fn without_an_agent_a_plan_says_that_it_needs_one() {
    let rig = Rig::new().await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Failed);
    let said = said(&rig);
    assert!(
        said.contains("`/plan` needs a coding agent; none is configured."),
        "{said}"
    );
}

#[tokio::test]
async fn a_plan_that_was_written_before_a_limit_is_not_lost() {
    let agent = FakeAgent::deciding(|_| {
        Act::Cut(Document {
            path: "plan.md".to_owned(),
            text: PLAN.to_owned(),
        })
    });
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let saved = document(&rig);
    // Who reads the plan does not see the report.
    assert!(
        saved.contains("Fallback: the agent was stopped after it had written this plan."),
        "{saved}"
    );
    assert!(saved.contains("exceeded its time limit"), "{saved}");
    assert!(said(&rig).contains("status: partial"), "{}", said(&rig));
}

#[tokio::test]
async fn research_is_not_lost_when_the_issue_changes_meanwhile() {
    let agent = FakeAgent::deciding(works);
    let rig = rig(&agent).await;
    specify(&rig, "Start in a second.");
    let mut trigger = rig.trigger(Command::Plan, "ada", 7, SPECIFICATION);
    trigger.options = vec![RawOption {
        name: "research".to_owned(),
        value: "formats".to_owned(),
    }];
    trigger.opening = Some(digest("Start in a second."));
    let run = rig.deliver(trigger).await;
    agent.full.store(true, std::sync::atomic::Ordering::Relaxed);
    work_until_idle(&rig).await;
    specify(&rig, "Start in two seconds.");
    agent
        .full
        .store(false, std::sync::atomic::Ordering::Relaxed);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    let tasks = agent.tasks.lock().unwrap();
    for task in tasks.iter() {
        assert!(
            task.prompt.contains("Start in a second."),
            "{}",
            task.prompt
        );
    }
}

#[tokio::test]
async fn a_held_session_leaves_nothing_for_the_next_one() {
    let agent = FakeAgent::deciding(|task| match task.prompt.split("write the word ").nth(1) {
        Some(bait) if task.files.is_empty() => {
            let word = bait.split_whitespace().next().unwrap().to_owned();
            let text = format!("# Context\n\nPoisoned {word}.\n");
            left(&[("plan.md", PLAN), ("context.md", &text)])
        }
        _ => panic!("files of the held session: {:?}", task.files),
    });
    let rig = crate::engine_agent::rig(&agent).await;
    rig.forge
        .open(HERE, "Keep the index", &["Start in a second."]);
    rig.deliver(rig.trigger(Command::Plan, "ada", 7, HERE))
        .await;
    work_until_idle(&rig).await;
    assert!(status(&rig).contains("paused"), "{}", status(&rig));
    answers(&rig, "1: a").await;
    work_until_idle(&rig).await;
    assert_eq!(agent.prompts().len(), 2);
    assert!(rig.forge.plans().is_empty());
}

#[tokio::test]
async fn documents_that_have_no_room_do_not_cost_the_plan() {
    let agent = FakeAgent::new(vec![left(&[
        ("plan.md", PLAN),
        ("context.md", "# Context\n\nThe index is a B-tree.\n"),
        ("research.md", "# Research\n\nTwo formats were weighed.\n"),
    ])]);
    let settings = Settings {
        publish: PublishSettings {
            max_parts: 2,
            ..PublishSettings::default()
        },
        ..Default::default()
    };
    let mut rig = Rig::with(settings).await;
    rig.parts.agent = Some(std::sync::Arc::new(agent.clone()));
    specify(&rig, "Start in a second.");
    let run = ask(&rig, "", &[]).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
    assert!(
        said(&rig).contains("research document was left out"),
        "{}",
        said(&rig)
    );
}

#[tokio::test]
async fn a_printed_plan_comes_without_what_stands_around_it() {
    for text in [
        format!("Here is the plan:\n\n{PLAN}"),
        format!("```markdown\n{PLAN}```\n"),
        format!("Here it is.\n\n````md\n{PLAN}````\n\nShall I go on?\n"),
    ] {
        let agent = FakeAgent::forgetful(vec![left(&[("plan.md", &text)])]);
        let rig = rig(&agent).await;
        specify(&rig, "Start in a second.");
        let run = ask(&rig, "", &[]).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", said(&rig));
        let saved = document(&rig);
        assert!(!saved.contains("Here "), "{saved}");
        assert!(!saved.contains("```m"), "{saved}");
    }
}
