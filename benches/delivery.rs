//! Deliveries of `issue_comment` of realistic size.

use serde_json::Value;

/// Typical size of a delivery for a comment on an issue of 5 kB, in bytes.
const SIZE: usize = 19_000;

/// Size of the plan in the issue or in the comment, in bytes.
const PLAN: usize = 5_000;

/// The content of the comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comment {
    /// A command with a line of guidance, which starts one run.
    Command,
    /// A command with a plan of 5 kB, which starts one run that keeps the plan.
    Plan,
    /// Talk that contains a path, so that the cheapest test for commands does not settle it.
    Talk,
}

impl Comment {
    /// Returns the text of the comment on issue number `n`.
    pub(crate) fn text(self, n: u64) -> String {
        match self {
            Self::Command => {
                format!("/save-plan keep the public interface of module {n} as it is\n")
            }
            Self::Plan => format!("/save-plan\n\n{}", plan(n)),
            Self::Talk => format!(
                "I had a look at src/module_{n}.rs and/or its tests. Shall we wait for the release?\n"
            ),
        }
    }
}

/// Returns the body of the delivery of a comment on issue number `n`.
pub(crate) fn body(text: &str, id: u64, n: u64) -> serde_json::Result<Vec<u8>> {
    let mut payload: Value = serde_json::from_str(include_str!(
        "../fixtures/payloads/issue_comment.created.json"
    ))?;
    payload["issue"]["number"] = n.into();
    payload["issue"]["body"] = plan(n).into();
    payload["repository"]["id"] = (1_000 + n % 8).into();
    payload["comment"]["id"] = id.into();
    payload["comment"]["body"] = text.into();
    // GitHub describes people, the repository and the App with dozens of links; the fixture has
    // fewer.
    let missing = SIZE.saturating_sub(serde_json::to_vec(&payload)?.len());
    let links: Vec<Value> = (0..missing / 64)
        .map(|i| format!("https://api.github.com/repos/harbour/tidewatch/{i:04}/{{/other}}").into())
        .collect();
    payload["repository"]["links"] = links.into();
    serde_json::to_vec(&payload)
}

fn plan(n: u64) -> String {
    let mut text = format!("# Plan: rework module {n}\n\n## Steps\n\n");
    for step in 1.. {
        if text.len() >= PLAN {
            break;
        }
        let line = format!(
            "{step}. Move part {step} of `module_{n}` behind the new trait, and keep \"old\" callers compiling.\n"
        );
        text.push_str(&line);
    }
    text
}
