//! The "Next steps" below a saved plan: one command per line, with the number of its issue.

use crate::engine::model::progress::Saved;
use crate::engine::model::trigger::IssueRef;
use crate::engine::settings::{NextSteps, Settings};
use crate::formats::erk::Version;

/// Returns the next steps; empty if the operator disabled them.
///
/// For a plan in several comments, no erk commands are listed, because erk would read only the
/// first comment and treat that as the plan.
pub fn next_steps(settings: &Settings, place: &IssueRef, saved: &Saved) -> String {
    let repo = place.repo.full_name();
    let number = saved.number;
    match &settings.report.next_steps {
        NextSteps::None => String::new(),
        NextSteps::Template(template) => filled(template, number, &repo, &saved.url),
        NextSteps::Erk => {
            let mut steps = vec![(
                "View the plan:",
                format!("gh issue view {number} --repo {repo} --comments"),
            )];
            if saved.comments.len() > 1 {
                steps.push((
                    "Get the whole plan (erk reads only its first comment):",
                    format!("planwright plan get {repo}#{number} > plan.md"),
                ));
            } else {
                steps.extend(of_erk(settings.erk.version, number, &repo));
            }
            let shown: Vec<String> = steps
                .iter()
                .map(|(what, command)| format!("{what}\n\n    {command}"))
                .collect();
            shown.join("\n\n")
        }
    }
}

/// Returns the next steps in a collapsed section that ends with an empty line; empty if there are
/// none.
pub(super) fn folded(next_steps: &str) -> String {
    if next_steps.is_empty() {
        return String::new();
    }
    format!("<details>\n<summary>Next steps</summary>\n\n{next_steps}\n\n</details>\n\n")
}

/// Returns the commands of this version of erk for a plan issue.
fn of_erk(version: Version, number: u64, repo: &str) -> Vec<(&'static str, String)> {
    match version {
        Version::November2025 | Version::December2025 | Version::January2026 => {
            let submit = if version == Version::January2026 {
                "plan submit"
            } else {
                "submit"
            };
            vec![
                ("Implement directly:", format!("erk implement {number}")),
                (
                    "Implement with auto-confirmation (yolo mode):",
                    format!("erk implement {number} --yolo"),
                ),
                (
                    "Implement and auto-submit PR (dangerous mode):",
                    format!("erk implement {number} --dangerous"),
                ),
                (
                    "Submit plan to erk queue:",
                    format!("erk {submit} {number}"),
                ),
            ]
        }
        Version::February2026 => vec![
            (
                "Check out a branch for the plan:",
                format!("erk br co --for-plan {number}"),
            ),
            (
                "Submit plan to erk queue:",
                format!("erk plan submit {number}"),
            ),
            (
                "Check out a branch and implement (dangerous mode):",
                format!(
                    "source \"$(erk br co --for-plan {number} --script)\" && erk implement --dangerous"
                ),
            ),
        ],
        Version::Latest => vec![(
            "Hand the plan to erk, as a draft pull request to implement or to dispatch with `erk pr dispatch`:",
            format!("planwright plan get {repo}#{number} | erk pr create"),
        )],
    }
}

/// Replaces the placeholders of `template` in a single pass, so that placeholders in inserted
/// values are not replaced.
fn filled(template: &str, number: u64, repo: &str, url: &str) -> String {
    let values = [number.to_string(), repo.to_owned(), url.to_owned()];
    let mut text = String::with_capacity(template.len());
    let mut rest = template.trim_end();
    while let Some(at) = rest.find('{') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = NextSteps::PLACEHOLDERS.iter().zip(&values);
        let (taken, value) = known
            .map(|(name, value)| (*name, value.as_str()))
            .find(|(name, _)| rest.starts_with(name))
            .unwrap_or(("{", "{"));
        text.push_str(value);
        rest = &rest[taken.len()..];
    }
    text.push_str(rest);
    text
}
