//! Agents that read the repository, end to end: the simulator serves the archive, the bot copies it,
//! the real Claude Code client reads it, and what it says is checked against the commit. All
//! exchanges with GitHub are checked against its published API description.

use github_simulator::model::TreeEntry;
use planwright::engine::model::run::State;
use serde_json::json;

use crate::e2e_research::{REPO, file, no_process_left, system, write};
use crate::engine_agent::GOOD;
use crate::engine_plan;
use crate::peer_claude::hostile::trap;
use crate::support::model::{Asked, Model, Turn};
use crate::support::research::report;
use crate::support::rig;
use crate::support::system::System;

/// Returns an edit that adds a file.
fn add(path: &str, text: impl Into<String>) -> (String, Option<TreeEntry>) {
    (path.to_owned(), Some(TreeEntry::File(text.into().into())))
}

fn link(path: &str, target: &str) -> (String, Option<TreeEntry>) {
    (path.to_owned(), Some(TreeEntry::Link(target.to_owned())))
}

/// Returns the folder of the copy that a prompt names.
fn folder(asked: &Asked) -> Option<String> {
    let said = asked.said();
    let (_, rest) = said.split_once("is in the folder `")?;
    let (folder, _) = rest.split_once('`')?;
    Some(folder.to_owned())
}

/// Asserts that the model has tools to read, and none to do anything else.
fn only_reads(asked: &Asked) {
    let tools = asked.tools();
    for tool in ["Glob", "Grep", "Read"] {
        assert!(tools.contains(&tool), "{tools:?}");
    }
    for tool in [
        "Bash", "Write", "Edit", "WebFetch", "Skill", "Task", "Agent",
    ] {
        assert!(!tools.contains(&tool), "{tools:?}");
    }
}

/// Opens an issue with a plan.
fn issue(system: &System) -> u64 {
    let text = "## Requirements\n\n- [ ] Start in a second\n";
    let opened = system.sim.open_issue(REPO, "bob", "Search is slow", text);
    let issue = opened.unwrap();
    system.sim.comment(REPO, issue, "bob", rig::PLAN).unwrap();
    issue
}

/// Returns [`GOOD`] with a first step that changes `path`.
fn changing(path: &str) -> String {
    let step = format!("1. Change `{path}`\n1. Write the index");
    GOOD.replace("1. Write the index", &step)
}

