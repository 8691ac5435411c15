//! Keeps the parser's work proportional to the length of a text, whatever the text is.
//!
//! The parser is linear except in four cases:
//!
//! * Each line is matched against every open container (quote, list item, footnote), so deep
//!   nesting multiplies the cost of all following lines.
//! * The end of each list is searched for in everything inside it, so deep nesting also multiplies
//!   the cost of links, emphasis and other inline markup.
//! * Each row of a table is padded to the number of columns, so a wide header multiplies the cost
//!   and the memory of all rows below it.
//! * A bare URL is followed to the next white space even where a `<` ends it.
//!
//! No document that people write comes near the limits here. A text that exceeds one of the first
//! three is parsed as paragraphs of plain text; one that exceeds the last is parsed without links
//! for bare URLs.

use super::Lines;

/// Maximum depth of nested containers. Renderers stop indenting long before; cmark-gfm, which
/// GitHub uses, parses no list deeper than 100.
pub const MAX_NESTING: usize = 50;

/// Maximum number of steps that the parser takes through open containers, per byte of a text: with
/// short lines far less nesting is enough to be slow. Nested lists of a few words take less than
/// one step per byte. The first [`FREE_STEPS`] do not count.
const MAX_STEPS_PER_BYTE: usize = 4;
const FREE_STEPS: usize = 10_000;

/// Maximum number of punctuation marks inside open containers, times the depth of these containers,
/// per byte of a text. Each mark may become a node of its own, and each list visits all nodes
/// inside it. The first [`FREE_MARKS`] do not count.
const MAX_MARKS_PER_BYTE: usize = 4;
const FREE_MARKS: usize = 20_000;

/// Maximum number of table cells that the parser has to add, in all tables of a text together.
pub const MAX_ADDED_CELLS: usize = 10_000;

/// Maximum number of bytes that the parser scans after bare URLs, per byte of a text. A text
/// shorter than [`MIN_COUNTED_LENGTH`] counts as that long.
const MAX_URL_STEPS_PER_BYTE: usize = 32;
const MIN_COUNTED_LENGTH: usize = 65_536;

/// Returns whether `source` exceeds [`MAX_NESTING`] (or much less nesting above a great many short
/// lines, or around a great deal of markup) or [`MAX_ADDED_CELLS`], so that its structure is not
/// parsed.
///
/// Linear. This is an upper bound of what the parser would find: containers and tables in code
/// count as well.
pub fn too_complex(source: &str) -> bool {
    exceeds(&Lines::new(source))
}

/// Returns whether the text with `lines` is [`too_complex`].
pub(super) fn exceeds(lines: &Lines<'_>) -> bool {
    let length = lines.source().len();
    let mut containers = Containers::default();
    // Without a bar, every row has one cell.
    let mut table = memchr::memchr(b'|', lines.source().as_bytes()).map(|_| Table::default());
    let (mut steps, mut marks) = (0, 0);
    for line in lines.texts(1).map(str::as_bytes) {
        let is_wide = |table: &mut Table| table.exceeds(line);
        if containers.exceed(line) || table.as_mut().is_some_and(is_wide) {
            return true;
        }
        let depth = containers.0.len();
        steps += depth;
        if depth > MAX_MARKS_PER_BYTE {
            let is_mark = |byte: &&u8| byte.is_ascii_punctuation();
            marks += depth * line.iter().filter(is_mark).count();
        }
    }
    steps > FREE_STEPS + MAX_STEPS_PER_BYTE * length
        || marks > FREE_MARKS + MAX_MARKS_PER_BYTE * length
}

/// Returns `source` without markup, with the same length and lines: ASCII punctuation and the white
/// space at the start of lines become commas.
pub(super) fn plain(source: &str) -> String {
    let mut starts = true;
    let without_markup = |c: char| {
        let line_end = matches!(c, '\n' | '\r');
        let markup =
            c.is_ascii_punctuation() || c.is_ascii_control() && !line_end || starts && c == ' ';
        starts = line_end || starts && markup;
        if markup { ',' } else { c }
    };
    source.chars().map(without_markup).collect()
}

/// Returns whether linking the bare URLs of `source` takes linear time: comrak scans from each to
/// the next white space and only then cuts it off at a `<`, so the next URL is scanned as far.
///
/// Linear, and an upper bound: URLs in code count as well.
pub(super) fn bare_urls_are_few(source: &str) -> bool {
    if memchr::memchr(b'<', source.as_bytes()).is_none() {
        return true;
    }
    let max = MAX_URL_STEPS_PER_BYTE * source.len().max(MIN_COUNTED_LENGTH);
    let mut steps = 0;
    // White space as the parser has it: a form feed does not end a URL.
    let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    for word in source.as_bytes().split(ends) {
        if memchr::memchr(b'<', word).is_none() {
            continue;
        }
        for start in ["://", "www."] {
            let urls = memchr::memmem::find_iter(word, start);
            steps += urls.map(|at| word.len() - at).sum::<usize>();
        }
        if steps > max {
            return false;
        }
    }
    true
}

