//! Tests of `formats::session::scan`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde_json::{Value, json};

use super::super::plan::{MAX_PLAN_BYTES, PlanSource};
use super::*;

mod hostile;

fn entry(session: &str, time: &str, message: &Value) -> Value {
    json!({ "type": "assistant", "sessionId": session, "timestamp": time, "message": message })
}

fn call(time: &str, id: &str, name: &str, input: &Value) -> Value {
    let block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    entry(
        "s1",
        time,
        &json!({ "role": "assistant", "content": [block] }),
    )
}

fn exit(time: &str, id: &str, plan: &str) -> Value {
    call(time, id, "ExitPlanMode", &json!({ "plan": plan }))
}

fn write(time: &str, id: &str, slug: &str, text: &str) -> Value {
    let path = format!("/home/ada/.claude/plans/{slug}.md");
    call(
        time,
        id,
        "Write",
        &json!({ "file_path": path, "content": text }),
    )
}

fn edit(time: &str, id: &str, slug: &str, old: &str, new: &str) -> Value {
    let path = format!("/home/ada/.claude/plans/{slug}.md");
    call(
        time,
        id,
        "Edit",
        &json!({ "file_path": path, "old_string": old, "new_string": new }),
    )
}

fn answer(time: &str, id: &str, is_error: bool, text: &str) -> Value {
    let block =
        json!({ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text });
    entry("s1", time, &json!({ "role": "user", "content": [block] }))
}

fn log(entries: &[Value]) -> Vec<u8> {
    let lines: Vec<_> = entries.iter().map(|entry| format!("{entry}\n")).collect();
    lines.concat().into_bytes()
}

fn plan(entries: &[Value]) -> SessionPlan {
    scan(&log(entries), None).plan.unwrap()
}

fn text(entries: &[Value]) -> String {
    plan(entries).text
}

fn slug(name: &str) -> PlanSource {
    PlanSource::PlanFile {
        slug: name.to_owned(),
    }
}

#[test]
fn the_greatest_timestamp_wins_and_of_equals_the_first() {
    assert_eq!(text(&[exit("2", "a", "new"), exit("1", "b", "old")]), "new");
    assert_eq!(
        text(&[exit("1", "a", "first"), exit("1", "b", "second")]),
        "first"
    );
    let mut timeless = exit("", "a", "no time");
    timeless.as_object_mut().unwrap().remove("timestamp");
    assert_eq!(text(&[timeless.clone(), exit("1", "b", "timed")]), "timed");
    let found = plan(&[timeless]);
    assert_eq!(
        (found.timestamp, found.line, found.session.as_deref()),
        (None, 1, Some("s1"))
    );
}

#[test]
fn the_first_plan_of_an_entry_counts() {
    let use_of = |id: &str, input: Value| json!({ "type": "tool_use", "id": id, "name": "ExitPlanMode", "input": input });
    let content = json!([
        { "type": "text", "text": "ExitPlanMode" },
        use_of("a", json!({})), use_of("b", json!({ "plan": "" })), use_of("c", json!({ "plan": 5 })),
        use_of("d", json!({ "plan": "one" })), use_of("e", json!({ "plan": "two" })),
    ]);
    assert_eq!(
        text(&[entry("s1", "1", &json!({ "content": content }))]),
        "one"
    );
}

#[test]
fn talk_about_plans_is_no_plan() {
    let quoted = exit("1", "a", "quoted").to_string();
    let entries = [
        entry("s1", "1", &json!({ "content": quoted })),
        entry(
            "s1",
            "1",
            &json!({ "content": [{ "type": "text", "text": quoted }] }),
        ),
        answer("1", "x", false, &quoted),
        json!({ "type": "progress", "data": { "message": exit("1", "a", "nested")["message"] }, "slug": "mine" }),
        json!({ "type": "user", "toolUseResult": { "plan": "of another tool" }, "message": { "content": [] } }),
    ];
    let found = scan(&log(&entries), None);
    assert_eq!(found.plan, None);
    assert_eq!(found.slugs, ["mine"]);
    assert_eq!(
        (found.lines, found.entries, found.malformed_count),
        (5, 5, 0)
    );
}

#[test]
fn approval_and_rejection_are_told_and_keep_the_text() {
    let asked = exit("1", "a", "the plan");
    assert_eq!(plan(std::slice::from_ref(&asked)).approved, None);
    let said = |is_error, text: &str| plan(&[asked.clone(), answer("2", "a", is_error, text)]);
    assert_eq!(
        said(false, "User has approved your plan.").approved,
        Some(true)
    );
    let rejected = said(true, "The user doesn't want to proceed with this tool use.");
    assert_eq!(
        (rejected.text.as_str(), rejected.approved),
        ("the plan", Some(false))
    );
    assert_eq!(
        said(true, "<tool_use_error>No such tool</tool_use_error>").approved,
        None
    );
    assert_eq!(
        plan(&[asked.clone(), answer("2", "other", true, "no")]).approved,
        None
    );
}

