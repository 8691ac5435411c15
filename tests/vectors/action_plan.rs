//! The strict parser against recorded plans: what a parser of the seed's rules on a CommonMark tree
//! says about each. Intended differences give the number of the rule in the checklist for ports.

use planwright::formats::action_plan::{self, Action, ActionPlan, ErrorKind, Rejected, fences};
use serde_json::{Value, json};

use crate::harness::{Departures, Tests, action_plans, id};

crate::harness::tests!(
    recorded_plans,
    what_is_recorded_as_a_danger_is_never_accepted,
    a_proposed_repair_turns_no_content_into_actions,
    fences_around_content,
    languages,
);

const RULE_1: &str = "rule 1: the byte-order mark is dropped first";
const RULE_3: &str =
    "rule 3: only fences hold queries; anything else behind an action is out of place";
const RULE_4: &str =
    "rule 4: a link definition leaves no block and would be an invisible separator";
const RULE_5: &str = "rule 5: a fence that nothing closes, or a line in it that looks like another one, is the sign of content that became actions or of actions that became content";
const RULE_5B: &str = "rule 5: refused too, for the fence that is the cause instead of the block that it leaves behind";
const RULE_7: &str = "rule 7: keys are exact and each is there once; values are slices of the source, one link, one code span or bare text";
const RULE_7B: &str = "rule 7: two lines of a value are joined by a blank, not by nothing";
const RULE_7C: &str =
    "rule 7: texts are slices of the source; nothing is written again from the tree";
const RULE_8: &str = "rule 8: a path is the project's: leading slashes, `.` and trailing slashes dropped, links decoded once, `..`, drives, other schemes and nothing at all refused";
const RULE_9: &str = "rule 9: pairs are complete, and something is looked for";
const RULE_10: &str =
    "rule 10: plain `cd` and `export` lines, each thing once, and a command behind them";
const RULE_10B: &str =
    "rule 10: a blank line does not end the top of a command; the first other line does";
const RULE_11B: &str = "rule 11: refused too, as a name that is not known";
const RULE_13: &str = "rule 13: refused too, with a row for the end of the text";
const RULE_11: &str = "rule 11: PROMPT and MESSAGE are other names of CHAT_WITH_USER";

