//! How a turn ends, and what it reports.

use planwright::engine::agent::TurnObserver;
use planwright::engine::model::agent::Limit;

use super::*;

#[tokio::test]
async fn a_success_gives_texts_counts_costs_and_the_session() {
    let tool = r#"echo '{"type":"assistant","message":{"id":"b","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}'"#;
    let rig = Rig::new(&[says("a", "hello"), tool.to_owned(), result()].join("\n"));
    let agent = rig.open().unwrap();
    let mut task = rig.task("the prompt");
    task.cost_before = 100_000;
    let (seen, watching) = TurnObserver::new();
    let report = agent.work(&task, &seen, CancellationToken::new()).await;
    let Ending::Success {
        text,
        structured,
        denials,
    } = &report.ending
    else {
        panic!("{report:?}");
    };
    assert_eq!(
        (text.as_str(), structured, *denials),
        ("the plan", &None, 1)
    );
    assert_eq!(report.texts, ["hello"]);
    assert_eq!(report.session.as_deref(), Some("s-1"));
    let spent = report.spent;
    assert_eq!((spent.turns, spent.tools), (2, 1));
    assert_eq!((spent.cost, spent.session_cost), (150_000, 250_000));
    assert_eq!(*watching.borrow(), spent);
    assert_eq!((report.stderr.as_str(), report.redacted), ("", 0));
}

#[tokio::test]
async fn markdown_is_the_answer_itself_and_no_answer_is_no_success() {
    for (script, expected) in [
        ("cat; echo", Some("the instructions\n\nthe prompt\n")),
        ("echo ' '", None),
    ] {
        let mut rig = Rig::new(script);
        rig.command.output = OutputFormat::Markdown;
        let report = rig.turn().await;
        match expected {
            // Also as what it said, where questions are looked for.
            Some(expected) => assert_eq!(
                (text(&report), &report.texts[..]),
                (expected, &[expected.to_owned()][..])
            ),
            None => assert_eq!(report.ending, Ending::NoResult),
        }
    }
    let mut rig = Rig::new("echo half; exit 3");
    rig.command.output = OutputFormat::Markdown;
    let failed = Ending::ProcessError {
        code: Some(3),
        signal: None,
    };
    assert_eq!(rig.turn().await.ending, failed);
}

#[tokio::test]
async fn without_a_result_the_process_says_how_it_ended() {
    let error = |code, signal| Ending::ProcessError { code, signal };
    let table = [
        ("", Ending::NoResult),
        ("exit 3", error(Some(3), None)),
        ("kill -9 $$", error(None, Some(9))),
        ("kill -15 $$", error(None, Some(15))),
        ("echo no JSON at all", Ending::NoResult),
    ];
    for (script, expected) in table {
        let script = format!("{}\necho 'the reason' >&2\n{script}", says("a", "half"));
        let report = Rig::new(&script).turn().await;
        assert_eq!(report.ending, expected, "{script}");
        assert_eq!(
            (report.stderr.as_str(), report.spent.turns),
            ("the reason", 1)
        );
        assert_eq!(report.texts, ["half"]);
    }
}

#[tokio::test]
async fn a_result_that_says_failure_is_one_whatever_the_exit_code() {
    for code in [0, 1] {
        // As the client does it when its API never answers.
        let line = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":500,"result":"API Error: 500"}"#;
        let report = Rig::new(&format!("echo '{line}'\nexit {code}"))
            .turn()
            .await;
        let expected = Ending::AgentError {
            subtype: "api_error".to_owned(),
            message: "API Error: 500".to_owned(),
            status: Some(500),
        };
        assert_eq!(report.ending, expected);
    }
    let line =
        r#"{"type":"result","subtype":"error_of_its_own","is_error":false,"errors":["something"]}"#;
    let report = Rig::new(&format!("echo '{line}'\nexit 1")).turn().await;
    assert!(
        matches!(&report.ending, Ending::AgentError { subtype, message, .. }
            if subtype == "error_of_its_own" && message == "something"),
        "{report:?}"
    );
}

#[tokio::test]
async fn limits_that_the_client_keeps_for_us_are_limits() {
    for (subtype, limit) in [
        ("error_max_turns", Limit::Turns),
        ("error_max_budget_usd", Limit::Cost),
    ] {
        let line = format!(
            r#"{{"type":"result","subtype":"{subtype}","is_error":true,"errors":["reached"]}}"#
        );
        let report = Rig::new(&format!("echo '{line}'\nexit 1")).turn().await;
        assert_eq!(report.ending, Ending::Limited(limit), "{report:?}");
    }
}

#[tokio::test]
async fn a_session_that_is_not_there_is_lost_only_when_it_was_to_be_resumed() {
    let line = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: s-1"]}"#;
    for script in [
        format!("echo '{line}'; exit 1"),
        "echo 'No conversation found with session ID: s-1' >&2; exit 1".to_owned(),
    ] {
        let rig = Rig::new(&script);
        let agent = rig.open().unwrap();
        let mut task = rig.task("the prompt");
        assert_ne!(turn(&agent, &task).await.ending, Ending::SessionLost);
        task.session = Session::Resume("s-1".to_owned());
        assert_eq!(turn(&agent, &task).await.ending, Ending::SessionLost);
    }
}

