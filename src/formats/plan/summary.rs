//! One sentence and three bullets about a plan, from its own words.
//!
//! Nothing is made up: a sentence is quoted, a heading or the start of a list item is quoted, paths are quoted, and all
//! else is a count or says that there is none. Of a plan document only the plan is read, without front matter.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Arena, parse_document};

use super::document;
use super::inline;
use super::title::{cut, front_matter, is_section_name};
use crate::formats::action_plan::{self, Action, ActionPlan};
use crate::formats::markdown::{self, Block, Kind};

/// Longest sentence or bullet in Unicode code points, as a reader sees it.
pub const MAX_CHARS: usize = 160;
/// A sentence shorter than this says too little.
const SHORTEST_SENTENCE: usize = 25;
/// Names listed in a bullet before the rest is counted.
const NAMES: usize = 3;

/// What a plan says, each part one line of Markdown without any markup: what would be read as markup is escaped, so the
/// source may be longer than [`MAX_CHARS`]. The caller quiets mentions and commands before it posts this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What the plan is for.
    pub sentence: String,
    /// Steps; files; tests and risks. Counts where the plan does not name them.
    pub bullets: [String; 3],
}

/// Summarises `plan`. The same text gives the same summary.
pub fn summarise(title: &str, plan: &str) -> Summary {
    let plan = document::body(plan);
    let plan = &plan[front_matter(plan)..];
    if action_plan::is_action_plan(plan)
        && let Ok(plan) = action_plan::parse(plan)
    {
        return of_actions(&plan);
    }
    let blocks = markdown::blocks(plan);
    let steps = Steps::of(plan, &blocks);
    let sections = blocks
        .iter()
        .filter(|block| matches!(block.kind, Kind::Heading { level: 2, .. }))
        .count();
    let sentence = purpose(&blocks).unwrap_or_else(|| {
        let title = inline::one_line(title);
        let mut parts = format!("Plan with {}", count(steps.total, steps.word));
        if sections > 0 {
            parts.push_str(&format!(" in {}", count(sections, "section")));
        }
        if title.is_empty() {
            format!("{parts}.")
        } else {
            format!("{parts}: {title}.")
        }
    });
    Summary {
        sentence: inline::shown(&cut(&sentence, MAX_CHARS)),
        bullets: [steps.bullet(), files(plan), checks(&blocks)]
            .map(|bullet| inline::shown(&cut(&bullet, MAX_CHARS))),
    }
}

/// The summary of an executable plan: its rationale, its actions in order, the files they change,
/// the commands they run.
fn of_actions(plan: &ActionPlan) -> Summary {
    let actions = || plan.actions.iter().map(|step| &step.action);
    let rationale = inline::one_line(&plan.rationale);
    let sentence = match first_sentence(&rationale) {
        "" => format!("Plan with {}.", count(plan.actions.len(), "action")),
        sentence => sentence.to_owned(),
    };
    let names: Vec<String> = actions()
        .map(|action| {
            let target = inline::one_line(action.target().unwrap_or_default());
            cut(format!("{} {target}", action.name()).trim_end(), 45)
        })
        .collect();
    let mut files: Vec<String> = Vec::new();
    for action in actions() {
        let path = match action {
            Action::Create(it) => it.path.as_str(),
            Action::Edit(it) => it.path.as_str(),
            Action::Prune(it) => it.resource.as_str(),
            _ => continue,
        };
        if !files.iter().any(|known| known == path) {
            files.push(path.to_owned());
        }
    }
    let changed = match files.len() {
        0 => "Changes no files".to_owned(),
        many => named(
            &format!("Changes {}", count(many, "file")),
            &files,
            many,
            ", ",
        ),
    };
    let runs = actions()
        .filter(|action| matches!(action, Action::Execute(_)))
        .count();
    let runs = match runs {
        0 => "Runs no commands".to_owned(),
        many => format!("Runs {}", count(many, "command")),
    };
    let total = plan.actions.len();
    let listed = named(&count(total, "action"), &names, total, "; ");
    Summary {
        sentence: inline::shown(&cut(&sentence, MAX_CHARS)),
        bullets: [listed, changed, runs].map(|bullet| inline::shown(&cut(&bullet, MAX_CHARS))),
    }
}