const DEPARTURES: Departures = &[
    ("top/utf8-bom", RULE_1),
    ("research/thematic-break-after", RULE_3),
    ("top/link-reference-definition-between-actions", RULE_4),
    ("create/fence-unclosed-swallows-rest", RULE_5),
    ("create/fence-closing-trailing-text-6-backticks", RULE_5),
    ("create/fence-closing-trailing-text-3-backticks", RULE_5),
    ("create/fence-escape-clean-parity", RULE_5),
    ("chat/nested-same-length-fence-silently-mangled", RULE_5),
    ("top/rationale-fence-unclosed", RULE_5B),
    ("create/fence-nested-same-length-rejected", RULE_5B),
    ("create/fence-nested-longer-rejected", RULE_5B),
    ("create/fence-escape-promotes-content-to-action", RULE_5B),
    (
        "upstream/test_parser_rejects_improperly_nested_code_fences",
        RULE_5B,
    ),
    (
        "upstream/test_parser_rejects_user_provided_invalidly_nested_edit_plan",
        RULE_5B,
    ),
    ("top/metadata-item-without-colon", RULE_7),
    ("top/metadata-nested-list", RULE_7),
    ("top/metadata-value-with-link-and-code", RULE_7),
    ("create/no-file-path", RULE_7),
    ("create/duplicate-file-path-last-wins", RULE_7),
    ("create/unknown-metadata-keys-ignored", RULE_7),
    ("create/overwrite-true", RULE_7),
    ("create/key-prefix-trap-long-description", RULE_7),
    ("create/description-with-link-and-code", RULE_7),
    ("create/key-lowercase", RULE_7),
    ("create/dunder-plain-path", RULE_7),
    ("create/star-plain-path", RULE_7),
    ("path/text-glob", RULE_7),
    ("path/text-two-links", RULE_7),
    ("path/text-link-then-text", RULE_7),
    ("path/text-reference-link", RULE_7),
    ("read/file-path-alias", RULE_7),
    ("read/lines", RULE_7),
    ("read/lazy-continuation-into-list", RULE_7),
    ("read/resource-in-nested-list", RULE_7),
    ("edit/match-all-true", RULE_7),
    ("execute/metadata-env-inline", RULE_7),
    ("execute/allow-failure-backticked", RULE_7),
    ("execute/allow-failure-maybe", RULE_7),
    ("execute/background", RULE_7),
    ("execute/timeout-int", RULE_7),
    ("execute/timeout-backticked-int", RULE_7),
    ("execute/timeout-invalid", RULE_7),
    ("execute/setup-legacy-key", RULE_7),
    ("execute/expected-outcome-mentions-description", RULE_7),
    ("research/blank-block-ignored", RULE_7),
    ("invoke/no-agent", RULE_7),
    ("return/message-starting-with-list-is-lost", RULE_7),
    (
        "upstream/test_parse_execute_action_with_cd_directive",
        RULE_7,
    ),
    ("create/description-multiline-item", RULE_7B),
    ("chat/h4-inside", RULE_7C),
    ("chat/h3-plain-inside", RULE_7C),
    ("chat/blockquote-table", RULE_7C),
    ("upstream/test_repro_chat_with_user_headers_bug", RULE_7C),
    ("create/plain-text-path-leading-slash", RULE_8),
    ("path/link-dot-relative", RULE_8),
    ("path/link-tmp-absolute", RULE_8),
    ("path/link-home-absolute", RULE_8),
    ("path/link-var-absolute", RULE_8),
    ("path/link-usr-absolute", RULE_8),
    ("path/link-root-absolute", RULE_8),
    ("path/link-var-prefix-false-positive", RULE_8),
    ("path/link-ftp-url", RULE_8),
    ("path/link-windows-drive", RULE_8),
    ("path/link-percent-encoded-space", RULE_8),
    ("path/link-dotdot-inside", RULE_8),
    ("path/link-trailing-slash", RULE_8),
    ("path/link-empty", RULE_8),
    ("path/link-root-only", RULE_8),
    ("path/text-plain-leading-slash", RULE_8),
    ("upstream/test_parse_read_action_with_absolute_path", RULE_8),
    (
        "upstream/test_execute_action_fails_with_unsafe_cwd_traversal",
        RULE_8,
    ),
    ("upstream/test_parse_execute_action", RULE_8),
    ("posix/cd-trailing-slash", RULE_8),
    ("edit/dangling-find-after-valid-pair", RULE_9),
    ("edit/dangling-find-then-next-action", RULE_9),
    ("edit/empty-find", RULE_9),
    ("execute/empty-code", RULE_10),
    ("posix/cd-quoted", RULE_10),
    ("posix/cd-blank-export", RULE_10B),
    ("posix/cd-only", RULE_10),
    ("posix/cd-bare", RULE_10),
    ("posix/cd-parent", RULE_10),
    ("posix/cd-absolute", RULE_10),
    ("posix/cd-tab-separator", RULE_10),
    ("posix/export-inner-quotes", RULE_10),
    ("posix/export-no-equals", RULE_10),
    ("posix/export-two-on-line", RULE_10),
    ("posix/export-var-expansion", RULE_10),
    ("posix/export-space-around-eq", RULE_10),
    ("posix/export-trailing-comment", RULE_10),
    ("posix/export-same-key-twice", RULE_10),
    ("heading/message-under-action-plan", RULE_11),
    ("heading/trailing-stars-unbalanced", RULE_11B),
    ("top/action-plan-empty", RULE_13),
    ("prompt/two-paragraphs", RULE_11),
    ("prompt/followed-by-action", RULE_11),
    ("multi/terminal-action-in-mixed-plan", RULE_11),
];

fn recorded_plans(tests: &mut Tests) {
    tests.hold_action_plans("vectors", DEPARTURES, |case| {
        let want = case.get("expected_commonmark").unwrap_or(&case["expected"]);
        let ours = match action_plan::parse(case["input"].as_str().unwrap()) {
            Ok(plan) => {
                // Written out, it is the same plan.
                let again = action_plan::parse(&action_plan::render(&plan)).unwrap();
                assert_eq!(answer(&again), answer(&plan), "{}", case["name"]);
                answer(&plan)
            }
            Err(rejected) => refusal(&rejected),
        };
        (comparable(ours), comparable(recorded(want)))
    });
}