#[test]
fn the_approved_text_replaces_the_proposed_one() {
    let mut approved = answer("1", "a", false, "User has approved your plan.");
    approved["toolUseResult"] =
        json!({ "plan": "as changed by the person", "filePath": "/h/.claude/plans/x.md" });
    let found = plan(&[exit("1", "a", "proposed"), approved.clone()]);
    assert_eq!(found.text, "as changed by the person");
    assert_eq!(
        (found.source, found.approved, found.line),
        (PlanSource::ApprovedPlan, Some(true), 2)
    );
    // The call is in another log; the path of the plan file identifies the result.
    assert_eq!(text(&[approved]), "as changed by the person");
}

#[test]
fn a_plan_file_is_followed_through_its_edits() {
    let mut entries = vec![
        write("1", "a", "calm-otter", "# Plan\n1. one\n"),
        answer("2", "a", false, "File created"),
        edit("3", "b", "calm-otter", "1. one", "1. one\n2. two"),
        answer("4", "b", false, "updated"),
    ];
    let found = plan(&entries);
    assert_eq!(
        (found.text.as_str(), found.source, found.stale_edits),
        ("# Plan\n1. one\n2. two\n", slug("calm-otter"), 0)
    );
    assert_eq!(
        (found.timestamp.as_deref(), found.line, found.approved),
        (Some("3"), 3, None)
    );
    entries.push(call("5", "c", "ExitPlanMode", &json!({})));
    entries.push(answer("6", "c", true, "The user doesn't want to proceed"));
    let found = plan(&entries);
    assert_eq!(
        (found.text.as_str(), found.approved),
        ("# Plan\n1. one\n2. two\n", Some(false))
    );
}

#[test]
fn what_did_not_happen_does_not_count() {
    let entries = [
        write("1", "a", "s", "kept"),
        answer("1", "a", false, ""),
        write("2", "b", "s", "refused"),
        answer("2", "b", true, "no"),
        edit("3", "c", "s", "kept", "changed"),
        answer("3", "c", true, "not read yet"),
    ];
    let found = plan(&entries);
    assert_eq!((found.text.as_str(), found.stale_edits), ("kept", 0));
}

#[test]
fn a_log_that_ends_early_keeps_its_last_write() {
    assert_eq!(
        text(&[
            write("1", "a", "s", "one"),
            edit("2", "b", "s", "one", "two")
        ]),
        "two"
    );
}

#[test]
fn edits_that_cannot_be_applied_are_counted() {
    let entries = [
        write("1", "a", "s", "x x"),
        edit("2", "b", "s", "x", "y"),
        edit("3", "c", "s", "z", "y"),
    ];
    let found = plan(&entries);
    assert_eq!(
        (
            found.text.as_str(),
            found.stale_edits,
            found.timestamp.as_deref()
        ),
        ("x x", 2, Some("3"))
    );
    let path = "/home/ada/.claude/plans/s.md";
    let all =
        json!({ "file_path": path, "old_string": "x", "new_string": "y", "replace_all": true });
    assert_eq!(
        text(&[write("1", "a", "s", "x x"), call("2", "b", "Edit", &all)]),
        "y y"
    );
    let many = json!({ "file_path": path, "edits": [{ "old_string": "x x", "new_string": "1" }, { "old_string": "1", "new_string": "2" }] });
    assert_eq!(
        text(&[
            write("1", "a", "s", "x x"),
            call("2", "b", "MultiEdit", &many)
        ]),
        "2"
    );
    assert_eq!(
        scan(&log(&[edit("1", "a", "s", "x", "y")]), None).plan,
        None
    );
}

#[test]
fn other_files_are_no_plan_files() {
    let paths = [
        "/repo/plan.md",
        "/home/ada/.claude/plans/../../x.md/",
        "/h/.claude/plans/.env",
        "/h/.claude/settings.json",
    ];
    for path in paths {
        let call = call(
            "1",
            "a",
            "Write",
            &json!({ "file_path": path, "content": "x" }),
        );
        assert_eq!(scan(&log(&[call]), None).plan, None, "{path}");
    }
}

