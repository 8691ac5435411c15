//! The repository's files for agents: which commit they see, what they are told about it, and what
//! happens without a copy.

use std::sync::Arc;

use planwright::engine::checkout::{CheckoutError, LeftOut, WhyLeftOut};
use planwright::engine::forge::{EntryKind, ForgeError, PullRequest, Tree, TreeEntry};
use planwright::engine::model::agent::{Ending, Limit};
use planwright::engine::model::run::State;
use planwright::engine::model::time::Millis;
use planwright::formats::command::Command;

use crate::engine_agent::{GOOD, document, rig, say};
use crate::support::fake_agent::{Act, FakeAgent};
use crate::support::fake_checkouts::FakeCheckouts;
use crate::support::rig::{HERE, Rig};

const HEAD: &str = "1111111111111111111111111111111111111111";
const BASE: &str = "2222222222222222222222222222222222222222";

/// Returns a rig whose repository has a commit and whose agent gets copies.
async fn reading(agent: &FakeAgent, checkouts: FakeCheckouts) -> (Rig, Arc<FakeCheckouts>) {
    let mut rig = rig(agent).await;
    rig.forge.world.lock().unwrap().tree = Some(Tree {
        commit: HEAD.to_owned(),
        ..Tree::default()
    });
    let checkouts = Arc::new(checkouts);
    rig.parts.checkouts = Some(checkouts.clone());
    (rig, checkouts)
}

fn report(rig: &Rig) -> String {
    rig.forge.own_bodies(HERE).pop().unwrap()
}

#[tokio::test]
async fn an_agent_gets_the_default_branch_and_is_told_what_is_missing() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let copies = FakeCheckouts {
        files: vec![("src/index.rs", "fn build() {}"), ("README.md", "Search")],
        left_out: vec![LeftOut {
            path: "vendor/lib @x".to_owned(),
            why: WhyLeftOut::Submodule,
        }],
        ..FakeCheckouts::default()
    };
    let (rig, copies) = reading(&agent, copies).await;
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", report(&rig));
    assert_eq!(*copies.requested.lock().unwrap(), [HEAD]);
    let task = agent.tasks.lock().unwrap()[0].clone();
    let folder = format!("/copies/42/{HEAD}");
    assert_eq!(task.repository, Some(folder.clone().into()));
    assert!(
        task.prompt.contains(&format!(
            "The repository at commit {HEAD} is in the folder `{folder}` (2 files, 1 KB). It cannot be changed."
        )),
        "{}",
        task.prompt
    );
    assert!(task.prompt.contains("- vendor/lib ＠x: a submodule\n"));
    // The copy may be removed when the run has ended.
    assert_eq!(Arc::strong_count(&copies.in_use), 1);
}

#[tokio::test]
async fn on_a_pull_request_the_agent_gets_its_base() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let (rig, copies) = reading(&agent, FakeCheckouts::default()).await;
    let pull = PullRequest {
        head_sha: HEAD.to_owned(),
        head_repo: None,
        base_sha: BASE.to_owned(),
        base_branch: "release/2".to_owned(),
        open: true,
        draft: false,
        changed_files: 0,
    };
    rig.forge
        .world
        .lock()
        .unwrap()
        .pulls
        .insert(HERE, (pull, Vec::new()));
    let mut trigger = rig.trigger(Command::SavePlan, "ada", 7, HERE);
    trigger.place.pull_request = true;
    rig.deliver(trigger).await;
    rig.settle().await;
    assert_eq!(*copies.requested.lock().unwrap(), [BASE]);
    let (_, plan) = rig.forge.plans().pop().unwrap();
    for line in ["ref: release/2", &format!("commit: '{BASE}'")] {
        assert!(plan.body.contains(line), "{line}: {}", plan.body);
    }
}

#[tokio::test]
async fn every_turn_of_a_run_sees_the_same_commit() {
    let agent = FakeAgent::new(vec![say("No plan."), say(GOOD)]);
    let (rig, copies) = reading(&agent, FakeCheckouts::default()).await;
    rig.say(Command::SavePlan).await;
    // A push between the attempts does not matter.
    copies
        .errors
        .lock()
        .unwrap()
        .push_back(CheckoutError::Forge(ForgeError::Limited {
            what: "the archive".to_owned(),
            until: Millis(0),
        }));
    rig.settle().await;
    rig.forge.world.lock().unwrap().tree = Some(Tree {
        commit: BASE.to_owned(),
        ..Tree::default()
    });
    rig.settle().await;
    let requested = copies.requested.lock().unwrap().clone();
    assert!(requested.len() >= 2, "{requested:?}");
    assert!(requested.iter().all(|one| one == HEAD), "{requested:?}");
    let tasks = agent.tasks.lock().unwrap().clone();
    assert_eq!(tasks.len(), 2);
    let folder = Some(format!("/copies/42/{HEAD}").into());
    assert!(tasks.iter().all(|task| task.repository == folder));
}

