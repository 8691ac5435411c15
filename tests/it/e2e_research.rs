//! `/research` end to end with the real Claude Code client and a stub of the model's API, which
//! recognises each topic by the file it requests: the results, their order, and that after a kill
//! the bot completes the rest without repeating anything.

mod killed;
pub(crate) mod shell;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use github_simulator::model::Comment;
use planwright::engine::model::run::State;
use planwright::formats::block::{self, Content};
use serde_json::{Value, json};

use crate::peer_claude::processes;
use crate::support::model::{Asked, Model, Turn};
use crate::support::peers;
use crate::support::research::report;
use crate::support::system::{Options, RunRow, System};

pub(crate) const REPO: &str = "acme/search";
/// Nobody's key.
const KEY: &str = "key-of-the-stub-91c4de07";
/// How often the client asks before it gives a request up that was answered with an overload: once,
/// and two retries.
const REQUESTS: usize = 3;

/// A bot whose agent is the real client in front of `model`. `None` where there is no client.
pub(crate) async fn system(model: &Model, more: &[(&'static str, &str)]) -> Option<System> {
    let client = peers::claude()?;
    let more = more
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()));
    let mut environment = vec![
        ("PLANWRIGHT_AGENT_KIND", "claude".to_owned()),
        ("PLANWRIGHT_AGENT_PATH", client.display().to_string()),
        ("PLANWRIGHT_AGENT_API_URL", model.url()),
        ("PLANWRIGHT_AGENT_API_KEY", KEY.to_owned()),
        ("PLANWRIGHT_AGENT_CONCURRENCY", "3".to_owned()),
    ];
    environment.extend(more);
    let system = System::with(Options {
        judged: true,
        environment,
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, false);
    // The file that plans name.
    system.sim.put_file(REPO, "src/index.rs", "").unwrap();
    Some(system)
}

/// An issue to research for.
fn issue(system: &System) -> u64 {
    let text = "The index is rebuilt at every start.";
    let opened = system.sim.open_issue(REPO, "bob", "Search is slow", text);
    opened.unwrap()
}

/// The report's file that is asked for; `None` for a planner.
pub(crate) fn file(asked: &Asked) -> Option<String> {
    let said = asked.said();
    let (_, rest) = said.split_once("file `0")?;
    let (name, _) = rest.split_once('`')?;
    Some(format!("0{name}"))
}

pub(crate) fn write(path: &str, content: &str) -> Turn {
    Turn::tool("Write", &json!({ "file_path": path, "content": content }))
}

/// Writes its report and says so.
pub(crate) fn writes(file: &str, asked: &Asked) -> Turn {
    match asked.results() {
        0 => write(file, &report(file)),
        _ => Turn::text(format!("REPORT_CREATED: {file}")),
    }
}

/// How many requests concern this file.
pub(crate) fn requests(model: &Model, name: &str) -> usize {
    let asked = model.asked();
    let of = asked
        .iter()
        .filter(|one| file(one).as_deref() == Some(name));
    of.count()
}

/// The one run of the command.
fn only<'r>(runs: &'r [RunRow], command: &str) -> &'r RunRow {
    let those: Vec<_> = runs.iter().filter(|run| run.command == command).collect();
    assert_eq!(those.len(), 1, "{runs:#?}");
    those[0]
}

pub(crate) fn no_process_left(system: &System) {
    let left = processes::with(&[&system.agents()]);
    assert!(left.is_empty(), "{left:#?}");
}

/// What the summary says to programs.
fn result(summary: &str) -> serde_json::Map<String, Value> {
    let parsed = block::parse(summary);
    let found = block::find(&parsed, "planwright-result").expect("for programs");
    match &found.content {
        Content::Yaml(fields) => fields.clone(),
        other => panic!("{other:?}"),
    }
}

