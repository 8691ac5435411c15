//! Whose plans count.

use std::collections::HashSet;

use super::GHOST;
use crate::engine::model::trigger::Actor;

/// Whose posts may hold the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Everybody's: the authors of a conversation in a file have no roles.
    Everybody,
    /// Those of the requester, of Apps, and of the accounts with these ids, who have write
    /// permission.
    Writers(HashSet<u64>),
    /// Only those of the account with this login, which the command names.
    Named(String),
}

impl Trust {
    pub(super) fn allows(&self, author: Option<&Actor>, requester: u64) -> bool {
        match self {
            Self::Everybody => true,
            // An App writes in a repository only where it is installed, and only an admin can
            // install it.
            Self::Writers(ids) => {
                author.is_some_and(|it| it.bot || it.id == requester || ids.contains(&it.id))
            }
            Self::Named(login) => login_of(author).eq_ignore_ascii_case(login),
        }
    }
}

/// The login of `author`, or the one that GitHub shows for a deleted account.
pub(super) fn login_of(author: Option<&Actor>) -> &str {
    author.map_or(GHOST, |author| &author.login)
}
