//! Turns in a project that the client may read: its tools can access it, its contents cannot
//! control the client, and nothing is written to it.

use std::fs;
use std::path::Path;

use planwright::adapters::agent::SandboxMode;
use planwright::engine::agent::Task;
use planwright::engine::model::agent::Report;
use serde_json::json;
use tempfile::TempDir;

use super::hostile::{left, trap};
use super::rig::{Rig, success};
use crate::support::model::{Model, Turn};

/// A project with these files.
fn project(files: &[(&str, String)]) -> TempDir {
    let folder = tempfile::Builder::new()
        .prefix("project, (a) [b] ")
        .tempdir()
        .unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The turns of the model in front of a client that may read `folder`; `open` for one without a
/// sandbox.
async fn rig(turns: Vec<Turn>, folder: &Path, open: bool) -> Option<Rig> {
    let folder = folder.canonicalize().unwrap();
    Rig::with(Model::start(turns).await, |client| {
        client.settings.project = Some(folder);
        if open {
            client.sandbox = SandboxMode::Off;
        }
    })
    .await
}

/// A turn that is asked for a plan.
fn planning(rig: &Rig) -> Task {
    let mut task = rig.task("Write the plan.");
    task.wanted = vec!["plan.md".to_owned()];
    task
}

fn files(report: &Report) -> Vec<(&str, &str)> {
    let files = report.files.iter();
    files
        .map(|file| (file.path.as_str(), file.text.as_str()))
        .collect()
}

#[tokio::test]
async fn the_tools_read_find_and_search_the_project() {
    let folder = project(&[
        ("src/heron.rs", "// The heron stands.\n".to_owned()),
        ("src/crane.rs", "// The crane dances.\n".to_owned()),
    ]);
    let root = folder.path().canonicalize().unwrap();
    let turns = vec![
        Turn::tool("Read", &json!({ "file_path": root.join("src/heron.rs") })),
        Turn::tool("Glob", &json!({ "pattern": "**/*.rs", "path": root })),
        Turn::tool(
            "Grep",
            &json!({ "pattern": "dances", "path": root, "output_mode": "content" }),
        ),
        Turn::tool(
            "Write",
            &json!({ "file_path": "plan.md", "content": "# Plan: x\n" }),
        ),
        Turn::text("PLAN_CREATED: plan.md"),
    ];
    let Some(rig) = rig(turns, &root, false).await else {
        return;
    };
    let report = rig.work(planning(&rig)).await;
    success(&report);
    let asked = rig.model.asked();
    assert_eq!(asked.len(), 5);
    for (at, want) in [
        (1, "The heron stands."),
        (2, "crane.rs"),
        (3, "The crane dances."),
    ] {
        let said = asked[at].said();
        assert!(said.contains(want), "{at}: {said}");
    }
    assert_eq!(files(&report), [("plan.md", "# Plan: x\n")]);
}

#[tokio::test]
async fn nothing_is_written_into_the_project_with_or_without_a_sandbox() {
    for open in [false, true] {
        let folder = project(&[("notes.md", "The heron.\n".to_owned())]);
        let root = folder.path().canonicalize().unwrap();
        let turns = vec![
            Turn::tool(
                "Write",
                &json!({ "file_path": root.join("plan.md"), "content": "# Plan: x\n" }),
            ),
            Turn::tool("Read", &json!({ "file_path": root.join("notes.md") })),
            Turn::tool(
                "Edit",
                &json!({ "file_path": root.join("notes.md"), "old_string": "heron", "new_string": "crane" }),
            ),
            Turn::tool(
                "Write",
                &json!({ "file_path": "plan.md", "content": "# Plan: y\n" }),
            ),
            Turn::text("PLAN_CREATED: plan.md"),
        ];
        let Some(rig) = rig(turns, &root, open).await else {
            return;
        };
        let report = rig.work(planning(&rig)).await;
        success(&report);
        assert_eq!(rig.model.asked().len(), 5);
        assert!(!root.join("plan.md").exists(), "open: {open}");
        let notes = fs::read_to_string(root.join("notes.md")).unwrap();
        assert_eq!(notes, "The heron.\n", "open: {open}");
        assert_eq!(files(&report), [("plan.md", "# Plan: y\n")]);
    }
}

#[tokio::test]
async fn nothing_of_a_hostile_project_runs_or_is_heard() {
    let thief = Model::start([]).await;
    let folder = project(&trap(&thief));
    let root = folder.path().canonicalize().unwrap();
    let turns = vec![
        Turn::tool("Read", &json!({ "file_path": root.join("sub/notes.txt") })),
        Turn::tool(
            "Write",
            &json!({ "file_path": "plan.md", "content": "# Plan: x\n" }),
        ),
        Turn::text("Done."),
    ];
    let Some(rig) = rig(turns, &root, false).await else {
        return;
    };
    let report = rig.work(planning(&rig)).await;
    assert_eq!(success(&report), "Done.");
    assert!(left(&rig).is_empty(), "{:?}", left(&rig));
    assert!(thief.asked().is_empty());
    let asked = rig.model.asked();
    assert_eq!(asked.len(), 3);
    assert!(asked[1].said().contains("The heron."));
    for one in &asked {
        assert!(!one.body.to_string().contains("TRAP-TEXT"), "{}", one.body);
        assert_ne!(one.body["model"], "claude-trap");
        for tool in ["Bash", "WebFetch", "Skill", "Task", "Agent"] {
            assert!(!one.tools().contains(&tool), "{tool}");
        }
    }
}
