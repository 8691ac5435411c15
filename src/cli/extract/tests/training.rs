//! Trains the models that estimate which blocks of a post belong to its plan
//! (`engine/extract/extent.rs`), whether a text is a plan at all (`engine/extract/plausibility.rs`)
//! and how likely each candidate is to be the plan (`engine/extract/likelihood.rs`) with the labelled
//! conversations of `fixtures/conversations`.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gradient_boosting::{Example, Model, train};
use text_classifier::Features;

use crate::cli::extract::evaluate::{
    Expected, case_in, collect, expected, first_line, last_line, post_numbers, table,
};
use crate::cli::extract::{Input, read};
use crate::cli::input;
use crate::engine::extract::models::{MEMBERSHIPS, Models, replace};
use crate::engine::extract::tests::extents::{self, Block};
use crate::engine::extract::tests::remarks;
use crate::engine::extract::{MIN_SCORE, scan};
use crate::engine::model::candidate::Candidate;

/// Folders of conversations that the model is trained with.
const FOLDERS: [&str; 2] = ["tune", "train"];
/// Probability that a text is the plan if nobody can tell which one is.
const UNCLEAR: f32 = 0.5;
/// Weight of a text in question where the plan is unclear. There are few, and saving one of them is
/// worse than asking.
const UNCLEAR_WEIGHT: f32 = 2.8;
/// Weight of conversations that were made of single comments. There are many of them.
const COMMENT_WEIGHT: f32 = 0.4;
/// One in this many comments is used.
const STEP: usize = 8;

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A conversation of [`FOLDERS`].
struct File {
    folder: &'static str,
    name: String,
    text: String,
}

fn files() -> Vec<File> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        let mut paths = Vec::new();
        collect(&fixture("fixtures/conversations").join(folder), &mut paths).unwrap();
        files.extend(paths.iter().map(|path| File {
            folder,
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
            text: input::text(path).unwrap(),
        }));
    }
    files.sort_by(|one, other| (one.folder, &one.name).cmp(&(other.folder, &other.name)));
    files
}

/// Something that a model is trained with, and the conversation that it comes from.
type Of<T> = (String, T);

/// Returns what comes from other parts of the conversations.
fn without<T>(part: usize, all: &[Of<T>]) -> impl Iterator<Item = &T> {
    let others = all
        .iter()
        .filter(move |(name, _)| remarks::part_of(name) != part);
    others.map(|(_, one)| one)
}

/// Does the work for each part in a thread of its own, because models are replaced by thread.
fn by_part<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads = (0..remarks::FOLDS).map(|part| scope.spawn(move || work(part)));
        let threads: Vec<_> = threads.collect();
        let results = threads.into_iter().map(|thread| thread.join().unwrap());
        results.collect()
    })
}

fn train_with(all: &[Of<Example>]) -> Model {
    train(&all.iter().map(|(_, it)| it.clone()).collect::<Vec<_>>())
}

/// Trains a model with what comes from other parts of the conversations.
fn train_without(part: usize, all: &[Of<Example>]) -> Model {
    train(&without(part, all).cloned().collect::<Vec<_>>())
}

/// Returns the blocks of the posts with the expected plans of the conversations for which `wanted`
/// holds.
fn blocks(wanted: impl Fn(&str) -> bool) -> Vec<Of<Block>> {
    let mut found = Vec::new();
    for File { name, text, .. } in files().into_iter().filter(|file| wanted(&file.name)) {
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
fn words_of_blocks<'b>(blocks: impl Iterator<Item = &'b Block>) -> text_classifier::Model {
    let labelled: Vec<_> = blocks
        .map(|block| (block.words.clone(), usize::from(block.belongs)))
        .collect();
    text_classifier::train(&labelled, MEMBERSHIPS)
}

/// A part of a post that could be a plan.
struct Text {
    example: Example,
    /// What the model for words considers.
    words: Features,
}

/// Returns each part of a post that could be a plan, in the conversations for which `wanted` holds.
fn texts(wanted: impl Fn(&str) -> bool) -> Vec<Of<Text>> {
    let plans = remarks::plans();
    let mut found = Vec::new();
    for File { name, text, .. } in files().into_iter().filter(|file| wanted(&file.name)) {
        let input = read(&name, &text).unwrap();
        let expected = expected(&input.labels).unwrap();
        let labelled = plans.get(&name);
        let scan = scan(&input.thread, &input.trigger);
        for (candidate, values, words) in scan.plausible(&input.thread, &input.trust) {
            let own = numbers(&candidate, &input);
            let is_labelled = |plans: &HashSet<String>| own.split('+').any(|it| plans.contains(it));
            let is_plan = is_plan(&candidate, &input, &expected, false)
                || matches!(expected, Expected::Unclear) && is_in_question(&candidate, &input)
                || labelled.is_some_and(is_labelled);
            // Without labels, nobody has said whether the other texts are plans.
            let weight = match (&expected, candidate.score >= MIN_SCORE) {
                _ if is_plan || labelled.is_some() => 1.0,
                (Expected::None, false) => 1.0,
                (Expected::None, true) => 0.3,
                (_, false) => 0.5,
                (_, true) => continue,
            };
            let example = Example {
                values,
                target: f32::from(u8::from(is_plan)),
                weight,
            };
            found.push((name.clone(), Text { example, words }));
        }
    }
    found
}

/// Trains the model for the words of texts.
fn words_of_texts<'t>(texts: impl Iterator<Item = &'t Text>) -> text_classifier::Model {
    let labelled: Vec<_> = texts
        .filter(|it| it.example.weight >= 0.5)
        .map(|it| (it.words.clone(), usize::from(it.example.target > 0.5)))
        .collect();
    text_classifier::train(&labelled, MEMBERSHIPS)
}

