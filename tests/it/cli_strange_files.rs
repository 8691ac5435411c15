//! Special files in a cloned repository: links that lead out of it, pipes, and devices.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// Longest that a refusal may take, in seconds; a command that waits for a pipe is ended then.
const PATIENCE: &str = "60";

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("timeout")
        .args([PATIENCE, env!("CARGO_BIN_EXE_planwright")])
        .args(arguments)
        .env_clear()
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A clone with an empty folder of plans, beside a file that is nobody else's business.
fn clone() -> (TempDir, std::path::PathBuf) {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "# root:x:0:0\n").unwrap();
    let clone = outside.path().join("clone");
    fs::create_dir_all(clone.join("plans")).unwrap();
    (outside, clone)
}

#[test]
fn a_plan_file_that_is_a_link_out_of_the_root_is_not_read() {
    let (_outside, clone) = clone();
    symlink("../../secret", clone.join("plans/a.md")).unwrap();
    symlink("../secret", clone.join("b.md")).unwrap();
    symlink("plans", clone.join("inside")).unwrap();
    symlink("..", clone.join("up")).unwrap();
    let real = clone.canonicalize().unwrap();
    for (file, root) in [
        ("plans/a.md", "."),
        ("./plans/../plans/a.md", "."),
        ("b.md", "."),
        ("inside/a.md", "."),
        ("up/secret", "."),
        (real.join("b.md").to_str().unwrap(), "."),
        ("plans/a.md", real.to_str().unwrap()),
        ("plans/a.md", "plans"),
    ] {
        for output in [&[][..], &["--json"], &["--sarif"], &["--fix"]] {
            let arguments = [&["check", file, "--root", root][..], output].concat();
            assert_eq!(
                refused(&clone, &arguments),
                format!(
                    "error: cannot read {file}: a symbolic link in its path leads out of the \
                     project's folder; give a file, or `-` for standard input\n"
                )
            );
        }
    }
}

#[test]
fn a_plan_file_inside_the_root_or_named_outside_of_it_is_read() {
    let (outside, clone) = clone();
    fs::write(clone.join("plans/real.md"), "no plan\n").unwrap();
    symlink("real.md", clone.join("plans/link.md")).unwrap();
    fs::write(outside.path().join("other.md"), "no plan\n").unwrap();
    for file in ["plans/real.md", "plans/link.md", "../other.md"] {
        let output = run(&clone, &["check", file, "--root", "."]);
        assert_eq!(output.status.code(), Some(1), "{file}: {output:?}");
    }
}

#[test]
fn pipes_and_devices_among_the_plans_are_refused_and_not_waited_for() {
    let (_outside, clone) = clone();
    pipe(&clone.join("plans/pipe.md"));
    symlink("/dev/zero", clone.join("zero.md")).unwrap();
    for arguments in [
        &["check", "plans/pipe.md"][..],
        &["check", "plans/pipe.md", "--root", "."],
        &["check", "zero.md"],
        &["check-content", "plans/pipe.md"],
        &["blocks", "zero.md"],
        &["extract", "plans/pipe.md"],
        &["metadata", "zero.md"],
        &["save", "--plan", "plans/pipe.md", "--repo", "o/r"],
        &["session", "transcript", "plans/pipe.md"],
        &["try", "--thread", "zero.md"],
        &["replay", "zero.md", "--event", "issues", "--dry-run"],
    ] {
        let said = refused(&clone, arguments);
        assert!(
            said.contains("it is not a regular file"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn what_the_shell_has_opened_for_the_command_may_be_a_pipe() {
    let (_outside, clone) = clone();
    for file in ["-", "/dev/stdin", "/dev/fd/0"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_planwright"))
            .args(["check-content", file])
            .env_clear()
            .current_dir(&clone)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"# Too short\n").unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{file}");
        assert!(!output.stdout.is_empty(), "{file}");
    }
}

#[test]
fn a_configuration_that_never_ends_is_refused() {
    let (_outside, clone) = clone();
    let file = clone.join("planwright.toml");
    symlink("/dev/zero", &file).unwrap();
    let sentence =
        "error: the configuration file planwright.toml cannot be read: it is not a regular file\n";
    assert_eq!(refused(&clone, &["plan", "list", "o/r"]), sentence);
    fs::remove_file(&file).unwrap();
    pipe(&file);
    assert_eq!(refused(&clone, &["plan", "list", "o/r"]), sentence);
    fs::remove_file(&file).unwrap();
    fs::write(&file, "#".repeat(1024 * 1024 + 1)).unwrap();
    assert_eq!(
        refused(&clone, &["plan", "list", "o/r"]),
        "error: the configuration file planwright.toml cannot be read: it is longer than 1 MiB\n"
    );
}

#[test]
fn a_secrets_file_that_never_ends_is_refused_whoever_names_it() {
    let (_outside, clone) = clone();
    pipe(&clone.join("pipe"));
    fs::write(clone.join("long"), "x".repeat(64 * 1024 + 1)).unwrap();
    for key in [
        "webhook.secrets_file",
        "github.private_key_file",
        "agent.api_key_file",
    ] {
        for (path, why) in [
            ("/dev/zero", "it is not a regular file"),
            ("pipe", "it is not a regular file"),
            ("long", "it is longer than 64 KiB"),
        ] {
            let (section, name) = key.split_once('.').unwrap();
            let text = format!("[{section}]\n{name} = \"{path}\"\n");
            fs::write(clone.join("planwright.toml"), text).unwrap();
            assert_eq!(
                refused(&clone, &["plan", "list", "o/r"]),
                format!("error: {path}: the file named by `{key}` cannot be read: {why}\n")
            );
        }
    }
}

#[test]
fn a_pipe_in_place_of_the_session_s_id_is_not_waited_for() {
    let (_outside, clone) = clone();
    fs::create_dir_all(clone.join(".erk/scratch")).unwrap();
    pipe(&clone.join(".erk/scratch/current-session-id"));
    let output = run(&clone, &["session", "plan"]);
    // 124: `timeout` had to end it.
    assert_ne!(output.status.code(), Some(124), "{output:?}");
}
