//! How well comments below plans are understood, in nineteen languages, and the training of the
//! model for them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use text_classifier::{Features, Model, train};

use super::actor;
use super::rules::{Outcome, outcome};
use crate::engine::extract::element::elements;
use crate::engine::extract::reference::{Subject, telling_lines, telling_words};
use crate::engine::extract::talk::Statement;
use crate::engine::extract::talk::stance::{Source, Stance, stems, views};
use crate::engine::model::conversation::{Post, Reactions};
use crate::engine::model::time::Millis;
use crate::formats::thread_file;
use crate::formats::vocabulary::fold;

/// Every `SAMPLE`th comment is read as part of a whole conversation.
const SAMPLE: usize = 16;
/// Number of parts into which the conversations are divided, so that a model can be asked about
/// comments that it was not trained with.
pub(crate) const FOLDS: usize = 3;
/// The conversation for whose comments the phrases of the vocabulary were completed.
const TUNED: &str = "tide-table";

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(path)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A comment below the plans of one of the conversations in `fixtures/remarks`.
struct Comment {
    /// The conversation.
    setting: String,
    /// Source of the conversation.
    plans: String,
    category: String,
    language: String,
    text: String,
}

impl Comment {
    fn is_below_both(&self) -> bool {
        matches!(
            self.category.as_str(),
            "first" | "second" | "open" | "neither" | "aside"
        )
    }

    fn is_by_author(&self) -> bool {
        matches!(self.category.as_str(), "back" | "author")
    }

    /// Returns the conversation in which the comment is the only one.
    fn conversation(&self) -> String {
        let mut plans = self.plans.clone();
        let posts = thread_file::parse(&plans).unwrap().posts;
        if !self.is_below_both() {
            plans.truncate(plans.find(&format!("--- @{}", posts[2].author)).unwrap());
        }
        let author = if self.is_by_author() {
            posts[1].author.as_str()
        } else {
            "dora"
        };
        format!(
            "{plans}\n--- @{author} 2026-03-02T12:00:00Z\n{}\n\n\
             --- @caroline 2026-03-02T13:00:00Z\n/save-plan\n",
            self.text
        )
    }

    fn stance(&self, plan: usize) -> Stance {
        match (self.category.as_str(), plan) {
            ("yes", _) | ("first", 0) | ("second", 1) => Stance::For,
            ("first" | "second", _) => Stance::Other,
            ("neither" | "no" | "back" | "done", _) => Stance::Against,
            ("open", _) => Stance::Open,
            ("author" | "change" | "remark" | "aside", _) => Stance::Neutral,
            (other, _) => panic!("the category `{other}` is unknown"),
        }
    }
}

fn comments() -> Vec<Comment> {
    let mut names: Vec<PathBuf> = fs::read_dir(fixture("remarks"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "tsv"))
        .filter(|path| !path.ends_with("conversations.tsv"))
        .collect();
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let plans = read(&name.with_extension("md"));
        for line in read(&name).lines() {
            let [category, language, text] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{}: not three columns: {line}", name.display());
            };
            found.push(Comment {
                setting: name.file_stem().unwrap().to_string_lossy().into_owned(),
                plans: plans.clone(),
                category: category.to_owned(),
                language: language.to_owned(),
                text: text.replace(" ⏎ ", "\n"),
            });
        }
    }
    found
}

/// What a comment says about each plan before it, with the features that the model sees.
struct Example {
    /// Comments with the same group are about the same plans or in the same conversation.
    group: String,
    source: Source,
    views: Vec<(Features, Stance)>,
}

fn subject(position: usize, author: &str, body: &str) -> Subject {
    let text = fold(body);
    Subject {
        post: position,
        first_post: position,
        author: Some(actor(author).id),
        login: fold(author),
        title: telling_words(text.lines().next().unwrap_or_default()),
        words: telling_words(&text),
        lines: telling_lines(&text),
        ..Subject::default()
    }
}

fn example(
    group: &str,
    (position, author, body): (usize, &str, &str),
    plans: &[(Subject, Stance)],
    opener: &str,
    source: Source,
) -> Option<Example> {
    let post = Post {
        id: None,
        author: Some(actor(author)),
        own: false,
        association: "NONE".to_owned(),
        created: Millis(0),
        updated: Millis(0),
        body: body.to_owned(),
        url: String::new(),
        reactions: Reactions::default(),
    };
    let statement = Statement {
        position,
        post: &post,
        elements: &elements(body),
        plans: Vec::new(),
    };
    let subjects: Vec<Subject> = plans.iter().map(|(subject, _)| subject.clone()).collect();
    let live: Vec<usize> = (0..plans.len()).collect();
    let stems = stems(&subjects);
    let views = views(
        &statement,
        (&subjects, &stems),
        &live,
        Some(actor(opener).id),
        source,
    )?;
    let views = views
        .features()
        .map(|(at, features)| (features, plans[at].1));
    Some(Example {
        group: group.to_owned(),
        source,
        views: views.collect(),
    })
}

