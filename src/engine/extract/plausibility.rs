//! Estimates whether a text is a plan at all, whatever people said about it, with two models that
//! were trained on the labelled conversations of `fixtures/conversations`.
//!
//! The first model knows only the words. The second one looks at what the first one says, at the
//! points of `score.rs`, at the form of the text and at the phrases of the vocabulary in it, so that
//! plans in unusual forms, such as a paragraph of sentences, are compared with others although they
//! have few points.

use text_classifier::{Builder, Features};

use super::Found;
use super::element::{Element, ElementKind, elements};
use super::features::{count, flag, form, number, ratio};
use super::heading::{Role, role};
use super::models;
use super::score::is_other_label;
use super::sentences::split_sentences;
use super::series::{Series, Voice, series};
use super::talk::stance::{pieces, stem};
use crate::engine::model::candidate::Reason;
use crate::engine::model::conversation::Conversation;
use crate::formats::text::is_wide;
use crate::formats::vocabulary::{Class, Phrases, fold};

/// Maximum length of a text whose phrases are counted, in bytes; the rest is not read.
const MAX_READ: usize = 20_000;

/// Maximum number of words that the model for words reads.
const MAX_WORDS: usize = 400;
/// Number of words at the start of a sentence that are considered separately.
const START: usize = 3;

/// Characters of an average word with the blank behind it. Not all languages separate words.
const CHARACTERS_OF_A_WORD: usize = 6;

/// Minimum probability of a text that counts as a plan whatever its score.
pub(super) const PLAUSIBLE: f32 = 0.5;
/// Minimum probability of a text that is compared with others.
pub(super) const CONSIDERED: f32 = 0.15;

/// Phrases whose number per hundred words is considered.
const CLASSES: [Class; 30] = [
    Class::Plan,
    Class::Proposal,
    Class::Step,
    Class::Lead,
    Class::Section,
    Class::Other,
    Class::First,
    Class::Next,
    Class::Last,
    Class::Action,
    Class::Done,
    Class::Approve,
    Class::Choose,
    Class::Reject,
    Class::Withdraw,
    Class::Replace,
    Class::Amend,
    Class::Contrast,
    Class::Negation,
    Class::Undecided,
    Class::Mine,
    Class::Theirs,
    Class::Me,
    Class::HowTo,
    Class::Want,
    Class::Aside,
    Class::Advice,
    Class::Finished,
    Class::Solved,
    Class::Operate,
];

/// A text with what the model considers.
struct View<'a> {
    found: &'a Found,
    thread: &'a Conversation,
    /// Blocks of the text.
    elements: &'a [Element],
    /// The series that is most likely its steps.
    main: Option<&'a (Series, Voice)>,
    /// Probability that it is a plan by its words alone.
    by_words: f32,
    /// All series of the text.
    series: &'a [(Series, Voice)],
    /// Number of sentences in the part that is read.
    sentences: usize,
    /// Number of them that are questions.
    questions: usize,
}

/// A property of a text.
type Feature = fn(&View<'_>) -> f32;

/// What the model considers, besides [`CLASSES`].
const FEATURES: [(&str, Feature); 37] = [
    ("words of a plan", |it| it.by_words),
    ("score", |it| number(it.found.candidate.score)),
    ("opening text", |it| flag(it.found.position() == 0)),
    ("share of the posts before it", |it| {
        ratio(it.found.position(), it.thread.posts.len())
    }),
    ("by a program", |it| {
        flag(it.found.author.as_ref().is_some_and(|it| it.bot))
    }),
    ("share of the post", |it| {
        let post = it.thread.posts.get(it.found.position());
        post.map_or(1.0, |post| ratio(it.text().len(), post.body.len()))
    }),
    ("characters", |it| {
        (count(it.text().chars().count()) + 1.0).ln()
    }),
    ("blocks", |it| count(it.elements.len())),
    ("sentences", |it| count(it.sentences)),
    ("share of questions", |it| ratio(it.questions, it.sentences)),
    ("words of a sentence", |it| {
        let words = it
            .elements
            .iter()
            .map(|it| it.text.split_whitespace().count());
        ratio(words.sum(), it.sentences)
    }),
    ("headings", |it| it.number(|it| it.level().is_some())),
    ("bold lines", |it| it.number(Element::is_bold_line)),
    ("lists", |it| {
        it.number(|it| matches!(it.kind, ElementKind::List { .. }))
    }),
    ("tables", |it| {
        it.number(|it| matches!(it.kind, ElementKind::Table(_)))
    }),
    ("share of code", |it| {
        it.share(|it| matches!(it.kind, ElementKind::Code(_)))
    }),
    ("share of quotes", |it| {
        it.share(|it| matches!(it.kind, ElementKind::Quote))
    }),
    ("share of paragraphs", |it| {
        it.share(|it| matches!(it.kind, ElementKind::Paragraph))
    }),
    ("code spans", |it| {
        count(it.elements.iter().map(|it| it.code_spans.len()).sum())
    }),
    ("titles", |it| it.roles(Role::Title)),
    ("sections", |it| it.roles(Role::Section)),
    ("phases", |it| it.roles(Role::Phase)),
    ("sections of other documents", |it| it.roles(Role::Other)),
    ("other headings", |it| it.roles(Role::Unknown)),
    ("labels of other documents", |it| it.number(is_other_label)),
    ("labels", |it| {
        it.number(|it| {
            it.kind == ElementKind::Paragraph && it.text.find([':', '：']).is_some_and(|at| at < 30)
        })
    }),
    ("form of the steps", |it| {
        it.main.map_or(-1.0, |(main, _)| form(main.form))
    }),
    ("steps", |it| {
        it.main.map_or(0.0, |(main, _)| count(main.count))
    }),
    ("numbered", |it| {
        it.main.map_or(0.0, |(main, _)| flag(main.numbered))
    }),
    ("steps of all series", |it| {
        count(it.series.iter().map(|(it, _)| it.count).sum())
    }),
    ("share of actions", |it| it.per_step(|voice| voice.actions)),
    ("share of finished steps", |it| {
        it.per_step(|voice| voice.done)
    }),
    ("share of wishes", |it| it.per_step(|voice| voice.wants)),
    ("share of operations", |it| {
        it.per_step(|voice| voice.operations)
    }),
    ("characters of a step", |it| {
        it.per_step(|voice| voice.characters)
    }),
    ("share of ticked steps", |it| {
        it.main
            .map_or(0.0, |(main, _)| ratio(main.ticked, main.count))
    }),
    ("ends with a question", |it| {
        let last = it.elements.last();
        flag(last.is_some_and(|it| it.text.trim_end().ends_with(['?', '？'])))
    }),
];

impl View<'_> {
    fn text(&self) -> &str {
        &self.found.candidate.text
    }

    fn number(&self, is: impl Fn(&Element) -> bool) -> f32 {
        count(self.elements.iter().filter(|it| is(it)).count())
    }

    fn share(&self, is: impl Fn(&Element) -> bool) -> f32 {
        let bytes = self.elements.iter().filter(|it| is(it));
        ratio(bytes.map(|it| it.span.len()).sum(), self.text().len())
    }

    fn roles(&self, wanted: Role) -> f32 {
        self.number(|it| (it.level().is_some() || it.is_bold_line()) && role(it) == wanted)
    }

    fn per_step(&self, of: fn(&Voice) -> usize) -> f32 {
        self.main.map_or(0.0, |(main, voice)| {
            ratio(of(voice), main.steps.len().min(Voice::MAX_STEPS))
        })
    }
}

