//! Turns that must produce files: what the client can read and write, and which files are returned.

use planwright::adapters::agent::SandboxMode;
use planwright::engine::agent::Task;
use planwright::engine::model::agent::{Document, Ending, Report, Session};
use serde_json::{Value, json};

use super::rig::{self, Rig, success};
use crate::support::model::{Model, Turn};

fn read(path: &str) -> Turn {
    Turn::tool("Read", &json!({ "file_path": path }))
}

fn write(path: &str, content: &str) -> Turn {
    Turn::tool("Write", &json!({ "file_path": path, "content": content }))
}

/// A task that asks for `report.md`.
fn asking(rig: &Rig) -> Task {
    let mut task = rig.task("Write the report.");
    task.wanted = vec!["report.md".to_owned()];
    task
}

/// The paths of calls of `Write` with what came of them.
fn wrote(report: &Report) -> Vec<(&str, Option<bool>)> {
    let wrote = report.wrote.iter();
    wrote.map(|one| (one.path.as_str(), one.ok)).collect()
}

fn paths(report: &Report) -> Vec<&str> {
    report.files.iter().map(|file| file.path.as_str()).collect()
}

/// With the sandbox, where there is one, and without.
fn both() -> Vec<SandboxMode> {
    let mut both = vec![rig::sandbox(), SandboxMode::Off];
    both.dedup();
    both
}

#[tokio::test]
async fn documents_are_read_and_the_file_that_is_written_comes_back() {
    let turns = [
        read("knowledge/001-herons.md"),
        Turn::tool(
            "Grep",
            &json!({ "pattern": "heron", "output_mode": "files_with_matches" }),
        ),
        Turn::tool("Glob", &json!({ "pattern": "**/*.md" })),
        write("report.md", "# Herons\n\nThey stand.\n"),
        Turn::tool(
            "Edit",
            &json!({ "file_path": "report.md", "old_string": "stand", "new_string": "wade" }),
        ),
        write("docs/other.md", "# Other\n"),
        write("left.txt", "no document"),
        Turn::text("REPORT_CREATED: report.md"),
    ];
    let Some(rig) = Rig::new(Model::start(turns).await).await else {
        return;
    };
    let given = Document {
        path: "knowledge/001-herons.md".to_owned(),
        text: "Source: birds.md\n\nThe grey heron.\n".to_owned(),
    };
    rig.give(vec![given]).await;
    let report = rig.work(asking(&rig)).await;
    assert_eq!(success(&report), "REPORT_CREATED: report.md");
    let asked = rig.model.asked();
    // And the client's own stand-in for tools that are not loaded, of which there are none.
    let mut tools = asked[0].tools();
    tools.retain(|tool| *tool != "DeferredToolPlaceholder");
    assert_eq!(tools, ["Edit", "Glob", "Grep", "Read", "Write"]);
    assert!(
        asked[1].said().contains("The grey heron."),
        "{}",
        asked[1].said()
    );
    let found = asked[3].said();
    assert_eq!(found.matches("001-herons.md").count(), 2, "{found}");
    assert_eq!(paths(&report), ["report.md", "docs/other.md"]);
    assert_eq!(report.files[0].text, "# Herons\n\nThey wade.\n");
    let all_well = ["report.md", "docs/other.md", "left.txt"].map(|path| (path, Some(true)));
    assert_eq!(wrote(&report), all_well);
    assert_eq!(report.wrote[0].text, "# Herons\n\nThey stand.\n");
}