#[tokio::test]
async fn without_a_copy_the_plan_is_saved_and_the_report_says_why() {
    for (error, why) in [
        (
            CheckoutError::TooManyFiles { max: 100_000 },
            "it has more than 100000 files (`agent.repository.max_files`)",
        ),
        (
            CheckoutError::Forge(ForgeError::Forbidden {
                what: "the archive".to_owned(),
                message: "Resource not accessible by integration".to_owned(),
            }),
            "the App lacks the permission `contents: read`",
        ),
    ] {
        let agent = FakeAgent::new(vec![say(GOOD)]);
        let copies = FakeCheckouts::default();
        copies.errors.lock().unwrap().push_back(error);
        let (rig, copies) = reading(&agent, copies).await;
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", report(&rig));
        assert_eq!(copies.requested.lock().unwrap().len(), 1);
        assert_eq!(agent.tasks.lock().unwrap()[0].repository, None);
        let said = format!("The agent worked without a copy of the repository: {why}.");
        assert!(report(&rig).contains(&said), "{}", report(&rig));
        let said = "The agent worked without a copy of the repository: ";
        assert!(document(&rig).contains(said), "{}", document(&rig));
    }
}

#[tokio::test]
async fn an_empty_repository_is_not_copied() {
    let agent = FakeAgent::new(vec![say(GOOD)]);
    let (rig, copies) = reading(&agent, FakeCheckouts::default()).await;
    rig.forge.world.lock().unwrap().tree = None;
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert!(copies.requested.lock().unwrap().is_empty());
    assert!(
        report(&rig).contains("it has no commits"),
        "{}",
        report(&rig)
    );
}

#[tokio::test]
async fn planners_and_researchers_get_the_copy_too() {
    for command in [Command::Plan, Command::Research] {
        let agent = FakeAgent::deciding(|_| Act::Say("Nothing.".to_owned()));
        let (rig, _) = reading(&agent, FakeCheckouts::default()).await;
        let mut trigger = rig.trigger(command, "ada", 7, HERE);
        trigger.guidance = Some("caching".to_owned());
        rig.deliver(trigger).await;
        rig.settle().await;
        let tasks = agent.tasks.lock().unwrap().clone();
        let folder = format!("/copies/42/{HEAD}");
        assert!(!tasks.is_empty());
        assert!(tasks[0].prompt.contains(&folder), "{}", tasks[0].prompt);
        for task in tasks {
            assert_eq!(task.repository, Some(folder.clone().into()), "{command:?}");
        }
    }
}

/// Makes these files the ones of the default branch.
fn set_files(rig: &Rig, paths: &[&str]) {
    let entry = |path: &&str| TreeEntry {
        path: (*path).to_owned(),
        size: 1,
        id: (*path).to_owned(),
        kind: EntryKind::File,
    };
    rig.forge.world.lock().unwrap().tree = Some(Tree {
        commit: HEAD.to_owned(),
        entries: paths.iter().map(entry).collect(),
        cut: Vec::new(),
    });
}

/// Returns [`GOOD`] with a first step that changes `path`.
fn changing(path: &str) -> String {
    let step = format!("1. Change `{path}`\n1. Write the index");
    GOOD.replace("1. Write the index", &step)
}

#[tokio::test]
async fn an_agent_is_asked_once_to_correct_the_paths_in_its_plan() {
    let (wrong, right) = (changing("src/indx.rs"), changing("src/index.rs"));
    let agent = FakeAgent::new(vec![say(&wrong), say(&right)]);
    let (rig, _) = reading(&agent, FakeCheckouts::default()).await;
    set_files(&rig, &["src/index.rs", "src/main.rs"]);
    let run = rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{}", report(&rig));
    let prompts = agent.prompts();
    assert_eq!(prompts.len(), 2);
    assert!(
        prompts[1].contains("The plan names `src/indx.rs`"),
        "{}",
        prompts[1]
    );
    assert!(prompts[1].contains("Nearest: `src/index.rs`."));
    assert!(
        report(&rig).contains("**Files:** 1 of 1 file exists at `1111111`"),
        "{}",
        report(&rig)
    );
    let (_, plan) = rig.forge.plans().pop().unwrap();
    assert!(
        plan.body
            .contains("**Files:** 1 of 1 file exists at `1111111`")
    );
    assert!(plan.body.contains(&format!("commit: '{HEAD}'")));
}

