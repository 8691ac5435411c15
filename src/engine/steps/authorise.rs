//! Who may: GitHub is asked for the sender's role at the time of acting, and the answer must be about the same account.

use super::super::forge::{Forge, ForgeError};
use super::super::trigger::{Origin, Trigger};
use crate::formats::command::Permission;

/// Proof that GitHub confirmed the sender's permission for this command. Only [`check`] makes one.
#[derive(Debug)]
pub struct Authorised {
    _proof: (),
}

/// What the check came to.
#[derive(Debug)]
pub enum Verdict {
    /// Go on.
    Allowed(Authorised),
    /// The sender has less than the command needs.
    Denied {
        /// What the sender has.
        has: Option<Permission>,
    },
}

/// Asks GitHub for the sender's role and compares it with what the command needs.
///
/// A login can be given up and taken by somebody else, so the id in the answer must be the sender's
/// (<https://docs.github.com/rest/collaborators/collaborators#get-repository-permissions-for-a-user>).
///
/// # Errors
/// GitHub did not answer.
pub async fn check(forge: &dyn Forge, trigger: &Trigger) -> Result<Verdict, ForgeError> {
    if matches!(trigger.origin, Origin::Push { .. }) {
        // The label that is on the pull request asks, and only who may triage can set one.
        return Ok(Verdict::Allowed(Authorised { _proof: () }));
    }
    let needs = trigger.command.spec().permission;
    if needs == Permission::Read {
        // Whoever can comment can read.
        return Ok(Verdict::Allowed(Authorised { _proof: () }));
    }
    let access = forge
        .access(&trigger.place.repo, &trigger.actor.login)
        .await?;
    let has = access
        .permission
        .filter(|_| access.user_id == trigger.actor.id);
    Ok(match has {
        Some(has) if has >= needs => Verdict::Allowed(Authorised { _proof: () }),
        _ => Verdict::Denied { has },
    })
}
