//! Tests of `adapters::claude_home`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::formats::session::paths::MAX_PROJECT_NAME_CHARS;

mod projects;

const DIRECTORY: &str = "/srv/tide_watch";
const PROJECT: &str = "-srv-tide-watch";

struct Home {
    folder: TempDir,
    home: ClaudeHome,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = ClaudeHome::at(folder.path());
        Self { folder, home }
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn log(&self, name: &str, lines: &[String]) -> PathBuf {
        self.put(
            &format!("projects/{PROJECT}/{name}.jsonl"),
            &(lines.join("\n") + "\n"),
        )
    }

    fn plan_file(&self, slug: &str, text: &str, age: u64) {
        let path = self.put(&format!("plans/{slug}.md"), text);
        let changed = SystemTime::now() - Duration::from_secs(age);
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(changed)
            .unwrap();
    }

    fn find(&self, choice: &PlanChoice) -> Result<FoundPlan, FindError> {
        self.home.find(Path::new(DIRECTORY), choice)
    }

    fn of(&self, id: &str) -> Result<FoundPlan, FindError> {
        self.find(&PlanChoice::Session(id.to_owned()))
    }

    /// An error's text, with the folder of the test written `HOME`.
    fn error(&self, result: Result<FoundPlan, FindError>) -> String {
        result
            .unwrap_err()
            .to_string()
            .replace(&self.folder.path().display().to_string(), "HOME")
    }
}

fn exit(session: &str, time: &str, plan: &str) -> String {
    let block =
        json!({ "type": "tool_use", "id": "t", "name": "ExitPlanMode", "input": { "plan": plan } });
    json!({ "sessionId": session, "timestamp": time, "message": { "content": [block] } })
        .to_string()
}

fn named(session: &str, slug: &str) -> String {
    json!({ "sessionId": session, "timestamp": "2026-01-01T00:00:00.000Z", "slug": slug })
        .to_string()
}

#[test]
fn the_plan_file_takes_precedence_over_the_log() {
    let home = Home::new();
    let log = home.log(
        "s1",
        &[
            named("s1", "first"),
            named("s1", "last"),
            exit("s1", "1", "# In the log"),
        ],
    );
    let found = home.of("s1").unwrap();
    assert_eq!(
        (found.text.as_str(), found.location),
        ("# In the log", PlanLocation::ExitPlanMode)
    );
    assert_eq!(
        (found.file, found.line, found.session.as_deref()),
        (log, Some(3), Some("s1"))
    );
    home.plan_file("first", "not in force", 0);
    home.plan_file("last", " \n", 0);
    assert_eq!(home.of("s1").unwrap().text, "# In the log");
    home.plan_file("last", "# In the file\n", 3600);
    let found = home.of("s1").unwrap();
    assert_eq!(
        (found.text.as_str(), found.location, found.line),
        ("# In the file\n", PlanLocation::PlanFile, None)
    );
    assert_eq!(found.session.as_deref(), Some("s1"));
    assert!(found.file.ends_with("plans/last.md"));
}

#[test]
fn a_slug_does_not_leave_the_folder_of_plans() {
    let home = Home::new();
    home.put("secret.md", "secret");
    fs::create_dir_all(home.folder.path().join("plans")).unwrap();
    home.log("s1", &[named("s1", "../secret")]);
    assert!(matches!(
        home.of("s1"),
        Err(FindError::NoPlanInSession { .. })
    ));
    for id in ["../s1", "", "a/b", "..", ".hidden"] {
        assert!(
            matches!(home.of(id), Err(FindError::InvalidId { .. })),
            "{id}"
        );
    }
}

#[test]
fn the_log_of_a_session_is_read_as_a_whole() {
    let home = Home::new();
    home.log(
        "s2",
        &[
            exit("s1", "1", "before it was resumed"),
            exit("s2", "0", "older"),
        ],
    );
    assert_eq!(home.of("s2").unwrap().text, "before it was resumed");
    // No log of that name: entries name the session.
    assert_eq!(home.of("s1").unwrap().text, "before it was resumed");
    assert!(matches!(home.of("s3"), Err(FindError::NoSession { .. })));
}

