//! The validator of action plans against recorded verdicts: what the seed's validator says about each plan and its files,
//! how it applies pairs, and what a later matcher finds. Where ours differs on purpose, the number of the rule in the
//! checklist for ports says why.

use std::collections::BTreeMap;

use planwright::formats::action_plan::check::{self, Files, Finding, FindingKind, Found};
use planwright::formats::action_plan::{
    self, Action, ActionPlan, Edit, Header, ProjectPath, Replacement, Span, Step,
};
use serde_json::{Value, json};

use crate::vectors;

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
const RULE_10: &str = "rule 10: a command is not empty";

struct Tree(BTreeMap<String, String>);

impl Files for Tree {
    fn look(&self, path: &ProjectPath) -> Found<'_> {
        if let Some(text) = self.0.get(path.as_str()) {
            return Found::File(text);
        }
        let below = format!("{path}/");
        match self.0.keys().any(|other| other.starts_with(&below)) {
            true => Found::Folder,
            false => Found::Missing,
        }
    }
}

fn tree(files: &Value) -> Tree {
    let files = files.as_object().unwrap().iter();
    let text = |text: &Value| text.as_str().unwrap().to_owned();
    Tree(files.map(|(path, it)| (path.clone(), text(it))).collect())
}

#[test]
fn recorded_verdicts() {
    let departures = &[
        ("validate/create-target-exists-overwrite", RULE_7),
        ("validate/edit-ambiguous-match-all", RULE_7),
    ];
    vectors::hold_action_plan_suite("validator_vectors", departures, |case| {
        let want = case["expected"]["errors"].as_array().unwrap().iter();
        let want: Vec<Value> = want.map(recorded).collect();
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
            let words = finding.problem.split(' ');
            let count = words.filter_map(|word| word.parse::<usize>().ok()).next();
            verdict["count"] = json!(count);
        }
        _ => {}
    }
    verdict
}

/// The seed's sentence in our words.
fn recorded(error: &Value) -> Value {
    let message = error["message"].as_str().unwrap();
    if message.contains("not allowed") {
        return json!({ "refused": "bad-path" });
    }
    let mut verdict = json!({ "kind": null, "path": error["file_path"] });
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    verdict["kind"] = json!(match first {
        it if it.starts_with("File already exists") => "target-exists",
        it if it.starts_with("File to edit does not exist") => "missing",
        it if it.contains("could not be located") => "find-missing",
        it if it.contains("is ambiguous") => "find-ambiguous",
        it if it.contains("are identical") => "same-replace",
        other => panic!("{other}"),
    });
    if verdict["kind"] == "find-missing" {
        let diff = rest.split_once("```diff\n");
        // The seed runs lines without an end into the next ones.
        let diff = diff.map(|(_, diff)| diff.split("```").next().unwrap());
        verdict["near"] = json!(diff.map(signs));
    }
    if verdict["kind"] == "find-ambiguous" {
        let count = first.split("Found ").nth(1).unwrap();
        verdict["count"] = json!(count.split(' ').next().unwrap().parse::<usize>().unwrap());
    }
    verdict
}

/// The lines of both sides in a comparison, without the seed's guides.
fn signs(diff: &str) -> Vec<String> {
    let lines = diff.lines().filter(|line| !line.starts_with('?'));
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn recorded_pairs_applied() {
    let departures = &[("empty-find", RULE_9F)];
    vectors::hold_action_plan_suite("edit_apply_seed", departures, |case| {
        let pairs = case["edits"].as_array().unwrap().iter();
        let mut pairs: Vec<_> = pairs
            .map(|pair| {
                replacement(
                    pair["find"].as_str().unwrap(),
                    pair["replace"].as_str().unwrap(),
                )
            })
            .collect();
        // What is recorded as the result is looked for in our result.
        if let Some(result) = case["result"].as_str() {
            pairs.push(replacement(result, "found"));
        }
        let findings = check::check(&edit(pairs), &tree(&json!({ "a": case["file"] })));
        let ours = findings.first().map(|finding| finding.kind);
        let want = case["error_type"].as_str().map(|error| match error {
            "SearchTextNotFoundError" => FindingKind::FindMissing,
            "MultipleMatchesFoundError" => FindingKind::FindAmbiguous,
            other => panic!("{other}"),
        });
        (json!(ours), json!(want))
    });
}

#[test]
fn recorded_matches() {
    let departures = &[("empty-find", RULE_9F)];
    vectors::hold_action_plan_suite("edit_matcher_head", departures, |case| {
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
                    let lines: Vec<_> = file.lines().collect();
                    json!(lines[near.line - 1..near.end_line].join("\n"))
                }
                None => json!(one.kind),
            },
            more => panic!("{more:?}"),
        };
        let want = match (case["score"].as_f64().unwrap(), &case["ambiguous"]) {
            (1.0, Value::Bool(true)) => json!(FindingKind::FindAmbiguous),
            (1.0, _) => json!("once"),
            (0.0, _) => json!(FindingKind::FindMissing),
            _ => json!(case["match"].as_str().unwrap().trim_end_matches('\n')),
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
