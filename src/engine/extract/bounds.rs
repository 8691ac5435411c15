//! Determines where a plan begins and ends in a post: which blocks around its steps belong to it.

use super::element::{Element, ElementKind, elements};
use super::heading::Role;
use super::numbering::mentions_step;
use super::region::Search;
use super::score::is_other_label;
use super::sentences::split_sentences;
use super::series::Form;
use crate::formats::plan::title::{descriptive_title, plain_title};
use crate::formats::vocabulary::Class;

/// Maximum number of words of a label such as `Goal:`.
const MAX_LABEL_WORDS: usize = 2;
/// Maximum length of such a label, in characters.
const MAX_LABEL: usize = 20;

impl Search<'_> {
    /// Returns the start of the bold line or sentence that introduces the steps, or of a title
    /// above it. Several sentences are talk, and steps in bold need no introduction.
    pub(super) fn with_lead(&self, steps: usize, least: usize, form: Form) -> usize {
        let mut from = steps;
        while from > least {
            let above = &self.elements[from - 1];
            let sentence = above.kind == ElementKind::Paragraph && {
                let text = above.text.trim_end();
                let chats = above.begins(Class::Before) && !above.phrases.has(Class::Lead);
                let leads = text.ends_with([':', '：']) && !chats
                    || above.phrases.has(Class::Lead)
                    || above.begins(Class::Plan)
                    || above.begins(Class::Marker);
                let first = from == steps;
                let label = above.bold > 0
                    && above.text[above.bold..]
                        .trim_start()
                        .starts_with([':', '：']);
                let source = &self.text[above.span.clone()];
                let title = first && plain_title(source).is_some();
                let alone = form != Form::Bold && split_sentences(text).len() == 1;
                (leads && first && alone
                    || title
                    || above.is_bold_line()
                    || label
                    || is_labelled(above) && !self.is_before(from - 1, self.elements.len())
                    || self.names(from - 1))
                    && !self.is_command(from - 1)
            };
            if !sentence {
                break;
            }
            from -= 1;
        }
        if from > least {
            // There may be a goal between the title and the steps.
            let title = (least..from)
                .rev()
                .take(3)
                .find(|at| self.elements[*at].is_bold_line() || self.names(*at));
            let kept = |at: usize| {
                matches!(
                    self.elements[at].kind,
                    ElementKind::Paragraph | ElementKind::List { .. } | ElementKind::Code(_)
                ) && !self.is_after(at)
            };
            if let Some(title) = title
                && (title + 1..from).all(kept)
            {
                from = title;
            }
        }
        from
    }

    /// Whether the block is a paragraph such as `Plan: X` or a line such as `Implementation plan for
    /// X`.
    pub(super) fn names(&self, at: usize) -> bool {
        let element = &self.elements[at];
        let first = element.text.lines().next().unwrap_or_default();
        let start = element.words().start;
        let end = element.phrases.begins(Class::Marker, start);
        let source = self.text[element.span.clone()].trim();
        let is_line = first.len() <= 80
            && !source.contains('\n')
            && source.ends_with(|c: char| c.is_alphanumeric())
            && end.is_some()
            && descriptive_title(source).is_some_and(|title| title.len() < source.len());
        let is_label = first.len() <= 200
            && end.is_some_and(|end| {
                let rest = element.text[end..].trim_start_matches(['*', ' ', ')']);
                rest.starts_with([':', '：'])
            });
        element.kind == ElementKind::Paragraph && (is_line || is_label)
    }

    /// Returns the end of the text that follows the steps and belongs to them. Text below steps
    /// without a title must refer to them.
    pub(super) fn with_tail(&self, steps: usize, most: usize, titled: bool) -> usize {
        let mut to = steps;
        for at in steps..most {
            let belongs = titled || self.refers_to_steps(at);
            if !belongs || self.is_after(at) || self.elements[at].kind == ElementKind::DetailsClose
            {
                break;
            }
            to = at + 1;
        }
        while to > steps
            && matches!(
                self.elements[to - 1].kind,
                ElementKind::Rule | ElementKind::Html | ElementKind::Quote
            )
        {
            to -= 1;
        }
        to
    }

    /// Whether the block is no paragraph, or one that begins with a label such as "Rollback:" or
    /// mentions a step by its number.
    pub(super) fn refers_to_steps(&self, at: usize) -> bool {
        let element = &self.elements[at];
        let text = element.text.trim();
        let label = text.find([':', '：']).is_some_and(|colon| {
            let label = &text[..colon];
            label.chars().count() <= 30 && label.split_whitespace().count() <= 3
        });
        element.kind != ElementKind::Paragraph
            || element.bold > 0
            || label
            || mentions_step(&element.text, &element.phrases)
    }

    fn is_command(&self, at: usize) -> bool {
        let text = self.elements[at].text.trim_start();
        ["/save", "/erk:", "/plan", "/check"]
            .iter()
            .any(|command| text.starts_with(command))
    }

    /// Whether the block precedes a plan without being part of it: a greeting, an announcement, a
    /// quote.
    pub(super) fn is_before(&self, at: usize, heading: usize) -> bool {
        let element = &self.elements[at];
        match element.kind {
            ElementKind::Paragraph => {
                self.is_command(at)
                    || element.text.trim_start().starts_with('@')
                    || element.text.len() <= 600
                        && (element.begins(Class::Before)
                            || element.phrases.has(Class::Lead) && heading < self.elements.len())
            }
            ElementKind::Quote | ElementKind::Rule => true,
            _ => false,
        }
    }

    /// Whether the block follows a plan without being part of it: a sign-off, a question to the
    /// reader, a command.
    pub(super) fn is_after(&self, at: usize) -> bool {
        let Some(element) = self.elements.get(at) else {
            return false;
        };
        if element.kind != ElementKind::Paragraph || element.is_bold_line() {
            return false;
        }
        let text = element.text.trim();
        let length = text.chars().count();
        let below_text = at > 0 && self.elements[at - 1].level().is_none();
        let signed = (text.starts_with("-- ") || text.starts_with("— ") || text.starts_with("– "))
            && length < 40;
        let me = length <= 300
            && element
                .phrases
                .all(Class::Me)
                .any(|me| me.start <= element.words().start + 2 || length <= 100);
        let shouts = length <= 100 && text.ends_with(['!', '！']) && text.lines().count() == 1;
        let picture = text.is_empty() || element.words().is_empty();
        let smiles = length <= 300
            && (text.ends_with(|c: char| ('\u{1f300}'..='\u{1faff}').contains(&c))
                || [":)", ":-)", ";)", ":d", "^^", "xd"]
                    .iter()
                    .any(|sign| text.ends_with(sign)));
        let calls = length <= 250
            && text.match_indices('@').any(|(at, _)| {
                text[..at].ends_with([' ', '(', ','])
                    && text[at + 1..].starts_with(char::is_alphabetic)
            })
            && !text
                .lines()
                .next()
                .is_some_and(|line| line.contains([':', '：']));
        // The request to the reader may be in a later sentence.
        let later = length <= 300
            && element.phrases.all(Class::After).any(|found| {
                text.is_char_boundary(found.start)
                    && text[..found.start.min(text.len())]
                        .trim_end()
                        .ends_with(['.', '!', '?', '。', '！', '？'])
            });
        picture
            || calls
            || later
            || only_references(text)
            || signed
            || smiles
            || me
            || shouts
            || element.begins(Class::Aside)
            || element.phrases.all(Class::Aside).any(|it| {
                it.start <= element.words().start + 6
                    || length <= 160 && it.end >= element.words().end && below_text
            })
            || self.is_command(at)
            || text.starts_with('@')
            || length <= 400
                && (element.begins(Class::After)
                    || element.phrases.has(Class::After)
                        && (text.ends_with(['?', '？']) || length <= 50)
                    || text.ends_with(['?', '？']) && text.lines().count() == 1)
    }

    /// Returns the end of a plan that begins at `from`, without sign-offs and the rules or closing
    /// tags before them.
    pub(super) fn end_without_talk(&self, from: usize, to: usize) -> usize {
        let asks = self.elements[from..to]
            .iter()
            .rev()
            .find(|it| it.level().is_some());
        let asks = asks.is_some_and(|heading| {
            heading.text.contains("question")
                || heading.text.contains('?')
                || heading.text.contains('？')
        });
        let mut end = to;
        while end > from + 1 {
            let last = &self.elements[end - 1];
            let closing = matches!(last.kind, ElementKind::Rule | ElementKind::DetailsClose)
                || last.kind == ElementKind::Html
                    && ["</", "<!--"]
                        .iter()
                        .any(|tag| self.text[last.span.clone()].trim_start().starts_with(tag));
            if let Some(open) = self.folded_quote(from, end) {
                end = open;
                continue;
            }
            // What is below the heading of a section is part of it.
            let headed = end >= from + 2
                && (self.elements[end - 2].level().is_some()
                    || self.elements[end - 2].is_bold_line());
            let questions = matches!(last.kind, ElementKind::List { .. })
                && end >= from + 3
                && self.elements[end - 2].begins(Class::After)
                && self.is_after(end - 2);
            if !asks && questions {
                end -= 2;
                continue;
            }
            let talk = !asks && !headed && self.is_after(end - 1);
            if !(talk || closing && (end < to || last.kind != ElementKind::Rule)) {
                break;
            }
            end -= 1;
        }
        end
    }

    /// Returns the start of the `details` element that ends at `end` if it contains only quotes,
    /// such as the text that an agent was given.
    fn folded_quote(&self, from: usize, end: usize) -> Option<usize> {
        let part = &self.elements[from + 1..end];
        let (last, inside) = part.split_last()?;
        if last.kind != ElementKind::DetailsClose {
            return None;
        }
        let open = inside
            .iter()
            .rposition(|it| it.kind == ElementKind::DetailsOpen)?;
        let quoted = inside[open + 1..]
            .iter()
            .all(|it| matches!(it.kind, ElementKind::Quote | ElementKind::Html));
        quoted.then_some(from + 1 + open)
    }

    /// Returns the end of the section at `at`. Following sections of the same level belong to it
    /// unless they begin another plan or are part of another kind of document.
    pub(super) fn section_end(&self, at: usize, level: u8) -> usize {
        // The section is preceded by others of the same level, so it is one of several.
        let among = self.elements[..at]
            .iter()
            .any(|it| it.level() == Some(level));
        let ends = |next: &usize| match self.elements[*next].level() {
            Some(other) if other < level => true,
            Some(other) if other == level => match self.role(*next) {
                Role::Title | Role::Other => true,
                Role::Unknown => level == 1 || among,
                Role::Section | Role::Phase => false,
            },
            _ => false,
        };
        (at + 1..self.elements.len())
            .find(ends)
            .unwrap_or(self.elements.len())
    }
}

