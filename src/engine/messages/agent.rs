//! Texts about the agent: its progress, and notes on the result.

mod asking;
mod failures;

use std::time::Duration;

pub use asking::{
    DECISIONS, bad_answer, concluded, may_not_answer, no_decision, nothing_asked, partly_answered,
    questions, reminder, waiting, waits,
};
pub use failures::{
    and_no_plan, ended, exceeded, failed, held_for_good, no_plan, no_valid_answer, run_cost,
    why_ended, why_exceeded, why_run_cost,
};

use crate::engine::model::agent::{Micros, Spent, Tokens};
use crate::engine::model::progress::Fault;
use crate::engine::store::CommandUsage;
use crate::formats::block::quiet;
use crate::formats::command::Command;
use crate::formats::question::{Question, boxes};

/// Maximum length of a quotation of the agent's text, in characters.
const QUOTED: usize = 300;

/// Quotes the agent's text on one line of at most `most` characters with its markup escaped.
/// Otherwise an image in it would make every reader of the message fetch a URL chosen by the agent.
fn quoted(text: &str, most: usize) -> String {
    boxes::shown(&super::failures::shorten(text, most))
}

/// Formats the usage of an agent (turns, tool calls, cost and time); empty if nothing was used.
pub fn spent(spent: &Spent) -> String {
    let count = |n: u32, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    let mut parts = Vec::new();
    if spent.turns > 0 {
        parts.push(count(spent.turns, "turn"));
    }
    if spent.tools > 0 {
        parts.push(count(spent.tools, "tool call"));
    }
    parts.extend(tokens(&spent.tokens));
    if spent.cost > 0 {
        parts.push(dollars(spent.cost));
    }
    if spent.millis > 0 {
        parts.push(format!("{} s", spent.millis.div_ceil(1000)));
    }
    parts.join(", ")
}

/// Formats numbers of tokens; `None` if there are none.
pub fn tokens(tokens: &Tokens) -> Option<String> {
    (*tokens != Tokens::default()).then(|| {
        format!(
            "{} tokens in, {} out",
            rounded(tokens.input),
            rounded(tokens.output)
        )
    })
}

/// Formats a number with at most three significant digits, in thousands or millions.
fn rounded(number: u64) -> String {
    let (unit, name) = match number {
        0..1_000 => return number.to_string(),
        1_000..999_500 => (1_000, "k"),
        _ => (1_000_000, "M"),
    };
    // Tenths, rounded to nearest.
    let tenths = number.saturating_add(unit / 20) / (unit / 10);
    if tenths < 1_000 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", number.saturating_add(unit / 2) / unit)
    }
}

/// Maximum number of turns in [`turns`].
const MAX_TURNS_LISTED: usize = 20;

/// Returns a folded table of what each turn has used; empty for fewer than two turns.
pub fn turns(turns: &[Spent]) -> String {
    if turns.len() < 2 {
        return String::new();
    }
    let mut text = format!(
        "<details>\n<summary>Agent: {} requests</summary>\n\n| request | used |\n|---|---|\n",
        turns.len()
    );
    let skipped = turns.len().saturating_sub(MAX_TURNS_LISTED);
    for (at, turn) in turns.iter().enumerate().skip(skipped) {
        text.push_str(&format!("| {} | {} |\n", at + 1, spent(turn)));
    }
    text.push_str("\n</details>\n\n");
    text
}

/// Returns what agents have used in a repository since the beginning of the month; `None` for
/// nothing.
pub fn month(usage: &[CommandUsage], month: &str) -> Option<String> {
    let (mut runs, mut cost, mut all) = (0_u64, 0_u64, Tokens::default());
    let mut each = Vec::new();
    for one in usage {
        runs = runs.saturating_add(one.runs);
        cost = cost.saturating_add(one.cost);
        all.add(&one.tokens);
        each.push(format!(
            "`/{}` {}",
            one.command,
            sum(one.runs, one.cost, None)
        ));
    }
    if each.is_empty() {
        return None;
    }
    let all = sum(runs, cost, tokens(&all));
    let each = each.join("; ");
    Some(format!(
        "Agents in this repository in {month}: {all} ({each})."
    ))
}

fn sum(runs: u64, cost: Micros, tokens: Option<String>) -> String {
    let mut parts = vec![match runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    }];
    parts.extend(tokens);
    if cost > 0 {
        parts.push(dollars(cost));
    }
    parts.join(", ")
}

