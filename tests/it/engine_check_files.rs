//! `/check-plan` on many files: the number of requests, what is kept if a run is interrupted, and
//! who pushed the commits.

use std::collections::BTreeMap;
use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::forge::{
    Change, ChangedFile, CheckState, Conclusion, EntryKind, ForgeError, PullRequest, ReadError,
    Tree, TreeEntry,
};
use planwright::engine::model::failure::Code;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Origin, Trigger};
use planwright::engine::settings::{CheckSettings, Settings};
use planwright::formats::command::{Command, Permission};

use crate::support::fake_forge::Check;
use crate::support::rig::{HERE, Rig};

const HEAD: &str = "0123456789012345678901234567890123456789";
const REPO: u64 = 42;
const FORK: u64 = 43;

/// A plan that reads these files.
fn plan(files: &[String]) -> String {
    let mut text =
        "# Look at things\n\n- **Status:** Green\n- **Agent:** Developer\n\n## Rationale\n\n\
                    ```text\nTo see.\n```\n\n## Action Plan\n\n"
            .to_owned();
    for file in files {
        text.push_str(&format!(
            "### `READ`\n- **Resource:** [{file}](/{file})\n- **Description:** Look.\n\n"
        ));
    }
    text
}

/// A pull request with `plans` plan files, each of which reads `looks` files; of its own, or
/// `shared` by all.
async fn proposed(settings: CheckSettings, plans: usize, looks: usize, shared: bool) -> Rig {
    let rig = Rig::with(Settings {
        check: settings,
        ..Settings::default()
    })
    .await;
    let mut files = BTreeMap::new();
    let mut changed = Vec::new();
    for number in 0..plans {
        let read: Vec<String> = (0..looks)
            .map(|look| {
                let owner = if shared { 0 } else { number };
                format!("src/m{owner}/f{look}.rs")
            })
            .collect();
        let path = format!("plans/{number}.plan.md");
        files.insert(path.clone(), plan(&read));
        files.extend(
            read.into_iter()
                .map(|path| (path, "fn main() {}\n".to_owned())),
        );
        changed.push(ChangedFile {
            path,
            change: Change::Added,
            previous: None,
        });
    }
    let entry = |(path, text): (&String, &String)| TreeEntry {
        path: path.clone(),
        size: text.len() as u64,
        // Equal contents have equal ids in git; here each path has its own.
        id: format!("id-{path}"),
        kind: EntryKind::File,
    };
    let mut world = rig.forge.world.lock().unwrap();
    world.tree = Some(Tree {
        commit: HEAD.into(),
        entries: files.iter().map(entry).collect(),
        cut: Vec::new(),
    });
    for (path, text) in &files {
        let name = format!("blob id-{path}");
        world.files.insert(name, Ok(text.clone().into_bytes()));
    }
    let pull = PullRequest {
        head_sha: HEAD.into(),
        head_repo: Some(FORK),
        base_sha: HEAD.into(),
        base_branch: "main".into(),
        open: true,
        draft: false,
        changed_files: changed.len(),
    };
    world.pulls.insert(HERE, (pull, changed));
    drop(world);
    rig
}

fn pushed(rig: &Rig, login: &str, id: u64) -> Trigger {
    let mut trigger = rig.trigger(Command::CheckPlan, login, id, HERE);
    trigger.place.pull_request = true;
    trigger.origin = Origin::Push { head: HEAD.into() };
    trigger
}

async fn checked(rig: &Rig, login: &str, id: u64) -> (RunId, Option<Check>) {
    let run = rig.deliver(pushed(rig, login, id)).await;
    rig.settle().await;
    let check = rig.forge.world.lock().unwrap().checks.last().cloned();
    (run, check)
}

fn requests(rig: &Rig) -> u64 {
    rig.forge.world.lock().unwrap().calls
}

#[tokio::test]
async fn fifty_plans_that_read_the_same_fifty_files_cost_a_request_for_each_file() {
    let rig = proposed(CheckSettings::default(), 50, 50, true).await;
    let (run, check) = checked(&rig, "ada", 7).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{check:?}");
    let read = rig.forge.world.lock().unwrap().read.len();
    println!(
        "50 plans, 50 files of all: {read} contents, {} requests in all",
        requests(&rig)
    );
    assert_eq!(read, 100);
    assert!(requests(&rig) < 120, "{}", requests(&rig));
}

#[tokio::test]
async fn a_push_of_fifty_plans_with_fifty_files_each_ends_within_the_budget_of_a_run() {
    let rig = proposed(CheckSettings::default(), 50, 50, false).await;
    let began = rig.clock.now();
    let (run, check) = checked(&rig, "ada", 7).await;
    assert_eq!(rig.state(&run).await, State::Failed);
    println!(
        "50 plans, 2,500 files: {} requests, {} s of waiting",
        requests(&rig),
        rig.clock.now().since(began).as_secs()
    );
    assert!(requests(&rig) <= 1_020, "{}", requests(&rig));
    let check = check.unwrap();
    assert_eq!(
        check.report.state,
        CheckState::Completed(Conclusion::ActionRequired)
    );
    assert_eq!(check.report.title, "31 of 50 plans were not checked");
    assert!(
        check.report.summary.contains(
            "- ⏭️ `plans/49.plan.md`: Not checked: the check reached its limit of requests to GitHub.\n"
        ),
        "{}",
        check.report.summary
    );
    let said = rig.forge.own_bodies(HERE).remove(0);
    assert!(
        said.starts_with("## Error: validation_failed\n\n31 of 50 plans were not checked.\n"),
        "{said}"
    );
    assert!(
        said.contains("ask the operator of this bot to raise `check.max_requests`."),
        "{said}"
    );
}