fn examples() -> Vec<Example> {
    let mut found = Vec::new();
    for comment in comments() {
        let posts = thread_file::parse(&comment.plans).unwrap().posts;
        let number = if comment.is_below_both() { 2 } else { 1 };
        let plans: Vec<(Subject, Stance)> = (0..number)
            .map(|at| {
                let post = &posts[at + 1];
                (
                    subject(at + 1, &post.author, &post.body),
                    comment.stance(at),
                )
            })
            .collect();
        let author = if comment.is_by_author() {
            posts[1].author.as_str()
        } else {
            "dora"
        };
        found.extend(example(
            &comment.setting,
            (number + 1, author, &comment.text),
            &plans,
            &posts[0].author,
            Source::Sample,
        ));
    }
    for line in read(&fixture("remarks/conversations.tsv")).lines() {
        let [file, position, labels] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}");
        };
        let folders = ["conversations/tune", "conversations/train"];
        let mut paths = folders.iter().map(|folder| fixture(folder).join(file));
        let path = paths.find(|path| path.exists()).unwrap();
        let posts = thread_file::parse(&read(&path)).unwrap().posts;
        let position = position.parse::<usize>().unwrap() - 1;
        let plans: Vec<(Subject, Stance)> = labels
            .split(' ')
            .map(|label| {
                let (number, label) = label.split_once('=').unwrap();
                let at = number.parse::<usize>().unwrap() - 1;
                let stance = match label {
                    "for" => Stance::For,
                    "other" => Stance::Other,
                    "against" => Stance::Against,
                    "open" => Stance::Open,
                    "none" => Stance::Neutral,
                    other => panic!("the label `{other}` is unknown"),
                };
                (subject(at, &posts[at].author, &posts[at].body), stance)
            })
            .collect();
        let post = &posts[position];
        found.extend(example(
            file,
            (position, &post.author, &post.body),
            &plans,
            &posts[0].author,
            Source::Conversation,
        ));
    }
    found
}

/// Returns the part of the comments of a conversation or about the same plans.
pub(crate) fn part_of(group: &str) -> usize {
    let hash = |hash: usize, byte: u8| (hash * 31 + usize::from(byte)) % 1_000_003;
    group.bytes().fold(1, hash) % FOLDS
}

/// Returns a model for each part, trained without the comments of that part.
pub(crate) fn models_without_parts() -> [Model; FOLDS] {
    let examples = examples();
    let without = |part| fit(examples.iter().filter(|it| part_of(&it.group) != part));
    std::array::from_fn(without)
}

/// Returns the numbers of the posts with plans, for each conversation whose comments are labelled.
pub(crate) fn plans() -> HashMap<String, HashSet<String>> {
    let mut plans: HashMap<String, HashSet<String>> = HashMap::new();
    for line in read(&fixture("remarks/conversations.tsv")).lines() {
        let [file, _, labels] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}");
        };
        let numbers = labels.split(' ').filter_map(|label| label.split_once('='));
        let numbers = numbers.map(|(number, _)| number.to_owned());
        plans.entry(file.to_owned()).or_default().extend(numbers);
    }
    plans
}

/// Returns labelled conversations of two or three posts made of the labelled comments and the plans
/// that they are about, with the name of the latter. Every `step`th comment is used.
pub(crate) fn conversations(step: usize) -> Vec<(String, String)> {
    let labelled = |comment: Comment| {
        let expect = match comment.category.as_str() {
            "first" | "yes" | "author" | "change" | "remark" => "plan\nexpect-post: 2",
            "second" => "plan\nexpect-post: 3",
            "open" | "aside" => "unclear\nexpect-between: 2, 3",
            _ => "none",
        };
        let lines = "expect-first: any\nexpect-last: any\nexpect-title: any";
        let text = format!("expect: {expect}\n{lines}\n{}", comment.conversation());
        (comment.setting, text)
    };
    let all = comments().into_iter().step_by(step);
    all.map(labelled).collect()
}