#[test]
fn agents_logs_are_searched_if_the_session_has_no_plan() {
    let home = Home::new();
    home.log(
        "s1",
        &[json!({ "sessionId": "s1", "timestamp": "1" }).to_string()],
    );
    home.log("agent-aa", &[exit("s1", "1", "of the agent")]);
    home.log("agent-bb", &[exit("s2", "9", "of another session's agent")]);
    assert_eq!(home.of("s1").unwrap().text, "of the agent");
    home.log(
        "s1/subagents/agent-cc",
        &[exit("s1", "2", "of the agent below")],
    );
    assert_eq!(home.of("s1").unwrap().text, "of the agent below");
    assert_eq!(
        home.of("agent-bb").unwrap().text,
        "of another session's agent"
    );
    assert_eq!(home.of("agent-cc").unwrap().text, "of the agent below");
    home.log("agent-aa", &[named("s1", "of-agent")]);
    home.log("s1/subagents/agent-cc", &[named("s1", "of-agent")]);
    home.plan_file("of-agent", "the agent's file", 0);
    assert_eq!(home.of("s1").unwrap().text, "the agent's file");
    home.log("s1", &[exit("s1", "0", "its own")]);
    assert_eq!(home.of("s1").unwrap().text, "its own");
}

#[test]
fn the_only_session_with_a_plan_needs_no_id() {
    let home = Home::new();
    home.log("s1", &[exit("s1", "1", "# One")]);
    home.log("s2", &[json!({ "sessionId": "s2" }).to_string()]);
    assert_eq!(home.find(&PlanChoice::Only).unwrap().text, "# One");
    // A session that was resumed: one plan in two logs.
    home.log("s3", &[exit("s1", "1", "# One")]);
    assert_eq!(home.find(&PlanChoice::Only).unwrap().text, "# One");
}

#[test]
fn several_sessions_are_listed_and_none_is_chosen() {
    let home = Home::new();
    home.log(
        "s1",
        &[exit("s1", "2026-01-01T10:00:00.000Z", "# Plan: one\n\n- a")],
    );
    home.log(
        "s2",
        &[exit("s2", "2026-01-01T11:00:00.000Z", "## Steps\n\n- one")],
    );
    home.log("s3", &[named("s3", "none")]);
    assert_eq!(
        home.error(home.find(&PlanChoice::Only)),
        format!(
            "2 sessions have a plan; choose one with --session-id, or the newest with --newest:\n  \
             {:<36}  2026-01-01T11:00:00.000Z  (plan without a title)\n  {:<36}  \
             2026-01-01T10:00:00.000Z  one",
            "s2", "s1"
        )
    );
    assert_eq!(
        home.find(&PlanChoice::Newest).unwrap().text,
        "## Steps\n\n- one"
    );
    let project = home.home.project(Path::new(DIRECTORY)).unwrap();
    let listed: Vec<_> = home
        .home
        .sessions(&project)
        .unwrap()
        .iter()
        .map(|session| session.id.clone())
        .collect();
    assert_eq!(listed, ["s2", "s1", "s3"]);
}

#[test]
fn the_newest_plan_is_of_the_project_or_else_any_plan_file() {
    let home = Home::new();
    assert!(matches!(
        home.find(&PlanChoice::Newest),
        Err(FindError::NoPlanAtAll { .. })
    ));
    home.plan_file("older", "older", 60);
    home.plan_file("newer", "newer", 30);
    home.put("plans/notes.txt", "no plan");
    home.put("plans/sub/deep.md", "no plan either");
    let found = home.find(&PlanChoice::Newest).unwrap();
    assert_eq!(
        (found.text.as_str(), found.location, found.session),
        ("newer", PlanLocation::NewestPlanFile, None)
    );
    home.log(
        "s1",
        &[exit("s1", "2001-01-01T00:00:00.000Z", "of the project")],
    );
    home.log(
        "agent-aa",
        &[exit("s1", "2001-01-02T00:00:00.000Z", "of its agent")],
    );
    assert_eq!(home.find(&PlanChoice::Newest).unwrap().text, "of its agent");
    home.log("s2", &[named("s2", "older")]);
    assert_eq!(home.find(&PlanChoice::Newest).unwrap().text, "older");
}

