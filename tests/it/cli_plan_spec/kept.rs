//! What is kept between runs: resumed runs, restarted runs, runs locked by another process, and
//! research reports.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{GOOD, Shop, exit_and_output};
use crate::support::research::report;

/// Leaves the report that `$here/report` is, in the file that was asked for.
const REPORTS: &str = "file=$(printf '%s' \"$prompt\" | sed -n 's/.*REPORT_CREATED: \\([0-9a-z-]*\\.md\\).*/\\1/p' | tail -n 1)\n\
                       leave() { cp \"$here/report\" \"$file\"; say done; }";

#[test]
fn a_changed_specification_begins_anew_and_says_so() {
    let shop = Shop::new("say asks");
    assert_eq!(shop.plan(&[]).0, 3);
    let first = shop.runs();
    let (code, _, err) = shop.plan(&[]);
    assert_eq!(code, 3);
    assert!(err.contains("agent.sh: resuming\n"), "{err}");
    assert_eq!(
        (shop.runs(), &shop.remembered()["work"]["turns"]),
        (first.clone(), &1.into())
    );
    let (code, _, err) = shop.plan(&["--guidance", "small"]);
    assert_eq!(code, 3);
    assert!(
        err.contains("guidance or topics changed; starting over\n"),
        "{err}"
    );
    shop.write(
        ".planwright/specs/index.md",
        "# Feature: Other\n\nAnother index.\n",
    );
    let (_, _, err) = shop.plan(&["--guidance", "small"]);
    assert!(err.contains("starting over\n"), "{err}");
    assert_eq!(shop.runs().len(), 1);
    assert_ne!(shop.runs(), first);
    assert_eq!(shop.private().len(), 1);
    // Another specification is another run.
    shop.write(".planwright/specs/two.md", super::SPECIFICATION);
    assert_eq!(exit_and_output(&shop.run(&["plan", "two", "--trust"])).0, 3);
    assert_eq!(shop.runs().len(), 2);
}

#[test]
fn a_second_process_on_the_same_run_is_refused_and_a_signal_keeps_the_first_one_s_work() {
    let shop = Shop::new("exec sleep 600");
    let mut first = shop
        .command(&["plan", "index", "--trust"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines();
    let mut until = |wanted: &str| {
        let found = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains(wanted)));
        assert!(found.is_some(), "{wanted}");
    };
    until("plan: agent.sh is working");
    let (code, _, err) = shop.plan(&[]);
    assert_eq!(
        (code, err.as_str()),
        (
            1,
            "error: another planwright process is working on this (plan .planwright/specs/index.md); wait until it has finished\n"
        )
    );
    kill_process(Pid::from_child(&first), Signal::TERM).unwrap();
    until("error: interrupted; run the same command again to continue");
    assert_eq!(first.wait().unwrap().code(), Some(130));
    shop.act(GOOD);
    let (code, _, err) = shop.plan(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("resuming"), "{err}");
}

#[test]
fn research_before_a_plan_is_not_done_again_and_lies_beside_the_plan() {
    let shop = Shop::new(&format!(
        "{REPORTS}\nif asked 'You are the planner'; then say asks; else leave; fi"
    ));
    shop.write("report", &report("of the first start"));
    let topics = ["--research", "how indexes are stored; which format fits"];
    let (code, _, err) = shop.plan(&topics);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("✓ 1/2 how indexes are stored: written\n"),
        "{err}"
    );
    shop.write("report", &report("of the second start"));
    shop.act(&format!(
        "{REPORTS}\nasked 'how indexes are stored' || exit 9\ngrep -q 'first start' reports/001-how-indexes-are-stored.md || exit 9\n{GOOD}"
    ));
    shop.write("answers.json", "[\"\", \"\"]");
    let (code, out, err) = shop.plan(&[&topics[..], &["--answers", "answers.json"]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("index/reports/001-how-indexes-are-stored.md\n"),
        "{out}"
    );
    let kept = shop.text(".planwright/plans/index/reports/002-which-format-fits.md");
    assert!(kept.contains("of the first start"), "{kept}");
}

#[test]
fn reports_are_numbered_and_only_what_is_missing_is_done_again() {
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key","session_id":"s"}"#;
    let shop = Shop::new(&format!(
        "{REPORTS}\ncase $file in *good*) leave;; *) say refused;; esac"
    ));
    shop.write("say/refused", &format!("{refused}\n"));
    shop.write("report", &report("of the first start"));
    shop.write(".planwright/research/004-older.md", "older");
    let topics = [
        "research",
        "the good one; a bad one",
        "the worst one",
        "--trust",
    ];
    let (code, out, err) = exit_and_output(&shop.run(&topics));
    assert_eq!(
        (code, out.as_str()),
        (1, ".planwright/research/005-the-good-one.md\n"),
        "{err}"
    );
    assert!(err.contains("1 of 3 topics has a report:"), "{err}");
    assert!(err.contains("For a planner: "), "{err}");
    assert!(
        err.ends_with(
            "run the same command again to repeat the missing topics; existing reports are kept\n"
        ),
        "{err}"
    );
    shop.act(&format!("{REPORTS}\nleave"));
    shop.write("report", &report("of the second start"));
    let (code, out, err) = exit_and_output(&shop.run(&[&topics[..], &["--json"]].concat()));
    assert_eq!(code, 0, "{err}");
    let said: Value = serde_json::from_str(&out).unwrap();
    let files: Vec<&str> = (0..3)
        .map(|at| said["reports"][at]["file"].as_str().unwrap())
        .collect();
    assert_eq!(
        files,
        [
            ".planwright/research/005-the-good-one.md",
            ".planwright/research/006-a-bad-one.md",
            ".planwright/research/007-the-worst-one.md"
        ]
    );
    assert!(
        shop.text(files[0]).contains("first start") && shop.text(files[2]).contains("second start")
    );
    assert_eq!(said["reports"][1]["state"], "written");
    assert!(shop.runs().is_empty() && shop.private().is_empty());
}

#[test]
fn what_stands_in_for_a_report_is_marked_and_counts_for_nothing() {
    let shop = Shop::new("say chatter");
    let text = "I looked at the queue and found that it retries three times with a growing wait.";
    shop.write("say/chatter", &super::events(text));
    let (code, out, err) =
        exit_and_output(&shop.run(&["research", "how retries work", "--trust", "--output", "out"]));
    assert_eq!(
        (code, out.as_str()),
        (1, "out/001-how-retries-work.md\n"),
        "{err}"
    );
    assert!(
        err.contains("degraded: assembled from the agent's output: out/001-how-retries-work.md"),
        "{err}"
    );
    let report = shop.text("out/001-how-retries-work.md");
    assert!(
        planwright::formats::report::is_degraded(&report),
        "{report}"
    );
}
