//! Sentences, and the one that says what a plan is for.

use super::inline;
use super::steps::acts;
use crate::markdown::{Block, Kind};
use crate::vocabulary::{Class, Phrases, fold, words};

/// A sentence with fewer characters says too little.
const SHORTEST: usize = 15;
/// Most characters of a sentence that are looked at.
const LOOKED_AT: usize = 400;

/// Names of sections that say what the plan is for.
const GOAL: [&str; 30] = [
    "goal",
    "goals",
    "objective",
    "objectives",
    "purpose",
    "aim",
    "ziel",
    "ziele",
    "zweck",
    "objectif",
    "objectifs",
    "but",
    "objetivo",
    "objetivos",
    "obiettivo",
    "obiettivi",
    "doel",
    "cel",
    "cíl",
    "цель",
    "мета",
    "mål",
    "amaç",
    "hedef",
    "mục tiêu",
    "目标",
    "目的",
    "目標",
    "목표",
    "tujuan",
];
/// Names of sections that may say it.
const OVERVIEW: [&str; 18] = [
    "overview",
    "summary",
    "tl;dr",
    "tldr",
    "introduction",
    "überblick",
    "übersicht",
    "zusammenfassung",
    "aperçu",
    "résumé",
    "resumen",
    "resumo",
    "panoramica",
    "overzicht",
    "przegląd",
    "обзор",
    "概述",
    "概要",
];
/// How sentences begin that say what is to come.
const BEGINNINGS: [&str; 22] = [
    "this plan",
    "this change",
    "this adds",
    "this pr",
    "the plan is to",
    "the goal",
    "our goal",
    "the aim",
    "the idea is to",
    "we will",
    "we'll",
    "we want",
    "i will",
    "i'll",
    "let's",
    "dieser plan",
    "ziel ist",
    "ce plan",
    "este plan",
    "questo piano",
    "dit plan",
    "users can",
];
/// Words of sentences about the present state.
const PRESENT: [&str; 15] = [
    "currently",
    "today",
    "right now",
    "at the moment",
    "so far",
    "until now",
    "derzeit",
    "aktuell",
    "momentan",
    "actuellement",
    "actualmente",
    "attualmente",
    "atualmente",
    "momenteel",
    "сейчас",
];
/// Words of sentences about what is wrong.
const WRONG: [&str; 22] = [
    "problem",
    "issue",
    "bug",
    "broken",
    "fail",
    "crash",
    "slow",
    "takes a",
    "takes too",
    "too long",
    "too many",
    "doesn't",
    "does not",
    "don't",
    "cannot",
    "can't",
    "no way",
    "missing",
    "lacks",
    "unable",
    "unfortunately",
    "every time",
];

/// Up to the first full stop, question or exclamation mark behind which a sentence can begin.
pub(super) fn first_sentence(line: &str) -> &str {
    sentences(line).next().unwrap_or(line)
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    const SHORT: [&str; 8] = [
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
            let short = SHORT.iter().any(|short| rest[..*end].ends_with(short));
            begins && !(*c == '.' && !next.is_empty() && (number || short))
        });
        let (sentence, behind) = rest.split_at(end.map_or(rest.len(), |(end, _)| end));
        rest = behind.trim_start();
        Some(sentence)
    })
}

/// What a sentence can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sense {
    /// Says what the plan does.
    Goal,
    /// Says something that is no goal for certain: the problem, chat, a question.
    No,
    /// Perhaps.
    Perhaps,
}

fn sense(sentence: &str) -> Sense {
    let head: String = sentence.chars().take(LOOKED_AT).collect();
    let folded = fold(&head);
    let phrases = Phrases::of(&folded);
    let start = words(&folded).start;
    let chat = [Class::Before, Class::After]
        .iter()
        .any(|class| phrases.begins(*class, start).is_some());
    let has = |parts: &[&str]| parts.iter().any(|part| folded.contains(part));
    let short = folded.chars().count() < SHORTEST && folded.is_ascii();
    let open = sentence.ends_with([':', '?', '：', '？']);
    let begins = BEGINNINGS.iter().any(|it| folded[start..].starts_with(it));
    if short || open || has(&PRESENT) {
        Sense::No
    } else if begins || acts(&head) {
        Sense::Goal
    } else if chat || has(&WRONG) {
        Sense::No
    } else if folded.contains(" will ") {
        Sense::Goal
    } else {
        Sense::Perhaps
    }
}