/// Formats an amount in US dollars, rounded up to whole cents.
pub fn dollars(micros: Micros) -> String {
    let cents = micros.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Returns the current step of the status comment while the agent works.
pub fn at_work(command: Command, name: &str, so_far: &Spent) -> String {
    let used = spent(so_far);
    let name = quiet(name);
    if used.is_empty() {
        let what = match command {
            Command::Plan => "the specification",
            _ => "the conversation",
        };
        return format!("{name} is reading {what}");
    }
    format!("{name} is working ({used} so far)")
}

/// Returns the complaint that the agent reports a missing plan although there is one.
pub fn claims_error(code: &str) -> Fault {
    let what = format!(
        "The answer is the error `{}`, but the input contains a plan",
        quoted(code, 40).replace('`', "")
    );
    Fault {
        for_agent: format!("{what}. Enrich that plan and give it back in the output form."),
        for_people: what,
    }
}

/// Returns the reason why the agent's answer is not used.
pub fn answer_rejected(faults: &[Fault]) -> String {
    let what: Vec<&str> = faults
        .iter()
        .map(|fault| fault.for_people.as_str())
        .collect();
    format!(
        "the agent's answer did not pass the checks, although the agent was asked twice to correct it ({})",
        quoted(&what.join("; "), QUOTED)
    )
}

/// Returns the reason why a held run continues without the agent, by decision of `by`.
pub fn held_as_found(by: &str) -> String {
    format!(
        "the agent followed an instruction in the conversation, and {by} decided to continue without it"
    )
}

/// The reason why a run that started with an agent continues without one.
pub const AGENT_GONE: &str = "no agent is configured any more";

/// The source of a plan that was written for a specification.
pub const PLANNED: &str = "written by the agent for the specification in this issue";

/// Returns a note that the plan is a fallback.
pub fn fallback(why: &str, own: bool) -> String {
    let what = if own {
        "the agent's own text, unchecked"
    } else {
        "the plan as it was found"
    };
    format!("Fallback, not enriched: this is {what}, because {why}.")
}

/// Returns a note on claims of the agent that were corrected.
pub fn recomputed(what: &[String]) -> String {
    format!("Corrected the agent's summary: it {}.", what.join("; it "))
}

/// Returns a note on questions of the agent that nobody was asked. `lost` has a sentence for each.
pub fn unasked(lost: &[String]) -> Option<String> {
    (!lost.is_empty()).then(|| {
        format!(
            "Some of the agent's questions were not asked: {}",
            quoted(&lost.join(" "), MAX_UNASKED)
        )
    })
}

/// Maximum length of the note on questions that were not asked, in characters.
const MAX_UNASKED: usize = 1_000;

/// Returns a note on credentials that were removed.
pub fn redacted(count: u32) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 possible credential was removed from the agent's text.".to_owned()),
        n => Some(format!(
            "{n} possible credentials were removed from the agent's text."
        )),
    }
}

/// Returns a note on questions that nobody answered.
pub fn unanswered(open: usize, within: Duration) -> String {
    let hours = within.as_secs() / 3600;
    let time = match hours {
        1 => "1 hour".to_owned(),
        48.. if hours.is_multiple_of(24) => format!("{} days", hours / 24),
        _ => format!("{hours} hours"),
    };
    let what = if open == 1 {
        "1 question was not answered".to_owned()
    } else {
        format!("{open} questions were not answered")
    };
    format!("{what} within {time}; see “Open Questions” at the end of the plan.")
}

/// Returns a note on questions that people left to the agent.
pub fn left_to_agent(left: usize) -> String {
    let what = if left == 1 {
        "1 question was left to the agent".to_owned()
    } else {
        format!("{left} questions were left to the agent")
    };
    format!("{what}; see “Open Questions” at the end of the plan.")
}

/// Returns a note for a terminal on questions that the agent decided because nobody answered them.
pub fn decided_by_agent(open: &[(&Question, bool)]) -> Option<String> {
    let asked: Vec<String> = open
        .iter()
        .map(|(question, _)| format!("“{}”", super::one_line(&question.question)))
        .collect();
    (!asked.is_empty()).then(|| {
        format!(
            "Nobody answered, so the agent decided: {}.",
            asked.join(", ")
        )
    })
}

/// Returns the section of the plan that lists questions without an answer. The flag says whether a
/// question was left to the agent.
pub fn open_questions(open: &[(&Question, bool)]) -> String {
    let mut text = String::from("\n\n## Open Questions\n");
    for (question, left) in open {
        text.push_str(&format!("\n- {}", boxes::shown(&question.question)));
        let options: Vec<&str> = question.options.iter().map(|o| o.label.as_str()).collect();
        if !options.is_empty() {
            text.push_str(&format!(
                " (considered: {})",
                boxes::shown(&options.join(", "))
            ));
        }
        if *left {
            text.push_str(" – left to the agent");
        }
    }
    text.push('\n');
    text
}
