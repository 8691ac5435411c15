//! Builds the planner's prompts from the specification, the guidance, the research reports and the
//! documents.

use super::research::{PromptContext, documents};
use super::{Answered, Form, begun_anew, data, filled, listed};
use crate::engine::model::research::ReportDigest;

const PLAN: &str = include_str!("../prompts/plan.md");

/// The inputs of a planner's prompt.
#[derive(Debug, Clone, Copy)]
pub struct PlanPromptInput<'a> {
    /// The title of the specification.
    pub title: &'a str,
    /// The text of the specification without placeholders.
    pub text: &'a str,
    /// The text after the command.
    pub guidance: Option<&'a str>,
    /// The reports of research.
    pub reports: &'a [ReportDigest],
    /// The documents and the project folder.
    pub around: PromptContext<'a>,
    /// Number of rounds of questions that may be asked.
    pub rounds: u32,
    /// Maximum length of the whole prompt, in characters.
    pub most: usize,
}

impl PlanPromptInput<'_> {
    /// Returns the form in which the agent returns the plan.
    pub fn form(&self) -> Form {
        if self.around.writes {
            Form::Files
        } else {
            Form::Printed
        }
    }
}

/// Returns the first prompt of a session, or of a session that replaces a lost one after the rounds
/// `earlier`.
pub fn plan(given: &PlanPromptInput<'_>, earlier: &[Answered]) -> String {
    if earlier.is_empty() {
        return first(given, given.most);
    }
    let limits = (given.rounds, given.most);
    begun_anew(given.around.nonce, earlier, limits, given.form(), |most| {
        first(given, most)
    })
}

/// Returns the prompt that asks the agent to correct its plan.
pub fn corrected(form: Form, complaints: &[String], strict: bool) -> String {
    let named = listed(complaints.iter().cloned());
    let last = if strict {
        "\nThis is the last try: nothing counts but the plan itself. No questions, no summary, no offer to go on.\n"
    } else {
        ""
    };
    let how = match form {
        Form::Files => {
            "Write the file `plan.md` in your working directory again with the Write tool, whole, with these points put right and \
             nothing else changed. What you answer is not read as the plan."
        }
        Form::Printed | Form::Extracted => {
            "Print the whole plan again, from `# Plan: ` to the end, with these points put right and nothing else changed. No \
             words before or behind it."
        }
    };
    format!("Your plan was not accepted:\n\n{named}{last}\n{how}\n")
}

/// Returns the first prompt with at most `most` characters. Inline documents are truncated first,
/// then the specification.
fn first(given: &PlanPromptInput<'_>, most: usize) -> String {
    let whole = write(given, given.around.inline, given.text);
    let over = whole.chars().count().saturating_sub(most);
    if over == 0 {
        return whole;
    }
    let length = given.around.inline.chars().count();
    // Leave room for the line about the omitted characters.
    let inline = data::cut(given.around.inline, length.saturating_sub(over + 100));
    let shorter = write(given, &inline, given.text);
    let over = shorter.chars().count().saturating_sub(most);
    if over == 0 {
        return shorter;
    }
    let length = given.text.chars().count();
    write(
        given,
        &inline,
        &data::cut(given.text, length.saturating_sub(over + 100)),
    )
}

fn write(given: &PlanPromptInput<'_>, inline: &str, text: &str) -> String {
    let around = PromptContext {
        inline,
        ..given.around
    };
    let nonce = around.nonce;
    let specification = format!(
        "Title: {}\n\n{}\n{}",
        data::line(given.title, nonce),
        data::text(text, nonce).trim(),
        data::bait(around.canary)
    );
    let guidance = given.guidance.map_or_else(String::new, |guidance| {
        let guidance = data::between(nonce, "guidance", &data::text(guidance, nonce));
        format!("\nThe guidance of the person who asked:\n\n{guidance}")
    });
    let end = match given.form() {
        Form::Files => {
            "Answer with the questions if a round is left and one is needed. Else write `plan.md` in your working directory with the \
             Write tool, and `context.md` and `research.md` where they have something to say; write nothing anywhere else. What you \
             answer is not read as the plan: when the files are written, answer with this line and nothing else: PLAN_CREATED: plan.md"
        }
        Form::Printed | Form::Extracted => {
            "Print the questions if a round is left and one is needed. Else print the plan, from `# Plan: ` to the end, and nothing \
             else: what you print is `plan.md`."
        }
    };
    filled(
        PLAN,
        &[
            ("left", &given.rounds.to_string()),
            (
                "specification",
                &data::between(nonce, "specification", &specification),
            ),
            ("guidance", &guidance),
            ("reports", &reports(given)),
            ("around", &documents(&around)),
            ("nonce", nonce),
            ("end", end),
        ],
    )
}

fn reports(given: &PlanPromptInput<'_>) -> String {
    if given.reports.is_empty() {
        return String::new();
    }
    let nonce = given.around.nonce;
    let mut told = String::new();
    for report in given.reports {
        let mark = if report.degraded {
            " (made from an agent's words, no full report: weigh it with care)"
        } else {
            ""
        };
        let text = data::text(&report.text, nonce);
        let topic = data::line(&report.topic, nonce);
        told.push_str(&format!("Topic: {topic}{mark}\n\n{}\n\n", text.trim()));
    }
    let whole = if given.around.writes {
        ", in short. The whole reports are in your working directory; open those that a decision rests on"
    } else {
        ", in short"
    };
    format!(
        "\nWhat research agents found{whole}:\n\n{}",
        data::between(nonce, "reports", told.trim_end())
    )
}
