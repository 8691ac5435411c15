//! Test vectors for plan output: only files that the agent has left count as a plan, never its
//! messages.

use serde_json::{Value, json};

use crate::harness::Tests;
use crate::support::shop::{Shop, events};

crate::harness::tests!(plan_output_verify,);

/// A plan that was there before stays: it is written anew only when somebody asks for it, and never
/// counts as what came.
const DEPARTURES: &[(&str, &str)] = &[(
    "PV-03",
    "the old plan is not removed before there is a new one; it is refused as a result all the same",
)];

const FOLDER: &str = ".planwright/plans/index";

fn plan_output_verify(tests: &mut Tests) {
    tests.hold_agent("plan_output_verify", DEPARTURES, |case| {
        let (input, expect) = (&case["input"], &case["expect"]);
        let shop =
            Shop::new("if [ -f \"$here/wrote\" ]; then cp \"$here/wrote\" plan.md; fi; say said");
        let said = input["result_text"].as_str().unwrap();
        shop.write("say/said", &events(said));
        if let Some(before) = input["before"].as_str() {
            shop.write(&format!("{FOLDER}/plan.md"), before);
        }
        if let Some(wrote) = input["agent_wrote"].as_str() {
            shop.write("wrote", wrote);
        }
        let (code, _, err) = shop.plan(&["--again"]);
        let outcome = if code == 0 { "ok" } else { "error" };
        let written = format!("{FOLDER}/plan.md");
        let text = shop.holds(&written).then(|| shop.text(&written));
        let mut ours = json!({ "outcome": outcome });
        let mut want =
            json!({ "outcome": if expect["outcome"] == "error" { "error" } else { "ok" } });
        if let Some(plan) = expect.get("plan_md") {
            ours["plan_md"] = text.clone().map_or(Value::Null, Value::from);
            want["plan_md"] = plan.clone();
        }
        // Our words: what is wrong is said, in one of two ways.
        if expect["outcome"] == "error" {
            let says = err.contains(
                "did not pass the checks, although the agent was asked twice to correct it",
            );
            ours["says"] = json!(says && !text.is_some_and(|text| text.contains(said)));
            want["says"] = json!(true);
        }
        (ours, want)
    });
}
