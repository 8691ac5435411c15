//! Recognizes placeholders of templates and issue forms.

use comrak::nodes::{AstNode, NodeValue};

/// Words that follow an ordinal in a placeholder: `Add first requirement`.
const NUMBERED: [&str; 3] = ["requirement", "constraint", "acceptance criterion"];
const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// Headings, and sentences that are placeholders only below them.
const BELOW_HEADING: [(&str, &str); 3] = [
    ("technical approach", "add technical approach details"),
    ("success metrics", "add success metrics"),
    ("non-goals", "add non-goals"),
];

/// Headings of the template, except the first one.
const HEADINGS: [&str; 7] = [
    OVERVIEW,
    "requirements",
    "constraints",
    "acceptance criteria",
    "technical approach",
    "success metrics",
    "non-goals",
];

/// Start of the first heading of the template.
const FEATURE: &str = "feature: ";

/// The heading above [`DESCRIPTION`].
const OVERVIEW: &str = "overview";
/// Start and end of the placeholder for the description.
const DESCRIPTION: (&str, &str) = ("add description for ", " here");

/// GitHub's text for an empty field of an issue form, emphasized there.
const NO_RESPONSE: &str = "no response";

/// Whether a heading introduces non-goals.
pub(super) fn is_non_goal(heading: &str) -> bool {
    let heading = normalize(heading);
    ["non-goals", "out of scope", "not in scope"].contains(&heading.as_str())
}

/// Whether a heading belongs to the template.
pub(super) fn is_template_heading(heading: &str) -> bool {
    let heading = normalize(heading);
    HEADINGS.contains(&heading.as_str()) || heading.starts_with(FEATURE)
}

/// Whether a placeholder comes from an issue form.
pub(super) fn is_no_response(words: &str) -> bool {
    normalize(words) == NO_RESPONSE
}

/// The position in a specification, which determines what is a placeholder.
pub(super) struct Context {
    /// Titles of the specification: the given one, then top-level headings.
    titles: Vec<String>,
    /// The nearest heading; `None` before the first one.
    heading: Option<String>,
}

impl Context {
    pub(super) fn new(title: &str) -> Self {
        Self {
            titles: vec![feature_title(title)],
            heading: None,
        }
    }

    /// Continues below a heading.
    pub(super) fn enter(&mut self, level: u8, title: &str) {
        if level == 1 && self.heading.is_none() {
            self.titles.push(feature_title(title));
        }
        self.heading = Some(normalize(title));
    }

    /// Returns the placeholders in a block without other content; `None` if it has content.
    pub(super) fn placeholders<'a>(&self, block: &'a AstNode<'a>) -> Option<Vec<String>> {
        let mut words = Vec::new();
        for node in block.descendants() {
            match &node.data().value {
                NodeValue::List(_) | NodeValue::Item(_) | NodeValue::TaskItem(_) => {}
                NodeValue::Paragraph => words.extend(self.paragraph_placeholders(node)?),
                NodeValue::HtmlBlock(html) if only_comments(&html.literal) => {}
                // Inlines are handled with their paragraph.
                value if !value.block() => {}
                _ => return None,
            }
        }
        Some(words)
    }

    /// Returns the placeholders if each line of a paragraph is one or has no words.
    fn paragraph_placeholders<'a>(&self, paragraph: &'a AstNode<'a>) -> Option<Vec<String>> {
        let mut text = String::new();
        let mut emphasis = false;
        // Code, links and the like may be part of a title, but not of other placeholders.
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
            let bare = normalize(line);
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
            .is_some_and(|(ordinal, what)| ORDINALS.contains(&ordinal) && NUMBERED.contains(&what));
        let below = BELOW_HEADING.iter().any(|(heading, sentence)| {
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

/// Normalizes case, white space, and a full stop or colon at the end.
fn normalize(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let line = words.join(" ");
    line.trim_end_matches(['.', ':']).to_owned()
}

fn feature_title(title: &str) -> String {
    let title = normalize(title);
    title.strip_prefix(FEATURE).unwrap_or(&title).to_owned()
}

/// Removes a check box from the start of a line.
fn without_box(line: &str) -> &str {
    ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|tick| line.strip_prefix(tick))
        .map_or(line, str::trim_start)
}

/// Whether `html` has only white space and closed comments.
fn only_comments(html: &str) -> bool {
    let mut rest = html.trim();
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some(end) = comment.find("-->") else {
            return false;
        };
        rest = comment[end + 3..].trim_start();
    }
    rest.is_empty()
}