/// The columns of the markers of all open containers, outermost first.
///
/// A container ends only when a marker begins no further to the right, so there are at least as
/// many as the parser has open.
#[derive(Default)]
struct Containers(Vec<usize>);

impl Containers {
    /// Processes the markers at the start of `line` and returns whether the nesting is too deep
    /// now.
    fn exceed(&mut self, line: &[u8]) -> bool {
        let mut rule = None;
        let (mut at, mut column) = (0, 0);
        loop {
            while let Some(blank) = line.get(at).filter(|byte| matches!(byte, b' ' | b'\t')) {
                column += if *blank == b'\t' { 4 - column % 4 } else { 1 };
                at += 1;
            }
            let Some(length) = line.get(at..).and_then(marker) else {
                return false;
            };
            // `- - -` is a thematic break and not a list in a list.
            let rule = *rule.get_or_insert_with(|| rule_at_end(line));
            if rule.is_some_and(|rule| at >= rule) {
                return false;
            }
            while self.0.last().is_some_and(|open| *open >= column) {
                self.0.pop();
            }
            self.0.push(column);
            if self.0.len() > MAX_NESTING {
                return true;
            }
            at += length;
            column += length;
        }
    }
}

/// Returns the length of the container marker at the start of `rest`.
fn marker(rest: &[u8]) -> Option<usize> {
    let length = match rest.first()? {
        b'>' => return Some(1),
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let delimiter = matches!(rest.get(digits), Some(b'.' | b')'));
            (delimiter && digits <= 9).then_some(digits + 1)?
        }
        b'[' if rest.get(1) == Some(&b'^') => {
            let close = memchr::memchr(b']', rest)?;
            return (rest.get(close + 1) == Some(&b':')).then_some(close + 2);
        }
        _ => return None,
    };
    let apart = rest.get(length).is_none_or(u8::is_ascii_whitespace);
    apart.then_some(length)
}

/// Returns where the thematic break begins that `line` ends with.
fn rule_at_end(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    let mark = line.last().filter(|byte| matches!(byte, b'-' | b'*'))?;
    let other = |byte: &u8| !matches!(byte, b' ' | b'\t') && byte != mark;
    let start = line.iter().rposition(other).map_or(0, |at| at + 1);
    let marks = memchr::memchr_iter(*mark, &line[start..]).count();
    (marks >= 3).then_some(start)
}

/// The widest table that a line can belong to, and how many cells its rows lack so far.
#[derive(Default)]
struct Table {
    columns: usize,
    added: usize,
}

impl Table {
    /// Processes a line and returns whether too many cells have to be added now.
    fn exceeds(&mut self, line: &[u8]) -> bool {
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'>')) {
            self.columns = 0;
            return false;
        }
        let mut cells = None;
        let mut count =
            || *cells.get_or_insert_with(|| memchr::memchr_iter(b'|', line).count() + 1);
        if self.columns > 0 {
            self.added += self.columns.saturating_sub(count());
        }
        if delimits(line) {
            self.columns = self.columns.max(count());
        }
        self.added > MAX_ADDED_CELLS
    }
}

