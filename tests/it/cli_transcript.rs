//! Tests of the command `planwright session transcript`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const LOG: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/transcripts/session.jsonl"
);
const TRANSCRIPT: &str = include_str!("../../fixtures/transcripts/session.xml");
const SESSION: &str = "6f0d2c1e-52aa-4c0e-9b3a-0d4c7a1b9e55";

fn transcript(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .env_clear()
        .current_dir(folder)
        .args(["session", "transcript"])
        .args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    transcript(folder, arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn help_tells_what_is_left_out_and_the_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let help = run(folder.path(), &["--help"]);
    assert_eq!(help.status.code(), Some(0));
    for part in [
        "--session-id",
        "--max-tokens",
        "--output",
        "--no-filter",
        "--stats",
        "Examples:\n",
        "Exit codes:\n",
        "Omitted:",
    ] {
        assert!(text(&help.stdout).contains(part), "{part}");
    }
}

#[test]
fn a_log_becomes_a_transcript_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &[LOG, "--session-id", SESSION]);
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(text(&done.stdout), TRANSCRIPT);
    assert_eq!(
        text(&done.stderr),
        "note: line 15 cannot be read and was skipped\n"
    );
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_log_can_come_from_standard_input_with_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = transcript(folder.path(), &["-", "--session-id", SESSION, "--stats"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&std::fs::read(LOG).unwrap()).unwrap();
    drop(input);
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0));
    assert_eq!(text(&done.stdout), TRANSCRIPT);
    assert_eq!(
        text(&done.stderr).lines().nth(1).unwrap(),
        "17 entries read, 10 written; left out: not JSON 1, other sessions 1, file snapshots 1, bookkeeping 1, \
         looking for logs 2, without content 1; cut: tool results 1; 11117 → 2574 bytes, 76.8 % less"
    );
}

#[test]
fn without_filtering_nothing_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &[LOG, "--no-filter"]);
    assert_eq!(done.status.code(), Some(0));
    let xml = text(&done.stdout);
    for part in [
        "ls ~/.claude",
        "station_45",
        "<user>words of another session</user>",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
}

#[test]
fn parts_are_files_and_no_file_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        LOG,
        "--session-id",
        SESSION,
        "--max-tokens",
        "200",
        "--output",
        "deep/parts",
    ];
    let done = run(folder.path(), &arguments);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let paths: Vec<&str> = text(&done.stdout).lines().collect();
    let expected: Vec<String> = (1..=paths.len())
        .map(|number| format!("deep/parts/session-{number}.xml"))
        .collect();
    assert_eq!(paths, expected);
    assert!(paths.len() > 1);
    let head = "<session>\n  <meta branch=\"fix/export\" />\n  <meta model=\"claude-opus-4-5-20251101\" />\n";
    let parts: String = paths
        .iter()
        .map(|path| {
            let part = std::fs::read_to_string(folder.path().join(path)).unwrap();
            let part = part.strip_prefix(head).unwrap();
            part.strip_suffix("</session>\n").unwrap().to_owned()
        })
        .collect();
    assert_eq!(format!("{head}{parts}</session>\n"), TRANSCRIPT);
    let directory = folder.path().join("deep/parts");
    assert_eq!(names(&directory).len(), paths.len());

    // Only the last part is in the way: none is written.
    let last = paths.last().unwrap();
    for path in &paths[..paths.len() - 1] {
        std::fs::remove_file(folder.path().join(path)).unwrap();
    }
    std::fs::write(folder.path().join(last), "mine").unwrap();
    let again = run(folder.path(), &arguments);
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(
        text(&again.stderr).lines().last().unwrap(),
        format!("error: {last} already exists; move it or choose another --output")
    );
    assert_eq!(names(&directory).len(), 1);
    assert_eq!(
        std::fs::read_to_string(folder.path().join(last)).unwrap(),
        "mine"
    );
}

#[test]
fn an_agents_log_names_its_source() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(LOG, folder.path().join("agent-1f2e3d4c.jsonl")).unwrap();
    let done = run(folder.path(), &["agent-1f2e3d4c.jsonl", "--output", "."]);
    assert_eq!(text(&done.stdout), "./agent-1f2e3d4c-1.xml\n");
    let part = std::fs::read_to_string(folder.path().join("agent-1f2e3d4c-1.xml")).unwrap();
    assert!(part.starts_with("<session>\n  <meta source=\"agent-1f2e3d4c\" />\n  <meta branch="));
}

