//! erk's test vectors for plans: titles, gates, names, references, error messages, and the flows
//! that consist of these.

use planwright::formats::plan::check::{check, format_error};
use planwright::formats::plan::gate::{
    ContentError, Measure, TitleError, gate_content, gate_title,
};
use planwright::formats::plan::names::{file_name, worktree_name};
use planwright::formats::plan::reference::{self, ReferenceError};
use planwright::formats::plan::title::title_of;
use serde_json::{Value, json};

use crate::harness::{Departures, Tests, erk};

crate::harness::tests!(
    title_extraction,
    title_extraction_with_prefix_strip,
    title_probes,
    title_validation,
    plan_content_validation,
    content_probes,
    names,
    issue_reference_parse,
    error_message_format,
    flows_about_titles_and_gates,
    every_flow_is_here_or_has_a_reason,
);

const ANY: fn(&Value) -> bool = |_| true;
/// Both eras cut a title at so many characters. Ours may be longer, as an issue's title may; the
/// rest is the same.
const ERK_MAX_TITLE: usize = 100;

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap()
}

/// Our title, and erk's with its default for "there is none" as null: ours says so with `None`.
fn titles(plan: &str, erk: &str) -> (Value, Value) {
    let none = "Implementation Plan";
    (
        json!(title_of(plan).map(|title| title.chars().take(ERK_MAX_TITLE).collect::<String>())),
        json!(Some(erk).filter(|title| *title != none)),
    )
}

fn title_extraction(tests: &mut Tests) {
    tests.hold("title_extraction", ANY, &[], |case| {
        titles(text(case, "/input/plan"), text(case, "/expected/title"))
    });
}

fn title_extraction_with_prefix_strip(tests: &mut Tests) {
    const DEPARTURES: Departures = &[(
        "title_extraction_with_prefix_strip-008",
        "R0 saves a plan called `Plan`, HEAD extracts that title and then refuses it; here it is no title, and the \
             issue's is taken",
    )];
    tests.hold(
        "title_extraction_with_prefix_strip",
        ANY,
        DEPARTURES,
        |case| titles(text(case, "/input/plan"), text(case, "/expected/title")),
    );
}

fn title_probes(tests: &mut Tests) {
    const DEPARTURES: Departures = &[
        (
            "probe-077",
            "a defect by the data: a comment in a code block wins over the heading",
        ),
        (
            "probe-080",
            "`### H3 only` keeps its marks as a title; here a heading's marks are no part of it",
        ),
        (
            "probe-082",
            "R0 takes no prefix off, HEAD only in one spelling; `plan:` is the same prefix",
        ),
        (
            "probe-087",
            "a tab behind `#` makes a heading in Markdown; erk sees none and keeps the `#`",
        ),
        (
            "probe-088",
            "the `#` at the end closes the heading in Markdown; erk keeps it",
        ),
        (
            "probe-090",
            "an issue's title shows a link's source; the text of the link is the title",
        ),
    ];
    let mine = |case: &Value| case["group"] == "title";
    tests.hold("probes", mine, DEPARTURES, |case| {
        titles(text(case, "/input/plan"), text(case, "/expected/result"))
    });
}

fn title_validation(tests: &mut Tests) {
    const DEPARTURES: Departures = &[
        (
            "title_validation-015",
            "R0 cuts a long title, HEAD refuses one over 100; here it passes, and one over 250 is cut",
        ),
        (
            "title_validation-020",
            "R0 saves a plan with a Chinese title, HEAD refuses it for its file name; here it passes",
        ),
    ];
    tests.hold("title_validation", ANY, DEPARTURES, |case| {
        let title = text(case, "/input/title");
        let ours = match gate_title(title) {
            Ok(()) => json!({ "valid": true, "title": title.trim() }),
            Err(fault) => {
                json!({ "valid": false, "raw_title": title, "reason": fault.to_string() })
            }
        };
        (ours, case["expected"].clone())
    });
}

