//! What the filter leaves out and shortens.

use super::*;

#[test]
fn entries_of_other_sessions_are_left_out_and_those_of_none_stay() {
    let of = |id: &str, text: &str| {
        let mut entry = said(text);
        entry["sessionId"] = json!(id);
        entry
    };
    let mut stream = said("e");
    stream["session_id"] = json!("s2");
    let entries = [of("s1", "a"), of("s2", "b"), said("c"), of("", "d"), stream];
    let options = Options {
        session_id: Some("s1".to_owned()),
        ..Options::default()
    };
    let (parts, _, stats) = parts_of(&log(&entries), options);
    assert_eq!(
        parts,
        ["<session>\n  <user>a</user>\n  <user>c</user>\n</session>"]
    );
    assert_eq!(stats.left_out[&LeftOut::OtherSession], 3);
}

#[test]
fn snapshots_and_bookkeeping_are_left_out() {
    let (rest, stats) = after_talk(&[
        json!({"type": "file-history-snapshot", "snapshot": {"a": "x"}}),
        json!({"type": "progress", "content": "x"}),
        json!({"type": 3, "message": {"content": "x"}}),
        json!({"message": {"content": "x"}}),
    ]);
    assert!(rest.is_empty(), "{rest:?}");
    assert_eq!(stats.left_out[&LeftOut::Snapshot], 1);
    assert_eq!(stats.left_out[&LeftOut::OtherKind], 3);
}

#[test]
fn looking_for_the_log_is_left_out_with_its_result() {
    let searches = [
        "pwd",
        " pwd ; ls -la",
        "cd /tmp && pwd",
        "ls ~/.claude/projects/ | head",
        "find ~/.claude -name '*.jsonl'",
        "echo $SESSION_ID",
    ];
    for command in searches {
        let (rest, stats) = after_talk(&[
            called("Bash", "b", &json!({"command": command})),
            returned("b", &json!("/home/mira")),
        ]);
        assert!(rest.is_empty(), "{command}: {rest:?}");
        assert_eq!(stats.left_out[&LeftOut::LogSearch], 2);
    }
}

#[test]
fn work_that_only_mentions_the_folder_stays() {
    let work = [
        "docker run -v $(pwd):/src rust cargo test",
        "cargo test && pwd",
        "./pwdgen --length 12",
        "grep -r cpwd src",
        "ls -la",
        "cd src; ls",
        "",
    ];
    for command in work {
        let (rest, _) = after_talk(&[
            called("Bash", "b", &json!({"command": command})),
            returned("b", &json!("done")),
        ]);
        assert_eq!(rest.len(), 6, "{command}: {rest:?}");
    }
    let (rest, _) = after_talk(&[called("Write", "w", &json!({"command": "pwd"}))]);
    assert_eq!(rest.len(), 3, "another tool: {rest:?}");
}

#[test]
fn words_beside_a_look_for_the_log_stay() {
    let (rest, stats) = after_talk(&[json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": "Where am I?"},
        {"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "pwd"}},
    ]}})]);
    assert_eq!(rest, ["  <assistant>Where am I?</assistant>"]);
    assert!(stats.left_out.is_empty());
}

fn verdict(entries: &[Value]) -> Verdict {
    let (parts, verdict, stats) = parts_of(&log(entries), filtered());
    assert_eq!(parts.is_empty(), verdict != Verdict::Worth);
    assert_eq!(stats.bytes_out == 0, verdict != Verdict::Worth);
    verdict
}

