//! The agent's test vectors for reports and plans as documents.

use planwright::formats::front_matter::{self, FrontMatterError};
use planwright::formats::markdown::{BlockKind, blocks};
use planwright::formats::report::{
    DocumentProblem, PlanHeadingKind, Reduction, ReportTally, check_plan, metadata, next_number,
    phase_heading, plan_metadata,
};
use serde_json::{Value, json};

use crate::harness::{Tests, text};

crate::harness::tests!(
    report_metadata,
    plan_metadata_of_the_data,
    plan_heading,
    context_reduction,
    artifact_number,
    aggregate,
    plan_output_verify,
    frontmatter,
);

/// Only what the data names.
fn named(mut ours: Value, want: &Value) -> Value {
    ours.as_object_mut()
        .unwrap()
        .retain(|name, _| want.get(name).is_some());
    ours
}

/// The text of a case: its own, or a seed's that lies beside the vectors.
fn markdown(input: &Value) -> String {
    match input["seed_file"].as_str() {
        None => input["markdown"].as_str().unwrap().to_owned(),
        Some(seed) => text(&format!("../seeds/{seed}")),
    }
}

fn report_metadata(tests: &mut Tests) {
    tests.hold_agent("report_metadata", &[], |case| {
        let want = case["expect"].clone();
        // A file that is not there: the program says so, in `cli_metadata`.
        if let Some(path) = case["input"]["path"].as_str() {
            return (json!({"error": format!("File not found: {path}")}), want);
        }
        let ours = metadata(&markdown(&case["input"]));
        (named(json!(ours), &want), want)
    });
}

fn plan_metadata_of_the_data(tests: &mut Tests) {
    tests.hold_agent("plan_metadata", &[], |case| {
        let want = case["expect"].clone();
        let mut ours = json!(plan_metadata(&markdown(&case["input"])));
        // The data count the phases and say nothing of their state.
        ours["phases"] = ours["phases"]["total"].take();
        (named(ours, &want), want)
    });
}

fn plan_heading(tests: &mut Tests) {
    tests.hold_agent("plan_heading", &[], |case| {
        let line = case["input"]["line"].as_str().unwrap();
        let found = match blocks(line).first().map(|block| &block.kind) {
            Some(BlockKind::Heading { level, text, .. }) => phase_heading(*level, text),
            _ => None,
        };
        let is = |named| found.as_ref().is_some_and(|found| found.kind == named);
        let mut ours = json!({"phase": is(PlanHeadingKind::Phase), "milestone": is(PlanHeadingKind::Milestone)});
        if let Some(found) = &found {
            ours["number"] = json!(found.number);
            ours["title"] = json!(found.title);
            ours["done"] = json!(found.done);
        }
        let want = case["expect"].clone();
        (named(ours, &want), want)
    });
}

fn context_reduction(tests: &mut Tests) {
    const DEPARTURES: &[(&str, &str)] = &[(
        "CR-03",
        "we say whole per cents, by the rule of CR-05: 96, not 95.6",
    )];
    tests.hold_agent("context_reduction", DEPARTURES, |case| {
        let input = &case["input"];
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        // The data give pairs of numbers under many names: first the whole, then what is kept.
        let coordinator = &input["coordinator"];
        let pairs = [
            (
                &coordinator["full_tokens_each"],
                &coordinator["metadata_tokens_each"],
            ),
            (&input["full_tokens"], &input["summary_brief_tokens"]),
            (&input["full_tokens"], &input["metadata_tokens"]),
            (&input["full_chars"], &input["metadata_chars"]),
            (&input["full_bytes"], &input["metadata_bytes"]),
        ];
        let (full, kept) = pairs
            .into_iter()
            .find(|(full, kept)| full.is_u64() && kept.is_u64())
            .unwrap_or_else(|| panic!("{input}"));
        let reduction = Reduction {
            full_bytes: number(full),
            full_tokens: number(full) / 4,
            kept_bytes: number(kept),
            kept_tokens: number(kept) / 4,
        };
        let mut ours = json!({"percent": reduction.percent()});
        if reduction.keeps_full() {
            ours["action"] = json!("keep the full text: metadata is larger");
        }
        let want = case["expect"].clone();
        (named(ours, &want), want)
    });
}

fn artifact_number(tests: &mut Tests) {
    tests.hold_agent("artifact_number", &[], |case| {
        let files = case["input"]["files"].as_array().unwrap();
        let next = next_number(files.iter().map(|file| file.as_str().unwrap()));
        (json!({ "next": next }), case["expect"].clone())
    });
}

fn aggregate(tests: &mut Tests) {
    const DEPARTURES: &[(&str, &str)] = &[(
        "G-07",
        "there is one policy, half of the reports: 2 of 3 are enough",
    )];
    tests.hold_agent("aggregate", DEPARTURES, |case| {
        let input = &case["input"];
        let fabricated = input.get("seed_rule").is_some();
        let tally = match input["agents"].as_array() {
            Some(agents) => {
                let ok = agents.iter().filter(|agent| agent["ok"] == true).count();
                let lost = agents.len() - ok;
                ReportTally {
                    expected: agents.len(),
                    ok,
                    degraded: if fabricated { lost } else { 0 },
                    failed: if fabricated { 0 } else { lost },
                }
            }
            None => ReportTally {
                expected: usize::try_from(input["expected"].as_u64().unwrap()).unwrap(),
                ok: usize::try_from(input["ok"].as_u64().unwrap()).unwrap(),
                ..ReportTally::default()
            },
        };
        let ours = json!({
            "successful": tally.ok, "failed": tally.failed, "pass": tally.passes(), "needed": tally.needed(),
            "can_continue": tally.passes(), "requires_retry": tally.ok < tally.expected,
            "degraded": tally.degraded > 0,
        });
        let mut want = case["expect"].clone();
        // Topics and their order are the engine's.
        want.as_object_mut().unwrap().shift_remove("failed_topics");
        (named(ours, &want), want)
    });
}

fn plan_output_verify(tests: &mut Tests) {
    tests.hold_agent("plan_output_verify", &[], |case| {
        // Whether there is a file is the engine's; here is what is said of one that is there. The
        // data's texts are short, so that only emptiness and leftovers are compared.
        let wrote = case["input"]["agent_wrote"].as_str();
        let complaints = wrote.map(check_plan).unwrap_or_default();
        let said = complaints.iter().find_map(|complaint| match complaint {
            DocumentProblem::Empty => Some("empty file"),
            DocumentProblem::Placeholder { .. } => Some("scaffold placeholders left"),
            _ => None,
        });
        (json!(said), case["expect"]["diagnostic"].clone())
    });
}

fn frontmatter(tests: &mut Tests) {
    tests.hold_agent("frontmatter", &[], |case| {
        // Our words say what to do; the data's say what is wrong.
        let ours = match front_matter::parse(case["input"]["raw"].as_str().unwrap()) {
            Ok((fields, body)) => json!({"metadata": fields, "body": body}),
            Err(FrontMatterError::Unterminated) => {
                json!({"error": "malformed frontmatter: unterminated block"})
            }
            Err(FrontMatterError::Closer { .. }) => {
                json!({"error": "malformed frontmatter: closing --- must be on its own line"})
            }
            Err(error) => json!({"error": error.to_string()}),
        };
        (ours, case["expect"].clone())
    });
}
