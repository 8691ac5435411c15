//! The explicit title of a plan in a conversation, in any language.
//!
//! The rules are stricter than those of [`title_of`](super::title_of), which reads documents: a
//! first line is no title, and neither is a heading that only announces a plan, names its author,
//! or numbers one of several proposals.

use std::ops::Range;

use super::{MAX_TITLE_CHARS, is_section_name};
use crate::front_matter;
use crate::markdown::{self, Block};
use crate::text::{one_line, truncate_chars};
use crate::vocabulary::{Class, Phrases, fillers, fold, split_folded, words};

/// Maximum length of a line that is a title without being a heading, in characters.
const MAX_LINE_CHARS: usize = 120;

/// Signs that mark a line as a heading in Japanese and Chinese.
const LINE_MARKS: [char; 5] = ['■', '◆', '▼', '◼', '◇'];

/// Maximum length of a version behind a marker, in characters.
const MAX_VERSION_CHARS: usize = 24;

/// Maximum number of headings that are compared with the first.
const MAX_PHASES: usize = 16;

/// Maximum length of a title that is not marked as one, in characters.
const MAX_PLAIN_CHARS: usize = 80;

/// Maximum length of such a title in one paragraph with the steps, in characters: there, longer
/// lines are steps.
const MAX_CHARS_ABOVE_ITEMS: usize = 40;

/// Maximum number of words of such a title if it contains a comma, as most sentences do.
const MAX_WORDS_WITH_COMMA: usize = 6;

/// Minimum length of the part before that comma, in characters: "Yes", "Agreed" and "Hmm" begin
/// answers.
const MIN_CHARS_BEFORE_COMMA: usize = 8;

/// Letters without case that label proposals as capital letters do.
const LABELS: &str = "가나다라마바사甲乙丙丁アイウエأبجدאבגד";

/// Returns the title of the plan in `text`, or `None` if it has no descriptive one.
///
/// The sources are, in this order: the first heading, bold or italic line above the steps, a line
/// `Plan: X`, a short line that is no sentence, `title` in the front matter, and a heading that is
/// the only phase.
pub fn own_title(text: &str) -> Option<String> {
    let (fields, source) = front_matter::split(text);
    let blocks = markdown::blocks(source);
    let headings = || blocks.iter().filter_map(Block::heading);
    // Further headings of the same level are sections beside the first one.
    let heading = |wanted: u8| {
        let (_, text) = headings().find(|(level, _)| *level == wanted)?;
        descriptive_title(text)
    };
    let begins_with_heading = blocks
        .first()
        .is_some_and(|block| block.heading().is_some() || emphasized_line(block, source).is_some());
    heading(1)
        .or_else(|| {
            let before = blocks.iter().take_while(|block| block.heading().is_none());
            before
                .take(2)
                .find_map(|block| title_line(block, &blocks, source))
        })
        .or_else(|| {
            if begins_with_heading {
                first_heading(&blocks)
            } else {
                heading(2)
            }
        })
        .or_else(|| {
            let first = blocks.first()?.paragraph()?;
            match title_above_items(first) {
                Some(title) => descriptive_title(title),
                None if blocks.len() > 1 => {
                    let line = unmarked_title(first)?;
                    let is_title = line.contains(' ') || is_chinese_or_japanese_phrase(line);
                    is_title.then(|| descriptive_title(line))?
                }
                None => None,
            }
        })
        .or_else(|| descriptive_title(fields.get("title")?.as_str()?))
        .or_else(|| only_phase(&blocks))
        .map(|title| truncate_chars(&title, MAX_TITLE_CHARS))
}

/// Removes the words at both ends of `title` that say nothing about the plan, such as `Plan:` or
/// `(v2)`. Returns `None` if no descriptive words are left.
pub fn descriptive_title(title: &str) -> Option<String> {
    let line = one_line(title);
    let labelled = after_label(&line).unwrap_or(&line);
    let bare = without_markers(after_announcement(labelled).unwrap_or(labelled))
        .trim_end_matches(is_emoji)
        .trim_matches(|c: char| {
            c.is_whitespace() || "*_:：-–—".contains(c) || LINE_MARKS.contains(&c)
        })
        .trim();
    let folded = fold(bare);
    let phrases = Phrases::of(&folded);
    let content = words(&folded);
    let says_nothing = content.is_empty()
        || is_generic(&folded, &phrases, content.clone())
        || is_section_name(bare)
        || is_marker(bare)
        || bare
            .split_once([',', '，'])
            .is_some_and(|(head, _)| is_marker(head))
        || numbered_step(&folded, &phrases, content.start)
        || folded.starts_with("what ")
        || folded.starts_with("how ")
        || folded.ends_with('?');
    (!says_nothing).then(|| bare.to_owned())
}