/// What the models for blocks and texts are trained with. What a model says about words that it was
/// trained with is better than what it will say about others, so the words of each part are rated by
/// a model that was trained without it.
struct Examples {
    blocks: Vec<Of<Block>>,
    rated_blocks: Vec<Of<Example>>,
    texts: Vec<Of<Text>>,
    rated_texts: Vec<Of<Example>>,
    /// Models for each part, trained without its conversations.
    without_parts: Vec<Models>,
}

impl Examples {
    fn new() -> Self {
        let all = blocks(|_| true);
        let rated_blocks: Vec<Of<Example>> = by_part(|part| {
            replace(Models {
                words_of_blocks: Some(words_of_blocks(without(part, &all))),
                ..Models::default()
            });
            let rated = |(name, block): Of<Block>| {
                let example = Example {
                    values: block.features,
                    target: f32::from(u8::from(block.belongs)),
                    weight: 1.0,
                };
                (name, example)
            };
            let blocks = blocks(|name| remarks::part_of(name) == part);
            blocks.into_iter().map(rated).collect::<Vec<_>>()
        })
        .concat();
        // The extents of texts are estimated in the same way.
        let mut without_parts = by_part(|part| Models {
            words_of_blocks: Some(words_of_blocks(without(part, &all))),
            extents: Some(train_without(part, &rated_blocks)),
            ..Models::default()
        });
        let texts_by = |models: &[Models]| -> Vec<Of<Text>> {
            let texts = by_part(|part| {
                replace(models[part].clone());
                texts(|name| remarks::part_of(name) == part)
            });
            texts.into_iter().flatten().collect()
        };
        let all_texts = texts_by(&without_parts);
        for (part, models) in without_parts.iter_mut().enumerate() {
            models.words_of_texts = Some(words_of_texts(without(part, &all_texts)));
        }
        let rated_texts: Vec<Of<Example>> = texts_by(&without_parts)
            .into_iter()
            .map(|(name, text)| (name, text.example))
            .collect();
        let trained = by_part(|part| train_without(part, &rated_texts));
        for (models, texts) in without_parts.iter_mut().zip(trained) {
            models.texts = Some(texts);
        }
        Self {
            blocks: all,
            rated_blocks,
            texts: all_texts,
            rated_texts,
            without_parts,
        }
    }

    /// Returns models trained with all examples.
    fn models(&self) -> Models {
        Models {
            words_of_blocks: Some(words_of_blocks(self.blocks.iter().map(|(_, it)| it))),
            extents: Some(train_with(&self.rated_blocks)),
            words_of_texts: Some(words_of_texts(self.texts.iter().map(|(_, it)| it))),
            texts: Some(train_with(&self.rated_texts)),
            ..Models::default()
        }
    }

    /// Returns models for each part, trained without its conversations and comments. The ratings of
    /// the words in the others come from models that were trained with them, though.
    fn models_without_parts(&self) -> Vec<Models> {
        let comments = remarks::models_without_parts().into_iter().enumerate();
        let models = comments.map(|(part, comments)| Models {
            comments: Some(comments),
            ..self.without_parts[part].clone()
        });
        models.collect()
    }
}

