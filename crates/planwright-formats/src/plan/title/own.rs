//! The explicit title of a plan in a conversation, in any language.
//!
//! The rules are stricter than those of [`title_of`](super::title_of), which reads documents: a
//! first line is no title, and neither is a heading that only announces a plan, names its author,
//! or numbers one of several proposals.

use super::markers::{
    HAN_NUMBERS, after_announcement, after_label, in_lenticular_brackets, is_generic, is_marker,
    without_markers,
};
use super::{MAX_TITLE_CHARS, is_section_name};
use crate::front_matter;
use crate::markdown::{self, Block};
use crate::text::{one_line, truncate_chars};
use crate::vocabulary::{Class, Phrases, fold, words};

/// Maximum length of a line that is a title without being a heading, in characters.
const MAX_LINE_CHARS: usize = 120;

/// Signs that mark a line as a heading in Japanese and Chinese.
const LINE_MARKS: [char; 5] = ['■', '◆', '▼', '◼', '◇'];

/// Maximum number of headings that are compared with the first.
const MAX_PHASES: usize = 16;

/// Maximum number of blocks in which another numbered heading is looked for.
const MAX_BLOCKS: usize = 64;

/// Maximum length of a title that is not marked as one, in characters.
const MAX_PLAIN_CHARS: usize = 80;

/// Maximum length of such a title in one paragraph with the steps, in characters: there, longer
/// lines are steps.
const MAX_CHARS_ABOVE_ITEMS: usize = 60;

/// Maximum number of words of such a title if it contains a comma, as most sentences do.
const MAX_WORDS_WITH_COMMA: usize = 6;

/// Minimum length of the part before that comma, in characters: "Yes", "Agreed" and "Hmm" begin
/// answers.
const MIN_CHARS_BEFORE_COMMA: usize = 8;

/// Returns the title of the plan in `text`, or `None` if it has no descriptive one.
///
/// The sources are, in this order: the first heading, bold or italic line above the steps, a line
/// `Plan: X`, a short line that is no sentence, `title` in the front matter, and a heading that is
/// the only phase or the only one with a number.
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
            let block = blocks.first()?;
            let first = block.paragraph()?;
            match title_above_items(first, &source[block.span.clone()]) {
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
        .or_else(|| only_number(&blocks, source))
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
    let bare = match bare.rsplit_once(", v") {
        Some((title, version)) if matches!(version.as_bytes(), [b'0'..=b'9']) => title,
        _ => bare,
    };
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

/// Matches `Step 1: …`, `1. …`, `第一步 …`.
fn numbered_step(folded: &str, phrases: &Phrases, start: usize) -> bool {
    let number = |rest: &str| {
        rest.trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || HAN_NUMBERS.contains(c))
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

/// Returns the name in the heading or emphasised line that begins the text if it is the only one with
/// a number, which then tells proposals apart: `2) Outbox`.
fn only_number(blocks: &[Block], source: &str) -> Option<String> {
    let lines = blocks.iter().take(MAX_BLOCKS);
    let mut lines = lines.map(|block| match block.heading() {
        Some((_, text)) => Some(text),
        None => emphasized_line(block, source),
    });
    let name = after_number(lines.next()??)?;
    let is_only = lines.flatten().all(|line| after_number(line).is_none());
    is_only.then(|| descriptive_title(name))?
}

/// Returns the text after a number: `2) X`, `2. X`, `2: X`.
fn after_number(line: &str) -> Option<&str> {
    let rest = line.trim_start().trim_start_matches(['(', '（']);
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = behind.strip_prefix([')', '）', '.', ':', '：'])?;
    let is_number = (1..=2).contains(&(rest.len() - behind.len()));
    (is_number && name.starts_with(char::is_whitespace)).then(|| name.trim_start())
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
/// `source` is the paragraph with its markup.
fn title_above_items<'t>(paragraph: &'t str, source: &str) -> Option<&'t str> {
    let (first, rest) = paragraph.split_once('\n')?;
    let are_items = rest.lines().count() > 1 && rest.lines().all(is_item);
    let is_short = first.chars().count() <= MAX_CHARS_ABOVE_ITEMS;
    if !are_items || is_item(first) || !is_short {
        return None;
    }
    if source.lines().next().is_some_and(is_bold) {
        return Some(first);
    }
    unmarked_title(first)
}

/// Whether a line of source is entirely bold.
fn is_bold(line: &str) -> bool {
    let inner = |mark: &str| line.trim().strip_prefix(mark)?.strip_suffix(mark);
    let inner = inner("**").or_else(|| inner("__"));
    inner.is_some_and(|inner| !inner.contains("**") && !inner.contains("__"))
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
            && digits.starts_with(['.', ')', '）', ':', '：', '、', 'º', '°', '/'])
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