#[test]
fn nothing_left_is_1_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |log: &str, arguments: &[&str]| {
        std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
        let mut all = vec!["log.jsonl", "--output", "parts"];
        all.extend_from_slice(arguments);
        let done = run(folder.path(), &all);
        assert_eq!(done.status.code(), Some(1), "{log}");
        assert_eq!(text(&done.stdout), "");
        assert_eq!(names(&folder.path().join("parts")), [""; 0]);
        text(&done.stderr).to_owned()
    };
    let user = r#"{"type":"user","message":{"content":"warmup"}}"#;
    let assistant =
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Ready."}]}}"#;
    for arguments in [&["--no-filter"][..], &[]] {
        assert_eq!(
            fails("# A plan\n\n[]\n", arguments),
            "note: 2 lines cannot be read and were skipped, the first is line 1\n\
             error: log.jsonl: this is not a session log: 2 lines, none of them an entry\n"
        );
    }
    assert_eq!(
        fails("\n", &[]),
        "error: log.jsonl: it contains no entries\n"
    );
    assert_eq!(
        fails("", &["--no-filter"]),
        "error: log.jsonl: it contains no entries\n"
    );
    assert_eq!(
        fails(user, &[]),
        "error: log.jsonl: the session is empty: it needs three entries with text from the user \
         and the assistant; --no-filter prints everything\n"
    );
    let other = format!("{{\"sessionId\":\"a\",{}\n", &user[1..]);
    assert_eq!(
        fails(&other.repeat(4), &["--session-id", "b"]),
        "error: log.jsonl: session b is empty: it needs three entries with text from the user and \
         the assistant; check the id, --no-filter prints everything\n"
    );
    assert_eq!(
        fails(&format!("{user}\n{assistant}\n{assistant}\n"), &[]),
        "error: log.jsonl: the session is only a warm-up: the first prompt says so and no tool is \
         used; --no-filter prints everything\n"
    );
    assert_eq!(
        fails("{}\n", &[]),
        "error: log.jsonl: 1 line, but no entry of a conversation; is it a session log?\n"
    );
}

#[test]
fn counts_tell_where_the_entries_of_an_empty_session_went() {
    let folder = tempfile::tempdir().unwrap();
    let call = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"Bash","id":"x","input":{{"command":"{}"}}}}]}}}}"#,
        "a".repeat(2_000)
    );
    std::fs::write(folder.path().join("log.jsonl"), &call).unwrap();
    let done = run(folder.path(), &["log.jsonl", "--stats"]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(
        text(&done.stderr).lines().next().unwrap(),
        format!(
            "1 entry read, 0 written; left out: of a session not worth reading 1; {} → 0 bytes, 100.0 % less",
            call.len()
        )
    );
}

#[test]
fn a_line_over_the_limit_is_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), vec![b'a'; (64 << 20) + 1]).unwrap();
    let done = run(folder.path(), &["log.jsonl", "--stats"]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(
        text(&done.stderr),
        "note: line 1 is longer than 64 MiB and was skipped\n\
         1 entry read, 0 written; left out: too long 1; 67108865 → 0 bytes, 100.0 % less\n\
         error: log.jsonl: it cannot be read: of 1 line, 1 longer than 64 MiB\n"
    );
}

#[test]
fn wrong_arguments_are_2() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(folder.path(), &["none.jsonl"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).starts_with("error: cannot read none.jsonl: "));
    let directory = run(folder.path(), &["."]);
    assert_eq!(directory.status.code(), Some(2));
    assert!(text(&directory.stderr).starts_with("error: cannot read .: "));
    for arguments in [
        &[LOG, "--max-tokens", "100"][..],
        &[LOG, "--max-tokens", "0", "--output", "parts"],
        &[],
    ] {
        assert_eq!(run(folder.path(), arguments).status.code(), Some(2));
    }
    std::fs::write(folder.path().join("file"), "").unwrap();
    let no_directory = run(folder.path(), &[LOG, "--output", "file"]);
    assert_eq!(no_directory.status.code(), Some(1), "as the help says");
    assert!(text(&no_directory.stderr).starts_with("error: cannot create the directory file: "));
}

#[test]
fn a_reader_that_left_is_no_failure() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = transcript(folder.path(), &[LOG])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}
