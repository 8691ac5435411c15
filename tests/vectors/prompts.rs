//! The recorded prompt layouts of an older runner, if available: what also holds for Planwright's
//! prompts, and why the rest cannot.

use crate::harness::{Departures, Tests, agent, id};

crate::harness::tests!(layouts_of_an_older_runner_are_listed,);

/// Why a layout is not ours, by the beginning of its vectors' ids.
const DEPARTURES: Departures = &[
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

fn layouts_of_an_older_runner_are_listed(tests: &mut Tests) {
    tests.whole(|| {
        let vectors = agent()["vectors"].as_array().unwrap().iter();
        let ids: Vec<&str> = vectors
            .filter(|vector| vector["kind"] == "prompt_build")
            .map(id)
            .collect();
        let known: Vec<&str> = DEPARTURES.iter().map(|(id, _)| *id).collect();
        assert_eq!(ids, known);
    });
}