/// Whether the words in `content` are generic, taken together or one after another: `Plan, third
/// attempt`.
fn is_generic(folded: &str, phrases: &Phrases, content: Range<usize>) -> bool {
    let generic = [
        Class::Empty,
        Class::Section,
        Class::Other,
        Class::Lead,
        Class::Plan,
        Class::Proposal,
    ];
    let mut found = fillers(folded);
    found.extend(generic.into_iter().flat_map(|class| phrases.all(class)));
    found.sort_unstable_by_key(|found| found.start);
    // The first word that is not covered yet.
    let mut at = content.start;
    for next in found {
        if next.start <= at && next.end > at {
            let rest = folded[next.end..].find(char::is_alphanumeric);
            at = rest.map_or(folded.len(), |rest| next.end + rest);
        }
    }
    at >= content.end
}

/// Matches `Step 1: …`, `1. …`, `第一步 …`.
fn numbered_step(folded: &str, phrases: &Phrases, start: usize) -> bool {
    let number = |rest: &str| {
        rest.trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || "一二三四五六七八九十".contains(c))
    };
    phrases
        .begins(Class::Step, start)
        .is_some_and(|end| number(&folded[end..]))
        || folded[start..].starts_with('第')
}

/// Returns the title in the heading that begins the text. If that heading has level 1 and is
/// generic, the next heading is used if it is deeper.
fn first_heading(blocks: &[Block]) -> Option<String> {
    let first = blocks.first()?.heading();
    first
        .filter(|(level, _)| !is_one_of_several(blocks, *level))
        .and_then(|(_, text)| descriptive_title(text))
        .or_else(|| {
            let mut headings = blocks.iter().filter_map(Block::heading);
            let (level, _) = headings.next()?;
            let (next, text) = headings.next()?;
            (level == 1 && next > level).then(|| descriptive_title(text))?
        })
}

/// Returns the heading that begins the text if it is the only phase of its level in it: `Phase 2:
/// Sessions`.
fn only_phase(blocks: &[Block]) -> Option<String> {
    let mut headings = blocks.iter().filter_map(Block::heading);
    let (level, first) = blocks.first()?.heading()?;
    let line = one_line(first);
    let name = [":", "：", " – ", " — ", " - "]
        .into_iter()
        .find_map(|separator| Some(line.split_once(separator)?.1))?;
    let is_phase = |text: &str| {
        let folded = fold(text);
        numbered_step(&folded, &Phrases::of(&folded), words(&folded).start)
    };
    if !is_phase(&line) || descriptive_title(name).is_none() {
        return None;
    }
    headings.next();
    let beside = headings.filter(|(other, _)| *other <= level);
    let mut beside = beside.take(MAX_PHASES);
    beside.all(|(_, text)| !is_phase(text)).then_some(line)
}

/// Whether the heading that begins the text is followed by others of the same deep `level` that
/// could be titles as well: they are phases.
fn is_one_of_several(blocks: &[Block], level: u8) -> bool {
    let mut others = blocks
        .iter()
        .filter_map(Block::heading)
        .skip(1)
        .take(MAX_PHASES);
    let mut same = others.clone().filter(|(other, _)| *other == level);
    level >= 3
        && same.clone().count() > 0
        && others.all(|(other, _)| other >= level)
        && same.all(|(_, text)| descriptive_title(text).is_some())
}

/// Returns the title in a bold or italic line or in a line `Plan: X`.
fn title_line(block: &Block, blocks: &[Block], source: &str) -> Option<String> {
    if let Some(line) = emphasized_line(block, source) {
        return descriptive_title(line).filter(|_| !is_section(line, blocks, source));
    }
    let first = block.paragraph()?.lines().next()?;
    let marked = first.chars().count() <= MAX_LINE_CHARS
        && !first.ends_with(':')
        && without_markers(first).len() < first.len();
    marked.then(|| descriptive_title(first))?
}

/// Returns true for a bold or italic line of one word, such as `Backend`, if there are others like
/// it.
fn is_section(line: &str, blocks: &[Block], source: &str) -> bool {
    let of_one_word = |line: &&str| line.split_whitespace().count() == 1;
    let lines = blocks
        .iter()
        .filter_map(|block| emphasized_line(block, source));
    of_one_word(&line) && lines.filter(of_one_word).count() > 1
}

