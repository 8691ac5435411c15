//! erk's recorded test vectors, where they are at hand: every suite runs, and every difference is listed with its reason.
//!
//! `PLANWRIGHT_VECTORS` names the directory with `erk.json`; without it each test says `skipped`.

use std::collections::BTreeSet;
use std::path::PathBuf;
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
    let path = directory()?.join("erk.json");
    Some(ERK.get_or_init(|| {
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).unwrap()
    }))
}

/// Runs every vector of `suite` (a name below `suites`, or `probes`, `flows`, `real_world_plan_headers`) that `mine`
/// accepts through `compare`, which gives our answer and erk's in one comparable form. Fails when one differs that is
/// not in `departures`, or one of `departures` does not differ (any more). Prints the counts.
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
    let mut wrong = Vec::new();
    let mut departed = BTreeSet::new();
    let mut seen = 0;
    for case in cases.iter().filter(|case| mine(case)) {
        seen += 1;
        let id = case["id"].as_str().unwrap();
        let (ours, want) = compare(case);
        let known = departures.iter().any(|(known, _)| *known == id);
        if known {
            departed.insert(id);
        }
        match (ours == want, known) {
            (true, true) => wrong.push(format!("{id} holds and is listed as a departure")),
            (false, false) => wrong.push(format!("{id}\n  ours: {ours}\n  erk:  {want}")),
            _ => {}
        }
    }
    assert!(seen > 0, "{suite}: no vector was taken");
    assert!(wrong.is_empty(), "{suite}:\n{}", wrong.join("\n"));
    let unused: Vec<_> = departures
        .iter()
        .filter(|(id, _)| !departed.contains(id))
        .collect();
    assert!(unused.is_empty(), "{suite}: not in the data: {unused:?}");
    println!(
        "{suite}: {} of {seen} as erk, {} departures",
        seen - departed.len(),
        departed.len()
    );
}