/// A plan as it is recorded.
fn answer(plan: &ActionPlan) -> Value {
    let actions: Vec<Value> = plan
        .actions
        .iter()
        .map(|step| action(&step.action))
        .collect();
    json!({ "title": plan.title, "metadata": plan.header, "actions": actions })
}

fn action(action: &Action) -> Value {
    let mut params = serde_json::to_value(action).unwrap();
    let fields = params.as_object_mut().unwrap();
    let kind = fields.shift_remove("type").unwrap();
    let description = fields.shift_remove("description").unwrap_or_default();
    json!({ "type": kind, "description": description, "params": params })
}

/// A refusal as far as it is recorded: what was due and the kind of block that was found, or the
/// name of the action.
fn refusal(rejected: &Rejected) -> Value {
    let Some(error) = rejected.errors.iter().find(|error| error.structural) else {
        return json!({ "refused": true });
    };
    let text = error.message();
    // The fence says how long it is; an HTML block has a name of its own.
    let text = text
        .replace(" (3 backticks)", "")
        .replace(" (4 backticks)", "")
        .replace(" (5 backticks)", "")
        .replace("HtmlBlock", "Paragraph")
        .replace("SetextHeading (Level 1)", "SetextHeading");
    json!({ "refused": true, "structure": structure(&text) })
}

fn recorded(want: &Value) -> Value {
    if want["ok"] == true {
        return json!({
            "title": want["title"], "metadata": want["metadata"], "actions": want["actions"],
        });
    }
    let text = want["error_contains"][0].as_str().unwrap_or_default();
    json!({ "refused": true, "structure": structure(text) })
}

/// `Expected X, but found Y` without the preview.
fn structure(text: &str) -> Option<(String, String)> {
    let (_, text) = text.split_once("Plan structure is invalid. Expected ")?;
    let (expected, found) = text.split_once(", but found ")?;
    let found = found.split(':').next().unwrap_or(found);
    Some((expected.to_owned(), found.trim_end_matches('.').to_owned()))
}

/// What is due inside of an action, and which names there are, is said in other words.
fn comparable(mut answer: Value) -> Value {
    let slots = [
        "a Level",
        "a List (Metadata)",
        "a CodeFence or BlockCode containing",
    ];
    let known = answer["structure"][0]
        .as_str()
        .is_some_and(|text| slots.iter().any(|slot| text.starts_with(slot)));
    if !known && let Some(fields) = answer.as_object_mut() {
        fields.shift_remove("structure");
    }
    answer
}

fn what_is_recorded_as_a_danger_is_never_accepted(tests: &mut Tests) {
    let mut seen = 0;
    for case in action_plans()["vectors"].as_array().unwrap() {
        let note = case["note"].as_str().unwrap_or_default();
        if note.contains("SECURITY") {
            seen += 1;
            let input = case["input"].as_str().unwrap();
            tests.case(id(case), || assert!(action_plan::parse(input).is_err()));
        }
    }
    assert!(seen > 1, "{seen}");
}

fn a_proposed_repair_turns_no_content_into_actions(tests: &mut Tests) {
    let mut mended = 0;
    for case in action_plans()["vectors"].as_array().unwrap() {
        let input = case["input"].as_str().unwrap();
        let Err(rejected) = action_plan::parse(input) else {
            continue;
        };
        let Some(text) = fences::repair(input) else {
            continue;
        };
        mended += 1;
        tests.case(id(case), move || {
            let mut kinds = rejected.errors.iter().map(|error| error.kind);
            assert!(kinds.any(|kind| kind == ErrorKind::FenceLookalike));
            let plan = action_plan::parse(&text).unwrap();
            let example = |step: &action_plan::Step| {
                step.action.target().is_some_and(|it| it.contains("rm -rf"))
            };
            assert!(!plan.actions.iter().any(example));
        });
    }
    assert!(mended > 1, "{mended}");
}

fn fences_around_content(tests: &mut Tests) {
    let cases = action_plans()["fence_for_content"].as_array().unwrap();
    for (number, case) in (1..).zip(cases) {
        tests.case(&number.to_string(), move || {
            let fence = fences::around(case["content"].as_str().unwrap());
            assert_eq!(fence, case["fence"], "{case}");
        });
    }
}

fn languages(tests: &mut Tests) {
    tests.hold_action_plans("language_from_path", &[], |case| {
        let language = action_plan::language(case["path"].as_str().unwrap());
        (language.into(), case["language"].clone())
    });
}
