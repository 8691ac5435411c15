//! What a template asks for and nobody has written.

use comrak::nodes::{AstNode, NodeValue};

/// Words for which a template has an example, with a number before them: `Add first requirement`.
const NUMBERED: [&str; 3] = ["requirement", "constraint", "acceptance criterion"];
const NUMBERS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// Sentences that stand for nothing below one heading alone.
const BELOW: [(&str, &str); 3] = [
    ("technical approach", "add technical approach details"),
    ("success metrics", "add success metrics"),
    ("non-goals", "add non-goals"),
];

/// The template's headings, but for the first.
const HEADINGS: [&str; 7] = [
    OVERVIEW,
    "requirements",
    "constraints",
    "acceptance criteria",
    "technical approach",
    "success metrics",
    "non-goals",
];

/// What its first heading begins with.
const FEATURE: &str = "feature: ";

/// The heading that [`DESCRIPTION`] stands below.
const OVERVIEW: &str = "overview";
const DESCRIPTION: (&str, &str) = ("add description for ", " here");

/// What GitHub puts into an issue form for a field that was left out. It is emphasised there.
const NO_RESPONSE: &str = "no response";

/// Whether a heading is about what is not wanted.
pub(super) fn is_non_goal(heading: &str) -> bool {
    let heading = normal(heading);
    ["non-goals", "out of scope", "not in scope"].contains(&heading.as_str())
}

/// Whether a heading is one of the template's.
pub(super) fn is_of_template(heading: &str) -> bool {
    let heading = normal(heading);
    HEADINGS.contains(&heading.as_str()) || heading.starts_with(FEATURE)
}

/// Whether a placeholder is a form's.
pub(super) fn is_no_response(words: &str) -> bool {
    normal(words) == NO_RESPONSE
}

/// Where in a specification a text stands.
pub(super) struct Context {
    /// What the specification is called: the title given, then top headings.
    titles: Vec<String>,
    /// The nearest heading; `None` before the first one.
    heading: Option<String>,
}

impl Context {
    pub(super) fn of(title: &str) -> Self {
        Self {
            titles: vec![bare_title(title)],
            heading: None,
        }
    }

    /// Goes on below a heading.
    pub(super) fn enter(&mut self, level: u8, title: &str) {
        if level == 1 && self.heading.is_none() {
            self.titles.push(bare_title(title));
        }
        self.heading = Some(normal(title));
    }

    /// When nothing in a block is real: the words of a template in it.
    pub(super) fn vacant<'a>(&self, block: &'a AstNode<'a>) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for node in block.descendants() {
            match &node.data().value {
                NodeValue::List(_) | NodeValue::Item(_) | NodeValue::TaskItem(_) => {}
                NodeValue::Paragraph => words.extend(self.paragraph(node)?),
                NodeValue::HtmlBlock(html) if only_comments(&html.literal) => {}
                // Those of paragraphs were looked at with them.
                value if !value.block() => {}
                _ => return None,
            }
        }
        Some(words)
    }

    /// When each line of a paragraph is a placeholder or has no words: the placeholders.
    fn paragraph<'a>(&self, paragraph: &'a AstNode<'a>) -> Option<Vec<String>> {
        let mut text = String::new();
        let mut emphasis = false;
        // Code, links and the like: words of a title, or not ours.
        let mut plain = true;
        for node in paragraph.descendants().skip(1) {
            match &node.data().value {
                NodeValue::Text(literal) => text.push_str(literal),
                NodeValue::SoftBreak | NodeValue::LineBreak => text.push('\n'),
                NodeValue::Emph => emphasis = true,
                NodeValue::Strong => {}
                NodeValue::HtmlInline(html) if only_comments(html) => {}
                NodeValue::Code(code) => {
                    text.push_str(&code.literal);
                    plain = false;
                }
                _ => plain = false,
            }
        }
        let mut words = Vec::new();
        for line in text.lines() {
            let line = without_box(line.trim());
            if line.is_empty() {
                continue;
            }
            let bare = normal(line);
            let sentence = self.is_sentence(&bare)
                || emphasis && self.heading.is_some() && bare == NO_RESPONSE;
            let known = self.is_description(&bare) || plain && sentence;
            if !known {
                return None;
            }
            words.push(line.to_owned());
        }
        (plain || !words.is_empty()).then_some(words)
    }

    fn is_sentence(&self, line: &str) -> bool {
        let numbered = line
            .strip_prefix("add ")
            .and_then(|rest| rest.split_once(' '))
            .is_some_and(|(number, what)| NUMBERS.contains(&number) && NUMBERED.contains(&what));
        let below = BELOW.iter().any(|(heading, sentence)| {
            *sentence == line && self.heading.as_deref() == Some(heading)
        });
        numbered || below
    }

    fn is_description(&self, line: &str) -> bool {
        let (start, end) = DESCRIPTION;
        line.strip_prefix(start)
            .and_then(|rest| rest.strip_suffix(end))
            .is_some_and(|named| {
                self.heading.as_deref() == Some(OVERVIEW)
                    || self.titles.iter().any(|title| title == named)
            })
    }
}

/// Lower case, one blank between words, no full stop or colon at the end.
fn normal(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let line = words.join(" ");
    line.trim_end_matches(['.', ':']).to_owned()
}

fn bare_title(title: &str) -> String {
    let title = normal(title);
    match title.strip_prefix(FEATURE) {
        Some(bare) => bare.to_owned(),
        None => title,
    }
}

/// A line without a box that is no item of a list.
fn without_box(line: &str) -> &str {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|tick| line.strip_prefix(tick))
        .map_or(line, str::trim_start)
}

/// Nothing but white space and comments, each with its end.
fn only_comments(html: &str) -> bool {
    let mut rest = html.trim();
    while !rest.is_empty() {
        let end = rest
            .strip_prefix("<!--")
            .and_then(|comment| comment.find("-->").map(|at| &comment[at + 3..]));
        match end {
            Some(behind) => rest = behind.trim_start(),
            None => return false,
        }
    }
    true
}
