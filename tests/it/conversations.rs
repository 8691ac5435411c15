//! How often the right plan is chosen in the labelled conversations of `fixtures/conversations`.
//!
//! The figures here are lower bounds that must not be undercut. A change that improves the figures
//! raises the bounds.

use std::process::Command;

use serde_json::Value;

/// What became of the conversations of one part.
#[derive(Default)]
struct Tally {
    all: usize,
    right: usize,
    /// Something else than the plan that is meant would be saved, and nobody would be asked.
    wrong: usize,
    /// Asked although it is clear.
    asked: usize,
    unclear: usize,
    unclear_right: usize,
}

fn evaluated() -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/conversations");
    let output = Command::new(env!("CARGO_BIN_EXE_planwright"))
        .args(["extract", "--evaluate", "--json", folder])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn tally(found: &Value, part: &str) -> Tally {
    let mut tally = Tally::default();
    for case in found["cases"].as_array().unwrap() {
        if case["part"] != part {
            continue;
        }
        let (outcome, expected) = (&case["outcome"], &case["expected"]);
        tally.all += 1;
        tally.right += usize::from(outcome == "right");
        tally.wrong += usize::from(outcome == "wrong");
        tally.asked += usize::from(outcome == "asked");
        tally.unclear += usize::from(expected == "unclear");
        tally.unclear_right += usize::from(expected == "unclear" && outcome == "right");
    }
    tally
}

/// The share of `part` in `all`, in tenths of a percent.
fn share(part: usize, all: usize) -> usize {
    part * 1000 / all
}

#[test]
fn the_right_plan_is_chosen_as_often_as_before() {
    let found = evaluated();
    let tune = tally(&found, "tune");
    assert!(tune.all >= 150, "{}", tune.all);
    assert!(
        share(tune.right, tune.all) >= 910,
        "{} of {}",
        tune.right,
        tune.all
    );
    let new = tally(&found, "new");
    assert!(
        share(new.right, new.all) >= 715 && share(new.wrong, new.all) <= 45,
        "{} of {}, {} wrong",
        new.right,
        new.all,
        new.wrong
    );
    let test = tally(&found, "test");
    assert!(test.all >= 150, "{}", test.all);
    assert!(
        share(test.right, test.all) >= 860,
        "{} of {}",
        test.right,
        test.all
    );
    assert!(
        share(test.wrong, test.all) <= 25,
        "{} of {}",
        test.wrong,
        test.all
    );
    assert!(
        share(test.asked, test.all) <= 30,
        "{} of {}",
        test.asked,
        test.all
    );
    assert!(
        share(test.unclear_right, test.unclear) >= 780,
        "{} of {}",
        test.unclear_right,
        test.unclear
    );
}
