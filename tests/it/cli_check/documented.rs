//! Tests that the examples in docs/action-plans.md and the help of `check` are correct.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::{GOOD, SHORT_FENCES, check, err, folder, out};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/action-plans.md");
    fs::read_to_string(path).unwrap()
}

/// The text between two lines of the page.
fn part(from: &str, to: &str) -> String {
    let section = page();
    let (_, part) = section.split_once(&format!("\n{from}\n")).unwrap();
    let (part, _) = part.split_once(&format!("\n{to}\n")).unwrap();
    format!("{part}\n")
}

/// Runs a line in a shell whose path has the program first, in a repository with the files that the lines name.
fn shell(line: &str) -> Output {
    let folder = folder(&[
        ("plan.md", GOOD),
        ("plans/one.md", GOOD),
        ("broken.md", SHORT_FENCES),
        ("src/report.rs", "enum Format { Text }\n"),
    ]);
    let commit = "git init --quiet && git add . && git -c user.name=a -c user.email=a@b.c commit --quiet -m one";
    let done = run(folder.path(), commit);
    assert!(done.status.success(), "{}", err(&done));
    let done = run(folder.path(), line);
    if line.contains("git apply") {
        let fixed = run(folder.path(), "planwright check broken.md");
        assert_eq!(fixed.status.code(), Some(0), "{}", out(&fixed));
    }
    done
}

fn run(folder: &Path, line: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_planwright"));
    let paths = std::env::var_os("PATH").unwrap();
    let own = program.parent().unwrap().to_owned();
    let paths = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&paths)));
    Command::new("sh")
        .args(["-c", line])
        .env_clear()
        .env("PATH", paths.unwrap())
        .current_dir(folder)
        .output()
        .unwrap()
}

fn works(line: &str) {
    let done = shell(line);
    assert_eq!(
        done.status.code(),
        Some(0),
        "{line}: {}{}",
        out(&done),
        err(&done)
    );
}

#[test]
fn the_plan_of_the_page_is_good() {
    let plan = part("~~~~~~~~markdown", "~~~~~~~~");
    let done = check(&plan, &[]);
    assert_eq!(done.status.code(), Some(0), "{}", out(&done));
    assert_eq!(out(&done).lines().count(), 6, "{}", out(&done));
}

#[test]
fn the_commands_of_the_page_work() {
    let commands = part("```sh", "```");
    assert_eq!(commands.lines().count(), 4);
    commands.lines().for_each(works);
}

#[test]
fn the_workflow_of_the_page_is_yaml_and_its_check_works() {
    let workflow = part("```yaml", "```");
    let workflow: serde_json::Value = serde_saphyr::from_str(&workflow).unwrap();
    let steps = workflow["jobs"]["check"]["steps"].as_array().unwrap();
    let runs: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["run"].as_str())
        .collect();
    let [install, check] = runs.as_slice() else {
        panic!("{runs:?}")
    };
    // The release of this version, not whatever the branch holds today.
    let from = concat!(
        env!("CARGO_PKG_REPOSITORY"),
        " --tag v",
        env!("CARGO_PKG_VERSION")
    );
    assert!(install.ends_with(from), "{install}");
    works(check);
    let (_, file) = check.split_once("> ").unwrap();
    assert_eq!(steps[3]["with"]["sarif_file"], file);
    assert_eq!(workflow["permissions"]["security-events"], "write");
}

#[test]
fn the_examples_of_the_help_work() {
    let help = check("", &["--help"]);
    let (_, examples) = out(&help).split_once("\nExamples:\n").unwrap();
    assert_eq!(examples.lines().count(), 6, "{examples}");
    examples.lines().for_each(works);
}

#[test]
fn both_name_the_exit_codes() {
    let help = check("", &["--help"]);
    for code in [
        "\n  0  all plans are valid",
        "\n  1  at least one plan was refused",
        "\n  2  ",
    ] {
        assert!(out(&help).contains(code), "{code}");
    }
    let line = "Exit codes: 0 all plans are valid, 1 at least one was refused, 2 the arguments are wrong or a file";
    assert!(page().contains(line));
}
