//! Generates signed `issue_comment` deliveries of realistic size.

use secrecy::SecretString;

use crate::Outcome;
use crate::delivery::{self, Comment};
use crate::load::{COMMENT_DIGITS, Mix};

/// The webhook secret.
pub(crate) const SECRET: &str = "the secret of this benchmark";

/// Placeholder for the comment ID, which differs in each request.
const COMMENT: &str = "8888888888";
const _: () = assert!(COMMENT.len() == COMMENT_DIGITS);

/// Number of distinct bodies, enough to defeat caching.
const BODIES: u64 = 64;

/// Returns bodies with `comment`, and a secret to sign them: the right one, or a wrong one if
/// `forged`.
pub(crate) fn mix(comment: Comment, forged: bool) -> Outcome<Mix> {
    let secret = SecretString::from(if forged { "another secret" } else { SECRET });
    let bodies = (1..=BODIES)
        .map(|n| {
            let body = delivery::body(&comment.text(n), COMMENT.parse()?, n)?;
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
