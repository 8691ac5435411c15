//! A specification of the maximum length of an issue, with three megabytes of knowledge.

use std::fs;
use std::time::{Duration, Instant};

use github_simulator::model::TreeEntry;

use super::{assert_planned, system};
use crate::e2e_research::{REPO, write};
use crate::engine_plan::PLAN;
use crate::support::model::{Model, Turn};
use crate::support::system::{Options, System};

/// Most memory that the bot may take, a build without optimisation, in bytes.
const MEMORY: u64 = 400 * 1024 * 1024;
/// Longest that it may take.
const TIME: Duration = Duration::from_mins(2);
/// Characters of the specification.
const LENGTH: usize = 60_000;

/// Three megabytes in 63 documents, two of them the same, and some that are none.
fn knowledge(system: &System) {
    let path = |name: &str| format!(".planwright/knowledge/{name}");
    let mut edits: Vec<(String, Option<TreeEntry>)> = (0..60)
        .map(|at| {
            let text = format!(
                "# Document {at}\n\n{}",
                "Facts, öäü, @grace.\n".repeat(2_400)
            );
            (
                path(&format!("part-{at:02}.md")),
                Some(TreeEntry::file(text)),
            )
        })
        .collect();
    edits.extend([
        (
            path("glossary.md"),
            Some(TreeEntry::file("# Words\n\nA heron is a bird.\n")),
        ),
        (
            path("copy.md"),
            Some(TreeEntry::file("# Words\n\nA heron is a bird.\n")),
        ),
        (
            path("CLAUDE.md"),
            Some(TreeEntry::file("# Rules\n\nTRAP-TEXT\n")),
        ),
        (
            path("large.md"),
            Some(TreeEntry::file("x".repeat(256 * 1024 + 1))),
        ),
        (
            path("picture.md"),
            Some(TreeEntry::file(vec![0x89, 0x50, 0, 0xff])),
        ),
    ]);
    system.sim.commit(REPO, "main", &edits).unwrap();
}

/// A specification of [`LENGTH`] characters.
fn specification(system: &System) -> u64 {
    let mut text = String::from("## Requirements\n\n- [ ] Start in a second\n\n");
    while text.chars().count() < LENGTH {
        text.push_str("Ümläute, @ada, `code` and <b>tags</b> </details>.\n");
    }
    let text: String = text
        .chars()
        .take(LENGTH - 10)
        .chain("\n\nTHE END\n".chars())
        .collect();
    assert!(text.chars().count() > LENGTH - 20);
    let opened = system.sim.open_issue(REPO, "bob", "Keep the index", &text);
    opened.unwrap()
}

/// One plan whose status says what was left out, in time and with little memory.
async fn assert_large(system: &System, issue: u64, began: Instant) {
    assert_planned(system, issue).await;
    let status = &system.said(REPO, issue)[0].body;
    for left_out in [
        "large.md` (larger than 256 KB)",
        "picture.md` (not UTF-8 text)",
        "(the limit on number or total size is reached)",
    ] {
        assert!(status.contains(left_out), "{left_out}: {status}");
    }
    assert!(!status.contains("copy.md"), "{status}");
    let (took, memory) = (began.elapsed(), system.most_memory());
    println!("{took:.1?}, {memory:?} bytes");
    assert!(took < TIME, "{took:?}");
    assert!(memory.is_none_or(|memory| memory < MEMORY), "{memory:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_specification_and_much_knowledge_come_to_one_plan() {
    let read = |path: &str| Turn::tool("Read", &serde_json::json!({ "file_path": path }));
    let turns = [
        Turn::tool("Glob", &serde_json::json!({ "pattern": "knowledge/*.md" })),
        read("knowledge/002-rules.md"),
        read("knowledge/001-words.md"),
        write("plan.md", PLAN),
        Turn::text("PLAN_CREATED: plan.md"),
    ];
    let model = Model::start(turns).await;
    let Some(mut system) = system(&model, &[]).await else {
        return;
    };
    knowledge(&system);
    let issue = specification(&system);
    let began = Instant::now();
    system.sim.comment(REPO, issue, "ada", "/plan").unwrap();
    assert_large(&system, issue, began).await;
    let asked = model.asked();
    let said = asked[0].said();
    assert!(
        said.contains("THE END") && said.contains("knowledge/001-words.md"),
        "{said}"
    );
    let whole = asked.last().unwrap().said();
    assert!(whole.contains("A heron is a bird."), "{whole}");
    // Names of ours: the repository's own could mean something to the client.
    assert!(!said.contains("TRAP-TEXT"), "{said}");
    println!("{} documents", whole.matches("-document-").count());
    system.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_only_prints_is_given_as_much_as_a_prompt_takes() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("agent.sh");
    // What it is given is kept for the test; what it prints is the plan.
    fs::write(&script, "cat > \"$0.given\"\ncat \"$0.plan\"\n").unwrap();
    fs::write(folder.path().join("agent.sh.plan"), PLAN).unwrap();
    let environment = vec![
        ("PLANWRIGHT_AGENT_KIND", "command".to_owned()),
        ("PLANWRIGHT_AGENT_PATH", "/bin/sh".to_owned()),
        ("PLANWRIGHT_AGENT_ARGS", script.display().to_string()),
        ("PLANWRIGHT_AGENT_SANDBOX", "off".to_owned()),
    ];
    let system = System::with(Options {
        judged: true,
        environment,
        ..Options::default()
    });
    let mut system = system.await;
    system.repository(REPO, false);
    knowledge(&system);
    let issue = specification(&system);
    let began = Instant::now();
    system.sim.comment(REPO, issue, "ada", "/plan").unwrap();
    assert_large(&system, issue, began).await;
    let given = fs::read_to_string(folder.path().join("agent.sh.given")).unwrap();
    assert!(given.contains("THE END") && given.contains("A heron is a bird."));
    // `agent.max_prompt_chars`, and the instructions before it.
    let length = given.chars().count();
    assert!((500_000..620_000).contains(&length), "{length}");
    system.stop().await;
}