/// Returns whether `line` can be the delimiter row of a table, after the markers of containers.
fn delimits(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| byte.is_ascii_digit() || b"|-: \t>*+.)\x0b\x0c".contains(byte))
        && line.contains(&b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_people_write_are_within_the_limits() {
        let deepest: String = (0..25)
            .map(|level| format!("{}- level {level}\n\n", "  ".repeat(level)))
            .collect::<Vec<_>>()
            .concat();
        let wide = format!("|{}\n|{}\n", "a|".repeat(300), "-|".repeat(300));
        let rows = format!("| a | b |\n|---|---|\n{}", "| c | d |\n".repeat(20_000));
        let rules = "- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -\n";
        let art = format!("```\n{}```\n", "* * * *  - + |  <- here\n".repeat(1_000));
        for text in [
            "",
            "# Plan\n\n1. a\n2. b\n\n> quoted\n> > twice\n",
            &"> ".repeat(MAX_NESTING),
            &deepest,
            &wide,
            &rows,
            rules,
            &format!("> {rules}"),
            &art,
            &"a\n- b\n".repeat(30_000),
            &"[^1]: a\n".repeat(1_000),
            &format!("{deepest}{}", "a few words in a line\n\n".repeat(5_000)),
            &format!("{deepest}{}", "\n".repeat(200)),
        ] {
            assert!(!too_complex(text), "{:?}", &text[..text.len().min(60)]);
        }
    }

    #[test]
    fn deep_nesting_is_too_complex_however_it_is_written() {
        let over = MAX_NESTING + 1;
        let steps = |marker: &str, indent: &str| -> String {
            (0..over)
                .map(|level| format!("{}{marker} a\n", indent.repeat(level)))
                .collect::<Vec<_>>()
                .concat()
        };
        for text in [
            ">".repeat(over),
            "> ".repeat(over),
            "- ".repeat(over) + "a",
            "* > ".repeat(over / 2 + 1),
            "1. ".repeat(over),
            "9) - > + ".repeat(over / 4 + 1),
            "[^a]: ".repeat(over),
            ">\t".repeat(over),
            steps("-", "  "),
            steps("12.", "    "),
            steps("+", "\t"),
            format!("a\n\r\n{}", ">".repeat(over)),
            format!("a\r{}", ">".repeat(over)),
            // The marks at the end of the line are no thematic break of the whole line.
            format!("{}a - - -", "- ".repeat(over)),
        ] {
            assert!(too_complex(&text), "{:?}", &text[..text.len().min(60)]);
        }
    }

    #[test]
    fn nesting_above_very_many_short_lines_is_too_complex() {
        for line in ["\n", "a\n", "\r\n", " \n"] {
            let text = format!("{}a\n{}", "- ".repeat(MAX_NESTING - 1), line.repeat(30_000));
            assert!(too_complex(&text), "{line:?}");
        }
    }

    #[test]
    fn a_wide_table_with_many_short_rows_is_too_complex() {
        for (mark, row) in [("", "a\n"), ("> ", "> |\n"), ("- ", "  a\n")] {
            let columns = 1_000;
            let inner = " ".repeat(if mark == "- " { 2 } else { 0 });
            let delimiter = if mark == "> " { "> " } else { &inner };
            let text = format!(
                "{mark}{}|\n{delimiter}{}|\n{}",
                "|a".repeat(columns),
                "|-".repeat(columns),
                row.repeat(20)
            );
            for line_end in ["\n", "\r\n", "\r"] {
                let text = text.replace('\n', line_end);
                assert!(too_complex(&text), "{mark:?} {line_end:?}");
            }
        }
    }

    #[test]
    fn deep_lists_around_very_much_markup_are_too_complex() {
        for piece in ["[^a]", "[", "](", "~[a](b[^a][^b]a@b_"] {
            let inner = piece.repeat(60_000 / piece.len());
            assert!(too_complex(&format!(
                "{}{inner}",
                "* ".repeat(MAX_NESTING - 1)
            )));
            assert!(!too_complex(&format!("{}{inner}", "* ".repeat(4))));
        }
        let words = "[a link](https://x.test/a), `code` and *more*, in a sentence of some words. "
            .repeat(800);
        assert!(!too_complex(&format!("{}{words}", "- ".repeat(20))));
    }

    #[test]
    fn urls_that_are_cut_off_in_one_long_word_are_too_many() {
        let word = "<http://\0\u{feff}😀".repeat(4_000);
        assert!(!bare_urls_are_few(&word));
        assert!(!bare_urls_are_few(&"~www.a<".repeat(9_000)));
        assert!(!bare_urls_are_few(&"\u{c}~www.a<\u{b}".repeat(7_000)));
        assert!(bare_urls_are_few(&word.replace('<', " ")));
        assert!(bare_urls_are_few(&word.replace('<', "")));
        let minified = "<ahref=\"https://x.test/a\">".repeat(200);
        assert!(bare_urls_are_few(&minified));
        assert!(bare_urls_are_few(&"<https://x.test/a> ".repeat(20_000)));
    }

    #[test]
    fn a_text_that_is_too_complex_keeps_its_length_and_lines_and_loses_its_markup() {
        let text = format!(
            "{}é\n\t/plan-help `x` 1. ü\r\n  # *a*\n\n```\n",
            "> ".repeat(60)
        );
        assert!(too_complex(&text));
        let found = plain(&text);
        assert_eq!(found.len(), text.len());
        let tail = found.split_once('é').unwrap_or_default().1;
        assert_eq!(tail, "\n,,plan,help ,x, 1, ü\r\n,,,,,a,\n\n,,,\n");
    }
}