#[tokio::test]
async fn an_agent_that_says_nothing_is_ended() {
    let seconds = unique();
    let mut rig = Rig::new(&format!("{}\nsleep {seconds}", says("a", "half")));
    rig.limits.silence = Duration::from_millis(300);
    let report = rig.turn().await;
    assert_eq!(report.ending, Ending::Limited(Limit::Silence));
    assert_eq!(report.texts, ["half"]);
    assert_eq!(running(&seconds), 0);
}

#[tokio::test]
async fn an_agent_that_never_stops_talking_is_ended_at_its_deadline() {
    let mut rig = Rig::new("trap '' TERM; while :; do echo '{}'; echo busy >&2; done");
    rig.limits.deadline = Duration::from_millis(300);
    let report = rig.turn().await;
    assert_eq!(report.ending, Ending::Limited(Limit::Deadline));
    assert!(report.spent.millis >= 300);
    assert!(report.stderr.len() <= 16 * 1024 && report.stderr.ends_with("busy"));
}

#[tokio::test]
async fn what_comes_after_the_result_changes_nothing_and_the_agent_does_not_stay() {
    let seconds = unique();
    let script = [
        says("a", "before"),
        result(),
        says("b", "after"),
        "echo '{\"type\":\"result\",\"is_error\":true,\"result\":\"no\"}'".to_owned(),
        format!("sleep {seconds}"),
    ];
    let report = Rig::new(&script.join("\n")).turn().await;
    assert_eq!(text(&report), "the plan");
    assert_eq!(
        (report.texts.as_slice(), report.spent.turns),
        (&["before".to_owned()][..], 1)
    );
    assert_eq!(running(&seconds), 0);
}

#[tokio::test]
async fn turns_are_counted_by_us() {
    let seconds = unique();
    let mut lines: Vec<String> = ["a", "b", "c"].iter().map(|id| says(id, id)).collect();
    lines.push(format!("sleep {seconds}"));
    let mut rig = Rig::new(&lines.join("\n"));
    rig.limits.turns = 2;
    let report = rig.turn().await;
    assert_eq!(report.ending, Ending::Limited(Limit::Turns));
    assert_eq!(report.spent.turns, 3);
    assert_eq!(running(&seconds), 0);
}

#[tokio::test]
async fn a_result_that_was_paid_for_is_kept_and_a_failed_one_over_the_limit_is_put_down_to_its_cost()
 {
    let failed = RESULT.replace("\"is_error\":false", "\"is_error\":true");
    let mut rig = Rig::new(&format!("echo '{failed}'"));
    rig.limits.cost = Some(200_000);
    let report = rig.turn().await;
    assert_eq!(report.ending, Ending::Limited(Limit::Cost));
    assert_eq!(report.spent.cost, 250_000);
    let mut rig = Rig::new(&result());
    rig.limits.cost = Some(200_000);
    assert_eq!(text(&rig.turn().await), "the plan");
}

#[tokio::test]
async fn a_line_of_300_kb_is_read_and_one_over_the_limit_is_named() {
    let long = "head -c 300000 /dev/zero | tr '\\0' x";
    let script = format!(
        "printf '%s' '{{\"type\":\"result\",\"is_error\":false,\"result\":\"'; {long}; echo '\"}}'"
    );
    let mut rig = Rig::new(&script);
    assert_eq!(text(&rig.turn().await).len(), 300_000);
    rig.settings.max_line_bytes = 100_000;
    assert_eq!(rig.turn().await.ending, Ending::Limited(Limit::Output));
    rig.settings.max_line_bytes = 1 << 20;
    rig.settings.max_output_bytes = 200_000;
    assert_eq!(rig.turn().await.ending, Ending::Limited(Limit::Output));
}

#[tokio::test]
async fn a_flood_on_standard_error_blocks_nothing_and_its_end_is_kept() {
    let flood = "head -c 3000000 /dev/zero | tr '\\0' e >&2; echo >&2; echo 'the end' >&2";
    let report = Rig::new(&format!("{flood}\n{}", result())).turn().await;
    assert_eq!(text(&report), "the plan");
    assert!(report.stderr.ends_with("the end") && report.stderr.len() <= 16 * 1024);
}

#[tokio::test]
async fn a_prompt_of_1_mb_arrives_whole_and_may_be_ignored() {
    let prompt = "p".repeat(1 << 20);
    let mut rig = Rig::new("wc -c");
    rig.command.output = OutputFormat::Markdown;
    let report = turn(&rig.open().unwrap(), &rig.task(&prompt)).await;
    let whole = "the instructions\n\n".len() + prompt.len();
    assert_eq!(text(&report).trim(), whole.to_string());
    for ignoring in ["exec <&-", "head -c 10 >/dev/null", ":"] {
        let rig = Rig::new(&format!("{ignoring}\n{}", result()));
        let report = turn(&rig.open().unwrap(), &rig.task(&prompt)).await;
        assert_eq!(text(&report), "the plan", "{ignoring}");
    }
}