/// erk's answer shape.
fn content(text: &str) -> Value {
    let measure = Measure::of(text);
    json!({
        "valid": gate_content(text).is_ok(),
        "error": gate_content(text).err().map(|fault| fault.to_string()),
        "details": {
            "length": measure.length.chars, "has_headers": measure.headings > 0, "has_lists": measure.lists > 0,
        },
    })
}

fn plan_content_validation(tests: &mut Tests) {
    for suite in ["plan_content_validation", "plan_content_validation_head"] {
        tests.hold(suite, ANY, &[], |case| {
            let ours = content(text(case, "/input/content"));
            (ours, case["expected"].clone())
        });
    }
}

fn content_probes(tests: &mut Tests) {
    const HASH: &str = "`#` without a blank behind it is no heading in Markdown";
    const DEPARTURES: Departures = &[
        ("probe-101", HASH),
        ("probe-105", "a line of `-` is a rule in Markdown, no list"),
        ("probe-109", HASH),
    ];
    let mine = |case: &Value| case["group"] == "content_validation";
    tests.hold("probes", mine, DEPARTURES, |case| {
        let ours = content(text(case, "/input/content"));
        (ours, case["expected"]["result"].clone())
    });
}

fn names(tests: &mut Tests) {
    tests.hold("filename_from_title", ANY, &[], |case| {
        let ours = file_name(text(case, "/input/title"));
        (json!(ours), case["expected"]["filename"].clone())
    });
    tests.hold("sanitize_worktree_name", ANY, &[], |case| {
        let ours = worktree_name(text(case, "/input/name"));
        (json!(ours), case["expected"]["name"].clone())
    });
}

/// The number, or the kind of the error: our texts name more forms than erk takes.
fn issue_reference_parse(tests: &mut Tests) {
    const DEPARTURES: Departures = &[(
        "issue_reference_parse-019",
        "a plan is an issue at R0 and a pull request at HEAD; here both are taken",
    )];
    tests.hold("issue_reference_parse", ANY, DEPARTURES, |case| {
        let ours = match reference::parse(text(case, "/input/reference"), "github.com") {
            Ok(found) => json!({ "success": true, "issue_number": found.number }),
            Err(ReferenceError::Number { .. }) => {
                json!({ "success": false, "error": "invalid_number" })
            }
            Err(_) => {
                json!({ "success": false, "error": "invalid_format" })
            }
        };
        let mut want = case["expected"]["result"].clone();
        want.as_object_mut().unwrap().remove("message");
        (ours, want)
    });
}