/// Returns an example for each text that is compared with others in the conversations of [`FOLDERS`]
/// and below the plans of `fixtures/remarks`, rated by the `models` for its part.
fn candidates(models: &[Models]) -> Vec<Of<Example>> {
    let of_comments = remarks::conversations(STEP)
        .into_iter()
        .map(|(group, text)| (group, text, COMMENT_WEIGHT));
    let of_files = files().into_iter().map(|it| (it.name, it.text, 1.0));
    let all: Vec<_> = of_comments.chain(of_files).collect();
    let found = by_part(|part| {
        replace(models[part].clone());
        let mut found = Vec::new();
        for (group, text, weight) in &all {
            if remarks::part_of(group) == part {
                let examples = in_conversation(group, text, *weight).into_iter();
                found.extend(examples.map(|example| (group.clone(), example)));
            }
        }
        found
    });
    found.concat()
}

fn in_conversation(name: &str, text: &str, weight: f32) -> Vec<Example> {
    let input = read(name, text).unwrap();
    let wanted = expected(&input.labels).unwrap();
    let scan = scan(&input.thread, &input.trigger);
    let compared = scan.compared(&input.thread, &input.trigger, &input.trust);
    let exact = compared
        .iter()
        .any(|(candidate, _)| is_plan(candidate, &input, &wanted, true));
    let example = |(candidate, values): (Candidate, Vec<f32>)| {
        let (target, weight) = match &wanted {
            Expected::Plan { .. } => {
                let is_plan = is_plan(&candidate, &input, &wanted, exact);
                (f32::from(u8::from(is_plan)), weight)
            }
            Expected::Unclear if is_in_question(&candidate, &input) => {
                (UNCLEAR, weight * UNCLEAR_WEIGHT)
            }
            Expected::None | Expected::Unclear => (0.0, weight),
        };
        Example {
            values,
            target,
            weight,
        }
    };
    compared.into_iter().map(example).collect()
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

/// Compares a trained model with the stored one, or stores it if `PLANWRIGHT_TRAIN` is set.
fn check(file: &str, trained: &Model, examples: &[Of<Example>]) {
    let path = fixture("src/engine/extract").join(file);
    if std::env::var_os("PLANWRIGHT_TRAIN").is_some() {
        fs::write(&path, trained.to_bytes()).unwrap();
        return;
    }
    // Machines compute exponentials with different last digits.
    let stored = Model::from_bytes(&fs::read(&path).unwrap()).unwrap();
    let differ = examples
        .iter()
        .filter(|(_, it)| {
            (stored.probability(&it.values) - trained.probability(&it.values)).abs() > 0.05
        })
        .count();
    assert!(
        differ * 100 <= examples.len(),
        "{differ} of {} probabilities of {file} differ: train the models as fixtures/conversations/README.md says",
        examples.len()
    );
}

/// The models must be trained anew after each change of the labelled conversations or of what they
/// consider.
#[test]
fn the_models_are_those_that_the_labelled_conversations_give() {
    let examples = Examples::new();
    let models = examples.models();
    let of_candidates = candidates(&examples.models_without_parts());
    for (file, trained, examples) in [
        ("extent.trees", models.extents, &examples.rated_blocks),
        ("plausibility.trees", models.texts, &examples.rated_texts),
        (
            "likelihood.trees",
            Some(train_with(&of_candidates)),
            &of_candidates,
        ),
    ] {
        check(file, &trained.unwrap(), examples);
    }
    for (file, trained) in [
        ("extent.weights", models.words_of_blocks),
        ("plausibility.weights", models.words_of_texts),
    ] {
        let path = format!("src/engine/extract/{file}");
        remarks::check(&path, &trained.unwrap());
    }
}

/// Prints what is chosen in each conversation by models that were not trained with it. Figures of
/// the stored models are better in the conversations that they were trained with.
#[test]
#[ignore = "prints figures to compare versions of the rules by, and asserts nothing"]
fn unseen_conversations_are_understood_this_often() {
    let models = Examples::new().models_without_parts();
    let examples = candidates(&models);
    let cases = by_part(|part| {
        replace(Models {
            candidates: Some(train_without(part, &examples)),
            ..models[part].clone()
        });
        let files = files().into_iter();
        let files = files.filter(|file| remarks::part_of(&file.name) == part);
        let case = |File { folder, name, text }| case_in(folder.to_owned(), name, &text).unwrap();
        files.map(case).collect::<Vec<_>>()
    });
    let cases: Vec<_> = cases.into_iter().flatten().collect();
    println!("{}", table(&cases));
}
