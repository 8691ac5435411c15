//! The failures a run can decide on, each with its sentence, particulars and remedy.

use super::super::code::{Code, Failure};
use super::super::forge::ForgeError;
use super::super::progress::Checked;
use super::super::trigger::Place;
use super::check;
use crate::formats::plan::title::TitleFault;

const RETRY: &str =
    "Mend the cause, then comment `/retry` here to go on from the step that failed.";

/// Nothing in the conversation looks like a plan. `looked_at` says where the bot looked.
pub fn no_plan_found(looked_at: Vec<String>) -> Failure {
    Failure {
        code: Code::NoPlanFound,
        message: "No implementation plan was found in this conversation.".to_owned(),
        details: looked_at,
        remedy: "Post the plan as a comment here (a title, an overview, numbered steps), then comment `/save-plan` again; \
                 or put the plan into the same comment, below the command."
            .to_owned(),
    }
}

/// There is guidance, but no plan to apply it to.
pub fn guidance_without_plan(guidance: &str, looked_at: Vec<String>) -> Failure {
    let mut details = vec![format!("Guidance: “{}”", shorten(guidance, 200))];
    details.extend(looked_at);
    Failure {
        code: Code::GuidanceWithoutPlan,
        message: "There is guidance, but no plan was found to apply it to.".to_owned(),
        details,
        remedy: "Post the plan here first, then comment `/save-plan` with the guidance again."
            .to_owned(),
    }
}

/// The plan does not pass a gate. `feedback` tells a person what to change.
pub fn validation_failed(reason: &str, feedback: &str) -> Failure {
    Failure {
        code: Code::ValidationFailed,
        message: format!("The plan was found, but cannot be saved as it is: {reason}."),
        details: if feedback.is_empty() {
            Vec::new()
        } else {
            vec![feedback.to_owned()]
        },
        remedy: "Change the plan and comment the command again.".to_owned(),
    }
}

/// The plan's own title does not pass the gate, and there is no other one to take.
pub fn title_refused(title: &str, fault: &TitleFault) -> Failure {
    let why = fault.to_string();
    let reason = if *fault == TitleFault::Empty {
        why
    } else {
        let title = super::code_span(&shorten(title, 80));
        format!("its title {title} is refused ({why})")
    };
    validation_failed(&reason, fault.feedback())
}

/// Plans that cannot be executed, each with what is wrong.
pub fn not_executable(checked: &Checked) -> Failure {
    let bad = checked.plans.iter().filter(|plan| !plan.good);
    let mut message = check::title(checked);
    if let (1, Some(first)) = (checked.plans.len(), bad.clone().next()) {
        message = format!("{message}: {}", shorten(&first.sentence, 500));
    }
    let mut details = vec![match checked.plans.as_slice() {
        // What is wrong with the only plan is said above, and in full below.
        [only] => format!(
            "Checked: {}{}\n{}",
            check::name(only),
            check::at(checked),
            check::notes(checked)
        ),
        _ => format!(
            "Checked{}:\n\n{}",
            check::at(checked),
            check::summary(checked)
        ),
    }];
    details.push(format!("Particulars:\n\n{}", check::details(bad)));
    Failure {
        code: Code::ValidationFailed,
        message: with_full_stop(message),
        details,
        remedy: "Mend the lines that are named; `planwright check` shows the same on your computer, and `--fix` proposes \
                 repairs of fences. New commits of a labelled pull request are checked by themselves, else comment `/check-plan` \
                 again."
            .to_owned(),
    }
}

fn with_full_stop(mut sentence: String) -> String {
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

/// There is no action plan to check.
pub fn no_action_plan() -> Failure {
    Failure {
        code: Code::NoPlanFound,
        message: "There is no executable plan here to check.".to_owned(),
        details: vec![
            "An executable plan begins with `# ` and a title and has the sections `## Rationale` and `## Action Plan`".to_owned(),
        ],
        remedy: "Put the plan into the same comment, below `/check-plan`, or into the opening text.".to_owned(),
    }
}

/// More text than the bot posts.
pub fn plan_too_large(parts: usize, most: usize) -> Failure {
    Failure {
        code: Code::PlanTooLarge,
        message: format!("The plan would need {parts} comments; the limit is {most}."),
        details: Vec::new(),
        remedy: "Split the plan into several plans and save them one by one.".to_owned(),
    }
}

/// Somebody stopped the run.
pub fn cancelled(by: &str) -> Failure {
    Failure {
        code: Code::Cancelled,
        message: format!("Stopped by {by}."),
        details: Vec::new(),
        remedy: "Nothing. To run it after all, comment `/retry` here.".to_owned(),
    }
}

/// The state of a run cannot be used, or it crashed the process too often.
pub fn internal(what: &str) -> Failure {
    Failure {
        code: Code::Internal,
        message: "Something went wrong inside planwright.".to_owned(),
        details: vec![what.to_owned()],
        remedy: format!("Quote the run id below to whoever operates this bot. {RETRY}"),
    }
}

/// GitHub did not do it for so long that the run gives up.
pub fn gave_up(error: &ForgeError, hours: u64) -> Failure {
    Failure {
        code: Code::GithubUnavailable,
        message: format!("GitHub did not do what was asked for more than {hours} h."),
        details: vec![error.to_string()],
        remedy: RETRY.to_owned(),
    }
}

/// A refusal of GitHub that trying again will not change.
pub fn refused(error: &ForgeError, place: &Place) -> Failure {
    let repo = place.repo.full_name();
    let (code, message, remedy) = match error {
        ForgeError::Gone { .. } => (
            Code::IssuesDisabled,
            format!("Issues are disabled in {repo}, so there is nowhere to save the plan."),
            "Enable issues in the repository's settings (General, Features), then comment `/retry` here.".to_owned(),
        ),
        ForgeError::Forbidden { .. } => (
            Code::ConfigInvalid,
            format!("The GitHub App lacks a permission in {repo}."),
            format!(
                "Let an owner accept the App's permissions (issues: write, pull requests: write, contents: read). {RETRY}"
            ),
        ),
        ForgeError::Unauthorized { .. } => (
            Code::ConfigInvalid,
            format!("GitHub does not accept the App's credentials for {repo}."),
            format!("Let the operator check the App's id, key and installation. {RETRY}"),
        ),
        _ => (
            Code::GithubUnavailable,
            "GitHub refused a step, and would refuse it again.".to_owned(),
            RETRY.to_owned(),
        ),
    };
    Failure {
        code,
        message,
        details: vec![error.to_string()],
        remedy,
    }
}

/// At most `most` characters, with `…` when cut.
pub fn shorten(text: &str, most: usize) -> String {
    let text = super::one_line(text);
    if text.chars().count() <= most {
        return text;
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}