/// Returns a paragraph that can be a title although it is not marked as one: a short line of several
/// words that begins with a capital letter and is neither a sentence nor said to somebody.
pub fn plain_title(paragraph: &str) -> Option<&str> {
    let begins_like_one = |line: &&str| line.contains(' ') && line.starts_with(char::is_uppercase);
    unmarked_title(paragraph).filter(begins_like_one)
}

/// Whether a line is Chinese or Japanese, which have no spaces, and not a sentence that ends with
/// hiragana.
fn is_chinese_or_japanese_phrase(line: &str) -> bool {
    let is_kana = |c: &char| ('\u{3040}'..='\u{30ff}').contains(c);
    let is_han = |c: &char| ('\u{4e00}'..='\u{9fff}').contains(c);
    line.chars().any(|c| is_kana(&c) || is_han(&c))
        && !line.ends_with(|c: char| ('\u{3040}'..='\u{309f}').contains(&c))
}

/// Returns the first line of a paragraph if it can be a title and all other lines, of which there
/// are at least two, are items of a list that Markdown does not know, such as `→ X` or `① X`.
fn title_above_items(paragraph: &str) -> Option<&str> {
    let (first, rest) = paragraph.split_once('\n')?;
    let are_items = rest.lines().count() > 1 && rest.lines().all(is_item);
    unmarked_title(first)
        .filter(|line| are_items && !is_item(line) && line.chars().count() <= MAX_CHARS_ABOVE_ITEMS)
}

/// Whether a line begins with an arrow, a dash, a number or another sign of an item.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let Some(first) = line.chars().next() else {
        return false;
    };
    let is_sign = "-–—=→⇒➔•·◦▪▸►☐☑✅*+>".contains(first) || ('①'..='⑳').contains(&first);
    let number = line.trim_start_matches(['(', '（']);
    let digits = number.trim_start_matches(|c: char| c.is_ascii_digit() || "ivx".contains(c));
    is_sign
        || digits.len() < number.len()
            && digits.starts_with(['.', ')', '）', ':', '：', '、', 'º', '°'])
}

/// Returns a line that can be a title: short, no sentence, and not said to somebody.
fn unmarked_title(line: &str) -> Option<&str> {
    let line = line.trim();
    // Most paragraphs are too long.
    let can_be = (10..=4 * MAX_PLAIN_CHARS).contains(&line.len())
        && line.chars().count() <= MAX_PLAIN_CHARS
        && !line.contains(['\n', '@'])
        && line.split_once(',').is_none_or(|(head, _)| {
            head.chars().count() >= MIN_CHARS_BEFORE_COMMA
                && line.split_whitespace().count() <= MAX_WORDS_WITH_COMMA
        })
        && line.starts_with(|c: char| c.is_alphabetic() && !c.is_lowercase())
        && line.ends_with(|c: char| c.is_alphanumeric() || "\"`)”“»".contains(c));
    let talks = || {
        let phrases = Phrases::of(&fold(line));
        let said = [
            Class::Before,
            Class::After,
            Class::Lead,
            Class::Me,
            Class::Theirs,
            Class::First,
        ];
        let answers = [
            Class::Approve,
            Class::Choose,
            Class::Reject,
            Class::Withdraw,
            Class::Undecided,
            Class::Finished,
            Class::Negation,
        ];
        said.into_iter().any(|class| phrases.has(class))
            || line.contains(',') && answers.into_iter().any(|class| phrases.has(class))
    };
    (can_be && !talks()).then_some(line)
}

/// Returns the text of a paragraph of one line that is entirely bold, or in italics and not a
/// sentence.
fn emphasized_line<'a>(block: &'a Block, source: &str) -> Option<&'a str> {
    let text = block.paragraph()?;
    let line = source[block.span.clone()]
        .trim()
        .trim_end_matches(is_emoji)
        .trim_end();
    let is_within = |mark: &str| {
        let inner = line.strip_prefix(mark).and_then(|inner| {
            inner
                .strip_suffix(mark)
                .or_else(|| inner.strip_suffix(':')?.strip_suffix(mark))
        });
        inner.is_some_and(|inner| !inner.contains(mark))
    };
    let is_sentence = || text.ends_with(['.', '!', '?', '。', '！', '？', '।', '؟']);
    let marked = is_marked_line(line)
        || ["**", "__"].into_iter().any(is_within)
        || ["*", "_"].into_iter().any(is_within) && !is_sentence();
    (marked && text.chars().count() <= MAX_LINE_CHARS && !text.contains('\n')).then_some(text)
}

fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{fe0f}' | '\u{1f300}'..='\u{1faff}')
}

/// Whether a line is a heading by the signs of Japanese and Chinese texts: `■ X`, `【X】`.
pub fn is_marked_line(line: &str) -> bool {
    line.starts_with(LINE_MARKS) || in_lenticular_brackets(line).is_some()
}

/// Returns the text of a line that is entirely in lenticular brackets, the usual form of headings in
/// Japanese e-mail.
fn in_lenticular_brackets(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix('【')?.strip_suffix('】')?;
    (!inner.contains(['【', '】'])).then_some(inner)
}

/// Removes `Plan:`, `[RFC]`, `Proposal B -` or `Implementation plan for` at the start, and `(v2)`
/// or `(1/2)` at the end.
fn without_markers(title: &str) -> &str {
    let mut rest = in_lenticular_brackets(title).unwrap_or(title).trim();
    // Removes at most two markers, of which only the last one may be other than a tag in brackets.
    let mut removed = 0;
    while removed < 2 {
        if let Some(inner) = rest.strip_prefix(['[', '【'])
            && let Some(end) = inner.find([']', '】'])
            && is_marker(&inner[..end])
        {
            let close = inner[end..].chars().next().map_or(1, char::len_utf8);
            rest = inner[end + close..].trim_start_matches([':', '：', ' ']);
            removed += 1;
            continue;
        }
        rest = after_colon(rest)
            .or_else(|| quoted(rest))
            .or_else(|| after_preposition(rest))
            .unwrap_or(rest);
        break;
    }
    without_tag(rest)
}

/// Returns the text after a marker and a colon or a dash.
fn after_colon(title: &str) -> Option<&str> {
    for (at, c) in title.char_indices().take(80) {
        let end = at + c.len_utf8();
        let dash = matches!(c, '-' | '–' | '—' | '|')
            && title[..at].ends_with(' ')
            && title[end..].starts_with([' ', '-']);
        let dot = c == '.' && title[end..].starts_with(' ') && at > 1;
        if c == ':' || c == '：' || dash || dot {
            let rest = title[end..].trim_start_matches(|c: char| c.is_whitespace() || c == '-');
            let head = title[..at].trim();
            let marks = |head: &str| is_marker(head) || is_letter(head);
            if !rest.is_empty() && (marks(head) || marks(without_version(head))) {
                return Some(rest);
            }
            if !dot {
                return None;
            }
        }
    }
    None
}

/// Returns the text after a colon and words that only announce a plan: `What we'll do: X`,
/// `Our new proposal: X`.
fn after_announcement(title: &str) -> Option<&str> {
    let (head, rest) = title.split_once([':', '：'])?;
    let folded = fold(head);
    let (phrases, content) = (Phrases::of(&folded), words(&folded));
    let announces = [Class::Lead, Class::Plan, Class::Proposal]
        .into_iter()
        .any(|class| phrases.all(class).any(|it| it.end >= content.end));
    let rest = rest.trim_start();
    (announces && !rest.is_empty() && is_generic(&folded, &phrases, content)).then_some(rest)
}

/// Returns a marker without what a comma separates from it, such as a version: `Plan, Fassung 3`.
fn without_version(head: &str) -> &str {
    match head.split_once(',') {
        Some((marker, version)) if version.chars().count() <= MAX_VERSION_CHARS => marker,
        _ => head,
    }
}

/// Returns true for a single letter that labels one of several proposals: `B`, `나`.
fn is_letter(head: &str) -> bool {
    let mut chars = head.chars();
    let is_label = |c: char| c.is_uppercase() || LABELS.contains(c);
    chars.next().is_some_and(is_label) && chars.next().is_none()
}

/// Returns the text after a letter or Chinese number that labels one of several proposals or
/// sections: `(b) X`, `B) X`, `B. X`, `二、X`.
fn after_label(title: &str) -> Option<&str> {
    let end = title.find([')', '）', '.', '、'])?;
    let mut rest = title[end..].chars();
    let mut letter = title[..end].trim_start_matches(['(', '（']).chars();
    let label = letter.next().filter(|_| letter.next().is_none())?;
    let (is_label, is_apart) = match rest.next()? {
        '、' => ("一二三四五六七八九十".contains(label), true),
        '.' => (label.is_uppercase(), rest.as_str().starts_with(' ')),
        _ => (label.is_alphabetic(), rest.as_str().starts_with(' ')),
    };
    (is_label && is_apart).then(|| rest.as_str().trim_start())
}

