//! Numbers, letters and bullets with which steps begin.

use crate::formats::plan::steps::{ends_number, numbered_start};
use crate::formats::vocabulary::{Class, Phrases};

/// Returns the number of a heading, line or paragraph that begins like a step: `1. …`, `Step 2 -
/// …`, `2️⃣ …`, `第三步`, `ステップ1：…`. Expects normalised text.
pub(super) fn step_number(text: &str) -> Option<usize> {
    let (_, head) = numbered_start(text.trim_start())?;
    let (head, ordinal) = match head.strip_prefix('第') {
        Some(rest) => (rest, true),
        None => (head, false),
    };
    let named = Phrases::of(head).begins(Class::Step, 0);
    if let Some(end) = named {
        let rest = head[end..].trim_start_matches([' ', '#', 'n', '°', 'º', '.', '\u{a0}']);
        if let Some((number, _)) = number(rest) {
            return Some(number);
        }
    }
    let (number, rest) = number(head)?;
    if ordinal {
        return Some(number);
    }
    let counter = Phrases::of(rest).begins(Class::Step, 0).is_some();
    (number <= 50 && (counter || ends_number(rest))).then_some(number)
}

/// Returns the number at the start of `text`, in digits, as a Chinese numeral or as an English
/// word, and the rest of the text.
fn number(text: &str) -> Option<(usize, &str)> {
    const HAN: &str = "一二三四五六七八九十";
    const WORDS: [&str; 10] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let first = text.chars().next()?;
    if first.is_ascii_digit() {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text[..digits].parse().ok()?;
        return (digits <= 3).then_some((number, &text[digits..]));
    }
    if !first.is_ascii() {
        let at = HAN.chars().position(|c| c == first)?;
        return Some((at + 1, &text[first.len_utf8()..]));
    }
    WORDS.iter().zip(1..).find_map(|(word, number)| {
        let rest = text.strip_prefix(word)?;
        (!rest.starts_with(char::is_alphanumeric)).then_some((number, rest))
    })
}

/// Whether the line begins like a step: with a number, a letter, or a bullet that Markdown does not
/// recognise.
pub(super) fn is_marked(line: &str) -> bool {
    let line = line.trim_start();
    step_number(line).is_some()
        || lettered(line)
        || [
            "• ", "· ", "・", "– ", "— ", "-> ", "→ ", "▪ ", "● ", "◦ ", "➡",
        ]
        .iter()
        .any(|sign| line.starts_with(sign))
}

/// Letters in the order in which lists in other scripts than the Latin one count: Korean, Cyrillic
/// and Japanese.
const COUNTING_LETTERS: &str = "가나다라마바사아자차카타파하абвгдежзиアイウエオカキクケコ";

/// Whether the line begins with a letter or a Roman numeral: `(a) …`, `b) …`, `c. …`, `iv) …`,
/// `가. …`, `б) …`.
fn lettered(line: &str) -> bool {
    let rest = line.strip_prefix('(').unwrap_or(line);
    let Some(end) = rest.find([')', '.']).filter(|end| (1..=4).contains(end)) else {
        return false;
    };
    let letters = &rest[..end];
    let mut chars = letters.chars();
    let letter = chars
        .next()
        .is_some_and(|c| c.is_ascii_lowercase() || COUNTING_LETTERS.contains(c))
        && chars.next().is_none();
    let numeral = letters.chars().all(|c| matches!(c, 'i' | 'v' | 'x'));
    (letter || numeral) && rest[end + 1..].starts_with(' ')
}

/// Whether normalised text mentions a step by its number: "step 3".
pub(super) fn mentions_step(text: &str, phrases: &Phrases) -> bool {
    phrases.all(Class::Step).any(|step| {
        let rest = text[step.end..].trim_start();
        rest.starts_with(|c: char| c.is_ascii_digit())
    })
}