#[test]
fn only_the_session_asked_for_counts() {
    let other = entry("s2", "9", &exit("9", "z", "of s2")["message"]);
    let mut nobody = exit("5", "b", "of nobody");
    nobody.as_object_mut().unwrap().remove("sessionId");
    let all = log(&[exit("1", "a", "of s1"), other, nobody]);
    let found = scan(&all, Some("s1"));
    assert_eq!(found.plan.unwrap().text, "of nobody");
    assert_eq!(
        (found.sessions, found.entries),
        (vec!["s1".to_owned(), "s2".to_owned()], 2)
    );
    assert_eq!(found.last_timestamp.as_deref(), Some("5"));
    assert_eq!(scan(&all, None).plan.unwrap().text, "of s2");
    assert_eq!(scan(&all, Some("s3")).plan.unwrap().text, "of nobody");
}

#[test]
fn the_slug_in_force_is_the_last_one_named() {
    let named = |slug: &str| json!({ "sessionId": "s1", "slug": slug });
    let found = scan(&log(&["a", "a", "b", "", "a", "c", "a"].map(named)), None);
    assert_eq!(found.slugs, ["b", "c", "a"]);
    let many: Vec<_> = (0..200).map(|n| named(&n.to_string())).collect();
    let found = scan(&log(&many), None);
    assert_eq!(
        (found.slugs.len(), found.slugs.last().unwrap().as_str()),
        (MAX_SLUGS, "199")
    );
}

#[test]
fn a_saved_output_stream_reads_as_well() {
    let line = json!({ "session_id": "s9", "message": exit("1", "a", "streamed")["message"] });
    let found = scan(&log(&[line]), Some("s9"));
    assert_eq!(found.plan.unwrap().session.as_deref(), Some("s9"));
}

#[test]
fn damaged_lines_are_counted_and_skipped() {
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(log(&[exit("1", "a", "kept")]));
    bytes.extend(b"\r\n   \nnot json\n{\"a\":\n\0\0\0\0\n{\"a\":\"\xff\"}\n5\n[1]\n");
    bytes.extend("[".repeat(100_000).into_bytes());
    bytes.extend(b"\n{\"x\":");
    bytes.extend("[".repeat(100_000).into_bytes());
    let found = scan(&bytes, None);
    assert_eq!(found.plan.unwrap().text, "kept");
    assert_eq!(found.lines, 11);
    assert_eq!(found.malformed, [4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(found.malformed_count, 8);
    let found = scan(&b"x\n".repeat(250), None);
    assert_eq!(
        (found.malformed.len(), found.malformed_count),
        (MAX_MALFORMED_LISTED, 250)
    );
}

#[test]
fn line_ends_and_chunks_make_no_difference() {
    let entries = [
        write("1", "a", "s", "# Plan — é 🚀\r\n1. one\n"),
        answer("2", "a", false, "File created"),
        edit("3", "b", "s", "one", "two"),
    ];
    let plain = log(&entries);
    let whole = scan(&plain, None);
    assert_eq!(
        whole.plan.as_ref().unwrap().text,
        "# Plan — é 🚀\r\n1. two\n"
    );
    let windows = String::from_utf8(plain.clone())
        .unwrap()
        .replace('\n', "\r\n");
    assert_eq!(scan(windows.trim_end().as_bytes(), None), whole);
    for size in [1, 2, 3, 7, 64, 1000] {
        let mut scanner = Scanner::new(None);
        plain.chunks(size).for_each(|chunk| scanner.push(chunk));
        assert_eq!(scanner.finish(), whole, "chunks of {size}");
    }
}

#[test]
fn what_is_too_large_is_counted() {
    let large = "x".repeat(MAX_PLAN_BYTES + 1);
    let found = scan(
        &log(&[
            exit("1", "a", "small"),
            exit("2", "b", &large),
            write("3", "c", "s", &large),
        ]),
        None,
    );
    assert_eq!(
        (found.plan.unwrap().text.as_str(), found.too_large_plans),
        ("small", 2)
    );
    let mut scanner = Scanner::new(None);
    scanner.scan.add_line(Line::TooLong);
    let found = scanner.finish();
    assert_eq!(
        (found.lines, found.too_long, found.malformed_count),
        (1, 1, 0)
    );
}

#[test]
fn many_unanswered_calls_hold_the_latest_only() {
    let calls: Vec<_> = (0..100)
        .map(|n| {
            write(
                &format!("{n:03}"),
                &format!("t{n}"),
                &format!("s{n}"),
                "text",
            )
        })
        .collect();
    assert_eq!(plan(&calls).source, slug("s99"));
    let exits: Vec<_> = (0..100)
        .map(|n| exit(&format!("{n:03}"), &format!("t{n}"), "text"))
        .collect();
    assert_eq!(plan(&exits).line, 100);
}