/// Returns the quoted name of a plan or proposal: `Proposal “Shadow index”`.
fn quoted(title: &str) -> Option<&str> {
    let (open, _) = title.char_indices().find(|(_, c)| is_quote(*c))?;
    let name = title[open..].trim_matches(is_quote);
    let head = fold(title[..open].trim());
    let phrases = Phrases::of(&head);
    let is_noun = [Class::Plan, Class::Proposal]
        .into_iter()
        .any(|class| phrases.is(class, words(&head)));
    let is_name = name.chars().count() > 2 && !name.contains(is_quote);
    (title.ends_with(is_quote) && is_noun && is_name).then_some(name)
}

fn is_quote(c: char) -> bool {
    "\"“”„«»「」『』".contains(c)
}

/// Returns the text after a marker that ends with a preposition, such as `Plan for`.
fn after_preposition(title: &str) -> Option<&str> {
    let line = &title[title.find(char::is_alphanumeric)?..];
    let folded = fold(line);
    let phrases = Phrases::of(&folded);
    let has_preposition = |end: &usize| {
        let phrase = &folded[..*end];
        phrase
            .rsplit_once(' ')
            .is_some_and(|(shorter, _)| Phrases::of(shorter).is(Class::Marker, 0..shorter.len()))
    };
    let end = phrases
        .all(Class::Marker)
        .filter(|found| found.start == 0)
        .map(|found| found.end)
        .filter(has_preposition)
        .max()?;
    let (_, rest) = split_folded(line, &folded, end)?;
    let rest = rest.trim_start();
    (rest.chars().count() >= 5).then_some(rest)
}

/// Returns true if `head` consists of markers only: `Plan`, `Proposal B`, `Vorschlag 2 (v2)`,
/// `Umsetzungsplan`.
fn is_marker(head: &str) -> bool {
    let folded = fold(without_tag(head.trim()));
    let content = words(&folded);
    if content.is_empty() {
        return false;
    }
    let phrases = Phrases::of(&folded);
    let whole = |class: Class| phrases.is(class, content.clone());
    if whole(Class::Marker) || whole(Class::Empty) || whole(Class::Plan) || whole(Class::Proposal) {
        return true;
    }
    // With a label or an author: `Plan B`, `Option 2`, `案A`, `Maria's plan`, `Proposta di Greta`.
    [Class::Plan, Class::Proposal, Class::Marker]
        .iter()
        .any(|class| {
            phrases.all(*class).any(|found| {
                let rest = folded[found.end..].trim_matches(|c: char| !c.is_alphanumeric());
                let before = folded[..found.start].trim_matches(|c: char| !c.is_alphanumeric());
                let label = |text: &str| text.chars().count() <= 2 && !text.is_empty();
                (found.start == content.start && (label(rest) || is_author(rest)))
                    || found.end >= content.end
                        && (label(before) || before.ends_with("'s") && !before.contains(' '))
            })
        })
}

/// Returns true for a preposition and a name.
fn is_author(rest: &str) -> bool {
    let mut words = rest.split_whitespace();
    let prepositions = ["by", "di", "de", "von", "van", "da", "do", "od", "af", "av"];
    words
        .next()
        .is_some_and(|word| prepositions.contains(&word))
        && words.next().is_some()
        && words.next().is_none()
}

/// Removes `(v2)`, `(1/2)` or `(revised)` at the end.
fn without_tag(title: &str) -> &str {
    let trimmed = title.trim_end_matches(|c: char| c.is_whitespace() || c == ':' || c == '：');
    let Some(head) = trimmed.strip_suffix([')', '）']) else {
        return title;
    };
    let Some(open) = head.rfind(['(', '（']) else {
        return title;
    };
    let width = head[open..].chars().next().map_or(1, char::len_utf8);
    let tag = fold(&head[open + width..]);
    let content = words(&tag);
    let phrases = Phrases::of(&tag);
    let version = tag.trim().strip_prefix('v').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    let counted = tag.split_once('/').is_some_and(|(one, all)| {
        [one, all]
            .iter()
            .all(|part| !part.trim().is_empty() && part.trim().chars().all(|c| c.is_ascii_digit()))
    });
    let known = [Class::Replace, Class::Marker, Class::Empty]
        .iter()
        .any(|class| phrases.is(*class, content.clone()))
        || phrases.begins(Class::Part, content.start).is_some();
    if version || counted || known {
        title[..open].trim_end()
    } else {
        title
    }
}
