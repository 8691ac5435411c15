//! Trains the models that estimate which blocks of a post belong to its plan
//! (`engine/extract/extent.rs`), whether a text is a plan at all (`engine/extract/plausibility.rs`)
//! and how likely each candidate is to be the plan (`engine/extract/likelihood.rs`) with the labelled conversations of `fixtures/conversations`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gradient_boosting::{Example, Model, train};

use crate::cli::extract::evaluate::{
    Expected, collect, expected, first_line, last_line, post_numbers,
};
use crate::cli::extract::{Input, read};
use crate::cli::input;
use crate::engine::extract::tests::extents::{self, Block};
use crate::engine::extract::tests::{remarks, set_held_out};
use crate::engine::extract::{MIN_SCORE, scan};
use crate::engine::model::candidate::Candidate;

/// Folders of conversations that the model is trained with.
const FOLDERS: [&str; 2] = ["tune", "train"];
/// Probability that a text is the plan if nobody can tell which one is.
const UNCLEAR: f32 = 0.5;
/// Weight of conversations in which the plan is unclear. They are few, and saving one of their texts
/// is worse than asking.
const UNCLEAR_WEIGHT: f32 = 1.5;
/// Weight of conversations that were made of single comments. There are many of them.
const COMMENT_WEIGHT: f32 = 0.16;
/// One in this many comments is used.
const STEP: usize = 8;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the names and contents of the files in [`FOLDERS`].
fn files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&fixture("fixtures/conversations").join(folder), &mut files).unwrap();
    }
    files.sort();
    let named = files.iter().map(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        (name, input::text(file).unwrap())
    });
    named.collect()
}

/// Returns the blocks of the posts with the expected plans, with the names of the conversations for
/// which `wanted` holds.
fn blocks(wanted: impl Fn(&str) -> bool) -> Vec<(String, Block)> {
    let mut found = Vec::new();
    for (name, text) in files().into_iter().filter(|(name, _)| wanted(name)) {
        let input = read(&name, &text).unwrap();
        let Some(Expected::Plan {
            posts, first, last, ..
        }) = expected(&input.labels)
        else {
            continue;
        };
        let post = input.thread.posts.iter().find(|post| {
            let of =
                |(id, number): &(Option<u64>, usize)| *id == post.id && number.to_string() == posts;
            input.numbers.iter().any(of)
        });
        let Some(post) = post else { continue };
        let blocks = extents::examples(&post.body, &first, &last).into_iter();
        found.extend(blocks.map(|block| (name.clone(), block)));
    }
    found
}

/// Trains the model for the words of blocks.
fn words<'b>(blocks: impl Iterator<Item = &'b Block>) -> text_classifier::Model {
    let labelled: Vec<_> = blocks
        .map(|block| (block.words.clone(), usize::from(block.belongs)))
        .collect();
    text_classifier::train(&labelled, 2)
}

/// Returns an example for each block, whose words are rated by a model that was not trained with
/// them.
fn extents_of_blocks() -> Vec<Example> {
    let all = blocks(|_| true);
    let mut found = Vec::new();
    for part in 0..remarks::FOLDS {
        let others = all
            .iter()
            .filter(|(name, _)| remarks::part_of(name) != part);
        extents::set_held_out(Some(words(others.map(|(_, block)| block))));
        let rated = blocks(|name| remarks::part_of(name) == part);
        found.extend(rated.into_iter().map(|(_, block)| Example {
            values: block.features,
            target: f32::from(u8::from(block.belongs)),
            weight: 1.0,
        }));
    }
    extents::set_held_out(None);
    found
}

/// Returns an example for each part of a post that could be a plan, with the name of the
/// conversation.
fn texts() -> Vec<(String, Example)> {
    let plans = remarks::plans();
    let mut found = Vec::new();
    for (name, text) in files() {
        let input = read(&name, &text).unwrap();
        let wanted = expected(&input.labels).unwrap();
        let labelled = plans.get(&name);
        let scan = scan(&input.thread, &input.trigger);
        for (candidate, values) in scan.plausible(&input.thread, &input.trust) {
            let own = numbers(&candidate, &input);
            let is_labelled = |plans: &HashSet<String>| own.split('+').any(|it| plans.contains(it));
            let is_plan = is_plan(&candidate, &input, &wanted, false)
                || matches!(wanted, Expected::Unclear) && is_in_question(&candidate, &input)
                || labelled.is_some_and(is_labelled);
            // Without labels, nobody has said whether the other texts are plans.
            let weight = match (&wanted, candidate.score >= MIN_SCORE) {
                _ if is_plan || labelled.is_some() => 1.0,
                (Expected::None, false) => 1.0,
                (Expected::None, true) => 0.3,
                (_, false) => 0.5,
                (_, true) => continue,
            };
            let target = f32::from(u8::from(is_plan));
            found.push((
                name.clone(),
                Example {
                    values,
                    target,
                    weight,
                },
            ));
        }
    }
    found
}

/// Returns an example for each text that is compared with others in the conversations of [`FOLDERS`]
/// and below the plans of `fixtures/remarks`.
fn candidates() -> Vec<Example> {
    let mut conversations = remarks::conversations(STEP)
        .into_iter()
        .map(|(group, text)| (group, text, COMMENT_WEIGHT))
        .collect::<Vec<_>>();
    conversations.extend(files().into_iter().map(|(name, text)| (name, text, 1.0)));
    // What a model says about comments that it was trained with is better than what it will say
    // about others.
    let mut found = Vec::new();
    let texts = texts();
    remarks::with_held_out_models(|part| {
        let others = texts
            .iter()
            .filter(|(name, _)| remarks::part_of(name) != part);
        let others: Vec<Example> = others.map(|(_, example)| example.clone()).collect();
        set_held_out(Some(train(&others)));
        for (group, text, weight) in &conversations {
            if remarks::part_of(group) == part {
                found.extend(in_conversation(group, text, *weight));
            }
        }
    });
    set_held_out(None);
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
    let weight = match wanted {
        Expected::Unclear => weight * UNCLEAR_WEIGHT,
        Expected::Plan { .. } | Expected::None => weight,
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

/// Trains a model, and compares it with the stored one, or stores it if `PLANWRIGHT_TRAIN` is set.
fn check(file: &str, examples: &[Example]) {
    let path = fixture("src/engine/extract").join(file);
    let trained = train(examples);
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

/// The models must be trained anew after each change of the labelled conversations or of what they
/// consider. This one comes first.
#[test]
fn the_model_for_words_is_the_one_that_the_labelled_conversations_give() {
    let trained = words(blocks(|_| true).iter().map(|(_, block)| block));
    remarks::check("src/engine/extract/extent.weights", &trained);
}

#[test]
fn the_model_for_extents_is_the_one_that_the_labelled_conversations_give() {
    check("extent.trees", &extents_of_blocks());
}

#[test]
fn the_model_for_texts_is_the_one_that_the_labelled_conversations_give() {
    let examples: Vec<Example> = texts().into_iter().map(|(_, example)| example).collect();
    check("plausibility.trees", &examples);
}

#[test]
fn the_model_for_candidates_is_the_one_that_the_labelled_conversations_give() {
    check("likelihood.trees", &candidates());
}