#[test]
fn projects_are_found_from_below_and_by_every_rule() {
    let home = Home::new();
    let strict = home.log("s1", &[exit("s1", "1", "strict")]);
    let below = Path::new("/srv/tide_watch/src/deep");
    assert_eq!(
        home.home.project(below).unwrap().folders(),
        [strict.parent().unwrap()]
    );
    let old = home.put(
        "projects/-srv-tide_watch/s2.jsonl",
        &exit("s2", "2", "old rule"),
    );
    assert_eq!(
        home.home.project(below).unwrap().folders(),
        [strict.parent().unwrap(), old.parent().unwrap()]
    );
    let long = format!("/srv/{}", "long/".repeat(60));
    let name = crate::formats::session::paths::project_names(&long).remove(0);
    let cut = home.put(
        &format!("projects/{}-1x2y/s3.jsonl", &name[..MAX_PROJECT_NAME_CHARS]),
        "",
    );
    assert_eq!(
        home.home.project(Path::new(&long)).unwrap().folders(),
        [cut.parent().unwrap()]
    );
}

#[test]
fn a_session_is_found_in_another_project_by_its_id_alone() {
    let home = Home::new();
    home.put(
        "projects/-srv-other/s9.jsonl",
        &exit("s9", "1", "elsewhere"),
    );
    assert_eq!(home.of("s9").unwrap().text, "elsewhere");
    assert!(matches!(
        home.find(&PlanChoice::Only),
        Err(FindError::NoProject { .. })
    ));
}

#[test]
fn errors_name_the_places_searched_and_the_remedy() {
    let home = Home::new();
    assert_eq!(
        home.error(home.find(&PlanChoice::Only)),
        "no Claude Code sessions of /srv/tide_watch or a folder above it in HOME/projects; name the folder the session \
         ran in with --project, or the Claude home with --claude-home"
    );
    assert_eq!(
        home.error(home.find(&PlanChoice::Newest)),
        "no plan in the sessions of /srv/tide_watch, and no plan file in HOME/plans"
    );
    assert_eq!(
        home.error(home.of("a b")),
        "`a b` is not a session id: ids are made of letters, digits, `.`, `_` and `-`; `planwright \
         session list` lists them"
    );
    home.log("s1", &["{".to_owned(), named("s1", "gone")]);
    assert_eq!(
        home.error(home.of("s1")),
        "session s1 has no plan in HOME/projects/-srv-tide-watch/s1.jsonl (2 lines, 1 of them \
         unreadable), and no plan file; make one in plan mode, or ask for another session with \
         --session-id"
    );
    assert_eq!(
        home.error(home.find(&PlanChoice::Only)),
        "none of the 1 sessions in HOME/projects/-srv-tide-watch has a plan; make one in plan mode, or name another \
         folder with --project"
    );
    assert_eq!(
        home.error(home.of("s2")),
        "no log of session s2 in HOME/projects/-srv-tide-watch; `planwright session list` lists \
         the sessions, and --project names another folder"
    );
    fs::create_dir_all(home.folder.path().join("plans")).unwrap();
    fs::write(home.folder.path().join("plans/gone.md"), b"\xff").unwrap();
    assert_eq!(
        home.error(home.of("s1")),
        "the plan file HOME/plans/gone.md is not UTF-8 text; save it as UTF-8"
    );
    home.plan_file("gone", &"x".repeat((1 << 20) + 1), 0);
    assert_eq!(
        home.error(home.of("s1")),
        "the plan file HOME/plans/gone.md has 1048577 bytes; a plan has at most 1048576"
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_unreadable_files_are_errors() {
    let home = Home::new();
    let elsewhere = home.put("elsewhere/plan.txt", "# Linked");
    home.log("s1", &[named("s1", "linked")]);
    fs::create_dir_all(home.folder.path().join("plans")).unwrap();
    std::os::unix::fs::symlink(elsewhere, home.folder.path().join("plans/linked.md")).unwrap();
    assert_eq!(home.of("s1").unwrap().text, "# Linked");
    // A folder where a log should be is no log.
    fs::create_dir_all(
        home.folder
            .path()
            .join("projects")
            .join(PROJECT)
            .join("s5.jsonl"),
    )
    .unwrap();
    assert!(matches!(home.of("s5"), Err(FindError::NoSession { .. })));
    let error = FindError::Read {
        path: "a".into(),
        error: std::io::Error::from_raw_os_error(13),
    };
    assert_eq!(
        error.to_string(),
        "a cannot be read: Permission denied (os error 13)"
    );
}