/// The first real sentence of a section that says what the plan is for, else of the first paragraph.
fn purpose(blocks: &[Block]) -> Option<String> {
    const NAMES: [&str; 7] = [
        "overview",
        "goal",
        "goals",
        "objective",
        "summary",
        "purpose",
        "problem",
    ];
    let named = blocks.iter().position(|block| match &block.kind {
        Kind::Heading { text, .. } => NAMES.contains(&text.to_lowercase().trim_end_matches(':')),
        _ => false,
    });
    named
        .and_then(|at| {
            let section = blocks[at + 1..]
                .iter()
                .take_while(|block| !matches!(block.kind, Kind::Heading { .. }));
            sentence_in(section)
        })
        .or_else(|| sentence_in(blocks.iter()))
}

fn sentence_in<'a>(mut blocks: impl Iterator<Item = &'a Block>) -> Option<String> {
    blocks.find_map(|block| match &block.kind {
        Kind::Paragraph { text } => {
            let line = inline::one_line(text);
            let sentence = first_sentence(&line);
            let says_something =
                sentence.chars().count() >= SHORTEST_SENTENCE && !sentence.ends_with(':');
            says_something.then(|| sentence.to_owned())
        }
        _ => None,
    })
}

/// Up to the first full stop, question or exclamation mark that a blank and a capital or nothing follows.
fn first_sentence(line: &str) -> &str {
    let mut ends = line
        .char_indices()
        .skip(SHORTEST_SENTENCE - 1)
        .filter(|(_, c)| matches!(c, '.' | '!' | '?' | '。'))
        .map(|(at, c)| at + c.len_utf8());
    let end = ends.find(|end| {
        let rest = &line[*end..];
        let next = rest.trim_start();
        next.is_empty() || rest.len() > next.len() && next.starts_with(|c: char| !c.is_lowercase())
    });
    &line[..end.unwrap_or(line.len())]
}

struct Steps {
    /// Headings of phases and steps, or list items.
    total: usize,
    word: &'static str,
    names: Vec<String>,
}

impl Steps {
    fn of(plan: &str, blocks: &[Block]) -> Self {
        let mut phases: Vec<(u8, String)> = Vec::new();
        for block in blocks {
            if let Kind::Heading { level, text, .. } = &block.kind {
                let name = inline::one_line(text);
                let name = name
                    .trim_start_matches("[x]")
                    .trim_start_matches("[ ]")
                    .trim();
                if is_section_name(name) && name.contains(|c: char| c.is_ascii_digit()) {
                    phases.push((*level, name.to_owned()));
                }
            }
        }
        let top = phases.iter().map(|(level, _)| *level).min();
        let names: Vec<String> = phases
            .into_iter()
            .filter(|(level, _)| Some(*level) == top)
            .map(|(_, name)| name)
            .collect();
        if names.len() > 1 {
            let phase = names
                .iter()
                .all(|name| name.to_lowercase().starts_with("phase"));
            return Self {
                total: names.len(),
                word: if phase { "phase" } else { "step" },
                names,
            };
        }
        let longest = |wanted: bool| {
            blocks
                .iter()
                .filter_map(|block| match block.kind {
                    Kind::List {
                        ordered,
                        items,
                        tasks,
                    } if !wanted || ordered || tasks > 0 => Some((items, block)),
                    _ => None,
                })
                .max_by_key(|(items, block)| (*items, std::cmp::Reverse(block.line)))
        };
        // Only numbers and boxes make steps of items.
        let found = longest(true).map(|list| ("step", list));
        match found.or_else(|| longest(false).map(|list| ("point", list))) {
            Some((word, (total, block))) => Self {
                total,
                word,
                names: first_lines(&plan[block.span.clone()]),
            },
            None => Self {
                total: 0,
                word: "step",
                names,
            },
        }
    }

    fn bullet(&self) -> String {
        if self.total == 0 {
            return "No steps are listed".to_owned();
        }
        named(&count(self.total, self.word), &self.names, self.total, "; ")
    }
}