/// The sentence of a plan that says what it does: below a heading such as "Goal", behind such a word in bold, else below
/// the title or a heading such as "Overview". `steps` are the texts of its steps, which are none.
pub(super) fn goal(blocks: &[Block], steps: &[String]) -> Option<String> {
    let section = |names: &'static [&'static str]| {
        blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| match &block.kind {
                Kind::Heading { text, .. } => is_named(text, names),
                _ => false,
            })
            .map(|(at, _)| &blocks[at + 1..])
    };
    let of_goal = section(&GOAL).find_map(|below| {
        let mut all = paragraphs(below).flat_map(|text| owned_sentences(&text));
        all.find(|sentence| !steps.contains(sentence) && sense(sentence) != Sense::No)
    });
    let labelled = || {
        blocks.iter().find_map(|block| {
            let Kind::Paragraph { text } = &block.kind else {
                return None;
            };
            let line = inline::one_line(text);
            let (label, rest) = line.split_once([':', '：'])?;
            let named = label.len() <= 40 && is_named(label, &GOAL);
            let mut all = owned_sentences(rest).into_iter();
            named.then(|| all.find(|sentence| sense(sentence) != Sense::No))?
        })
    };
    let titled = || {
        let at = blocks
            .iter()
            .position(|block| matches!(block.kind, Kind::Heading { .. }));
        let title = at.filter(|at| *at == 0);
        likely(
            &blocks[title.map_or(0, |at| at + 1)..],
            steps,
            title.is_some(),
        )
    };
    let of_overview = || section(&OVERVIEW).find_map(|below| likely(below, steps, true));
    of_goal
        .or_else(labelled)
        .or_else(titled)
        .or_else(of_overview)
}

/// The first sentence that says what the plan does; else, where `trusted`, the first one, unless it says something else.
fn likely(below: &[Block], steps: &[String], trusted: bool) -> Option<String> {
    let all: Vec<String> = paragraphs(below)
        .flat_map(|text| owned_sentences(&text))
        .filter(|sentence| !is_step(sentence, steps))
        .collect();
    let says = |sense: Sense| all.iter().find(|it| self::sense(it) == sense);
    let first = || {
        let first = all.first()?;
        (trusted && sense(first) == Sense::Perhaps).then_some(first)
    };
    says(Sense::Goal).or_else(first).cloned()
}

fn is_step(sentence: &str, steps: &[String]) -> bool {
    let bare = sentence.trim_end_matches(['.', ':']);
    steps.iter().any(|step| bare.starts_with(step.as_str()))
}

/// The paragraphs right below a heading, up to whatever else comes.
fn paragraphs(below: &[Block]) -> impl Iterator<Item = String> {
    below.iter().map_while(|block| match &block.kind {
        Kind::Paragraph { text } => Some(inline::one_line(text)),
        _ => None,
    })
}

fn owned_sentences(line: &str) -> Vec<String> {
    // Further ones say what the plan is about, not what it does.
    sentences(line).take(4).map(str::to_owned).collect()
}

/// The heading or label announces what the plan is for.
pub(super) fn is_goal(heading: &str) -> bool {
    is_named(heading, &GOAL)
}

fn is_named(heading: &str, names: &[&str]) -> bool {
    let folded = fold(&inline::one_line(heading));
    let name = folded.trim_matches(|c: char| !c.is_alphanumeric() && c != ';');
    let name = name.trim_start_matches(|c: char| c.is_ascii_digit() || ".) ".contains(c));
    names.contains(&name)
}