#[test]
fn a_session_needs_three_entries_and_words_of_both() {
    let (user, assistant) = (said("Why?"), answered("Because."));
    let tool = called("Read", "r", &json!({}));
    let result = returned("r", &json!("text"));
    assert_eq!(verdict(&[]), Verdict::Empty);
    assert_eq!(verdict(&[user.clone(), assistant.clone()]), Verdict::Empty);
    let no_words = [user.clone(), tool.clone(), result.clone()];
    assert_eq!(verdict(&no_words), Verdict::Empty);
    let nobody_asked = [said("  \n"), assistant.clone(), result, assistant.clone()];
    assert_eq!(verdict(&nobody_asked), Verdict::Empty);
    let snapshot = json!({"type": "file-history-snapshot"});
    let with_snapshot = [user.clone(), assistant.clone(), snapshot];
    assert_eq!(verdict(&with_snapshot), Verdict::Empty);
    assert_eq!(verdict(&[user, tool, assistant]), Verdict::Worth);
}

#[test]
fn a_warm_up_is_left_out_and_work_on_one_is_not() {
    let (ready, thanks) = (answered("I'm ready."), said("Thanks."));
    let warm_up = said("Warmup: read the instructions");
    assert_eq!(
        verdict(&[warm_up.clone(), ready.clone(), thanks.clone()]),
        Verdict::WarmUp
    );
    let later = [thanks, ready.clone(), warm_up];
    assert_eq!(
        verdict(&later),
        Verdict::Worth,
        "only the first prompt counts"
    );
    let edit = called("Edit", "e", &json!({"file_path": "/src/jit.rs"}));
    let work = [said("Make the JIT's warmup faster"), ready, edit];
    assert_eq!(verdict(&work), Verdict::Worth);
}

#[test]
fn without_filtering_everything_stays() {
    let long = "x".repeat(300);
    let xml = all(&[
        said("warmup"),
        called("Bash", "b", &json!({"command": "pwd", "note": long})),
        returned("b", &json!("line\n".repeat(50))),
        said(""),
    ]);
    assert!(xml.contains("<user>warmup</user>") && xml.contains(&long));
    assert_eq!(xml.matches("\nline").count(), 50);
    assert!(xml.contains("  <user></user>\n"));
}

#[test]
fn a_command_text_is_written_once() {
    let doc = format!(
        "<command-name>/save-plan</command-name>\n{}",
        "Save it. ".repeat(60)
    );
    let listed = json!({"type": "user", "message": {"content": [
        {"type": "text", "text": doc},
        {"type": "tool_result", "tool_use_id": "t", "content": "r"},
    ]}});
    let (rest, stats) = after_talk(&[said(&doc), said("between"), said(&doc), listed]);
    let text = rest.join("\n");
    assert_eq!(text.matches("Save it. Save it.").count(), 30);
    let notes: Vec<&String> = rest
        .iter()
        .filter(|line| line.contains("Duplicate"))
        .collect();
    let hash = hex::encode(&<sha2::Sha256 as sha2::Digest>::digest(doc.as_bytes())[..8]);
    assert_eq!(
        notes,
        [
            &format!(
                "  <user>[Duplicate command documentation block omitted - hash {hash}, occurrence #2]</user>"
            ),
            &format!(
                "  <user>[Duplicate command documentation block omitted - hash {hash}, occurrence #3]</user>"
            ),
        ]
    );
    assert!(
        text.contains("<tool_result tool=\"t\">\nr\n"),
        "the result beside it stays"
    );
    assert_eq!(stats.repeated_commands, 2);
}

#[test]
fn other_texts_may_repeat() {
    let short = "<command-name>/save-plan</command-name>".to_owned();
    let plain = "no command ".repeat(60);
    for text in [short, plain] {
        let (rest, stats) = after_talk(&[said(&text), said(&text)]);
        assert_eq!(rest[0], rest[1]);
        assert_eq!(stats.repeated_commands, 0);
    }
}

