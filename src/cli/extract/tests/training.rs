//! Trains the model that estimates how likely each candidate is to be the plan
//! (`engine/extract/likelihood.rs`) with the labelled conversations of `fixtures/conversations`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use gradient_boosting::{Example, Model, train};

use crate::cli::extract::evaluate::{
    Expected, collect, expected, first_line, last_line, post_numbers,
};
use crate::cli::extract::{Input, read};
use crate::cli::input;
use crate::engine::extract::scan;
use crate::engine::extract::tests::remarks;
use crate::engine::model::candidate::Candidate;

/// Folders of conversations that the model is trained with.
const FOLDERS: [&str; 2] = ["tune", "train"];
/// Probability that a text is the plan if nobody can tell which one is.
const UNCLEAR: f32 = 0.5;
/// Weight of conversations that were made of single comments. There are many of them.
const COMMENT_WEIGHT: f32 = 0.16;
/// One in this many comments is used.
const STEP: usize = 8;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns an example for each text that is compared with others in the conversations of [`FOLDERS`]
/// and below the plans of `fixtures/remarks`.
fn examples() -> Vec<Example> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&fixture("fixtures/conversations").join(folder), &mut files).unwrap();
    }
    files.sort();
    let mut conversations = remarks::conversations(STEP)
        .into_iter()
        .map(|(group, text)| (group, text, COMMENT_WEIGHT))
        .collect::<Vec<_>>();
    conversations.extend(files.iter().map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, input::text(file).unwrap(), 1.0)
    }));
    // What a model says about comments that it was trained with is better than what it will say
    // about others.
    let mut found = Vec::new();
    remarks::with_held_out_models(|part| {
        for (group, text, weight) in &conversations {
            if remarks::part_of(group) == part {
                found.extend(in_conversation(group, text, *weight));
            }
        }
    });
    found
}

fn in_conversation(name: &str, text: &str, weight: f32) -> Vec<Example> {
    let input = read(name, text).unwrap();
    let wanted = expected(&input.labels).unwrap();
    let scan = scan(&input.thread, &input.trigger);
    let compared = scan.compared(&input.thread, &input.trigger, &input.trust);
    let exact = compared
        .iter()
        .any(|(candidate, _)| is_plan(candidate, &input, &wanted, true));
    let target = |candidate: &Candidate| match &wanted {
        Expected::Plan { .. } => f32::from(u8::from(is_plan(candidate, &input, &wanted, exact))),
        Expected::Unclear if is_in_question(candidate, &input) => UNCLEAR,
        Expected::None | Expected::Unclear => 0.0,
    };
    compared
        .into_iter()
        .map(|(candidate, values)| Example {
            target: target(&candidate),
            values,
            weight,
        })
        .collect()
}

fn numbers(candidate: &Candidate, input: &Input) -> String {
    post_numbers(&candidate.source, &input.numbers, input.command_post)
}

/// Whether a candidate is the expected plan, or at least from one of its posts.
fn is_plan(candidate: &Candidate, input: &Input, wanted: &Expected, exact: bool) -> bool {
    let Expected::Plan {
        posts, first, last, ..
    } = wanted
    else {
        return false;
    };
    let found = numbers(candidate, input);
    if exact {
        found == *posts
            && first.iter().any(|line| line == first_line(&candidate.text))
            && last.iter().any(|line| line == last_line(&candidate.text))
    } else {
        found
            .split('+')
            .any(|one| posts.split('+').any(|post| post == one))
    }
}

fn is_in_question(candidate: &Candidate, input: &Input) -> bool {
    let between = input
        .labels
        .get("expect-between")
        .map_or("", String::as_str);
    let found = numbers(candidate, input);
    let mut posts = between.split(',').map(str::trim);
    posts.any(|post| found.split('+').any(|one| one == post))
}

/// The model must be trained anew after each change of the labelled conversations or of what the
/// model considers.
#[test]
fn the_model_is_the_one_that_the_labelled_conversations_give() {
    let path = fixture("src/engine/extract/likelihood.trees");
    let examples = examples();
    let trained = train(&examples);
    if std::env::var_os("PLANWRIGHT_TRAIN").is_some() {
        fs::write(&path, trained.to_bytes()).unwrap();
        return;
    }
    // Machines compute exponentials with different last digits.
    let stored = Model::from_bytes(&fs::read(&path).unwrap()).unwrap();
    let differ = examples
        .iter()
        .filter(|it| {
            (stored.probability(&it.values) - trained.probability(&it.values)).abs() > 0.05
        })
        .count();
    assert!(
        differ * 100 <= examples.len(),
        "{differ} of {} probabilities differ: train the model as fixtures/conversations/README.md says",
        examples.len()
    );
}