#[tokio::test]
async fn a_plan_whose_paths_are_not_corrected_is_saved_and_its_report_names_them() {
    let wrong = changing("src/indx.rs");
    let fails = || Act::End(Ending::Limited(Limit::Deadline));
    for script in [
        vec![say(&wrong), say(&wrong)],
        vec![say(&wrong), fails()],
        vec![say(&wrong), say("Sorry."), say("Sorry."), say("Sorry.")],
    ] {
        let agent = FakeAgent::new(script);
        let (rig, _) = reading(&agent, FakeCheckouts::default()).await;
        set_files(&rig, &["src/index.rs"]);
        let run = rig.say(Command::SavePlan).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", report(&rig));
        let said = "0 of 1 file exists at `1111111`; not found: `src/indx.rs` (nearest: \
                    `src/index.rs`)";
        assert!(report(&rig).contains(said), "{}", report(&rig));
        assert!(
            report(&rig).starts_with("✅ Plan saved:"),
            "{}",
            report(&rig)
        );
        assert!(document(&rig).contains("src/indx.rs"));
    }
}

#[tokio::test]
async fn a_symbol_that_is_not_in_its_file_is_complained_about() {
    let plan = |symbol: &str| {
        let step = format!("1. Call `{symbol}()` in `src/index.rs`\n1. Write the index");
        GOOD.replace("1. Write the index", &step)
    };
    let agent = FakeAgent::new(vec![say(&plan("rebuild_all")), say(&plan("rebuild"))]);
    let copies = FakeCheckouts {
        files: vec![("src/index.rs", "pub fn rebuild() {}")],
        ..FakeCheckouts::default()
    };
    let (rig, _) = reading(&agent, copies).await;
    set_files(&rig, &["src/index.rs"]);
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    let prompts = agent.prompts();
    assert_eq!(prompts.len(), 2, "{}", report(&rig));
    assert!(prompts[1].contains("rebuild_all"), "{}", prompts[1]);
}

#[tokio::test]
async fn without_an_agent_one_request_checks_the_files_of_a_plan() {
    for (plan, requests) in [
        (changing("src/indx.rs"), 1),
        // A plan that names no files needs none.
        (GOOD.to_owned(), 0),
    ] {
        let rig = Rig::new().await;
        set_files(&rig, &["src/index.rs"]);
        rig.forge
            .open(HERE, "Search is slow", &["It takes a minute.", &plan]);
        let run = rig.say(Command::SaveRawPlan).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded, "{}", report(&rig));
        let listed = rig.forge.world.lock().unwrap().trees_listed;
        assert_eq!(listed, requests);
        let said = "**Files:** 0 of 1 file exists at `1111111`; not found: `src/indx.rs`";
        assert_eq!(
            report(&rig).contains(said),
            requests == 1,
            "{}",
            report(&rig)
        );
        let (_, issue) = rig.forge.plans().pop().unwrap();
        let commit = format!("commit: '{HEAD}'");
        assert_eq!(
            issue.body.contains(&commit),
            requests == 1,
            "{}",
            issue.body
        );
    }
}

#[tokio::test]
async fn a_listing_that_github_cuts_short_is_completed_from_the_copy() {
    let agent = FakeAgent::new(vec![say(&changing("src/index.rs"))]);
    let copies = FakeCheckouts {
        files: vec![("src/index.rs", "")],
        ..FakeCheckouts::default()
    };
    let (rig, _) = reading(&agent, copies).await;
    set_files(&rig, &["README.md"]);
    {
        let mut world = rig.forge.world.lock().unwrap();
        let tree = world.tree.as_mut().unwrap();
        tree.cut.push(String::new());
    }
    rig.say(Command::SavePlan).await;
    rig.settle().await;
    assert!(
        report(&rig).contains("1 of 1 file exists"),
        "{}",
        report(&rig)
    );
}
