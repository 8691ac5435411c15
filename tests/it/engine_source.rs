//! Plans from session logs: logs named by an option or attached, logs of all versions, and all
//! errors.

use std::time::Duration;

use planwright::engine::clock::Clock;
use planwright::engine::forge::{ForgeError, NotAFile, ReadError};
use planwright::engine::model::failure::Code;
use planwright::engine::model::progress::Progress;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::trigger::{Origin, Trigger};
use planwright::engine::settings::{Settings, SourceSettings};
use planwright::engine::store::{ClaimLimits, Store};
use planwright::engine::worker::Outcome;
use planwright::formats::block::{self, Content};
use planwright::formats::command::{self, Command, Permission};
use planwright::formats::plan::document::plan_text;
use serde_json::{Value, json};

use crate::support::fake_forge::Fault;
use crate::support::rig::{HERE, PLAN, Rig};

/// The plan of the log; the conversation holds another one.
const LOGGED: &str = "# Plan: Rebuild the index in the background\n\n## Overview\n\nThe first search waits for the index. \
Build it in the background and answer from the old one meanwhile.\n\n## Steps\n\n1. Keep the old index until the new one is \
there\n2. Swap them in one step\n3. Report progress in the status line\n";

const FILE: &str = "https://github.com/user-attachments/files/12/";

/// Lines of a log.
pub(crate) fn lines(entries: &[Value]) -> Vec<u8> {
    let mut log = String::new();
    for entry in entries {
        log.push_str(&entry.to_string());
        log.push('\n');
    }
    log.into_bytes()
}

fn said(at: u32, text: &str) -> Value {
    json!({
        "type": "user", "sessionId": "s1", "timestamp": format!("2026-01-02T10:00:{at:02}.000Z"),
        "message": {"role": "user", "content": text},
    })
}

/// Ends plan mode with `plan`, as logs did from the beginning.
pub(crate) fn exit(session: &str, at: u32, plan: &str) -> Value {
    json!({
        "type": "assistant", "sessionId": session, "timestamp": format!("2026-01-02T10:00:{at:02}.000Z"),
        "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("t{at}"), "name": "ExitPlanMode", "input": {"plan": plan}},
        ]},
    })
}

/// Writes the plan to a plan file, as logs do now.
fn write(at: u32, plan: &str) -> Value {
    json!({
        "type": "assistant", "sessionId": "s1", "slug": "calm-fox",
        "timestamp": format!("2026-01-02T10:00:{at:02}.000Z"),
        "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": format!("w{at}"), "name": "Write",
             "input": {"file_path": "/home/ada/.claude/plans/calm-fox.md", "content": plan}},
        ]},
    })
}

/// What the comment asks for.
fn asked(rig: &Rig, comment: &str) -> Trigger {
    let found = command::parse(comment).remove(0);
    Trigger {
        origin: Origin::Comment {
            id: 99,
            text: comment.to_owned(),
            url: "https://github.test/comment".into(),
        },
        options: found.options,
        guidance: found.guidance,
        inline: found.inline,
        ..rig.trigger(found.command, "ada", 7, HERE)
    }
}

async fn with(files: &[(&str, Result<Vec<u8>, ReadError>)]) -> Rig {
    let rig = Rig::new().await;
    let mut world = rig.forge.world.lock().unwrap();
    for (name, content) in files {
        world.files.insert((*name).to_owned(), content.clone());
    }
    drop(world);
    rig
}

async fn run(rig: &Rig, comment: &str) -> RunId {
    let run = rig.deliver(asked(rig, comment)).await;
    rig.settle().await;
    run
}

fn read(rig: &Rig) -> Vec<String> {
    rig.forge.world.lock().unwrap().read.clone()
}

