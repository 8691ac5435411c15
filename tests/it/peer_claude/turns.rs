//! Successful turns.

use planwright::engine::model::agent::Ending;
use serde_json::json;

use super::rig::{Rig, SYSTEM, success};
use crate::support::model::{Model, Turn};

#[tokio::test]
async fn a_text_comes_back_with_its_price_and_its_session() {
    let model = Model::start([Turn::text("# Plan: Cache the index").costing(1_000)]).await;
    let Some(rig) = Rig::new(model).await else {
        return;
    };
    let report = rig.work(rig.task("Write a plan.")).await;
    assert_eq!(success(&report), "# Plan: Cache the index");
    assert_eq!(report.texts, ["# Plan: Cache the index"]);
    assert!(report.session.is_some());
    assert_eq!((report.spent.turns, report.spent.tools), (1, 0));
    assert!(report.spent.cost > 0, "{report:?}");
    assert_eq!(report.spent.cost, report.spent.session_cost);
    let asked = rig.model.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].system().contains(SYSTEM));
    assert!(asked[0].said().contains("Write a plan."));
    // By default there is no tool at all.
    assert!(asked[0].tools().is_empty(), "{:?}", asked[0].tools());
    assert!(!asked[0].system().contains("software engineering"));
}

#[tokio::test]
async fn a_tool_reads_a_file_of_the_work_folder() {
    let turns = [
        Turn::tool("Read", &json!({ "file_path": "notes.txt" })),
        Turn::text("Read it."),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = ["Read", "Grep", "Glob"].map(String::from).into();
        client.planted = vec![("notes.txt", "The heron stands in the reeds.".to_owned())];
    });
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Read the notes.")).await;
    assert_eq!(success(&report), "Read it.");
    assert_eq!((report.spent.turns, report.spent.tools), (2, 1));
    let asked = rig.model.asked();
    assert!(asked[1].said().contains("The heron stands in the reeds."));
    for tool in asked[0].tools() {
        let known = ["Read", "Grep", "Glob", "DeferredToolPlaceholder"];
        assert!(known.contains(&tool), "{tool}");
    }
}

#[tokio::test]
async fn a_long_answer_comes_whole() {
    let long = "a line of the plan\n".repeat(300_000 / 19);
    let rig = Rig::new(Model::start([Turn::text(long.as_str())]).await).await;
    let Some(rig) = rig else { return };
    let report = rig.work(rig.task("Write a long plan.")).await;
    assert_eq!(success(&report).trim(), long.trim());
}

#[tokio::test]
async fn the_longest_prompts_come_whole() {
    let rig = Rig::new(Model::start([Turn::text("ok")]).await).await;
    let Some(rig) = rig else { return };
    // An argument may hold 131,071 bytes.
    let mut task = rig.task(&format!("{}PROMPT-END", "word ".repeat(40_000)));
    task.system = format!("{}SYSTEM-END", "rule ".repeat(40_000));
    let (system, prompt) = (task.system.clone(), task.prompt.clone());
    let report = rig.work(task).await;
    assert_eq!(success(&report), "ok");
    let asked = rig.model.asked();
    assert!(asked[0].system().contains(&system));
    assert!(asked[0].said().contains(&prompt));
}

#[tokio::test]
async fn an_overloaded_model_is_asked_again() {
    let turns = [
        Turn::error(529, "overloaded_error", "Overloaded"),
        Turn::text("At last."),
    ];
    let Some(rig) = Rig::new(Model::start(turns).await).await else {
        return;
    };
    let report = rig.work(rig.task("Write a plan.")).await;
    assert_eq!(success(&report), "At last.");
    assert_eq!(rig.model.asked().len(), 2);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let turns = [Turn::text("# Pl").cut(), Turn::text("# Plan: whole")];
    let Some(rig) = Rig::new(Model::start(turns).await).await else {
        return;
    };
    let report = rig.work(rig.task("Write a plan.")).await;
    assert_eq!(success(&report), "# Plan: whole");
}

#[tokio::test]
async fn a_tool_that_is_not_allowed_does_nothing() {
    let turns = [
        Turn::tool("Read", &json!({ "file_path": "/etc/passwd" })),
        Turn::tool("Bash", &json!({ "command": "id" })),
        Turn::tool("Write", &json!({ "file_path": "x", "content": "x" })),
        Turn::text("Nothing worked."),
    ];
    let rig = Rig::with(Model::start(turns).await, |client| {
        client.settings.tools = vec!["Read".to_owned()];
    });
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Read the users.")).await;
    let Ending::Success { denials, .. } = report.ending else {
        panic!("{report:?}")
    };
    // A tool that does not exist is no refusal in the client's words.
    assert_eq!(denials, 1);
    assert_eq!(report.spent.tools, 3);
    let asked = rig.model.asked();
    let last = asked.last().unwrap();
    assert!(!last.said().contains("root:"), "{}", last.said());
    assert!(!last.said().contains("uid="), "{}", last.said());
    assert!(last.said().contains("No such tool available: Bash"));
    assert!(last.said().contains("No such tool available: Write"));
}

#[tokio::test]
async fn structured_output_is_a_tool_of_its_own() {
    let plan = json!({ "plan": "# Plan: structured" });
    let rig = Rig::with(
        Model::start([Turn::tool("StructuredOutput", &plan)]).await,
        |client| client.settings.structured = true,
    );
    let Some(rig) = rig.await else { return };
    let report = rig.work(rig.task("Write a plan.")).await;
    let Ending::Success { structured, .. } = report.ending else {
        panic!("{report:?}")
    };
    assert_eq!(structured, Some(plan));
    assert!(rig.model.asked()[0].tools().contains(&"StructuredOutput"));
}