/// The summary and one comment for each topic, in their order, no other ones; the report of each,
/// where there is one.
fn assert_comments(said: &[Comment], topics: &[&str]) -> Vec<Option<String>> {
    assert_eq!(said.len(), topics.len() + 1, "{said:#?}");
    assert!(said.is_sorted_by_key(|comment| comment.id));
    let reports = said[1..].iter().zip(topics).enumerate();
    let reports = reports.map(|(at, (comment, topic))| {
        let head = format!("### Research {} of {}: {topic}\n", at + 1, topics.len());
        assert!(comment.body.starts_with(&head), "{}", comment.body);
        let parsed = block::parse(&comment.body);
        assert_eq!(parsed.diagnostics, [], "{}", comment.body);
        let found = block::find(&parsed, "planwright-report")?;
        match &found.content {
            Content::Text(text) => Some(text.clone()),
            other => panic!("{other:?}"),
        }
    });
    reports.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_topics_come_to_what_is_there() {
    let overloads = AtomicUsize::new(0);
    let model = Model::deciding(move |asked| {
        let file = file(asked).expect("a researcher");
        match (&file[4..], asked.results()) {
            ("elsewhere.md", 0) => write("docs/findings.md", &report("elsewhere")),
            ("only-talks.md", _) => Turn::text(format!(
                "REPORT_CREATED: {file}. I looked at the limits: the gateway takes a hundred requests in a second."
            )),
            ("overload.md", 0) if overloads.fetch_add(1, Ordering::SeqCst) < REQUESTS => {
                Turn::error(529, "overloaded_error", "Overloaded")
            }
            ("never-ends.md", _) => Turn::text("I am thinking").hanging(),
            _ => writes(&file, asked),
        }
    });
    let model = model.await;
    let limits = [("PLANWRIGHT_AGENT_DEADLINE_SECONDS", "20")];
    let Some(mut system) = system(&model, &limits).await else {
        return;
    };
    let issue = issue(&system);
    let command = "/research writes; elsewhere; only talks\n- overload\n5. never ends; Writes";
    let asked = system.sim.comment(REPO, issue, "ada", command).unwrap();
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(only(&runs, "research").state, State::Succeeded, "{said:#?}");
    no_process_left(&system);
    let topics = [
        "writes",
        "elsewhere",
        "only talks",
        "overload",
        "never ends",
    ];
    let reports = assert_comments(&said, &topics);
    assert_eq!(
        reports[0].as_deref(),
        Some(report("001-writes.md").as_str())
    );
    assert_eq!(reports[1].as_deref(), Some(report("elsewhere").as_str()));
    let degraded = reports[2].as_deref().unwrap();
    assert!(
        degraded.contains("a hundred requests in a second"),
        "{degraded}"
    );
    assert_eq!(
        reports[3].as_deref(),
        Some(report("004-overload.md").as_str())
    );
    assert_eq!(reports[4], None);
    let marks = [
        "✅ written, for",
        "Recovered: the agent wrote it to `docs/findings.md` instead of the requested path.",
        "it was claimed to be written, and was not",
        "✅ written, for",
        "The agent exceeded its time limit",
    ];
    for (comment, mark) in said[1..].iter().zip(marks) {
        assert!(comment.body.contains(mark), "{mark}: {}", comment.body);
    }
    // The summary was there first and was edited in place; it says what came of each.
    let summary = &said[0];
    assert!(summary.updated > summary.created);
    assert!(
        summary.body.contains("3 of 5 topics have a report"),
        "{}",
        summary.body
    );
    let fields = result(&summary.body);
    assert_eq!(fields["status"], "partial");
    let states = ["written", "recovered", "degraded", "written", "failed"];
    assert_eq!(fields["states"], json!(states));
    let ids: Vec<u64> = said[1..].iter().map(|comment| comment.id).collect();
    assert_eq!(fields["reports"], json!(ids));
    for (id, comment) in ids.iter().zip(&said[1..]) {
        assert!(
            summary.body.contains(&format!("issuecomment-{id}")),
            "{}",
            summary.body
        );
        assert_eq!(comment.body.matches("planwright:effect").count(), 1);
    }
    assert_eq!(system.sim.comment_reactions(asked).unwrap(), ["rocket"]);
    // Who only talks is asked three times, in stricter words; who never ends once.
    let files = [
        "001-writes.md",
        "002-elsewhere.md",
        "003-only-talks.md",
        "004-overload.md",
        "005-never-ends.md",
    ];
    let counts = files.map(|file| requests(&model, file));
    assert_eq!(counts, [2, 2, 3, REQUESTS + 2, 1]);
    for asked in model.asked() {
        assert!(!asked.body.to_string().contains(KEY));
        assert!(asked.system().contains("research"), "{}", asked.system());
    }
    system.stop().await;
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_few_reports_fail_and_a_retry_does_the_missing_ones_only() {
    let tries = AtomicUsize::new(0);
    let model = Model::deciding(move |asked| {
        let file = file(asked).expect("a researcher");
        let talks = &file[4..] != "one.md" && tries.fetch_add(1, Ordering::SeqCst) < 2 * 3;
        if talks {
            return Turn::text("I know a lot about this, and I say it here and in no file.");
        }
        writes(&file, asked)
    });
    let model = model.await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    let issue = issue(&system);
    let command = "/research one; two; three";
    system.sim.comment(REPO, issue, "ada", command).unwrap();
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(only(&runs, "research").state, State::Failed, "{said:#?}");
    assert!(
        said[0].body.starts_with("## Error: agent_failed"),
        "{}",
        said[0].body
    );
    let least = "1 of 3 topics has a report; the minimum is 2.";
    assert!(said[0].body.contains(least), "{}", said[0].body);
    let topics = ["one", "two", "three"];
    let reports = assert_comments(&said, &topics);
    assert!(said[2].body.contains("⚠️ degraded"), "{}", said[2].body);
    assert!(
        reports[1]
            .as_deref()
            .unwrap()
            .contains("I say it here and in no file")
    );
    system.sim.comment(REPO, issue, "ada", "/retry").unwrap();
    let runs = system.run_to_rest().await;
    let said = system.said(REPO, issue);
    assert_eq!(only(&runs, "research").state, State::Succeeded, "{said:#?}");
    let counts = ["001-one.md", "002-two.md", "003-three.md"].map(|file| requests(&model, file));
    assert_eq!(counts, [2, 3 + 2, 3 + 2]);
    // The same comments, edited; nothing of what stood in for the reports is left.
    let own: Vec<Comment> = said
        .iter()
        .filter(|one| {
            one.body.starts_with("### Research") || one.body.contains("topics have a report")
        })
        .cloned()
        .collect();
    let reports = assert_comments(&own, &topics);
    for (report, comment) in reports.iter().zip(&own[1..]) {
        assert!(
            report.as_deref().unwrap().contains("## Findings"),
            "{report:?}"
        );
        assert!(comment.body.contains("✅ written, for"), "{}", comment.body);
    }
    system.stop().await;
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_research_leaves_no_process_and_no_topic_at_work() {
    let healed = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&healed);
    let model = Model::deciding(move |asked| {
        let file = file(asked).expect("a researcher");
        match &file[4..] {
            "one.md" => writes(&file, asked),
            _ if now.load(Ordering::SeqCst) => writes(&file, asked),
            _ => Turn::text("I am thinking").hanging(),
        }
    });
    let model = model.await;
    let Some(system) = system(&model, &[]).await else {
        return;
    };
    let issue = issue(&system);
    let command = "/research one; two; three; four; five";
    system.sim.comment(REPO, issue, "ada", command).unwrap();
    let shows = |mark: &str| {
        let said = system.said(REPO, issue);
        said.iter()
            .filter(|one| one.body.starts_with("###") && one.body.contains(mark))
            .count()
    };
    system
        .shown("first report", || shows("✅ written") == 1)
        .await;
    model.wait_for(5).await;
    system.sim.comment(REPO, issue, "ada", "/cancel").unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(only(&runs, "research").state, State::Cancelled);
    no_process_left(&system);
    let said = system.said(REPO, issue);
    let reports = said
        .iter()
        .filter(|one| one.body.starts_with("## Error: cancelled"));
    assert_eq!(reports.count(), 1, "{said:#?}");
    let links = said
        .iter()
        .find(|one| one.body.contains("1 of 5 topics has a report: [1]("));
    assert!(links.is_some(), "{said:#?}");
    // Nobody works on the others any more.
    assert_eq!(shows("🔎"), 0, "{said:#?}");
    assert_eq!(shows("⏳"), 0, "{said:#?}");
    assert_eq!(shows("✅ written"), 1, "{said:#?}");
    assert_eq!(shows("⏹️ not done: the run ended first"), 4, "{said:#?}");
    // Who wants it after all gets the rest.
    healed.store(true, Ordering::SeqCst);
    system.sim.comment(REPO, issue, "ada", "/retry").unwrap();
    let runs = system.run_to_rest().await;
    assert_eq!(only(&runs, "research").state, State::Succeeded);
    assert_eq!(shows("✅ written"), 5);
    assert_eq!(requests(&model, "001-one.md"), 2, "it was finished");
    system.tap.assert_clean();
}