/// Returns the text directly below a plan in its post that was not taken to be part of it, unless it
/// is addressed to the reader or belongs to another section or proposal.
pub fn remark_below<'p>(post: &'p str, plan: &str) -> Option<&'p str> {
    let end = post.find(plan)? + plan.len();
    let elements = elements(post);
    let search = Search::new(post, &elements);
    let is_text = |element: &Element| {
        matches!(
            element.kind,
            ElementKind::Paragraph | ElementKind::List { .. } | ElementKind::Table(_)
        )
    };
    let remark = (elements.partition_point(|it| it.span.start < end)..elements.len())
        .take_while(|at| elements[*at].level().is_none() && elements[*at].bold == 0)
        .find(|at| is_text(&elements[*at]) && !search.is_after(*at))?;
    post.get(elements[remark].span.clone())
}

/// Whether the block is a paragraph such as `Goal: the start takes at most a second.`
pub(super) fn is_labelled(element: &Element) -> bool {
    let text = element.text.trim();
    element.kind == ElementKind::Paragraph
        && !is_other_label(element)
        && text.split_once([':', '：']).is_some_and(|(label, rest)| {
            let label = label.trim();
            label.split_whitespace().count() <= MAX_LABEL_WORDS
                && label
                    .chars()
                    .all(|c| c.is_alphabetic() || c.is_whitespace())
                && label.chars().count() <= MAX_LABEL
                && rest.contains(char::is_alphanumeric)
                && !rest.starts_with("//")
        })
}

/// Whether the text consists only of references such as `Closes #12, #13.`
fn only_references(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
        "refs", "ref", "see", "part", "and",
    ];
    let mut words = text
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '.'))
        .filter(|word| !word.is_empty())
        .peekable();
    let is_reference = |word: &str| {
        word.rsplit_once('#').is_some_and(|(_, number)| {
            !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
        })
    };
    words.peek().is_some_and(|first| WORDS.contains(first))
        && text.contains('#')
        && words.all(|word| word == "of" || WORDS.contains(&word) || is_reference(word))
}