fn fit<'e>(examples: impl Iterator<Item = &'e Example>) -> Model {
    let labelled: Vec<(Features, usize)> = examples
        .flat_map(|example| &example.views)
        .map(|(features, stance)| (features.clone(), *stance as usize))
        .collect();
    train(&labelled, Stance::ALL.len())
}

/// Compares a trained model with the stored one, or stores it if `PLANWRIGHT_TRAIN` is set.
pub(crate) fn check(file: &str, trained: &Model) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let trained = trained.as_bytes();
    if std::env::var_os("PLANWRIGHT_TRAIN").is_some() {
        fs::write(&path, trained).unwrap();
        return;
    }
    let stored = fs::read(&path).unwrap();
    assert_eq!(stored.len(), trained.len());
    // Machines compute exponentials with different last digits.
    let differ = stored
        .iter()
        .zip(trained)
        .skip(4)
        .filter(|(one, other)| one.abs_diff(**other) > 1)
        .count();
    assert!(
        differ * 1_000 <= stored.len(),
        "{differ} weights differ: train the model as fixtures/conversations/README.md says"
    );
}

/// The model must be trained anew after each change of the labelled comments or the features.
#[test]
fn the_model_is_the_one_that_the_labelled_comments_give() {
    check(
        "src/engine/extract/talk/stance.weights",
        &fit(examples().iter()),
    );
}

/// Prints how often a model understands comments that it was not trained with: those about other
/// plans, and those in other conversations.
#[test]
#[ignore = "prints figures for docs/plan-selection.md and asserts nothing"]
fn unseen_comments_are_understood_this_often() {
    let examples = examples();
    let fold = |example: &Example| part_of(&example.group);
    let mut table: BTreeMap<String, [[usize; 5]; 5]> = BTreeMap::new();
    for held in 0..FOLDS {
        let model = fit(examples.iter().filter(|it| fold(it) != held));
        for example in examples.iter().filter(|it| fold(it) == held) {
            let source = format!("{:?}", example.source);
            for (features, stance) in &example.views {
                let found = model.probabilities(features);
                let best =
                    (0..found.len()).max_by(|one, other| found[*one].total_cmp(&found[*other]));
                table.entry(source.clone()).or_default()[*stance as usize][best.unwrap()] += 1;
            }
        }
    }
    for (source, rows) in table {
        let right: usize = (0..5).map(|at| rows[at][at]).sum();
        let all: usize = rows.iter().flatten().sum();
        println!(
            "{source}: {right} of {all}; rows: {:?}, columns likewise",
            Stance::ALL
        );
        for row in rows {
            println!("  {row:?}");
        }
    }
}

/// Asserts that of these comments, each read as part of a whole conversation, at least `min_right`
/// percent are understood, and that after at most `max_wrong` percent something else would be saved.
fn assert_understood<'c>(
    comments: impl Iterator<Item = &'c Comment>,
    min_right: usize,
    max_wrong: usize,
) {
    let (mut all, mut right, mut wrong) = (0, 0, Vec::new());
    for comment in comments {
        let posts = thread_file::parse(&comment.plans).unwrap().posts;
        let found = outcome(&comment.conversation());
        let title = |at: usize| posts[at].body.lines().next().unwrap_or_default();
        let category = comment.category.as_str();
        let is_right = match &found {
            Outcome::Nothing => matches!(category, "neither" | "no" | "back" | "done"),
            Outcome::Unclear => matches!(category, "open" | "aside"),
            Outcome::Plan(first, _) => match category {
                "second" => first == title(2),
                "first" | "yes" | "author" | "change" | "remark" => first == title(1),
                _ => false,
            },
        };
        all += 1;
        if is_right {
            right += 1;
        } else if matches!(found, Outcome::Plan(..)) {
            let Comment {
                setting,
                language,
                text,
                ..
            } = comment;
            wrong.push(format!("{setting} {category} {language}: {text}"));
        }
    }
    assert!(
        all >= 500 && right * 100 >= min_right * all && wrong.len() * 100 <= max_wrong * all,
        "{right} of {all} understood, {} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn most_comments_below_a_plan_are_understood() {
    let comments = comments();
    let is_tuned = |comment: &&Comment| comment.setting == TUNED;
    assert_understood(comments.iter().filter(is_tuned), 80, 3);
    let others = comments.iter().filter(|it| !is_tuned(it));
    assert_understood(others.step_by(SAMPLE), 67, 17);
}
