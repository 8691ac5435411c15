//! Recorded test vectors, if available: every case is run, and every difference is listed with its
//! reason.
//!
//! `PLANWRIGHT_VECTORS` names the directory with `erk.json`, `agent-and-reports.json` and
//! `action-plan.json`. Recorded outputs of the real client are beside it, in `../claude-streams`.
//! If the variable is not set, each test prints `skipped`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

/// Vectors that are answered differently on purpose: the exact `id`, and why.
pub(crate) type Departures = &'static [(&'static str, &'static str)];

/// The directory with the vectors.
pub(crate) fn directory() -> Option<PathBuf> {
    let found = std::env::var_os("PLANWRIGHT_VECTORS").map(PathBuf::from);
    if found.is_none() {
        println!("skipped: PLANWRIGHT_VECTORS does not name a directory of test vectors");
    }
    found
}

/// The whole of `erk.json`.
pub(crate) fn erk() -> Option<&'static Value> {
    static ERK: OnceLock<Value> = OnceLock::new();
    let directory = directory()?;
    Some(ERK.get_or_init(|| read(&directory.join("erk.json"))))
}

/// The whole of `agent-and-reports.json`.
pub(crate) fn agent() -> Option<&'static Value> {
    static AGENT: OnceLock<Value> = OnceLock::new();
    let directory = directory()?;
    Some(AGENT.get_or_init(|| read(&directory.join("agent-and-reports.json"))))
}

/// The whole of `action-plan.json`.
pub(crate) fn action_plans() -> Option<&'static Value> {
    static PLANS: OnceLock<Value> = OnceLock::new();
    let directory = directory()?;
    Some(PLANS.get_or_init(|| read(&directory.join("action-plan.json"))))
}

/// The directory with what the real client printed, one `NAME.stdout.jsonl` and `NAME.meta.json` for each scenario.
pub(crate) fn claude_streams() -> Option<PathBuf> {
    let found = directory()?.join("../claude-streams");
    if !found.is_dir() {
        println!("skipped: no recorded streams in {}", found.display());
        return None;
    }
    Some(found)
}

/// A JSON file.
pub(crate) fn read(path: &Path) -> Value {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs every vector of `suite` (a name below `suites`, or `probes`, `flows`, `real_world_plan_headers`) of `erk.json`
/// that `mine` accepts through `compare`, which gives our answer and erk's in one comparable form. Fails when one differs
/// that is not in `departures`, or one of `departures` does not differ (any more). Prints the counts.
pub(crate) fn hold(
    suite: &str,
    mine: impl Fn(&Value) -> bool,
    departures: Departures,
    compare: impl Fn(&Value) -> (Value, Value),
) {
    let Some(all) = erk() else { return };
    let cases = all["suites"]
        .get(suite)
        .or_else(|| all.get(suite))
        .and_then(Value::as_array)
        .unwrap_or_else(|| panic!("no such suite: {suite}"));
    hold_cases(
        suite,
        cases.iter().filter(|case| mine(case)),
        departures,
        compare,
    );
}

/// Runs every vector of `agent-and-reports.json` whose `kind` is `kind` through `compare`, which gives our answer and the
/// wanted one in one comparable form. As strict about `departures` as [`hold`].
pub(crate) fn hold_agent(
    kind: &str,
    departures: Departures,
    compare: impl Fn(&Value) -> (Value, Value),
) {
    let Some(all) = agent() else { return };
    let cases = all["vectors"].as_array().unwrap().iter();
    hold_cases(
        kind,
        cases.filter(|case| case["kind"] == kind),
        departures,
        compare,
    );
}

/// Runs every plan of `action-plan.json` through `compare`. As strict about `departures` as [`hold`].
pub(crate) fn hold_action_plans(
    departures: Departures,
    compare: impl Fn(&Value) -> (Value, Value),
) {
    let Some(all) = action_plans() else { return };
    let cases = all["vectors"].as_array().unwrap().iter();
    hold_cases("action plans", cases, departures, compare);
}

/// Runs every vector of one of the smaller suites of `action-plan.json` through `compare`. As strict about `departures` as
/// [`hold`].
pub(crate) fn hold_action_plan_suite(
    suite: &str,
    departures: Departures,
    compare: impl Fn(&Value) -> (Value, Value),
) {
    let Some(all) = action_plans() else { return };
    let cases = all[suite].as_array().unwrap().iter();
    hold_cases(suite, cases, departures, compare);
}

fn hold_cases<'a>(
    name: &str,
    cases: impl Iterator<Item = &'a Value>,
    departures: Departures,
    compare: impl Fn(&Value) -> (Value, Value),
) {
    let mut wrong = Vec::new();
    let mut departed = BTreeSet::new();
    let mut seen = 0;
    for case in cases {
        seen += 1;
        let id = case["id"].as_str().or_else(|| case["name"].as_str());
        let id = id.unwrap();
        let (ours, want) = compare(case);
        let known = departures.iter().any(|(known, _)| *known == id);
        if known {
            departed.insert(id);
        }
        match (ours == want, known) {
            (true, true) => wrong.push(format!("{id} holds and is listed as a departure")),
            (false, false) => wrong.push(format!("{id}\n  ours: {ours}\n  want: {want}")),
            _ => {}
        }
    }
    assert!(seen > 0, "{name}: no vector was taken");
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    let unused: Vec<_> = departures
        .iter()
        .filter(|(id, _)| !departed.contains(id))
        .collect();
    assert!(unused.is_empty(), "{name}: not in the data: {unused:?}");
    println!(
        "{name}: {} of {seen} as recorded, {} departures",
        seen - departed.len(),
        departed.len()
    );
}
