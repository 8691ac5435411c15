//! File writes in a stream.

use super::*;

/// An event with one call of `name`.
fn call(id: &str, name: &str, input: &serde_json::Value) -> String {
    let block = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let message = json!({ "id": format!("msg_{id}"), "content": [block] });
    json!({ "type": "assistant", "parent_tool_use_id": null, "message": message }).to_string()
}

fn write(id: &str, path: &str, content: &str) -> String {
    let input = json!({ "file_path": path, "content": content });
    call(id, "Write", &input)
}

/// An event with one result.
fn answer(id: &str, members: &serde_json::Value) -> String {
    let mut block = json!({ "type": "tool_result", "tool_use_id": id, "content": "said" });
    let members = members.as_object().unwrap();
    block.as_object_mut().unwrap().extend(members.clone());
    json!({ "type": "user", "message": { "role": "user", "content": [block] } }).to_string()
}

/// Path, text and outcome of each write of these lines.
fn written(lines: &[String]) -> Vec<(String, String, Option<bool>)> {
    let (summary, events) = read(lines.join("\n").as_bytes());
    assert_eq!(events.len(), lines.len());
    assert_eq!((summary.malformed, summary.unknown), (0, 0));
    let writes = summary.writes().iter();
    writes
        .map(|one| (one.path.clone(), one.content.clone(), one.ok))
        .collect()
}

fn outcomes(lines: &[String]) -> Vec<Option<bool>> {
    written(lines).into_iter().map(|(.., ok)| ok).collect()
}

#[test]
fn calls_are_paired_with_their_results_whatever_the_order() {
    let lines = [
        write("a", "one.md", "first\n\"quoted\" ü"),
        write("b", "/tmp/two.md", "second"),
        write("c", "three.md", ""),
        answer("b", &json!({ "is_error": true })),
        answer("a", &json!({})),
    ];
    let want = [
        ("one.md", "first\n\"quoted\" ü", Some(true)),
        ("/tmp/two.md", "second", Some(false)),
        ("three.md", "", None),
    ];
    let want = want.map(|(path, text, ok)| (path.to_owned(), text.to_owned(), ok));
    assert_eq!(written(&lines), want);
}

#[test]
fn only_a_result_without_error_is_a_success() {
    for (members, ok) in [
        (json!({}), true),
        (json!({ "is_error": false }), true),
        (json!({ "is_error": true }), false),
        (json!({ "is_error": "false" }), false),
        (json!({ "is_error": 0 }), false),
        // The text of a result is ignored.
        (json!({ "content": "Error: no room" }), true),
        (
            json!({ "content": [{ "type": "text", "text": "is_error" }] }),
            true,
        ),
    ] {
        let lines = [write("a", "one.md", "x"), answer("a", &members)];
        assert_eq!(outcomes(&lines), [Some(ok)], "{members}");
    }
}

#[test]
fn results_without_a_call_and_of_other_calls_say_nothing() {
    let lines = [
        answer("a", &json!({ "is_error": true })),
        write("a", "one.md", "x"),
        answer("b", &json!({ "is_error": true })),
        answer("a", &json!({ "type": "text", "is_error": true })),
        answer("a", &json!({ "tool_use_id": 7, "is_error": true })),
        json!({ "type": "user", "message": { "role": "user", "content": "a" } }).to_string(),
        json!({ "type": "user" }).to_string(),
    ];
    assert_eq!(outcomes(&lines), [None]);
}

#[test]
fn an_id_that_comes_again_is_the_later_call() {
    let lines = [
        write("a", "one.md", "x"),
        answer("a", &json!({ "is_error": true })),
        write("a", "one.md", "y"),
        answer("a", &json!({})),
    ];
    assert_eq!(outcomes(&lines), [Some(false), Some(true)]);
}

#[test]
fn a_sub_agents_writes_count_and_its_words_do_not() {
    let mut event: serde_json::Value = serde_json::from_str(&write("a", "one.md", "x")).unwrap();
    event["parent_tool_use_id"] = json!("toolu_parent");
    let lines = [event.to_string(), answer("a", &json!({}))];
    assert_eq!(outcomes(&lines), [Some(true)]);
    let (summary, _) = read(lines.join("\n").as_bytes());
    assert_eq!((summary.turns, summary.tools), (0, 1));
}

#[test]
fn what_is_no_whole_file_is_no_write() {
    for (name, input) in [
        (
            "Edit",
            json!({ "file_path": "one.md", "old_string": "x", "new_string": "y" }),
        ),
        ("write", json!({ "file_path": "one.md", "content": "x" })),
        ("Write", json!({ "file_path": "one.md" })),
        ("Write", json!({ "content": "x" })),
        ("Write", json!({ "file_path": 1, "content": "x" })),
        ("Write", json!({ "file_path": "one.md", "content": null })),
        ("Write", json!({ "file_path": "one.md", "content": ["x"] })),
        (
            "Write",
            json!({ "file_path": "one.md", "content": { "text": "x" } }),
        ),
        ("Write", json!("one.md")),
        (
            "Write",
            json!({ "file_path": "p".repeat(16 * MAX_NAME_BYTES + 1), "content": "x" }),
        ),
    ] {
        let lines = [call("a", name, &input), answer("a", &json!({}))];
        assert_eq!(written(&lines), [], "{name} {input}");
    }
}

#[test]
fn of_many_writes_the_latest_are_kept() {
    let mut lines: Vec<String> = (0..MAX_WRITES + 9)
        .map(|at| write(&at.to_string(), &format!("{at}.md"), "x"))
        .collect();
    // Results of a write that is kept and of one that was dropped.
    lines.push(answer("9", &json!({})));
    lines.push(answer("8", &json!({ "is_error": true })));
    let found = written(&lines);
    assert_eq!(found.len(), MAX_WRITES);
    assert_eq!((found[0].0.as_str(), found[0].2), ("9.md", Some(true)));
    assert!(found[1..].iter().all(|(_, _, ok)| ok.is_none()));
}

#[test]
fn of_long_writes_the_latest_are_kept_and_too_long_ones_never() {
    let half = "x".repeat(MAX_WRITTEN_BYTES / 2);
    let lines = [
        write("a", "a.md", "x"),
        write("b", "b.md", &half),
        write("c", "c.md", &half),
        write("d", "d.md", &"x".repeat(MAX_WRITTEN_BYTES + 1)),
        answer("d", &json!({})),
    ];
    let found = written(&lines);
    let paths: Vec<&str> = found.iter().map(|(path, ..)| path.as_str()).collect();
    assert_eq!(paths, ["b.md", "c.md"]);
}
