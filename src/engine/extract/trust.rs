//! Defines whose plans are considered.

use std::collections::HashSet;

use super::GHOST;
use crate::engine::model::trigger::Actor;

/// The authors whose posts may contain the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// All authors. Used for conversations in files, whose authors have no roles.
    Everybody,
    /// The requester, Apps, and the accounts with these ids, which have write permission.
    Writers(HashSet<u64>),
    /// Only the account with this login, which the command names.
    Named(String),
}

impl Trust {
    pub(super) fn allows(&self, author: Option<&Actor>, requester: u64) -> bool {
        match self {
            Self::Everybody => true,
            // An App can write only in repositories where it is installed, and only an admin can
            // install it.
            Self::Writers(ids) => {
                author.is_some_and(|it| it.bot || it.id == requester || ids.contains(&it.id))
            }
            Self::Named(login) => login_of(author).eq_ignore_ascii_case(login),
        }
    }
}

/// Returns the login of `author`, or the one that GitHub shows for a deleted account.
pub(super) fn login_of(author: Option<&Actor>) -> &str {
    author.map_or(GHOST, |author| &author.login)
}