#[test]
fn a_text_is_not_repeated_with_the_tool_call() {
    let both = |text: &str| {
        json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": text},
            {"type": "tool_use", "id": "r", "name": "Read", "input": {}},
        ]}})
    };
    let (rest, stats) = after_talk(&[
        answered("I read it."),
        both("I read it."),
        both("And now this."),
        answered("Done."),
        answered("Done."),
    ]);
    let texts: Vec<&str> = rest
        .iter()
        .filter_map(|line| line.strip_prefix("  <assistant>"))
        .collect();
    assert_eq!(
        texts,
        [
            "I read it.</assistant>",
            "And now this.</assistant>",
            "Done.</assistant>",
            "Done.</assistant>"
        ]
    );
    assert_eq!(
        rest.iter()
            .filter(|line| line.contains("<tool_use"))
            .count(),
        2
    );
    assert_eq!(stats.repeated_texts, 1);
}

#[test]
fn long_parameters_keep_their_ends() {
    let path = format!("/home/mira/{}/src/export.rs", "deep/".repeat(50));
    let prose = format!("{}{}{}", "a".repeat(90), "b c/".repeat(70), "z".repeat(90));
    let base64 = vec!["Q".repeat(300); 4].join("/");
    let code = format!("use/a/b/c\n{}", "x".repeat(300));
    let fits = "y".repeat(200);
    let input = json!({"path": path, "prose": prose, "base64": base64, "code": code, "fits": fits, "list": ["w".repeat(300)]});
    let (rest, stats) = after_talk(&[called("Tool", "t", &input)]);
    let value = |index: usize| {
        let line = rest[1..rest.len() - 1].join("\n");
        let params: Vec<String> = line
            .split("<param name=")
            .skip(1)
            .map(|param| {
                param
                    .split_once("\">")
                    .unwrap()
                    .1
                    .split("</param>")
                    .next()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        params[index].clone()
    };
    assert_eq!(value(0), "/home/.../src/export.rs");
    assert_eq!(
        value(1),
        format!(
            "{}...[truncated 280 chars]...{}",
            "a".repeat(90),
            "z".repeat(90)
        )
    );
    let end = "Q".repeat(90);
    assert_eq!(value(2), format!("{end}...[truncated 1023 chars]...{end}"));
    assert!(value(3).starts_with("use/a/b/c\nxxx"));
    assert_eq!(value(4), fits);
    assert!(value(5).starts_with("[\"www") && value(5).ends_with("www\"]"));
    assert_eq!(stats.cut_parameters, 5);
}

#[test]
fn long_results_keep_their_beginning_and_what_went_wrong() {
    let lines: Vec<String> = (1..=100)
        .map(|n| match n {
            50 => "thread 'main' panicked: Assertion FAILED".to_owned(),
            70 => "warning: unused".to_owned(),
            n => format!("line {n}"),
        })
        .collect();
    let (rest, stats) = after_talk(&[returned("t", &json!(lines.join("\n")))]);
    assert_eq!(rest[1..31], lines[..30]);
    assert_eq!(
        rest[31..],
        [
            "",
            "... [70 lines omitted] ...",
            "",
            "thread 'main' panicked: Assertion FAILED",
            "warning: unused",
            "  </tool_result>"
        ]
    );
    assert_eq!(stats.cut_results, 1);
    let (rest, stats) = after_talk(&[returned("t", &json!(lines[..30].join("\n")))]);
    assert_eq!(rest.len(), 32);
    assert_eq!(stats.cut_results, 0);
}

#[test]
fn a_result_of_errors_alone_is_cut_too() {
    let (rest, _) = after_talk(&[returned("t", &json!(vec!["error"; 1_000].join("\n")))]);
    assert_eq!(rest.iter().filter(|line| *line == "error").count(), 60);
    assert_eq!(
        rest[rest.len() - 2],
        "... [940 more lines of this kind omitted] ..."
    );
}

#[test]
fn a_very_long_line_is_cut() {
    let (rest, stats) = after_talk(&[returned(
        "t",
        &json!(format!("ok\n{}", "é".repeat(1_000_000))),
    )]);
    let half = "é".repeat(1_000);
    assert_eq!(
        rest[2],
        format!("{half}...[truncated 998000 chars]...{half}")
    );
    assert_eq!(stats.cut_results, 1);
}
