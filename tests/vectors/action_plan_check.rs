//! The validator of action plans against recorded verdicts: what the seed's validator says about
//! each plan and its files, how it applies pairs, and what a later matcher finds. Intended
//! differences give the number of the rule in the checklist for ports.

use std::collections::BTreeMap;

use planwright::formats::action_plan::check::{
    self, Finding, FindingKind, PathState, ProjectFiles,
};
use planwright::formats::action_plan::{
    self, Action, ActionPlan, Edit, Header, ProjectPath, Replacement, Span, Step,
};
use serde_json::{Value, json};

use crate::harness::Tests;

crate::harness::tests!(recorded_verdicts, recorded_pairs_applied, recorded_matches,);

const RULE_7: &str =
    "rule 7: keys are exact; `Overwrite` and `Match All` are later inventions and refused";
const RULE_8: &str = "rule 8: a leading slash is the project's root, everywhere alike, and such a path is looked for there";
const RULE_8B: &str = "rule 8: the folder of a command is a path of the project as well";
const RULE_9: &str = "rule 9: actions are simulated in order (lesson 7), so a pair may build on the pair before it, and no file is created twice";
const RULE_9B: &str = "rule 9: what is to be read has to be there";
const RULE_9C: &str = "rule 9: only lines that are alike by three fifths are a near miss";
const RULE_9D: &str = "rule 9: exactly one exact match; indentation and white space count, a near miss is never applied";
const RULE_9E: &str = "rule 9: an empty REPLACE deletes what FIND names and nothing else (the seed also deletes a line end, and so joins lines)";
const RULE_9F: &str = "rule 9: FIND is not empty";
const DEFECT: &str = "the seed's comparison runs lines without an end into the next ones";
const RULE_10: &str = "rule 10: a command is not empty";

struct Tree(BTreeMap<String, String>);

impl ProjectFiles for Tree {
    fn get(&self, path: &ProjectPath) -> PathState<'_> {
        if let Some(text) = self.0.get(path.as_str()) {
            return PathState::File(text);
        }
        let below = format!("{path}/");
        if self.0.keys().any(|other| other.starts_with(&below)) {
            PathState::Folder
        } else {
            PathState::Missing
        }
    }
}

fn tree(files: &Value) -> Tree {
    let files = files.as_object().unwrap().iter();
    let text = |text: &Value| text.as_str().unwrap().to_owned();
    Tree(files.map(|(path, it)| (path.clone(), text(it))).collect())
}

fn recorded_verdicts(tests: &mut Tests) {
    let departures = &[
        ("validate/create-target-exists-overwrite", RULE_7),
        ("validate/edit-ambiguous-match-all", RULE_7),
        ("validate/create-absolute-path", RULE_8),
        ("validate/read-absolute", RULE_8),
        ("validate/edit-absolute", RULE_8),
        ("validate/execute-cwd-absolute", RULE_8B),
        ("validate/execute-cwd-traversal", RULE_8B),
        ("validate/create-same-file-twice", RULE_9),
        ("validate/edit-sequential-second-depends-on-first", RULE_9),
        ("validate/read-missing", RULE_9B),
        ("validate/edit-indentation-shift", DEFECT),
        ("validate/execute-empty-command", RULE_10),
    ];
    tests.hold_action_plans("validator_vectors", departures, |case| {
        let want = case["expected"]["errors"].as_array().unwrap().iter();
        // What the seed runs together, a later version shows line by line.
        let later = case["expected_mid"]["errors"].as_array();
        let want: Vec<Value> = want
            .enumerate()
            .map(|(index, error)| recorded(error, later.and_then(|later| later.get(index))))
            .collect();
        let ours = match action_plan::parse(case["input"].as_str().unwrap()) {
            Ok(plan) => {
                let findings = check::check(&plan, &tree(&case["files"]));
                findings.iter().map(verdict).collect()
            }
            Err(rejected) => vec![json!({ "refused": rejected.errors[0].kind })],
        };
        (json!(ours), json!(want))
    });
}

fn verdict(finding: &Finding) -> Value {
    let mut verdict = json!({ "kind": finding.kind, "path": finding.path });
    match finding.kind {
        FindingKind::FindMissing => {
            verdict["near"] = json!(finding.near_miss.as_ref().map(|near| signs(&near.diff)));
        }
        FindingKind::FindAmbiguous => {
            let mut words = finding.problem.split(' ');
            let count = words.find_map(|word| word.parse::<usize>().ok());
            verdict["count"] = json!(count);
        }
        _ => {}
    }
    verdict
}