/// Returns the words of a text's sentences.
fn words(sentences: &[&str]) -> Features {
    let mut words = Builder::default();
    let mut left = MAX_WORDS;
    for sentence in sentences {
        let all: Vec<&str> = pieces(sentence)
            .map(|(_, piece)| piece)
            .take(left)
            .collect();
        left -= all.len();
        for (at, word) in all.iter().enumerate() {
            if at < START {
                words.add(&["start", word]);
            }
            words.add(&["stem", stem(word)]);
            if word.starts_with(is_wide) {
                words.add_chars(word);
            }
        }
        for pair in all.windows(2) {
            words.add(&["pair", pair[0], pair[1]]);
        }
    }
    words.normalized()
}

/// Returns the words of a candidate, for the training.
#[cfg(test)]
pub(super) fn words_of(found: &Found) -> Features {
    let text = &found.candidate.text;
    words(&split_sentences(&fold(
        &text[..text.floor_char_boundary(MAX_READ)],
    )))
}

/// Returns the features of a candidate in the order of [`FEATURES`] and [`CLASSES`].
pub(super) fn features(found: &Found, thread: &Conversation) -> Vec<f32> {
    let text = &found.candidate.text;
    let elements = elements(text);
    let series: Vec<(Series, Voice)> = series(&elements)
        .into_iter()
        .map(|it| {
            let voice = it.voice();
            (it, voice)
        })
        .collect();
    let folded = fold(&text[..text.floor_char_boundary(MAX_READ)]);
    let sentences = split_sentences(&folded);
    let words = words(&sentences);
    let by_words = models::probabilities(|it| &it.words_of_texts, &words);
    let view = View {
        found,
        thread,
        elements: &elements,
        by_words: by_words.map_or(0.5, |found| found[1]),
        main: series.iter().max_by_key(|(it, voice)| it.rank(voice)),
        series: &series,
        sentences: sentences.len(),
        questions: sentences
            .iter()
            .filter(|it| it.trim_end().ends_with(['?', '？']))
            .count(),
    };
    let phrases = Phrases::of(&folded);
    let words = folded.chars().count() / CHARACTERS_OF_A_WORD + 1;
    FEATURES
        .iter()
        .map(|(_, feature)| feature(&view))
        .chain(
            CLASSES
                .iter()
                .map(|class| ratio(100 * phrases.all(*class).count(), words)),
        )
        .collect()
}

/// Returns the probability that a candidate is a plan at all; 0 if it is code, a quote or a
/// template without points.
pub(super) fn plausibility(found: &Found, thread: &Conversation) -> f32 {
    let is_foreign = |why: &Reason| matches!(why, Reason::Foreign(_));
    if found.candidate.score <= 0 && found.has_reason(is_foreign) {
        return 0.0;
    }
    let features = features(found, thread);
    models::probability(|it| &it.texts, &features).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_feature_has_a_name_of_its_own_and_every_class_occurs_once() {
        let names: HashSet<&str> = FEATURES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), FEATURES.len());
        let classes: HashSet<Class> = CLASSES.into_iter().collect();
        assert_eq!(classes.len(), CLASSES.len());
    }

    #[test]
    fn the_stored_model_was_trained_with_these_features() {
        let values = [0.0; FEATURES.len() + CLASSES.len()];
        assert!(models::probability(|it| &it.texts, &values).is_some());
    }
}
