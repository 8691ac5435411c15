//! How often single comments below one or two plans are understood, in fifteen languages.

use super::rules::{Outcome, TWO, outcome, plan};

/// The comments of `fixtures/remarks`.
const REMARKS: &str = include_str!("../../../../fixtures/remarks/remarks.tsv");

/// Lower bound of the comments that are understood, in percent.
const MIN_RIGHT: usize = 80;
/// Upper bound of the comments after which something else would be saved, in percent.
const MAX_WRONG: usize = 3;

/// Returns the conversation with the comment, and the right outcome.
fn case(category: &str, said: &str) -> (String, Outcome) {
    let cache = || plan("## Cache per harbour", "4. Log every miss with the harbour");
    let feed = || plan("## Table from the feed", "4. Show the age of the table");
    let (two, author, expected) = match category {
        "first" => (true, "dora", cache()),
        "second" => (true, "dora", feed()),
        "open" => (true, "dora", Outcome::Unclear),
        "neither" => (true, "dora", Outcome::Nothing),
        "yes" | "remark" => (false, "dora", cache()),
        "no" => (false, "dora", Outcome::Nothing),
        "back" => (false, "henriette", Outcome::Nothing),
        other => panic!("the category `{other}` is unknown"),
    };
    let plans = if two {
        TWO.to_owned()
    } else {
        TWO.split("--- @bob-m").next().unwrap().to_owned()
    };
    let text = format!(
        "{plans}--- @{author} 2026-03-02T12:00:00Z\n{said}\n\n--- @caroline 2026-03-02T13:00:00Z\n/save-plan\n"
    );
    (text, expected)
}

#[test]
fn most_comments_below_a_plan_are_understood() {
    let (mut all, mut right, mut wrong) = (0, 0, Vec::new());
    for line in REMARKS.lines().filter(|line| !line.starts_with('#')) {
        let [category, language, said] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}");
        };
        let (text, expected) = case(category, said);
        let found = outcome(&text);
        all += 1;
        if found == expected {
            right += 1;
        } else if matches!(found, Outcome::Plan(..)) {
            wrong.push(format!("{category} {language}: {said}"));
        }
    }
    assert!(all >= 480, "{all}");
    assert!(right * 100 >= MIN_RIGHT * all, "{right} of {all}");
    assert!(
        wrong.len() * 100 <= MAX_WRONG * all,
        "{} of {all}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