#[tokio::test]
async fn what_was_checked_before_a_rate_limit_is_not_asked_for_again() {
    let rig = proposed(CheckSettings::default(), 10, 3, false).await;
    let limited = ReadError::Forge(ForgeError::Limited {
        what: "a blob".into(),
        until: rig.clock.now().plus(Duration::from_hours(1)),
    });
    let name = "blob id-src/m7/f1.rs";
    let text = {
        let mut world = rig.forge.world.lock().unwrap();
        world.files.insert(name.into(), Err(limited)).unwrap()
    };
    let run = rig.deliver(pushed(&rig, "ada", 7)).await;
    rig.worker("rig").step().await.unwrap();
    assert_eq!(rig.state(&run).await, State::Waiting);
    let before = rig.forge.world.lock().unwrap().read.clone();
    rig.forge
        .world
        .lock()
        .unwrap()
        .files
        .insert(name.into(), text);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let read = rig.forge.world.lock().unwrap().read[before.len()..].to_vec();
    // Plans 7 (again), 8 and 9, each with three files.
    assert_eq!(read.len(), 12, "{read:?}");
    assert!(
        !read.iter().any(|name| before[..28].contains(name)),
        "{read:?}"
    );
}

#[tokio::test]
async fn a_run_that_is_limited_again_and_again_gives_up() {
    let rig = proposed(CheckSettings::default(), 1, 1, false).await;
    let began = rig.clock.now();
    for write in 1..50 {
        let wait = crate::support::fake_forge::Fault::Limited(Duration::from_hours(1));
        rig.forge.fail(write, wait);
    }
    let run = rig.deliver(pushed(&rig, "ada", 7)).await;
    rig.settle().await;
    let view = rig.view(&run).await;
    assert_eq!(
        (view.state, view.code.map(Code::name)),
        (State::Failed, Some("github_unavailable"))
    );
    // Six hours for the work, and six for the report of its end.
    let took = rig.clock.now().since(began);
    assert!(took <= Duration::from_hours(14), "{took:?}");
}

#[tokio::test]
async fn commits_of_somebody_without_triage_permission_are_checked_with_a_small_budget() {
    let rig = proposed(CheckSettings::default(), 50, 50, false).await;
    let (_, check) = checked(&rig, "eve", 66).await;
    let check = check.unwrap();
    println!("pushed by a stranger: {} requests", requests(&rig));
    assert!(requests(&rig) <= 120, "{}", requests(&rig));
    assert_eq!(
        check.report.state,
        CheckState::Completed(Conclusion::ActionRequired)
    );
    assert!(
        check.report.summary.contains(
            "eve, who pushed these commits, has no triage permission: the check is limited to 100 \
             requests to GitHub. Somebody with that permission can comment `/check-plan` for a \
             full check."
        ),
        "{}",
        check.report.summary
    );
}

#[tokio::test]
async fn pushes_of_somebody_without_triage_permission_are_checked_three_times_an_hour() {
    let rig = proposed(CheckSettings::default(), 1, 1, false).await;
    for _ in 0..20 {
        checked(&rig, "eve", 66).await;
    }
    assert_eq!(rig.forge.world.lock().unwrap().checks.len(), 3);
    rig.forge.grant("eve", 66, Permission::Triage);
    // Whoever has been ignored twenty times is heard again when the window is over.
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_hours(1)));
    checked(&rig, "eve", 66).await;
    assert_eq!(rig.forge.world.lock().unwrap().checks.len(), 4);
}

#[tokio::test]
async fn whoever_pushes_to_a_branch_of_the_repository_itself_has_the_whole_budget() {
    let rig = proposed(CheckSettings::default(), 50, 50, false).await;
    rig.forge
        .world
        .lock()
        .unwrap()
        .pulls
        .get_mut(&HERE)
        .unwrap()
        .0
        .head_repo = Some(REPO);
    let (_, check) = checked(&rig, "renovate[bot]", 29).await;
    assert!(!check.unwrap().report.summary.contains("triage permission"));
    assert!(requests(&rig) > 900, "{}", requests(&rig));
}

#[tokio::test]
async fn a_file_that_is_not_in_a_listing_that_github_cut_is_asked_for_by_its_path() {
    let rig = proposed(CheckSettings::default(), 1, 2, false).await;
    {
        let mut world = rig.forge.world.lock().unwrap();
        let tree = world.tree.as_mut().unwrap();
        tree.cut.push(String::new());
        tree.entries.retain(|entry| entry.path != "src/m0/f1.rs");
        world.files.insert(
            format!("src/m0/f1.rs@{HEAD}"),
            Ok(b"fn main() {}\n".to_vec()),
        );
    }
    let (run, check) = checked(&rig, "ada", 7).await;
    assert_eq!(rig.state(&run).await, State::Succeeded, "{check:?}");
    // In a whole listing a path that is not there is known to be missing, and costs nothing.
    rig.forge
        .world
        .lock()
        .unwrap()
        .tree
        .as_mut()
        .unwrap()
        .cut
        .clear();
    let (run, check) = checked(&rig, "ada", 7).await;
    assert_eq!(rig.state(&run).await, State::Failed, "{check:?}");
}
