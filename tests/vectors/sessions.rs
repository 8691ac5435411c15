//! erk's test vectors for session logs: plans in entries, in projects, by slug and by time; project
//! names; timestamps.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use planwright::adapters::claude_home::{ClaudeHome, FindError, FoundPlan, PlanChoice};
use planwright::formats::session::{Entry, PlanSource, parse_timestamp, paths, scan};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::Tests;

crate::harness::tests!(
    plans_in_entries,
    the_latest_plan_of_a_project,
    the_latest_plan_of_a_directory,
    slugs,
    the_newest_plan_file,
    project_names,
    timestamps,
);

fn every(_: &Value) -> bool {
    true
}

/// The files of a vector below a folder of their own, with the times of their ranks.
fn lay_out(case: &Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let begin = SystemTime::now() - Duration::from_secs(100_000);
    for file in case["input"]["files"].as_array().into_iter().flatten() {
        let path = placed(&file["path"], folder.path());
        if file["empty_dir"] == true {
            fs::create_dir_all(&path).unwrap();
            continue;
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, file["text"].as_str().unwrap()).unwrap();
        let time = begin + Duration::from_secs(60 * file["mtime_rank"].as_u64().unwrap());
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    }
    folder
}

fn placed(path: &Value, folder: &Path) -> PathBuf {
    PathBuf::from(
        path.as_str()
            .unwrap()
            .replace("$TMP", folder.to_str().unwrap()),
    )
}

/// The Claude home of a vector: where its files say it is, else below its `home`.
fn home(case: &Value, folder: &Path) -> ClaudeHome {
    let inner = folder.join("home/.claude");
    if inner.is_dir() {
        ClaudeHome::at(inner)
    } else {
        ClaudeHome::at(placed(&case["input"]["home"], folder).join(".claude"))
    }
}

/// What erk asks for: a session, or whichever. Where ours refuses to choose between sessions,
/// `--newest` is erk's choice.
fn found(home: &ClaudeHome, directory: &str, session: &Value) -> Result<FoundPlan, FindError> {
    let directory = Path::new(directory);
    match session.as_str() {
        Some(id) => home.find(directory, &PlanChoice::Session(id.to_owned())),
        None => match home.find(directory, &PlanChoice::Only) {
            Err(FindError::Several(_)) => home.find(directory, &PlanChoice::Newest),
            other => other,
        },
    }
}

/// Nothing found is `null`; any other failure is its text, which no vector expects.
fn text(found: Result<FoundPlan, FindError>) -> Value {
    use FindError::{NoPlanAtAll, NoPlanInProject, NoPlanInSession, NoProject, NoSession};
    match found {
        Ok(found) => json!(found.text),
        Err(
            NoPlanAtAll { .. }
            | NoPlanInProject { .. }
            | NoPlanInSession { .. }
            | NoProject { .. }
            | NoSession { .. },
        ) => Value::Null,
        Err(error) => json!(error.to_string()),
    }
}

fn plans_in_entries(tests: &mut Tests) {
    tests.hold("session_line_plan", every, &[], |case| {
        let found = scan(case["input"]["entry"].to_string().as_bytes(), None);
        let plan = found.plan.map(|plan| {
            assert_eq!(plan.source, PlanSource::ExitPlanMode);
            plan.text
        });
        (json!(plan), case["expected"]["plan"].clone())
    });
}

/// A project's folder stands below a Claude home here, under the name of a directory of ours.
fn in_project(case: &Value, folder: &Path) -> (ClaudeHome, &'static str) {
    const DIRECTORY: &str = "/srv/vectors";
    let root = folder.join("root");
    let projects = root.join("projects");
    fs::create_dir_all(&projects).unwrap();
    let project = placed(&case["input"]["project_dir"], folder);
    if project.is_dir() {
        fs::rename(project, projects.join(paths::project_name(DIRECTORY))).unwrap();
    }
    (ClaudeHome::at(root), DIRECTORY)
}

fn the_latest_plan_of_a_project(tests: &mut Tests) {
    tests.hold("session_latest_plan_exitplanmode", every, &[], |case| {
        let folder = lay_out(case);
        let (home, directory) = in_project(case, folder.path());
        let found = found(&home, directory, &case["input"]["session_id"]);
        (text(found), case["expected"]["plan"].clone())
    });
}

fn the_latest_plan_of_a_directory(tests: &mut Tests) {
    for suite in [
        "session_latest_plan_exitplanmode_cwd",
        "session_plan_by_slug",
    ] {
        tests.hold(suite, every, &[], |case| {
            let folder = lay_out(case);
            let home = home(case, folder.path());
            let directory = case["input"]["working_dir"].as_str().unwrap();
            let found = found(&home, directory, &case["input"]["session_id"]);
            (text(found), case["expected"]["plan"].clone())
        });
    }
}

fn slugs(tests: &mut Tests) {
    tests.hold("session_slug_extract", every, &[], |case| {
        let folder = lay_out(case);
        let (home, directory) = in_project(case, folder.path());
        // A slug is seen by the plan file it names: each file is its own name.
        let plans = folder.path().join("root/plans");
        fs::create_dir_all(&plans).unwrap();
        let mut files: Vec<_> = case["input"]["files"].as_array().unwrap().iter().collect();
        files.sort_by_key(|file| file["mtime_rank"].as_u64());
        for (rank, file) in (0..).zip(files) {
            for slug in scan(file["text"].as_str().unwrap().as_bytes(), None).slugs {
                let path = plans.join(format!("{slug}.md"));
                fs::write(&path, &slug).unwrap();
                let time = SystemTime::now() - Duration::from_secs(1000 - rank);
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(time)
                    .unwrap();
            }
        }
        let found = found(&home, directory, &case["input"]["session_id"]);
        (text(found), case["expected"]["slug"].clone())
    });
}

fn the_newest_plan_file(tests: &mut Tests) {
    tests.hold("plans_dir_latest_by_mtime", every, &[], |case| {
        let folder = lay_out(case);
        let home = home(case, folder.path());
        let directory = case["input"]["working_dir"].as_str().unwrap();
        // This erk ignored the session, which is what `--newest` asks for.
        let found = home.find(Path::new(directory), &PlanChoice::Newest);
        (text(found), case["expected"]["plan"].clone())
    });
}

fn project_names(tests: &mut Tests) {
    tests.hold("claude_project_dir_encoding", every, &[], |case| {
        let directory = case["input"]["working_dir"].as_str().unwrap();
        let name = paths::project_name(directory);
        if directory.starts_with('/') {
            assert!(paths::project_names(directory).contains(&name));
        }
        (json!(name), case["expected"]["name"].clone())
    });
}

fn timestamps(tests: &mut Tests) {
    let mine = |case: &Value| case["group"] == "timestamp";
    tests.hold("probes", mine, &[], |case| {
        let line = json!({ "timestamp": case["input"]["value"] }).to_string();
        let timestamp = Entry::parse(line.as_bytes()).unwrap().timestamp();
        (
            json!(timestamp.as_deref().and_then(parse_timestamp)),
            case["expected"]["result"].clone(),
        )
    });
}
