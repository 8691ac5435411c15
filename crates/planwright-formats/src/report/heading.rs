//! Headings: the names of sections, and the phases and milestones of plans.

/// A heading's text as the name of a section: lower case, without number and pictures in front,
/// without colon and pictures behind.
pub(super) fn name(text: &str) -> String {
    let text = text.trim_matches(is_picture);
    let unnumbered =
        text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || is_keycap(c));
    let numbered = unnumbered.len() < text.len();
    let rest = match unnumbered.strip_prefix([')', ':']) {
        Some(rest) if numbered => rest,
        _ => unnumbered,
    };
    // `3D` is a word, `3. D` a number and a word.
    let rest = if numbered && rest.starts_with(char::is_alphanumeric) {
        text
    } else {
        rest
    };
    let words: Vec<&str> = rest.trim_matches(is_picture).split_whitespace().collect();
    words.join(" ").trim_end_matches(':').to_lowercase()
}

/// White space, or a character of a picture such as `🚀`: none of it is a part of a name.
fn is_picture(c: char) -> bool {
    c.is_whitespace() || !c.is_ascii() && !c.is_alphanumeric() && !"«»“”„‘’—–…".contains(c)
}

/// What turns a digit into a picture, `1️⃣`.
fn is_keycap(c: char) -> bool {
    matches!(c, '\u{fe0f}' | '\u{20e3}')
}

/// What a heading of a plan counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// `## Phase 1: …`.
    Phase,
    /// `### Milestone 1: …`, which groups phases.
    Milestone,
    /// `### Step 1: …`.
    Step,
}

/// A heading that counts a part of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanHeading {
    /// Which part.
    pub named: Named,
    /// `1`, `3.2`.
    pub number: String,
    /// What stands behind the number, without state; may be empty.
    pub title: String,
    /// What the heading says of its state, by a box in front or a word in brackets at its end; `None` when it says
    /// nothing.
    pub done: Option<bool>,
}

/// Words in brackets at the end of a phase, and whether they say that it is done.
const STATES: [(&str, bool); 9] = [
    ("complete", true),
    ("completed", true),
    ("done", true),
    ("not started", false),
    ("in progress", false),
    ("blocked", false),
    ("pending", false),
    ("todo", false),
    ("incomplete", false),
];

/// Reads a heading with `level` and `text` (without `#` and markup) as a phase, milestone or step: `Phase 1: T`,
/// `Phase 1 — T`, `- [x] Phase 1.2: T`, with a state such as `[COMPLETE]` at the end.
///
/// `None` for the title of a document (level 1) and for whatever only mentions a phase: `2026-07-10 — Phase 1.1: T`,
/// `Success Criteria — Phase 2`, `Phase 2 results`.
pub fn phase_heading(level: u8, text: &str) -> Option<PlanHeading> {
    if level < 2 {
        return None;
    }
    let (ticked, text) = boxed(text.trim());
    let (pictured, text) = pictured(text);
    let (named, rest) = [
        (Named::Phase, "phase"),
        (Named::Milestone, "milestone"),
        (Named::Step, "step"),
    ]
    .into_iter()
    .find_map(|(named, word)| {
        let head = text.get(..word.len())?;
        head.eq_ignore_ascii_case(word)
            .then(|| (named, &text[word.len()..]))
    })?;
    let digits = rest.trim_start();
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(digits.len());
    // `Phase 1. T` ends the number with a point.
    let number = digits[..end].trim_end_matches('.');
    let spaced = digits.len() < rest.len();
    if !spaced || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (state, title) = state(digits[number.len()..].trim());
    let title = if title.is_empty() {
        title
    } else {
        [":", "—", "–", "--", "-", ".", ")"]
            .into_iter()
            .find_map(|between| title.strip_prefix(between))
            .or_else(|| title.starts_with('(').then_some(title))?
    };
    Some(PlanHeading {
        named,
        number: number.to_owned(),
        title: title.trim().to_owned(),
        done: ticked.or(state).or(pictured),
    })
}

/// A box in front, as in `- [x] Phase 1`, and what is behind it.
fn boxed(text: &str) -> (Option<bool>, &str) {
    let bare = text.strip_prefix(['-', '*', '+']).unwrap_or(text);
    let bare = bare.trim_start();
    for (mark, done) in [("[x]", true), ("[X]", true), ("[ ]", false)] {
        if let Some(rest) = bare.strip_prefix(mark) {
            return (Some(done), rest.trim_start());
        }
    }
    (None, text)
}

/// What pictures in front say of the state, as in `✅ Phase 1`, and what is behind them.
fn pictured(text: &str) -> (Option<bool>, &str) {
    let rest = text.trim_start_matches(is_picture);
    let pictures = &text[..text.len() - rest.len()];
    let done = pictures.contains(['✅', '☑', '✔', '🎉']);
    (done.then_some(true), rest)
}

/// A state in brackets at the end, and what is in front of it.
fn state(text: &str) -> (Option<bool>, &str) {
    let found = text.strip_suffix(']').and_then(|open| {
        let (title, word) = open.rsplit_once('[')?;
        let word = word.trim().to_lowercase();
        let (_, done) = STATES.into_iter().find(|(state, _)| *state == word)?;
        Some((Some(done), title.trim_end()))
    });
    found.unwrap_or((None, text))
}
