//! The words by which headings and chat are recognised.

/// Headings of a plan's parts, as words that stand in them.
const PLAN_SECTIONS: [&str; 36] = [
    "overview",
    "approach",
    "implementation",
    "steps",
    "tasks",
    "files",
    "testing",
    "tests",
    "test plan",
    "success criteria",
    "acceptance criteria",
    "rollout",
    "rollback",
    "migration",
    "risks",
    "scope",
    "goal",
    "goals",
    "objective",
    "objectives",
    "non-goals",
    "dependencies",
    "architecture",
    "design",
    "phases",
    "milestones",
    "rationale",
    "verification",
    "validation",
    "proposed changes",
    "strategy",
    "current state",
    "todo",
    "timeline",
    "deliverables",
    "work items",
];

/// Headings of other documents: bug reports, pull-request templates, minutes.
const OTHER_SECTIONS: [&str; 34] = [
    "steps to reproduce",
    "to reproduce",
    "reproduction",
    "how to reproduce",
    "expected behavior",
    "expected behaviour",
    "actual behavior",
    "actual behaviour",
    "current behavior",
    "current behaviour",
    "environment",
    "version",
    "versions",
    "logs",
    "stack trace",
    "traceback",
    "screenshots",
    "describe the bug",
    "bug description",
    "additional context",
    "system info",
    "what happened",
    "changelog",
    "release notes",
    "discussion",
    "feedback",
    "review",
    "meeting notes",
    "minutes",
    "attendees",
    "type of change",
    "related issues",
    "what's changed",
    "how has this been tested",
];

/// Plans that are a part of another document.
const PARTIAL_PLANS: [&str; 9] = [
    "test",
    "testing",
    "qa",
    "rollback",
    "rollout",
    "verification",
    "validation",
    "backout",
    "release",
];

/// What a heading is to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It names a plan.
    Title,
    /// A part of a plan.
    Section,
    /// A numbered phase or step.
    Phase,
    /// A part of some other document.
    Other,
    /// Cannot be told.
    Unknown,
}

/// What the heading `text` of `level` is to a plan.
pub(super) fn role(level: u8, text: &str) -> Role {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || "-'’".contains(c)))
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .collect();
    let line = words.join(" ");
    // Whole words only, found without a copy for each phrase: a post may have very many headings.
    let has = |phrase: &&str| {
        line.match_indices(*phrase).any(|(at, _)| {
            let apart = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b' ');
            let before = at
                .checked_sub(1)
                .and_then(|before| line.as_bytes().get(before));
            apart(before) && apart(line.as_bytes().get(at + phrase.len()))
        })
    };
    if OTHER_SECTIONS.iter().any(has) || lower.trim_end().ends_with('?') {
        return Role::Other;
    }
    let counted = ["phase", "step", "milestone", "stage", "task"];
    let phase = words.windows(2).take(2).any(|pair| {
        counted.contains(&pair[0]) && pair[1].starts_with(|c: char| c.is_ascii_digit())
    }) && !lower.starts_with(|c: char| c.is_ascii_digit());
    if phase {
        return Role::Phase;
    }
    if level <= 3 && names_plan(&lower, &words) {
        return Role::Title;
    }
    if PLAN_SECTIONS.iter().any(has) {
        return Role::Section;
    }
    // `3. Wire it up`, but not `2026-01-02` and not `3 things`.
    let digits = lower.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < lower.len() && (digits.starts_with(". ") || digits.starts_with(") ")) {
        return Role::Phase;
    }
    Role::Unknown
}

/// `Plan: X`, `X plan`, `Plan for X`; not `Pricing plan limits`, not `Test plan`.
fn names_plan(lower: &str, words: &[&str]) -> bool {
    let Some(at) = words.iter().position(|word| *word == "plan") else {
        return false;
    };
    let partial = at > 0
        && words
            .get(at - 1)
            .is_some_and(|word| PARTIAL_PLANS.contains(word));
    let joined = words
        .get(at + 1)
        .is_none_or(|next| ["for", "to", "of", "v2", "v3"].contains(next));
    let marked = [":", " -", " –", " —", " ("]
        .iter()
        .any(|mark| lower.contains(&format!("plan{mark}")));
    !partial && (at == 0 || joined || marked)
}

/// A paragraph that opens a plan without a heading: `Plan:`, `**Implementation plan: X**`, `Here is my plan:`.
pub(super) fn is_lead(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let named = [
        "plan",
        "the plan",
        "implementation plan",
        "proposed plan",
        "updated plan",
        "revised plan",
        "new plan",
    ];
    named.iter().any(|name| {
        plain
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '*']))
    })
}

/// A sentence that leads to a plan: `… plan:`.
pub(super) fn announces(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    lower.len() < 300
        && lower.ends_with(':')
        && lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "plan")
}

/// Talk before a plan.
pub(super) fn is_talk_before(text: &str) -> bool {
    const STARTS: [&str; 26] = [
        "here is",
        "here's",
        "here’s",
        "here are",
        "below is",
        "ok",
        "okay",
        "sure",
        "great",
        "good point",
        "thanks",
        "thank you",
        "as discussed",
        "i've",
        "i’ve",
        "i have",
        "i looked",
        "let me",
        "hi",
        "hello",
        "hey",
        "alright",
        "right",
        "following up",
        "perfect",
        "got it",
    ];
    short(text) && (starts(text, &STARTS) || is_command(text) || text.trim_start().starts_with('@'))
}

/// Talk behind a plan.
pub(super) fn is_talk_after(text: &str) -> bool {
    const STARTS: [&str; 14] = [
        "let me know",
        "please let me know",
        "happy to",
        "feedback welcome",
        "wdyt",
        "i'll wait",
        "i’ll wait",
        "please review",
        "thoughts",
        "generated with",
        "comments welcome",
        "over to you",
        "cc",
        "tell me",
    ];
    const QUESTIONS: [&str; 21] = [
        "shall i",
        "shall we",
        "should i",
        "would you",
        "do you",
        "want me to",
        "does this",
        "does that",
        "is this ok",
        "is that ok",
        "is this fine",
        "ready to",
        "any objections",
        "any thoughts",
        "what do you",
        "can i",
        "may i",
        "ok to",
        "okay to",
        "sound good",
        "how does",
    ];
    short(text)
        && (starts(text, &STARTS)
            || is_command(text)
            || text.contains('?') && starts(text, &QUESTIONS))
}

fn is_command(text: &str) -> bool {
    let text = text.trim_start();
    ["/save-plan", "/save-raw-plan", "/erk:", "/plan"]
        .iter()
        .any(|command| text.starts_with(command))
}

fn short(text: &str) -> bool {
    text.len() <= 600
}

fn starts(text: &str, with: &[&str]) -> bool {
    let lower = text.trim().to_lowercase();
    let plain = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    with.iter().any(|start| {
        plain
            .strip_prefix(start)
            .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}
