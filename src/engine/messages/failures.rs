//! Failures of runs, each with its message, details and remedy.

use super::check;
use crate::engine::forge::ForgeError;
use crate::engine::model::failure::{Code, Failure};
use crate::engine::model::progress::Checked;
use crate::engine::model::trigger::{IssueRef, Trigger};
use crate::formats::plan::gate::TitleError;

const RETRY: &str =
    "When the cause is fixed, comment `/retry` here to continue from the step that failed.";

/// Returns the failure if no plan was found, and so none that guidance could be applied to.
/// `looked_at` lists where the bot looked.
pub fn no_plan_found(trigger: &Trigger, looked_at: Vec<String>) -> Failure {
    let name = trigger.command.name();
    let Some(guidance) = &trigger.guidance else {
        return Failure {
            code: Code::NoPlanFound,
            message: "No implementation plan was found in this conversation.".to_owned(),
            details: looked_at,
            remedy: format!(
                "Post the plan as a comment here (a title, an overview, numbered steps), then comment `/{name}` again; \
                 or put the plan into the same comment, below the command."
            ),
        };
    };
    let mut details = vec![format!("Guidance: “{}”", shorten(guidance, 200))];
    details.extend(looked_at);
    Failure {
        code: Code::GuidanceWithoutPlan,
        message: "There is guidance, but no plan was found to apply it to.".to_owned(),
        details,
        remedy: format!(
            "Post the plan here first, then comment `/{name}` with the guidance again."
        ),
    }
}

/// Returns the failure of a plan that does not pass its checks. `feedback` tells a person what to
/// change.
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

/// Returns the failure if the plan's title is invalid and there is no other title.
pub fn title_refused(title: &str, fault: &TitleError) -> Failure {
    let why = fault.to_string();
    let reason = if *fault == TitleError::Empty {
        why
    } else {
        let title = super::code_span(&shorten(title, 80));
        format!("its title {title} was rejected ({why})")
    };
    validation_failed(&reason, fault.feedback())
}