fn error_message_format(tests: &mut Tests) {
    tests.hold("error_message_format", ANY, &[], |case| {
        let actions: Vec<&str> = case["input"]["actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|action| action.as_str().unwrap())
            .collect();
        let brief = text(case, "/input/brief");
        let ours = format_error(brief, text(case, "/input/details"), &actions);
        (json!(ours), case["expected"]["text"].clone())
    });
}

/// Flows that come down to the title or the gates of a plan.
const FLOWS: [&str; 16] = [
    "flow-001", "flow-002", "flow-003", "flow-005", "flow-006", "flow-007", "flow-010", "flow-011",
    "flow-012", "flow-013", "flow-022", "flow-027", "flow-028", "flow-042", "flow-046", "flow-047",
];

/// The other flows, and what they are about.
const ELSEWHERE: [(&str, &str); 25] = [
    ("flow-004", "a missing option of erk's program"),
    ("flow-014", "labels of an issue"),
    ("flow-015", "labels of an issue"),
    ("flow-016", "a field of the header block"),
    ("flow-017", "a field of the header block"),
    ("flow-018", "GitHub's answer: not signed in"),
    ("flow-019", "GitHub's answer: no label"),
    ("flow-020", "GitHub's answer: no issue"),
    ("flow-021", "GitHub's answer: no comment"),
    ("flow-023", "labels of a repository"),
    ("flow-024", "the section of commands in an issue's body"),
    ("flow-025", "the body of a learning plan"),
    ("flow-026", "the section of commands in an issue's body"),
    ("flow-029", "objectives, another kind of issue"),
    ("flow-030", "objectives, another kind of issue"),
    ("flow-040", "fields of the answer about a pull request"),
    ("flow-041", "a folder of plans on erk's machine"),
    ("flow-043", "one plan saved twice"),
    ("flow-044", "two plans of one session"),
    ("flow-045", "which file erk's program reads"),
    ("flow-050", "a pull request that is missing"),
    ("flow-051", "the tag in front of a learning plan's title"),
    ("flow-052", "a branch that cannot be pushed"),
    ("flow-060", "the title of a pull request without changes"),
    ("flow-061", "labels of a pull request"),
];

fn flows_about_titles_and_gates(tests: &mut Tests) {
    let mine = |case: &Value| FLOWS.contains(&text(case, "/id"));
    tests.hold("flows", mine, &[], |case| {
        let expected = &case["expected"];
        match text(case, "/id") {
            "flow-003" => {
                assert!(text(expected, "/output_contains").contains("Empty plan content"));
                let fault = gate_content(text(case, "/input/plan")).err();
                (json!(fault == Some(ContentError::Empty)), json!(true))
            }
            "flow-012" => {
                let checked = check(text(case, "/input/plan"), case["input"]["title"].as_str());
                let tagged = checked.title.map(|title| format!("[erk-plan] {title}"));
                (json!(tagged), expected["issue_title"].clone())
            }
            "flow-042" => {
                assert_eq!(expected["json"]["error_type"], "validation_failed");
                let valid = check(text(case, "/input/plan"), None).is_accepted();
                (json!(valid), expected["json"]["success"].clone())
            }
            // Titles by name: the data describes them.
            "flow-046" => {
                assert_eq!(text(case, "/input/title"), "Implementation Plan (fallback)");
                let fault = gate_title("Implementation Plan").unwrap_err();
                let guidance = fault.agent_guidance("Implementation Plan");
                assert!(matches!(fault, TitleError::Fallback(_)) && !guidance.is_empty());
                (json!("present"), expected["agent_guidance"].clone())
            }
            "flow-047" => {
                assert_eq!(text(case, "/input/title"), "emoji only");
                (
                    json!(gate_title("🚀🎉🔥💥🌟").is_err()),
                    json!(expected["exit"] != 0),
                )
            }
            "flow-001" => {
                let title = title_of(text(case, "/input/plan")).unwrap();
                let name = format!("worktree_name: {}", worktree_name(&title));
                let body = expected["body_contains"].as_array().unwrap();
                assert!(body.contains(&json!(name)), "{name}");
                (json!(title), expected["issue_title"].clone())
            }
            // The title without the tag that two eras put in front of it.
            _ => {
                let plan = text(case, "/input/plan");
                let heading = plan.lines().next().unwrap().trim_start_matches("# ");
                let want = expected
                    .get("title")
                    .or_else(|| expected.get("issue_title"))
                    .and_then(Value::as_str)
                    .unwrap_or(heading);
                let want = want
                    .strip_prefix('[')
                    .and_then(|rest| rest.split_once("] "))
                    .map_or(want, |(_, title)| title);
                (json!(title_of(plan)), json!(want))
            }
        }
    });
}

fn every_flow_is_here_or_has_a_reason(tests: &mut Tests) {
    tests.whole(|| {
        let flows = erk()["flows"].as_array().unwrap();
        for flow in flows {
            let id = text(flow, "/id");
            let elsewhere = ELSEWHERE.iter().any(|(known, _)| *known == id);
            assert!(FLOWS.contains(&id) != elsewhere, "{id}");
        }
        assert_eq!(flows.len(), FLOWS.len() + ELSEWHERE.len());
    });
}