/// The first lines of a list's items, short.
fn first_lines(list: &str) -> Vec<String> {
    let arena = Arena::new();
    let root = parse_document(&arena, list, &markdown::options());
    root.children()
        .flat_map(AstNode::children)
        .filter_map(AstNode::first_child)
        .map(|first| cut(&inline::one_line(&first.collect_text()), 45))
        .filter(|line| !line.is_empty())
        .collect()
}

/// Paths in code spans, in the order in which they are named.
fn files(plan: &str) -> String {
    let arena = Arena::new();
    let root = parse_document(&arena, plan, &markdown::options());
    let mut found: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for node in root.descendants() {
        if let NodeValue::Code(code) = &node.data().value
            && let Some(path) = as_path(&code.literal)
            && seen.insert(path.to_owned())
        {
            found.push(path.to_owned());
        }
    }
    if found.is_empty() {
        return "No files are named".to_owned();
    }
    named(&count(found.len(), "file"), &found, found.len(), ", ")
}

/// The path in a code span such as `src/main.rs:10-20`; `None` for anything else.
pub(crate) fn as_path(code: &str) -> Option<&str> {
    let path = code.split_once(':').map_or(code, |(path, lines)| {
        let numbers = lines
            .chars()
            .all(|c| c.is_ascii_digit() || "-,:".contains(c));
        if numbers { path } else { code }
    });
    let plain = !path.starts_with('/')
        && path
            .chars()
            .all(|c| c.is_alphanumeric() || "./_-+".contains(c));
    let (_, file) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = file.rsplit_once('.')?;
    let named = !extension.is_empty()
        && extension.len() <= 10
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.chars().all(|c| c.is_ascii_alphanumeric())
        && (path.contains('/') || !stem.is_empty() && KNOWN_EXTENSIONS.contains(&extension));
    (plain && named && path.len() <= 200).then_some(path)
}

/// Extensions that make a name without a folder a file; `config.load` is a method.
const KNOWN_EXTENSIONS: [&str; 30] = [
    "c", "cfg", "cpp", "cs", "css", "go", "h", "html", "java", "js", "json", "jsx", "kt", "lock",
    "md", "php", "proto", "py", "rb", "rs", "sh", "sql", "swift", "tf", "toml", "ts", "tsx", "txt",
    "yaml", "yml",
];

/// Whether there are sections on tests and risks, by words that begin so in the headings, and how many boxes to tick.
fn checks(blocks: &[Block]) -> String {
    let has = |words: &[&str]| {
        blocks.iter().any(|block| match &block.kind {
            Kind::Heading { text, .. } => {
                let lower = text.to_lowercase();
                words.iter().any(|wanted| {
                    let starts = |(at, _): (usize, &str)| {
                        !lower[..at].ends_with(|before: char| before.is_alphanumeric())
                    };
                    lower.match_indices(wanted).any(starts)
                })
            }
            _ => false,
        })
    };
    let tests = has(&["test", "verification", "success criteria", "acceptance"]);
    let risks = has(&["risk", "pitfall", "rollback"]);
    let boxes: usize = blocks
        .iter()
        .map(|block| match block.kind {
            Kind::List { tasks, .. } => tasks,
            _ => 0,
        })
        .sum();
    let mut bullet = match (tests, risks) {
        (true, true) => "Has sections on tests and on risks",
        (true, false) => "Has a section on tests, none on risks",
        (false, true) => "Has a section on risks, none on tests",
        (false, false) => "Has no section on tests or risks",
    }
    .to_owned();
    if boxes > 0 {
        bullet.push_str("; ");
        bullet.push_str(&count(boxes, "box"));
        bullet.push_str(" to tick");
    }
    bullet
}

fn named(head: &str, names: &[String], total: usize, between: &str) -> String {
    let shown = &names[..names.len().min(NAMES)];
    if shown.is_empty() {
        return head.to_owned();
    }
    let listed = shown.join(between);
    match total.saturating_sub(shown.len()) {
        0 => format!("{head}: {listed}"),
        more => format!("{head}: {listed} and {more} more"),
    }
}

fn count(number: usize, word: &str) -> String {
    match (number, word) {
        (1, _) => format!("1 {word}"),
        (_, "box") => format!("{number} boxes"),
        _ => format!("{number} {word}s"),
    }
}

#[cfg(test)]
mod tests;