/// Returns the failure of plans that cannot be executed, with the problems of each.
pub fn not_executable(checked: &Checked) -> Failure {
    let bad = checked.plans.iter().filter(|plan| !plan.good);
    let mut message = check::title(checked);
    if let (1, Some(first)) = (checked.plans.len(), bad.clone().next()) {
        message = format!("{message}: {}", shorten(&first.sentence, 500));
    }
    let mut details = vec![match checked.plans.as_slice() {
        // The message already contains the problem of the only plan, and the details follow below.
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
    if checked.good() + checked.skipped() == checked.plans.len() {
        return Failure {
            code: Code::ValidationFailed,
            message: with_full_stop(message),
            details,
            remedy: "Put fewer plans into one pull request, or ask the operator of this bot to raise `check.max_requests`. If a note \
                     above says that the check was limited because of who pushed the commits, somebody with triage \
                     permission can comment `/check-plan`."
                .to_owned(),
        };
    }
    Failure {
        code: Code::ValidationFailed,
        message: with_full_stop(message),
        details,
        remedy: "Fix the lines listed above; `planwright check` reports the same errors on your \
                 computer, and `--fix` proposes longer fences. New commits of a labelled pull \
                 request are checked automatically; otherwise comment `/check-plan` again."
            .to_owned(),
    }
}

/// Appends a full stop unless the sentence ends with punctuation.
pub(in crate::engine::messages) fn with_full_stop(mut sentence: String) -> String {
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

/// Returns the failure if there is no action plan to check.
pub fn no_action_plan() -> Failure {
    Failure {
        code: Code::NoPlanFound,
        message: "There is no executable plan here to check.".to_owned(),
        details: vec![
            "An executable plan (action plan) begins with a `# ` title and has the sections `## Rationale` and `## Action Plan`".to_owned(),
        ],
        remedy: "Put the plan into the same comment, below `/check-plan`; or post it as a comment or in the opening text, then comment `/check-plan` again.".to_owned(),
    }
}

/// Returns the failure of a plan that needs more comments than allowed.
pub fn plan_too_large(parts: usize, most: usize) -> Failure {
    Failure {
        code: Code::PlanTooLarge,
        message: format!("The plan would need {parts} comments; the limit is {most}."),
        details: Vec::new(),
        remedy: "Split the plan into several plans and save them one by one.".to_owned(),
    }
}

/// Returns the failure of a run that a user stopped.
pub fn cancelled(by: &str) -> Failure {
    Failure {
        code: Code::Cancelled,
        message: format!("Stopped by {by}."),
        details: Vec::new(),
        remedy: "Nothing. To run it after all, comment `/retry` here.".to_owned(),
    }
}

/// Returns the failure of a run whose state is invalid, or that crashed the process too often.
pub fn internal(what: &str) -> Failure {
    Failure {
        code: Code::Internal,
        message: "Something went wrong inside planwright.".to_owned(),
        details: vec![what.to_owned()],
        remedy: format!("Report the run id below to the operator of this bot. {RETRY}"),
    }
}

/// Returns a note on a conversation that is too long to be searched completely.
pub fn unsearched(older: usize) -> String {
    let comments = if older == 1 {
        "comment was"
    } else {
        "comments were"
    };
    format!(
        "The conversation is too long to search all of it: {older} older {comments} left out. If the plan is in one of \
         them, put it into the comment with the command."
    )
}

/// Returns the failure of a run that gives up because requests to GitHub kept failing.
pub fn gave_up(error: &ForgeError, hours: u64) -> Failure {
    Failure {
        code: Code::GithubUnavailable,
        message: format!("Requests to GitHub have failed for more than {hours} h."),
        details: vec![error.to_string()],
        remedy: RETRY.to_owned(),
    }
}

/// Returns the failure for a rejected request that would be rejected again.
pub fn refused(error: &ForgeError, place: &IssueRef) -> Failure {
    let repo = place.repo.full_name();
    let (code, message, remedy) = match error {
        ForgeError::Gone { .. } => (
            Code::IssuesDisabled,
            format!("Issues are disabled in {repo}, so the plan cannot be saved."),
            "Enable issues in the repository's settings (General, Features), then comment `/retry` here.".to_owned(),
        ),
        ForgeError::Locked { .. } => (
            Code::LocationGone,
            format!("A conversation in {repo} is locked, and Apps cannot comment there."),
            "Unlock the conversation, then comment `/retry` here.".to_owned(),
        ),
        ForgeError::Archived { .. } => (
            Code::ConfigInvalid,
            format!("{repo} is archived, so nothing can be written there."),
            "Unarchive the repository in its settings, then comment `/retry` here.".to_owned(),
        ),
        ForgeError::IpAllowList { .. } => (
            Code::ConfigInvalid,
            format!("The IP allow list of {} does not include the bot.", place.repo.owner),
            format!(
                "Ask an owner of the organization to add the address of the bot's host to the allow list. {RETRY}"
            ),
        ),
        ForgeError::Deleted { .. } => (
            Code::LocationGone,
            format!("The issue that the command needs in {repo} was deleted."),
            "Comment the command again where the plan is now.".to_owned(),
        ),
        ForgeError::NotFound { .. } => (
            Code::LocationGone,
            format!("GitHub cannot find something that the command needs in {repo}: it was deleted or moved, or the App cannot see it."),
            "Check that it exists and that the App is installed there, then comment the command again.".to_owned(),
        ),
        ForgeError::Forbidden { .. } => (
            Code::ConfigInvalid,
            format!("The GitHub App lacks a permission in {repo}."),
            format!(
                "Ask an owner to accept the App's permissions (checks: write, issues: write, pull requests: write, contents: read, metadata: read). {RETRY}"
            ),
        ),
        ForgeError::Unauthorized { .. } => (
            Code::ConfigInvalid,
            format!("GitHub does not accept the App's credentials for {repo}."),
            format!("Ask the operator of this bot to check the App's id, key and installation. {RETRY}"),
        ),
        _ => (
            Code::GithubUnavailable,
            "GitHub permanently refused a request.".to_owned(),
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

/// Returns the failure if the plan issue was deleted while it was being written.
pub fn plan_issue_deleted(url: &str) -> Failure {
    Failure {
        code: Code::LocationGone,
        message: "The plan issue was deleted while the plan was being saved.".to_owned(),
        details: vec![format!("Deleted: {url}")],
        remedy: "Comment `/retry` here to save the plan as a new issue.".to_owned(),
    }
}

/// Returns the failure if the plan issue was transferred to another repository while it was being
/// written.
pub fn plan_issue_moved(url: &str, now: &IssueRef) -> Failure {
    Failure {
        code: Code::LocationGone,
        message:
            "The plan issue was transferred while the plan was being saved, and is incomplete."
                .to_owned(),
        details: vec![format!(
            "It was {url}, and is now number {} in {}",
            now.number,
            now.repo.full_name()
        )],
        remedy: "Comment the command again to save the plan as a new issue.".to_owned(),
    }
}

/// Returns a path named by an agent in a form that may be published. An absolute path is reduced to
/// its last component, because its folders are those of the bot's host.
pub fn public(path: &str) -> &str {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if drive || path.starts_with(['/', '\\', '~']) {
        path.rsplit(['/', '\\'])
            .find(|part| !part.is_empty())
            .unwrap_or("a folder")
    } else {
        path
    }
}

/// Truncates text to one line of at most `most` characters, which ends with `…` if truncated.
pub fn shorten(text: &str, most: usize) -> String {
    let text = super::one_line(text);
    if text.chars().count() <= most {
        return text;
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::messages;
    use crate::engine::model::run::RunId;
    use crate::engine::model::trigger::Repo;

    fn place() -> IssueRef {
        IssueRef {
            repo: Repo {
                installation: 1,
                id: 42,
                owner: "acme".to_owned(),
                name: "search".to_owned(),
            },
            number: 7,
            pull_request: false,
        }
    }

    #[test]
    fn each_refusal_of_a_place_names_its_cause_and_the_next_step() {
        let what = || "a new comment on issue #7 of acme/search".to_owned();
        let message = || "Nope".to_owned();
        for (error, code, sentence, remedy) in [
            (
                ForgeError::Locked {
                    what: what(),
                    message: message(),
                },
                Code::LocationGone,
                "A conversation in acme/search is locked, and Apps cannot comment there.",
                "Unlock the conversation, then comment `/retry` here.",
            ),
            (
                ForgeError::Archived {
                    what: what(),
                    message: message(),
                },
                Code::ConfigInvalid,
                "acme/search is archived, so nothing can be written there.",
                "Unarchive the repository in its settings, then comment `/retry` here.",
            ),
            (
                ForgeError::IpAllowList {
                    what: what(),
                    message: message(),
                },
                Code::ConfigInvalid,
                "The IP allow list of acme does not include the bot.",
                "Ask an owner of the organization to add the address of the bot's host to the allow list. ",
            ),
            (
                ForgeError::Deleted {
                    what: what(),
                    message: message(),
                },
                Code::LocationGone,
                "The issue that the command needs in acme/search was deleted.",
                "Comment the command again where the plan is now.",
            ),
            (
                ForgeError::NotFound { what: what() },
                Code::LocationGone,
                "GitHub cannot find something that the command needs in acme/search: it was deleted or moved, or the App cannot see it.",
                "Check that it exists and that the App is installed there, then comment the command again.",
            ),
            (
                ForgeError::Gone {
                    what: what(),
                    message: message(),
                },
                Code::IssuesDisabled,
                "Issues are disabled in acme/search, so the plan cannot be saved.",
                "Enable issues in the repository's settings (General, Features), then comment `/retry` here.",
            ),
        ] {
            let failure = refused(&error, &place());
            assert_eq!(failure.code, code);
            assert_eq!(failure.message, sentence);
            assert!(failure.remedy.starts_with(remedy), "{}", failure.remedy);
            assert_eq!(failure.details, [error.to_string()]);
        }
    }

    #[test]
    fn a_plan_issue_that_disappeared_is_named_with_the_next_step() {
        let url = "https://github.com/acme/search/issues/9";
        let deleted = plan_issue_deleted(url);
        assert_eq!(deleted.details, [format!("Deleted: {url}")]);
        let retry = "Comment `/retry` here to save the plan as a new issue.";
        assert_eq!(deleted.remedy, retry);
        let moved = plan_issue_moved(url, &place());
        let was = format!("It was {url}, and is now number 7 in acme/search");
        assert_eq!(moved.details, [was]);
    }

    #[test]
    fn a_report_elsewhere_says_where_it_belongs_and_why_it_is_not_there() {
        let what = || "a comment".to_owned();
        let message = || "Nope, @ada".to_owned();
        for (error, why) in [
            (
                ForgeError::Locked {
                    what: what(),
                    message: message(),
                },
                "the conversation is locked",
            ),
            (
                ForgeError::Deleted {
                    what: what(),
                    message: message(),
                },
                "the issue was deleted",
            ),
            (
                ForgeError::Archived {
                    what: what(),
                    message: message(),
                },
                "the repository is archived",
            ),
            (
                ForgeError::Gone {
                    what: what(),
                    message: message(),
                },
                "issues are disabled in the repository",
            ),
        ] {
            assert_eq!(messages::cannot_comment(&error), why);
        }
        let other = ForgeError::Forbidden {
            what: what(),
            message: message(),
        };
        let other = messages::cannot_comment(&other);
        assert!(!other.contains("@ada"), "a mention notifies: {other}");
        let text = messages::elsewhere(&place(), "the issue was deleted", "Saved.");
        assert!(
            text.starts_with("This report could not be posted in "),
            "{text}"
        );
        assert!(
            text.ends_with(": the issue was deleted.\n\nSaved."),
            "{text}"
        );
        let duplicate = messages::duplicate(&place().repo, &RunId("R1".to_owned()), 12);
        let link = "Duplicate of acme/search#12. GitHub's answer to the request that created this issue was lost";
        assert!(duplicate.starts_with(link), "{duplicate}");
    }
}
