//! Generates `issue_comment` deliveries of realistic size.

use secrecy::SecretString;
use serde_json::Value;

use crate::Outcome;
use crate::load::{COMMENT_DIGITS, Mix};

/// The webhook secret.
pub(crate) const SECRET: &str = "the secret of this benchmark";

/// Placeholder for the comment ID, which differs in each request.
const COMMENT: &str = "8888888888";
const _: () = assert!(COMMENT.len() == COMMENT_DIGITS);

/// Number of distinct bodies, enough to defeat caching.
const BODIES: u64 = 64;

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

/// Returns bodies with `comment`, and a secret to sign them: the right one, or a wrong one if
/// `forged`.
pub(crate) fn mix(comment: Comment, forged: bool) -> Outcome<Mix> {
    let base: Value = serde_json::from_str(include_str!(
        "../../fixtures/payloads/issue_comment.created.json"
    ))?;
    let secret = SecretString::from(if forged { "another secret" } else { SECRET });
    let bodies = (1..=BODIES)
        .map(|n| {
            let mut payload = base.clone();
            payload["comment"]["id"] = COMMENT.parse::<u64>()?.into();
            let body = body(payload, comment, n)?;
            let id = memchr::memmem::find(&body, COMMENT.as_bytes()).ok_or("no comment id")?;
            Ok((body, id))
        })
        .collect::<Outcome<_>>()?;
    Ok(Mix {
        event: "issue_comment",
        bodies,
        secret,
    })
}

fn body(mut payload: Value, comment: Comment, n: u64) -> Outcome<Vec<u8>> {
    payload["issue"]["number"] = n.into();
    payload["repository"]["id"] = (1_000 + n % 8).into();
    payload["issue"]["body"] = plan(n).into();
    payload["comment"]["body"] = match comment {
        Comment::Command => {
            format!("/save-plan keep the public interface of module {n} as it is\n")
        }
        Comment::Plan => format!("/save-plan\n\n{}", plan(n)),
        Comment::Talk => {
            format!("I had a look at src/module_{n}.rs and/or its tests. Shall we wait for the release?\n")
        }
    }
    .into();
    // GitHub describes people, the repository and the App with dozens of links; the fixture has
    // fewer.
    let missing = SIZE.saturating_sub(serde_json::to_vec(&payload)?.len());
    let links: Vec<Value> = (0..missing / 64)
        .map(|i| format!("https://api.github.com/repos/harbour/tidewatch/{i:04}/{{/other}}").into())
        .collect();
    payload["repository"]["links"] = links.into();
    Ok(serde_json::to_vec(&payload)?)
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