/// The seed's sentence in our words.
fn recorded(error: &Value, later: Option<&Value>) -> Value {
    let message = error["message"].as_str().unwrap();
    if message.contains("not allowed") {
        return json!({ "refused": "bad-path" });
    }
    let mut verdict = json!({ "kind": null, "path": error["file_path"] });
    let first = message.lines().next().unwrap();
    verdict["kind"] = json!(match first {
        it if it.starts_with("File already exists") => "target-exists",
        it if it.starts_with("File to edit does not exist") => "missing",
        it if it.contains("could not be located") => "find-missing",
        it if it.contains("is ambiguous") => "find-ambiguous",
        it if it.contains("are identical") => "same-replace",
        other => panic!("{other}"),
    });
    if verdict["kind"] == "find-missing" {
        let message = later.unwrap_or(error)["message"].as_str().unwrap();
        let diff = message.split_once("```diff\n");
        verdict["near"] = json!(diff.map(|(_, diff)| signs(diff.split("```").next().unwrap())));
    }
    if verdict["kind"] == "find-ambiguous" {
        let count = first.split("Found ").nth(1).unwrap();
        verdict["count"] = json!(count.split(' ').next().unwrap().parse::<usize>().unwrap());
    }
    verdict
}

/// The lines of both sides in a comparison, without heads and guides, in any order.
fn signs(diff: &str) -> Vec<String> {
    let head = |line: &str| ["--- Provided", "+++ Actual", ""].contains(&line);
    let lines = diff
        .lines()
        .filter(|line| !line.starts_with('?') && !head(line));
    let mut lines: Vec<_> = lines.map(str::to_owned).collect();
    lines.sort();
    lines
}

fn recorded_pairs_applied(tests: &mut Tests) {
    let departures = &[
        ("empty-find", RULE_9F),
        ("empty-replace-removes-line", RULE_9E),
        ("empty-replace-mid-line", RULE_9E),
        ("empty-replace-last-line", RULE_9E),
    ];
    tests.hold_action_plans("edit_apply_seed", departures, |case| {
        let pairs = case["edits"].as_array().unwrap().iter();
        let mut pairs: Vec<_> = pairs
            .map(|pair| {
                replacement(
                    pair["find"].as_str().unwrap(),
                    pair["replace"].as_str().unwrap(),
                )
            })
            .collect();
        // What is recorded as the result is looked for in our result, with marks at both ends so
        // that nothing is left.
        if let Some(result) = case["result"].as_str() {
            pairs.push(replacement(&format!("«{result}»"), "found"));
        }
        let file = format!("«{}»", case["file"].as_str().unwrap());
        let findings = check::check(&edit(pairs), &tree(&json!({ "a": file })));
        let ours = findings.first().map(|finding| finding.kind);
        let want = case["error_type"].as_str().map(|error| match error {
            "SearchTextNotFoundError" => FindingKind::FindMissing,
            "MultipleMatchesFoundError" => FindingKind::FindAmbiguous,
            other => panic!("{other}"),
        });
        (json!(ours), json!(want))
    });
}

fn recorded_matches(tests: &mut Tests) {
    let departures = &[
        ("empty-find", RULE_9F),
        ("find-longer-than-file", RULE_9C),
        ("indent-plus-4", RULE_9D),
        ("indent-minus", RULE_9D),
        ("trailing-ws-ignored", RULE_9D),
        ("blank-line-in-block", RULE_9D),
    ];
    tests.hold_action_plans("edit_matcher_head", departures, |case| {
        let (file, find) = (
            case["file"].as_str().unwrap(),
            case["find"].as_str().unwrap(),
        );
        let plan = edit(vec![replacement(find, "something else")]);
        let findings = check::check(&plan, &tree(&json!({ "a": file })));
        let ours = match findings.as_slice() {
            [] => json!("once"),
            [one] => match &one.near_miss {
                Some(near) => {
                    let score = f64::from(near.score.hundredths()) / 100.0;
                    let recorded = case["score"].as_f64().unwrap();
                    let alike = (score - recorded).abs() < 0.15;
                    let lines: Vec<_> = file.lines().collect();
                    let lines = lines[near.line - 1..near.end_line].join("\n");
                    json!([lines, if alike { recorded } else { score }])
                }
                None => json!(one.kind),
            },
            more => panic!("{more:?}"),
        };
        let want = match (case["score"].as_f64().unwrap(), &case["ambiguous"]) {
            (1.0, Value::Bool(true)) => json!(FindingKind::FindAmbiguous),
            (1.0, _) => json!("once"),
            (0.0, _) => json!(FindingKind::FindMissing),
            (score, _) => {
                let lines = case["match"].as_str().unwrap();
                json!([lines.trim_end_matches('\n'), score])
            }
        };
        (ours, want)
    });
}

fn replacement(find: &str, replace: &str) -> Replacement {
    Replacement {
        find: find.to_owned(),
        replace: replace.to_owned(),
        find_span: Span::line(2),
        replace_span: Span::line(3),
    }
}

fn edit(edits: Vec<Replacement>) -> ActionPlan {
    let action = Action::Edit(Edit {
        path: ProjectPath::parse("a").unwrap(),
        description: None,
        edits,
    });
    ActionPlan {
        title: "Plan".to_owned(),
        header: Header::default(),
        rationale: String::new(),
        memos: None,
        actions: vec![Step {
            number: 1,
            span: Span::new(1, 3),
            action,
        }],
    }
}