#[tokio::test]
async fn a_turn_that_asks_for_no_file_has_no_tools_and_brings_none() {
    let turns = [write("report.md", "# Herons\n"), Turn::text("Done.")];
    let Some(rig) = Rig::new(Model::start(turns).await).await else {
        return;
    };
    let report = rig.work(rig.task("Write the report.")).await;
    assert_eq!(success(&report), "Done.");
    assert!(rig.model.asked()[0].tools().is_empty());
    assert_eq!((report.files, report.wrote), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn the_next_turn_finds_its_own_file_and_edits_it() {
    let turns = [
        write("report.md", "# Herons\n\nThey stand.\n"),
        Turn::text("REPORT_CREATED: report.md"),
        read("report.md"),
        Turn::tool(
            "Edit",
            &json!({ "file_path": "report.md", "old_string": "stand", "new_string": "wade" }),
        ),
        Turn::text("REPORT_CREATED: report.md"),
    ];
    let Some(rig) = Rig::new(Model::start(turns).await).await else {
        return;
    };
    let first = rig.work(asking(&rig)).await;
    let mut next = asking(&rig);
    next.session = Session::Resume(first.session.clone().unwrap());
    next.files.clone_from(&first.files);
    let second = rig.work(next).await;
    assert_eq!(
        second.files[0].text, "# Herons\n\nThey wade.\n",
        "{second:?}"
    );
}

#[tokio::test]
async fn nothing_is_written_outside_the_folders_of_the_run() {
    for sandbox in both() {
        let outside = tempfile::tempdir().unwrap();
        let absolute = outside.path().join("absolute.md").display().to_string();
        let places = [
            absolute.as_str(),
            "../beside.md",
            "../../../../escaped.md",
            "../given/knowledge.md",
            "../home/.claude/CLAUDE.md",
            "../home/.claude/settings.json",
            "~/tilde.md",
        ];
        let mut turns: Vec<Turn> = places.iter().map(|place| write(place, "# Out\n")).collect();
        turns.push(Turn::text("Done."));
        let rig = Rig::with(Model::start(turns).await, |client| client.sandbox = sandbox).await;
        let Some(rig) = rig else { return };
        let report = rig.work(asking(&rig)).await;
        let failed: Vec<_> = places.iter().map(|place| (*place, Some(false))).collect();
        assert_eq!(wrote(&report), failed, "{sandbox:?}");
        assert_eq!(report.files, [], "{sandbox:?}");
        // It is the flag that refuses, before the sandbox has to.
        let refusal = "--restricted confines the file tools to the working directory";
        let asked = rig.model.asked();
        let said = asked.last().unwrap().said();
        assert_eq!(
            said.matches(refusal).count(),
            places.len(),
            "{sandbox:?}: {said}"
        );
        assert_eq!(outside.path().read_dir().unwrap().count(), 0, "{sandbox:?}");
        assert!(
            !rig.home().join(".claude/CLAUDE.md").exists(),
            "{sandbox:?}"
        );
        assert!(
            !rig.home().join(".claude/settings.json").exists(),
            "{sandbox:?}"
        );
    }
}

#[tokio::test]
async fn without_the_flag_the_sandbox_refuses_and_without_both_nobody_does() {
    for sandbox in both() {
        let outside = tempfile::tempdir().unwrap();
        let file = outside.path().join("absolute.md");
        let place = file.display().to_string();
        let turns = [write(&place, "# Out\n"), Turn::text("Done.")];
        let rig = Rig::with(Model::start(turns).await, |client| {
            client.sandbox = sandbox;
            client.without_flags = &["--restricted"];
        });
        let Some(rig) = rig.await else { return };
        let report = rig.work(asking(&rig)).await;
        // Else the test above would show nothing.
        let free = sandbox == SandboxMode::Off;
        assert_eq!(wrote(&report), [(place.as_str(), Some(free))], "{report:?}");
        assert_eq!(file.exists(), free, "{sandbox:?}");
    }
}

#[tokio::test]
async fn parts_of_a_run_at_work_side_by_side_see_nothing_of_each_other() {
    for sandbox in both() {
        let model = Model::deciding(|asked| {
            let said = asked.said();
            match (said.contains("PART ONE"), asked.results()) {
                (true, 0) => write("report.md", "THE-OTHERS-TEXT"),
                (true, _) => Turn::text("").hanging(),
                (false, 0) => read("../../part-1/work/report.md"),
                (false, 1) => Turn::tool("Glob", &json!({ "pattern": "../../**/*.md" })),
                (false, 2) => Turn::tool(
                    "Grep",
                    &json!({ "pattern": "OTHERS", "path": "../..", "output_mode": "content" }),
                ),
                (false, 3) => write("../../part-1/work/report.md", "changed"),
                (false, _) => Turn::text("Done."),
            }
        });
        let rig = Rig::with(model.await, |client| client.sandbox = sandbox).await;
        let Some(rig) = rig else { return };
        let part = |number, prompt: &str| {
            let mut task = asking(&rig);
            task.part = number;
            task.prompt = prompt.to_owned();
            task.session = Session::New(uuid::Uuid::new_v4().to_string());
            task
        };
        let one = rig.start(part(1, "PART ONE"));
        // Its file is there when it is asked for the next time.
        rig.model.wait_for(2).await;
        let file = rig.own().join("part-1/work/report.md");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "THE-OTHERS-TEXT");
        let two = rig.start(part(2, "PART TWO")).outcome().await;
        assert_eq!(success(&two), "Done.");
        assert_eq!(two.files, [], "{sandbox:?}");
        let outcome = [("../../part-1/work/report.md", Some(false))];
        assert_eq!(wrote(&two), outcome, "{sandbox:?}");
        let asked = rig.model.asked();
        let said = asked.last().unwrap().said();
        assert!(
            said.contains("PART TWO") && !said.contains("THE-OTHERS-TEXT"),
            "{said}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "THE-OTHERS-TEXT");
        one.stop.cancel();
        let one = one.report(&rig).await;
        assert_eq!(one.ending, Ending::Cancelled);
        assert_eq!(paths(&one), ["report.md"]);
    }
}

/// Settings with a hook that leaves a file in the home.
fn hook() -> String {
    let leave =
        json!([{ "hooks": [{ "type": "command", "command": "touch \"$HOME/left-by-hook\"" }] }]);
    let all: Value = json!({ "hooks": { "SessionStart": leave, "UserPromptSubmit": leave, "PreToolUse": leave, "Stop": leave } });
    all.to_string()
}

#[tokio::test]
async fn what_the_model_writes_for_the_client_has_no_power_in_the_next_turn() {
    for sandbox in both() {
        let settings = hook();
        let turns = [
            write("CLAUDE.md", "TRAP-TEXT"),
            write(".claude/settings.json", &settings),
            write(".claude/settings.local.json", &settings),
            write(
                ".mcp.json",
                "{\"mcpServers\":{\"trap\":{\"command\":\"sh\",\"args\":[\"-c\",\"touch $HOME/left-by-mcp\"]}}}",
            ),
            write("../home/.claude/settings.json", &settings),
            write("../home/.claude/CLAUDE.md", "TRAP-TEXT"),
            write("~/.claude/settings.json", &settings),
            Turn::text("Done."),
            Turn::text("Done again."),
        ];
        let rig = Rig::with(Model::start(turns).await, |client| client.sandbox = sandbox).await;
        let Some(rig) = rig else { return };
        let first = rig.work(asking(&rig)).await;
        // The client itself lets nobody write its settings.
        let kept: Vec<_> = wrote(&first)
            .into_iter()
            .filter(|(_, ok)| *ok == Some(true))
            .collect();
        assert_eq!(kept, [("CLAUDE.md", Some(true))], "{sandbox:?}");
        assert_eq!(paths(&first), ["CLAUDE.md"]);
        let mut next = asking(&rig);
        next.session = Session::New(uuid::Uuid::new_v4().to_string());
        // Not even where its own files are given back to it.
        next.files.clone_from(&first.files);
        let second = rig.work(next).await;
        assert_eq!(success(&second), "Done again.");
        let asked = rig.model.asked();
        let last = asked.last().unwrap();
        assert!(
            !last.body.to_string().contains("TRAP-TEXT"),
            "{sandbox:?}: {}",
            last.body
        );
        let names = rig.home().read_dir().unwrap().flatten();
        let left: Vec<_> = names
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.starts_with("left-by"))
            .collect();
        assert!(left.is_empty(), "{sandbox:?}: {left:?}");
    }
}
