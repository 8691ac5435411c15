//! The recorded prompt layouts of an older runner, if available: what also holds for Planwright's
//! prompts, and why the rest cannot.

use serde_json::Value;

use crate::vectors;

/// Why a layout is not ours, by the beginning of its vectors' ids.
const DEPARTURES: &[(&str, &str)] = &[
    (
        "P-02",
        "instructions, knowledge and task in one text without any bounds: ours are apart, and data has delimiters",
    ),
    (
        "P-04",
        "tells the agent into which folder to write: ours writes nothing, its answer is the plan",
    ),
    (
        "P-05",
        "joins three files of a plan folder: a plan is one document",
    ),
    ("P-06", "the same, without the file that must be there"),
];

#[test]
fn layouts_of_an_older_runner_are_listed() {
    let Some(path) = vectors::directory().map(|folder| folder.join("agent-and-reports.json"))
    else {
        return;
    };
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let all: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<&str> = all["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|vector| vector["kind"] == "prompt_build")
        .map(|vector| vector["id"].as_str().unwrap())
        .collect();
    let unlisted: Vec<_> = ids
        .iter()
        .filter(|id| !DEPARTURES.iter().any(|(known, _)| known == *id))
        .collect();
    assert!(unlisted.is_empty(), "no reason is given for {unlisted:?}");
    let unused: Vec<_> = DEPARTURES
        .iter()
        .filter(|(known, _)| !ids.contains(known))
        .collect();
    assert!(unused.is_empty(), "not in the data: {unused:?}");
    println!(
        "prompt_build: 0 of {} apply, {} departures",
        ids.len(),
        DEPARTURES.len()
    );
}
