//! Splitting of text into sentences, and the sentence that states the goal of a plan.

use crate::markdown::Block;
use crate::text::one_line;
use crate::vocabulary::{Class, Phrases, fold, words};
use crate::words::{WORDS, WordList};

/// Minimum length of a goal in ASCII, in characters.
const MIN_GOAL_CHARS: usize = 15;
/// Number of characters of a sentence that are classified.
const MAX_CLASSIFIED_CHARS: usize = 400;
/// Maximum length of a label such as `Goal:`, in bytes.
const MAX_LABEL_BYTES: usize = 40;
/// Number of sentences of a paragraph that are considered. Later ones rarely state the goal.
const MAX_SENTENCES: usize = 4;

/// Returns `line` up to the first full stop, question or exclamation mark after which a sentence
/// can begin.
pub(super) fn first_sentence(line: &str) -> &str {
    sentences(line).next().unwrap_or(line)
}

fn sentences(line: &str) -> impl Iterator<Item = &str> {
    const ABBREVIATIONS: [&str; 8] = [
        "e.g.", "i.e.", "vs.", "cf.", "approx.", "z.B.", "bzw.", "ca.",
    ];
    let mut rest = line.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = rest
            .char_indices()
            .filter(|(_, c)| ".!?。！？".contains(*c));
        let mut ends = ends.map(|(at, c)| (at + c.len_utf8(), c));
        let end = ends.find(|(end, c)| {
            let behind = &rest[*end..];
            let next = behind.trim_start();
            let begins = next.is_empty()
                || !c.is_ascii()
                || behind.len() > next.len() && next.starts_with(|c: char| !c.is_lowercase());
            let word = rest[..*end].trim_end_matches('.').rsplit(' ').next();
            let number = word.is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
            let abbreviated = ABBREVIATIONS.iter().any(|it| rest[..*end].ends_with(it));
            begins && !(*c == '.' && !next.is_empty() && (number || abbreviated))
        });
        let (sentence, behind) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = behind.trim_start();
        Some(sentence)
    })
}

/// Returns true if the text begins with an instruction, such as `Add …`.
pub(super) fn is_instruction(text: &str) -> bool {
    let folded = fold(text);
    let start = words(&folded).start;
    Phrases::of(&folded).begins(Class::Action, start).is_some()
}

/// Whether a sentence states the goal of a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GoalLikelihood {
    Certain,
    /// The sentence states a problem or asks a question, or it is chat.
    Excluded,
    Possible,
}

fn classify(sentence: &str) -> GoalLikelihood {
    let head: String = sentence.chars().take(MAX_CLASSIFIED_CHARS).collect();
    let folded = fold(&head);
    let phrases = Phrases::of(&folded);
    let start = words(&folded).start;
    let chat = [Class::Before, Class::After]
        .iter()
        .any(|class| phrases.begins(*class, start).is_some());
    let short = folded.chars().count() < MIN_GOAL_CHARS && folded.is_ascii();
    let open = sentence.ends_with([':', '?', '：', '？']);
    if short || open || WORDS.present_state.occurs_in(&folded) {
        GoalLikelihood::Excluded
    } else if WORDS.goal_openings.begins(&folded[start..]) || is_instruction(&head) {
        GoalLikelihood::Certain
    } else if chat || WORDS.problems.occurs_in(&folded) {
        GoalLikelihood::Excluded
    } else if folded.contains(" will ") {
        GoalLikelihood::Certain
    } else {
        GoalLikelihood::Possible
    }
}

/// Returns the sentence that states the goal of a plan.
///
/// It is searched below a heading such as "Goal", after such a word as a label, below the title,
/// and below a heading such as "Overview". `steps` are the titles of the steps, which are no goals.
pub(super) fn goal(blocks: &[Block], steps: &[String]) -> Option<String> {
    let sections = |names: &'static WordList| {
        let headings = blocks.iter().enumerate();
        headings.filter_map(move |(at, block)| {
            let (_, text) = block.heading()?;
            is_named(text, names).then(|| &blocks[at + 1..])
        })
    };
    let in_section = sections(&WORDS.goal_headings).find_map(|below| {
        let mut all = paragraphs(below).flat_map(|text| first_sentences(&text));
        all.find(|sentence| {
            !steps.contains(sentence) && classify(sentence) != GoalLikelihood::Excluded
        })
    });
    let labelled = || {
        blocks.iter().filter_map(Block::paragraph).find_map(|text| {
            let line = one_line(text);
            let (label, rest) = line.split_once([':', '：'])?;
            let named = label.len() <= MAX_LABEL_BYTES && is_goal_heading(label);
            let mut all = first_sentences(rest).into_iter();
            named.then(|| all.find(|it| classify(it) != GoalLikelihood::Excluded))?
        })
    };
    let below_title = || {
        let titled = blocks.first()?.heading().is_some();
        likely(&blocks[usize::from(titled)..], steps, titled)
    };
    let in_overview =
        || sections(&WORDS.overview_headings).find_map(|below| likely(below, steps, true));
    in_section
        .or_else(labelled)
        .or_else(below_title)
        .or_else(in_overview)
}

/// Returns the first sentence that certainly states the goal, else, if `trusted`, the first one if
/// it possibly does.
fn likely(below: &[Block], steps: &[String], trusted: bool) -> Option<String> {
    let all: Vec<String> = paragraphs(below)
        .flat_map(|text| first_sentences(&text))
        .filter(|sentence| !is_step(sentence, steps))
        .collect();
    let certain = all
        .iter()
        .find(|it| classify(it) == GoalLikelihood::Certain);
    let possible = |first: &&String| trusted && classify(first) == GoalLikelihood::Possible;
    certain.or_else(|| all.first().filter(possible)).cloned()
}

fn is_step(sentence: &str, steps: &[String]) -> bool {
    let bare = sentence.trim_end_matches(['.', ':']);
    steps.iter().any(|step| bare.starts_with(step.as_str()))
}

/// Returns the paragraphs directly below a heading.
fn paragraphs(below: &[Block]) -> impl Iterator<Item = String> {
    below
        .iter()
        .map_while(|block| block.paragraph().map(one_line))
}

fn first_sentences(line: &str) -> Vec<String> {
    let first = sentences(line).take(MAX_SENTENCES);
    first.map(str::to_owned).collect()
}

/// Returns true if a heading or label announces the goal of a plan.
pub(super) fn is_goal_heading(heading: &str) -> bool {
    is_named(heading, &WORDS.goal_headings)
}

fn is_named(heading: &str, names: &WordList) -> bool {
    let folded = fold(&one_line(heading));
    let name = folded.trim_matches(|c: char| !c.is_alphanumeric() && c != ';');
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || ".) ".contains(c));
    names.contains(name)
}