/// Reads a file of the copy and searches it, then ends with `last`.
fn looks(asked: &Asked, last: impl Fn(usize) -> Turn) -> Turn {
    let folder = folder(asked).expect("a copy of the repository");
    match asked.results() {
        0 => Turn::tool(
            "Read",
            &json!({ "file_path": format!("{folder}/src/index.rs") }),
        ),
        1 => {
            let input = json!({ "pattern": "heron", "path": folder, "output_mode": "content" });
            Turn::tool("Grep", &input)
        }
        later => last(later - 2),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_enriched_from_the_code_and_its_paths_are_checked() {
    let model = Model::deciding(|asked| {
        looks(asked, |_| {
            let corrected = asked.said().contains("Your answer was not accepted")
                || asked.said().contains("does not exist at");
            Turn::text(changing(if corrected {
                "src/index.rs"
            } else {
                "src/indx.rs"
            }))
        })
    })
    .await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let files = [
        add("src/index.rs", "// The heron stands in the index.\n"),
        add("src/main.rs", "fn main() {}\n"),
        add("CLAUDE.md", "TRAP-TEXT"),
    ];
    let commit = system.sim.commit(REPO, "main", &files).unwrap();
    let issue = issue(&system);
    for _ in 0..2 {
        system
            .sim
            .comment(REPO, issue, "ada", "/save-plan Look at the code")
            .unwrap();
        let runs = system.run_to_rest().await;
        let said = system.said(REPO, issue);
        assert!(
            runs.iter().all(|run| run.state == State::Succeeded),
            "{said:#?}"
        );
    }
    let asked = model.asked();
    assert!(
        asked[1].said().contains("The heron stands"),
        "{}",
        asked[1].said()
    );
    assert!(
        asked[2].said().contains("src/index.rs"),
        "{}",
        asked[2].said()
    );
    assert!(asked[0].said().contains(&commit));
    for one in &asked {
        only_reads(one);
        assert!(!one.body.to_string().contains("TRAP-TEXT"));
    }
    let plan = system.plans(REPO).remove(0);
    let body = plan.body.unwrap_or_default();
    let line = format!("**Files:** 1 of 1 file exists at `{}`", &commit[..7]);
    assert!(body.contains(&line), "{body}");
    assert!(body.contains(&commit), "{body}");
    let said = &system.said(REPO, issue)[0].body;
    assert!(said.contains(&line), "{said}");
    // Both runs use the same copy.
    let requests = system.sim.requests();
    let archives = requests.iter().filter(|one| one.path.contains("/tarball/"));
    assert_eq!(archives.count(), 1);
    no_process_left(&system);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn planners_and_researchers_read_the_code() {
    let model = Model::deciding(|asked| {
        looks(asked, |step| match (file(asked), step) {
            (Some(file), 0) => write(&file, &report("the index")),
            (Some(file), _) => Turn::text(format!("REPORT_CREATED: {file}")),
            (None, 0) => write("plan.md", engine_plan::PLAN),
            (None, _) => Turn::text("PLAN_CREATED: plan.md"),
        })
    })
    .await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let files = [
        add("src/index.rs", "// The heron stands in the index.\n"),
        add("src/queue.rs", "// The heron queues.\n"),
    ];
    let commit = system.sim.commit(REPO, "main", &files).unwrap();
    let issue = issue(&system);
    for command in ["/research the index", "/plan"] {
        system.sim.comment(REPO, issue, "ada", command).unwrap();
        let runs = system.run_to_rest().await;
        let said = system.said(REPO, issue);
        assert!(
            runs.iter().all(|run| run.state == State::Succeeded),
            "{said:#?}"
        );
    }
    let line = format!("**Files:** 1 of 1 file exists at `{}`", &commit[..7]);
    let said = system.said(REPO, issue);
    let reported = said.iter().filter(|one| one.body.contains(&line));
    // In the comment of the report and in the report on the plan.
    assert_eq!(reported.count(), 2, "{said:#?}");
    for asked in model.asked().iter().filter(|asked| asked.results() == 2) {
        assert!(asked.said().contains("The heron stands"));
    }
    no_process_left(&system);
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_hostile_repository_runs_and_nothing_outside_is_read() {
    let thief = Model::start([]).await;
    for instructions in ["omit", "data"] {
        let model = Model::deciding(|asked| {
            let folder = folder(asked).expect("a copy of the repository");
            let read = |path: &str| Turn::tool("Read", &json!({ "file_path": path }));
            match asked.results() {
                0 => read(&format!("{folder}/passwd")),
                1 => read(&format!("{folder}/up/planwright.db")),
                2 => read("/etc/passwd"),
                3 => read(&format!("{folder}/../../../planwright.db")),
                4 => read(&format!("{folder}/sub/notes.txt")),
                _ => Turn::text(GOOD),
            }
        })
        .await;
        let settings = [("PLANWRIGHT_AGENT_REPOSITORY_INSTRUCTIONS", instructions)];
        let Some(mut system) = system(&model, &settings).await else {
            return;
        };
        let mut files: Vec<_> = trap(&thief)
            .into_iter()
            .map(|(path, text)| add(path, text))
            .collect();
        files.extend([
            link("passwd", "/etc/passwd"),
            link("up", "../../../.."),
            add(&format!("{}.txt", "n".repeat(251)), "a long name"),
            add("odd\u{1b}[2J\u{7}name.txt", "an odd name"),
        ]);
        system.sim.commit(REPO, "main", &files).unwrap();
        let issue = issue(&system);
        system
            .sim
            .comment(REPO, issue, "ada", "/save-plan")
            .unwrap();
        let runs = system.run_to_rest().await;
        let said = system.said(REPO, issue);
        assert!(
            runs.iter().all(|run| run.state == State::Succeeded),
            "{said:#?}"
        );
        assert!(thief.asked().is_empty());
        let asked = model.asked();
        let last = asked.last().unwrap().said();
        assert!(last.contains("The heron."), "{last}");
        for secret in ["root:x:0", "SQLite format"] {
            assert!(!last.contains(secret), "{last}");
        }
        for one in &asked {
            assert!(
                !one.body.to_string().contains("TRAP-TEXT"),
                "{instructions}"
            );
            assert_ne!(one.body["model"], "claude-trap");
            only_reads(one);
        }
        let left = find(system.agents().as_ref(), "left-by-");
        assert!(left.is_empty(), "{left:?}");
        no_process_left(&system);
        system.stop().await;
    }
}

/// Returns the files below `folder` whose names begin with `start`.
fn find(folder: &std::path::Path, start: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(start) {
            found.push(entry.path());
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(find(&entry.path(), start));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_with_too_many_files_is_not_copied_and_the_report_names_the_limit() {
    let model = Model::deciding(|_| Turn::text(GOOD)).await;
    let settings = [("PLANWRIGHT_AGENT_REPOSITORY_MAX_FILES", "3")];
    let Some(mut system) = system(&model, &settings).await else {
        return;
    };
    let files: Vec<_> = (0..5).map(|n| add(&format!("src/{n}.rs"), "//")).collect();
    system.sim.commit(REPO, "main", &files).unwrap();
    let issue = issue(&system);
    system
        .sim
        .comment(REPO, issue, "ada", "/save-plan")
        .unwrap();
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert!(
        runs.iter().all(|run| run.state == State::Succeeded),
        "{said:#?}"
    );
    let why = "The agent worked without a copy of the repository: it has more than 3 files \
               (`agent.repository.max_files`).";
    assert!(said[0].body.contains(why), "{}", said[0].body);
    assert!(folder(&model.asked()[0]).is_none());
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_shows_what_agents_used_in_the_month() {
    let model = Model::deciding(|_| Turn::text(GOOD).costing(2_000)).await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let issue = issue(&system);
    for command in ["/save-plan", "/plan-status"] {
        system.sim.comment(REPO, issue, "ada", command).unwrap();
        system.run_to_rest().await;
    }
    let said = system.said(REPO, issue);
    let status = &said.last().unwrap().body;
    assert!(
        status.contains("Agents in this repository in 20") && status.contains(": 1 run, "),
        "{status}"
    );
    assert!(status.contains(" tokens in, 2.0 k out, $"), "{status}");
    assert!(
        said[0].body.contains(" tokens in, 2.0 k out, $"),
        "{}",
        said[0].body
    );
    system.stop().await;
}
