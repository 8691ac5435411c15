//! Plans from session logs over real HTTP: the bot as a process, and the GitHub simulator with
//! files and attachments. All exchanges are checked against GitHub's published API description.
//! Attachments are not part of it; their requests must carry no credentials.

use github_simulator::{Fault, FaultKind};
use planwright::engine::model::run::State;
use planwright::formats::plan::document::plan_text;

use crate::engine_source::{exit, lines};
use crate::support::rig::PLAN;
use crate::support::system::{Options, System};

const REPO: &str = "acme/search";

const OTHER: &str = "# Plan: Something else entirely\n\n## Steps\n\n1. Do what nobody asked for here\n2. Do it once more\n\n\
## Testing\n\n- Look at it for a while\n";

async fn judged(environment: Vec<(&'static str, String)>) -> System {
    let system = System::with(Options {
        judged: true,
        environment,
        ..Options::default()
    });
    let system = system.await;
    system.repository(REPO, false);
    system
}

/// An issue whose conversation holds another plan than the logs do.
fn issue(system: &System) -> u64 {
    let opened = system
        .sim
        .open_issue(REPO, "bob", "Search is slow", "It is.");
    let issue = opened.unwrap();
    system.sim.comment(REPO, issue, "bob", OTHER).unwrap();
    issue
}

fn log() -> Vec<u8> {
    let mut entries = vec![exit("s1", 1, OTHER); 40];
    entries.push(exit("s1", 2, PLAN));
    lines(&entries)
}

/// Gives the command on a new issue; the code it ended with and the report.
async fn ask(system: &System, comment: &str) -> (State, Option<String>, String) {
    let issue = issue(system);
    let asked = system.sim.comment(REPO, issue, "ada", comment).unwrap();
    let runs = system.run_to_rest().await;
    let run = runs.iter().find(|run| run.asked_in() == Some(asked));
    let run = run.expect("the command has a run");
    let report = system.said(REPO, issue).remove(0).body;
    (run.state, run.code.clone(), report)
}

fn saved(system: &System) -> String {
    let plan = system.plans(REPO).pop().expect("a plan issue");
    system.document(REPO, plan.number)
}

/// Paths of the requests that fit.
fn requests(system: &System, part: &str) -> Vec<String> {
    let all = system.sim.requests();
    let fitting = all.iter().filter(|request| request.path.contains(part));
    fitting.map(|request| request.path.clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_at_a_path_of_the_repository_is_saved() {
    let system = judged(Vec::new()).await;
    system.sim.put_file(REPO, "logs/a b.jsonl", log()).unwrap();
    system
        .sim
        .put_file_on(REPO, "plans/ada", "a.jsonl", log())
        .unwrap();
    for (comment, path, link) in [
        (
            "/save-plan session=\"logs/a b.jsonl\" be quick",
            "logs/a b.jsonl",
            "logs/a%20b.jsonl",
        ),
        (
            "/save-raw-plan session=a.jsonl@plans/ada",
            "a.jsonl",
            "a.jsonl",
        ),
    ] {
        let (state, code, report) = ask(&system, comment).await;
        assert_eq!((state, code), (State::Succeeded, None), "{report}");
        let document = saved(&system);
        assert_eq!(plan_text(&document), PLAN);
        let web = system.sim.url();
        let blob = format!("{web}/{REPO}/blob/");
        assert!(
            document.contains(&format!("from the session log {path} at commit")),
            "{document}"
        );
        assert!(document.contains(&blob), "{document}");
        assert!(
            report.contains(&format!("[the session log `{path}`]({blob}")),
            "{report}"
        );
        assert!(report.contains(&format!("/{link}), line 41\n")), "{report}");
    }
    assert_eq!(requests(&system, "/commits/").len(), 2);
    assert_eq!(requests(&system, "/contents/").len(), 2);
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_attached_to_the_comment_is_saved() {
    let system = judged(Vec::new()).await;
    let address = system.sim.attach("session log.txt", log(), false);
    let other = system
        .sim
        .attach("build.log", "error: it does not build\n", false);
    let comment = format!("/save-plan see [session log.txt]({address}) and [build.log]({other})");
    let (state, code, report) = ask(&system, &comment).await;
    assert_eq!((state, code), (State::Succeeded, None), "{report}");
    assert_eq!(plan_text(&saved(&system)), PLAN);
    assert!(
        report.contains(&format!(
            "[the session log `session log.txt`]({address}), line 41"
        )),
        "{report}"
    );
    assert_eq!(requests(&system, "/attachment-store/").len(), 2);
    let sent = system.sim.requests();
    let to_pages = sent.iter().filter(|one| one.path.contains("attachment"));
    for request in to_pages {
        assert!(
            !request.headers.contains_key("authorization"),
            "{}",
            request.path
        );
    }
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_of_either_place_is_waited_out() {
    let system = judged(Vec::new()).await;
    system.sim.put_file(REPO, "a.jsonl", log()).unwrap();
    let address = system.sim.attach("a.jsonl", log(), false);
    let faults = system.sim.faults();
    faults.push(Fault::on(
        "GET",
        "/repos/acme/search/contents/**",
        FaultKind::BadGatewayBefore,
    ));
    faults.push(Fault::on(
        "GET",
        "/attachment-store/**",
        FaultKind::Unavailable,
    ));
    for comment in [
        "/save-plan session=a.jsonl",
        &format!("/save-plan {address}"),
    ] {
        let (state, code, report) = ask(&system, comment).await;
        assert_eq!((state, code), (State::Succeeded, None), "{report}");
        assert_eq!(plan_text(&saved(&system)), PLAN);
    }
    assert_eq!(requests(&system, "/contents/").len(), 2);
    assert_eq!(requests(&system, "/attachment-store/").len(), 2);
    assert_eq!(system.plans(REPO).len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_used_is_said_and_nothing_is_saved() {
    let system = judged(vec![("PLANWRIGHT_SOURCE_MAX_LOG_MB", "1".to_owned())]).await;
    let sim = &system.sim;
    let put = |path: &str, content: Vec<u8>| sim.put_file(REPO, path, content).unwrap();
    put("logs/a.jsonl", log());
    put("long.jsonl", vec![b'\n'; 1024 * 1024 + 1]);
    put(
        "talk.jsonl",
        lines(&[serde_json::json!({"type": "user", "sessionId": "s1"})]),
    );
    put(
        "pointer.jsonl",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n".to_vec(),
    );
    let private = sim.attach("a.jsonl", log(), true);
    let long = sim.attach("long.jsonl", vec![b'\n'; 1024 * 1024 + 1], false);
    let talk = sim.attach("talk.jsonl", "not a log\n", false);
    for (comment, code, want) in [
        (
            "session=logs/b.jsonl",
            "session_not_found",
            "there is no such file",
        ),
        (
            "session=logs/a.jsonl@nowhere",
            "session_not_found",
            "there is no such branch",
        ),
        (
            "session=logs",
            "session_not_found",
            "it is a directory, not a file",
        ),
        (
            "session=long.jsonl",
            "session_not_found",
            "it is larger than 1 MB",
        ),
        (
            "session=pointer.jsonl",
            "session_not_found",
            "a Git LFS pointer",
        ),
        ("session=talk.jsonl", "no_plan_found", "Lines read: 1"),
        ("session=../x", "invalid_input", "`..`"),
        (&private, "session_not_found", "(404 Not Found)"),
        (&long, "session_not_found", "it is larger than 1 MB"),
        (&talk, "no_plan_found", "none of its lines is an entry"),
    ] {
        let (state, found, report) = ask(&system, &format!("/save-plan {comment}")).await;
        assert_eq!(
            (state, found.as_deref()),
            (State::Failed, Some(code)),
            "{report}"
        );
        assert!(report.contains(want), "{want}: {report}");
        assert!(report.contains(&format!("## Error: {code}")), "{report}");
    }
    assert_eq!(system.plans(REPO).len(), 0);
    system.tap.assert_clean();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_permission_to_read_contents_the_report_says_so() {
    let system = System::start().await;
    system.sim.add_repository(REPO, true).unwrap();
    let role = github_simulator::model::Role::Write;
    system.sim.grant(REPO, "ada", role).unwrap();
    let installation = system.sim.install(&[REPO]).unwrap();
    system
        .sim
        .set_permission(installation, "contents", None)
        .unwrap();
    system.sim.put_file(REPO, "a.jsonl", log()).unwrap();
    let (state, code, report) = ask(&system, "/save-plan session=a.jsonl").await;
    assert_eq!(
        (state, code.as_deref()),
        (State::Failed, Some("config_invalid")),
        "{report}"
    );
    assert!(report.contains("contents: read"), "{report}");
}