/// The saved document.
fn document(rig: &Rig) -> String {
    let plans = rig.forge.plans();
    assert_eq!(plans.len(), 1, "{:#?}", rig.forge.own_bodies(HERE));
    let body = rig.forge.own_bodies(plans[0].0).remove(0);
    let parsed = block::parse(&body);
    match &block::find(&parsed, "plan-body").unwrap().content {
        Content::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// Code of a run that failed, and its report.
async fn failure(rig: &Rig, run: &RunId) -> (String, String) {
    let view = rig.view(run).await;
    let report = rig.forge.own_bodies(HERE).remove(0);
    assert_eq!(view.state, State::Failed, "{report}");
    assert_eq!(rig.forge.plans().len(), 0, "{report}");
    (view.code.unwrap().name().to_owned(), report)
}

#[tokio::test]
async fn a_log_of_the_repository_is_where_the_plan_comes_from() {
    for (log, line) in [
        (lines(&[said(1, "hello"), exit("s1", 2, LOGGED)]), 2),
        (
            lines(&[said(1, "hello"), said(2, "x"), write(3, LOGGED)]),
            3,
        ),
        (
            lines(&[exit("s1", 1, PLAN), exit("s1", 2, LOGGED), said(3, "good")]),
            2,
        ),
    ] {
        let rig = with(&[("logs/a.jsonl@plans", Ok(log))]).await;
        let run = run(&rig, "/save-plan session=logs/a.jsonl@plans keep it simple").await;
        assert_eq!(rig.state(&run).await, State::Succeeded);
        let document = document(&rig);
        assert_eq!(plan_text(&document), LOGGED);
        assert!(
            document.contains(
                "The plan comes from the session log logs/a.jsonl at commit 0123456, line "
            ),
            "{document}"
        );
        assert!(document.contains("keep it simple"), "{document}");
        assert!(!document.contains("session=logs"), "{document}");
        let link = format!(
            "[the session log `logs/a.jsonl`](https://github.test/blob/logs/a.jsonl), line {line}"
        );
        let (_, issue) = rig.forge.plans().remove(0);
        assert!(
            issue
                .body
                .contains(&format!("From acme/search#7 ({link}), saved for ada ")),
            "{}",
            issue.body
        );
        let report = rig.forge.own_bodies(HERE).remove(0);
        assert!(
            report.contains(&format!("**Source:** found in {link}\n")),
            "{report}"
        );
        assert_eq!(read(&rig), ["logs/a.jsonl@plans"]);
    }
}

#[tokio::test]
async fn attached_logs_are_read_and_the_newest_plan_counts() {
    let (one, two) = (format!("{FILE}a.jsonl"), format!("{FILE}agent-b.txt"));
    let old = lines(&[exit("s1", 1, PLAN)]);
    let new = lines(&[exit("s1", 2, LOGGED)]);
    for (first, second, from) in [(&old, &new, "agent-b.txt"), (&new, &old, "a.jsonl")] {
        let rig = with(&[(&one, Ok(first.clone())), (&two, Ok(second.clone()))]).await;
        let comment = format!("/save-raw-plan\n\n[a.jsonl]({one})\n[agent-b.txt]({two})");
        let run = run(&rig, &comment).await;
        assert_eq!(rig.state(&run).await, State::Succeeded);
        let document = document(&rig);
        assert_eq!(plan_text(&document), LOGGED);
        assert!(
            document.contains(&format!("the session log {from}, line 1")),
            "{document}"
        );
        assert_eq!(read(&rig), [one.clone(), two.clone()]);
    }
}

#[tokio::test]
async fn other_files_are_left_alone_and_the_conversation_counts() {
    let log = format!("{FILE}build.log");
    let structured = lines(&[json!({"type": "error", "message": "it does not build"})]);
    for content in [
        b"error: it does not build\n".to_vec(),
        structured,
        Vec::new(),
    ] {
        let rig = with(&[(&log, Ok(content))]).await;
        let comment =
            format!("/save-plan see {log}\n\n![x]({FILE}x.png) {FILE}x.zip `{FILE}c.jsonl`");
        let run = run(&rig, &comment).await;
        assert_eq!(rig.state(&run).await, State::Succeeded);
        assert_eq!(plan_text(&document(&rig)), PLAN);
        assert_eq!(read(&rig), [log.as_str()]);
    }
    // One that cannot be read may have been anything; the report says so.
    let why = "404 Not Found".to_owned();
    let rig = with(&[(&log, Err(ReadError::Withheld { why }))]).await;
    let run = run(&rig, &format!("/save-plan see {log}")).await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    let report = rig.forge.own_bodies(HERE).remove(0);
    assert!(
        report.contains("The attachment `build.log` was not searched for a plan: GitHub does not let the App read it (404 Not Found)."),
        "{report}"
    );
}

#[tokio::test]
async fn a_plan_below_the_command_comes_first() {
    let rig = with(&[]).await;
    let comment = format!("/save-plan session=a.jsonl\n\n{PLAN}\n\n{FILE}b.jsonl");
    let run = run(&rig, &comment).await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert!(document(&rig).contains("Cache the search index"));
    assert_eq!(read(&rig), [""; 0]);
    let report = rig.forge.own_bodies(HERE).remove(0);
    for name in ["a.jsonl", "b.jsonl"] {
        let note = format!(
            "The session log `{name}` was not read: the plan is in the command's own comment."
        );
        assert!(report.contains(&note), "{report}");
    }
}

#[tokio::test]
async fn a_named_log_that_cannot_be_used_is_an_error_and_the_conversation_is_not_searched() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let attached = format!("{FILE}a.jsonl");
    let named = "/save-plan session=a.jsonl";
    let linked = format!("/save-plan {attached}");
    let why = || "404 Not Found".to_owned();
    for (name, result, comment, wants) in [
        (
            "a.jsonl@HEAD",
            Err(ReadError::NoFile),
            named,
            [
                "there is no such file",
                "`a.jsonl` on the default branch of acme/search",
            ],
        ),
        (
            "a.jsonl@HEAD",
            Err(ReadError::NoReference),
            named,
            ["there is no such branch, tag or commit", "Push the branch"],
        ),
        (
            "a.jsonl@HEAD",
            Err(ReadError::NotAFile {
                kind: NotAFile::Directory,
            }),
            named,
            ["it is a directory, not a file", "Name the log itself"],
        ),
        (
            "a.jsonl@HEAD",
            Err(ReadError::TooLarge { most: 50 << 20 }),
            named,
            ["it is larger than 50 MB", "source.max_log_mb"],
        ),
        (
            "a.jsonl@HEAD",
            Ok(pointer.to_vec()),
            named,
            ["a Git LFS pointer", "without Git LFS"],
        ),
        (
            &attached,
            Err(ReadError::Withheld { why: why() }),
            &linked,
            ["(404 Not Found)", "session=PATH@REF"],
        ),
        (
            &attached,
            Err(ReadError::Elsewhere {
                to: "https://evil.example".into(),
            }),
            &linked,
            ["redirects to https://evil.example", "source.redirect_hosts"],
        ),
    ] {
        let rig = with(&[(name, result)]).await;
        let run = run(&rig, comment).await;
        let (code, report) = failure(&rig, &run).await;
        assert_eq!(code, "session_not_found", "{report}");
        for want in wants {
            assert!(report.contains(want), "{want}: {report}");
        }
    }
}

#[tokio::test]
async fn a_log_that_is_too_long_is_said_to_be() {
    let settings = Settings {
        source: SourceSettings {
            max_log: 1024 * 1024,
            ..SourceSettings::default()
        },
        ..Settings::default()
    };
    let rig = Rig::with(settings).await;
    let long = lines(&vec![said(1, "x"); 20_000]);
    let name = "a.jsonl@HEAD".to_owned();
    rig.forge.world.lock().unwrap().files.insert(name, Ok(long));
    let run = run(&rig, "/save-plan session=a.jsonl").await;
    let (code, report) = failure(&rig, &run).await;
    assert_eq!(code, "session_not_found");
    assert!(report.contains("it is larger than 1 MB"), "{report}");
}

#[tokio::test]
async fn a_log_without_a_plan_says_what_it_holds() {
    let mut talk = lines(&[said(1, "hello"), said(2, "again")]);
    talk.extend_from_slice(b"{half a line\n");
    for (comment, wants) in [
        (
            "/save-plan session=a.jsonl",
            [
                "Lines read: 3; not JSON objects: 1 (line 3)",
                "No entry calls `ExitPlanMode`",
            ],
        ),
        (
            "/save-plan session=a.jsonl session-id=s2",
            [
                "None of its entries belongs to the session `s2`",
                "it contains `s1`",
            ],
        ),
    ] {
        let rig = with(&[("a.jsonl@HEAD", Ok(talk.clone()))]).await;
        let run = run(&rig, comment).await;
        let (code, report) = failure(&rig, &run).await;
        assert_eq!(code, "no_plan_found", "{report}");
        for want in wants {
            assert!(report.contains(want), "{want}: {report}");
        }
    }
}

#[tokio::test]
async fn a_session_of_several_can_be_picked() {
    let log = lines(&[exit("s1", 1, LOGGED), exit("s2", 2, PLAN)]);
    for (option, want) in [
        ("", PLAN),
        (" session-id=s1", LOGGED),
        (" session-id=s2", PLAN),
    ] {
        let rig = with(&[("a.jsonl@HEAD", Ok(log.clone()))]).await;
        let run = run(&rig, &format!("/save-raw-plan session=a.jsonl{option}")).await;
        assert_eq!(rig.state(&run).await, State::Succeeded);
        assert_eq!(plan_text(&document(&rig)), want);
    }
}

#[tokio::test]
async fn options_that_cannot_be_used_are_answered_and_nothing_is_read() {
    let many: Vec<String> = (0..5).map(|at| format!("{FILE}{at}.jsonl")).collect();
    let many = many.join(" ");
    for (comment, want) in [
        ("/save-plan session=../secrets", "`..`"),
        (
            "/save-plan session=/etc/passwd",
            "must begin inside this repository",
        ),
        ("/save-plan sesion=a.jsonl", "the closest is `session`"),
        ("/save-plan session=a session=b", "given twice"),
        (
            "/save-plan session=a.jsonl@refs/pull/5/head",
            "name a branch, tag or commit of this repository",
        ),
        (
            "/save-plan session=a.jsonl@pull/5/head",
            "name a branch, tag or commit of this repository",
        ),
        (
            "/save-plan session-id=s1",
            "no session log is named or attached",
        ),
        (&format!("/save-plan {many}"), "5 session logs are attached"),
    ] {
        let rig = with(&[]).await;
        let run = run(&rig, comment).await;
        let (code, report) = failure(&rig, &run).await;
        assert_eq!(code, "invalid_input", "{report}");
        assert!(report.contains(want), "{report}");
        assert_eq!(read(&rig), [""; 0]);
    }
}

#[tokio::test]
async fn a_reader_without_write_permission_has_nothing_read() {
    let rig = with(&[("a.jsonl@HEAD", Ok(lines(&[exit("s1", 1, LOGGED)])))]).await;
    rig.forge.grant("ada", 7, Permission::Triage);
    let run = run(&rig, "/save-plan session=a.jsonl").await;
    assert_eq!(
        rig.view(&run).await.code.map(Code::name),
        Some("permission_denied")
    );
    assert_eq!(read(&rig), [""; 0]);
}

#[tokio::test]
async fn an_outage_is_waited_out_and_a_lost_answer_does_not_read_the_log_again() {
    let clean = with(&[("a.jsonl@HEAD", Ok(lines(&[exit("s1", 1, LOGGED)])))]).await;
    run(&clean, "/save-plan session=a.jsonl").await;
    let writes = clean.forge.world.lock().unwrap().writes;
    for at in 1..=writes {
        for fault in [Fault::LostBefore, Fault::LostAfter] {
            let rig = with(&[("a.jsonl@HEAD", Ok(lines(&[exit("s1", 1, LOGGED)])))]).await;
            rig.forge.fail(at, fault);
            let run = run(&rig, "/save-plan session=a.jsonl").await;
            assert_eq!(rig.state(&run).await, State::Succeeded, "{fault:?} at {at}");
            assert_eq!(read(&rig).len(), 1, "{fault:?} at {at}");
            assert_eq!(plan_text(&document(&rig)), LOGGED);
        }
    }
    let lost = ForgeError::Unknown {
        what: "the file".into(),
        message: "502".into(),
    };
    let rig = with(&[("a.jsonl@HEAD", Err(ReadError::Forge(lost)))]).await;
    let run = rig.deliver(asked(&rig, "/save-plan session=a.jsonl")).await;
    let worker = rig.worker("rig");
    assert_eq!(
        worker.step().await.unwrap(),
        Outcome::Did(run.clone(), Some(State::Waiting))
    );
    let whole = Ok(lines(&[exit("s1", 1, LOGGED)]));
    rig.forge
        .world
        .lock()
        .unwrap()
        .files
        .insert("a.jsonl@HEAD".into(), whole);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
}

#[tokio::test]
async fn an_attachment_nobody_called_a_log_does_not_hold_up_the_plan_of_the_conversation() {
    let what = || "an attachment".to_owned();
    let message = || "scripted".to_owned();
    let unknown = ForgeError::Unknown {
        what: what(),
        message: message(),
    };
    let unreachable = ForgeError::Unreachable {
        what: what(),
        message: message(),
    };
    let unreadable = ForgeError::Unreadable {
        what: what(),
        message: message(),
    };
    let why = "400 Bad Request".to_owned();
    for (error, reads) in [
        (ReadError::Forge(unreadable), 1),
        (ReadError::Withheld { why }, 1),
        (ReadError::Forge(unknown), 4),
        (ReadError::Forge(unreachable), 4),
    ] {
        for name in ["build.log", "build.txt", "build.json"] {
            let address = format!("{FILE}{name}");
            let rig = with(&[(&address, Err(error.clone()))]).await;
            let begun = rig.clock.now();
            let run = run(&rig, &format!("/save-plan see {address}")).await;
            let report = rig.forge.own_bodies(HERE).remove(0);
            assert_eq!(rig.state(&run).await, State::Succeeded, "{report}");
            assert_eq!(plan_text(&document(&rig)), PLAN);
            assert_eq!(read(&rig).len(), reads, "{error}");
            let note = format!("The attachment `{name}` was not searched for a plan: {error}.");
            assert!(report.contains(&note), "{report}");
            let waited = rig.clock.now().since(begun);
            assert!(waited <= Duration::from_mins(1), "{waited:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_log_under_another_name_is_still_read_after_a_short_outage() {
    let address = format!("{FILE}session.txt");
    let lost = ForgeError::Unknown {
        what: "an attachment".into(),
        message: "503".into(),
    };
    let rig = with(&[(&address, Err(ReadError::Forge(lost)))]).await;
    let comment = format!("/save-plan see {address}");
    let run = rig.deliver(asked(&rig, &comment)).await;
    let outcome = rig.worker("rig").step().await.unwrap();
    assert_eq!(outcome, Outcome::Did(run.clone(), Some(State::Waiting)));
    let log = Ok(lines(&[exit("s1", 1, LOGGED)]));
    rig.forge.world.lock().unwrap().files.insert(address, log);
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(plan_text(&document(&rig)), LOGGED);
}

#[tokio::test]
async fn a_crash_behind_the_reading_keeps_the_plan_that_was_read() {
    let rig = with(&[("a.jsonl@HEAD", Ok(lines(&[exit("s1", 1, LOGGED)])))]).await;
    // 👀, the status comment, and then the first write of the saving.
    rig.forge.fail(3, Fault::DieBefore);
    let run = rig.deliver(asked(&rig, "/save-plan session=a.jsonl")).await;
    let worker = rig.worker("dies");
    let died = rig.forge.died.clone();
    tokio::select! {
        _ = worker.step() => panic!("the worker was to die"),
        () = died.notified() => {}
    }
    assert_eq!(read(&rig).len(), 1);
    // Meanwhile somebody replaces the log.
    let other = Ok(lines(&[exit("s1", 2, PLAN)]));
    rig.forge
        .world
        .lock()
        .unwrap()
        .files
        .insert("a.jsonl@HEAD".into(), other);
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_mins(2)));
    rig.store.recover_expired(rig.clock.now()).await.unwrap();
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(plan_text(&document(&rig)), LOGGED);
    assert_eq!(read(&rig).len(), 1, "not read again");
}

#[tokio::test]
async fn an_outage_between_the_log_and_the_conversation_keeps_the_plan_too() {
    let rig = with(&[("a.jsonl@HEAD", Ok(lines(&[exit("s1", 1, LOGGED)])))]).await;
    let trigger = asked(&rig, "/save-plan session=a.jsonl");
    let run = rig.deliver(trigger.clone()).await;
    // What an attempt has left that read the log and then lost GitHub.
    let logs =
        planwright::engine::steps::source::look(&rig.forge, &trigger, &rig.parts.settings, 0);
    let progress = Progress {
        logs: Some(logs.await.unwrap()),
        ..Progress::default()
    };
    let lease = rig
        .store
        .claim(
            "gone",
            rig.clock.now(),
            Duration::from_secs(5),
            &ClaimLimits::default(),
        )
        .await;
    let lease = lease.unwrap().unwrap().lease;
    rig.store.save_progress(&lease, &progress).await.unwrap();
    rig.forge.world.lock().unwrap().files.clear();
    rig.clock
        .advance_to(rig.clock.now().plus(Duration::from_mins(1)));
    rig.store.recover_expired(rig.clock.now()).await.unwrap();
    rig.settle().await;
    assert_eq!(rig.state(&run).await, State::Succeeded);
    assert_eq!(plan_text(&document(&rig)), LOGGED);
    assert_eq!(read(&rig).len(), 1);
}

#[tokio::test]
async fn retry_reads_a_log_that_was_the_fault_again() {
    for first in [
        Err(ReadError::NoFile),
        Ok(lines(&[said(1, "x")])),
        Ok(lines(&[exit("s1", 1, "# Plan: Too short\n")])),
    ] {
        let rig = with(&[("a.jsonl@HEAD", first)]).await;
        let run = run(&rig, "/save-plan session=a.jsonl").await;
        failure(&rig, &run).await;
        let mended = Ok(lines(&[exit("s1", 2, LOGGED)]));
        rig.forge
            .world
            .lock()
            .unwrap()
            .files
            .insert("a.jsonl@HEAD".into(), mended);
        rig.say(Command::Retry).await;
        rig.settle().await;
        assert_eq!(rig.state(&run).await, State::Succeeded);
        assert_eq!(plan_text(&document(&rig)), LOGGED);
        assert_eq!(read(&rig).len(), 2);
    }
}

#[test]
fn triggers_of_before_there_were_options_are_still_read() {
    let old = json!({
        "command": "save-plan",
        "actor": {"id": 7, "login": "ada", "bot": false},
        "place": {"repo": {"installation": 1, "id": 42, "owner": "acme", "name": "search"}, "number": 7, "pull_request": false},
        "origin": {"kind": "label", "name": "save-plan"},
        "guidance": "", "inline": null, "at": 0,
    });
    let read: Trigger = serde_json::from_value(old).unwrap();
    assert_eq!(read.options, []);
    let mut new = read.clone();
    new.options = command::parse("/save-plan session=\"a b\"@x")
        .remove(0)
        .options;
    let again: Trigger = serde_json::from_str(&serde_json::to_string(&new).unwrap()).unwrap();
    assert_eq!(again, new);
}
