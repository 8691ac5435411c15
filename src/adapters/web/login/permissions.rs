//! What people may do in repositories, as GitHub says, remembered for a short time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::engine::forge::Forge;
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Repo;
use crate::formats::command::Permission;

/// Time for which an answer is reused: a person who loses access is shut out after it.
const CACHE_TIME: Duration = Duration::from_mins(5);

/// Maximum number of answers that are remembered, about 2 MB.
const MAX_REMEMBERED: usize = 10_000;

/// Maximum number of repositories of an installation for which GitHub is asked within [`CACHE_TIME`] on
/// behalf of one person, at two requests each.
const MAX_ASKED_BY_PERSON: u32 = 50;

/// The same for all people together: half of the requests that GitHub allows an installation remain
/// for its commands.
const MAX_ASKED: u32 = 100;

/// Answers by person and repository, and how many were asked for.
#[derive(Default)]
pub(super) struct Permissions {
    answers: Mutex<HashMap<(u64, Repo), Answer>>,
    asked: Mutex<Lookups>,
}

/// Lookups at GitHub in the present period of [`CACHE_TIME`].
#[derive(Default)]
struct Lookups {
    /// The start of the period.
    since: Millis,
    /// The number of lookups by installation and person (`None` for all people).
    counts: HashMap<(u64, Option<u64>), u32>,
}

#[derive(Clone, Copy)]
struct Answer {
    at: Millis,
    permission: Option<Permission>,
}

impl Answer {
    fn is_recent(&self, now: Millis) -> bool {
        now >= self.at && now.since(self.at) < CACHE_TIME
    }
}

impl Permissions {
    /// Returns the permission of a person, given by account id and login, in a repository. Logins
    /// and names can be given to other accounts and repositories, so that GitHub's answers must be
    /// about the same ids.
    pub(super) async fn of(
        &self,
        forge: &dyn Forge,
        now: Millis,
        (id, login): (u64, &str),
        repo: &Repo,
    ) -> Option<Permission> {
        let key = (id, repo.clone());
        if let Some(answer) = self.recall(&key, now) {
            return answer.permission;
        }
        if !self.admit(repo.installation, id, now) {
            tracing::info!(
                login,
                repository = repo.full_name(),
                "no permission to see pages: too many repositories were asked for within five minutes"
            );
            return None;
        }
        let asked =
            async { tokio::try_join!(forge.access(repo, login), forge.repository_id(repo)) };
        let permission = match asked.await {
            Ok((access, repo_id)) => {
                let is_same = access.user_id == id && repo_id == repo.id;
                access.permission.filter(|_| is_same)
            }
            Err(error) => {
                tracing::info!(%error, "no permission to see pages: GitHub did not confirm it");
                return None;
            }
        };
        self.remember(
            key,
            Answer {
                at: now,
                permission,
            },
        );
        permission
    }

    /// Counts a lookup and returns true, unless it would exceed a limit.
    fn admit(&self, installation: u64, person: u64, now: Millis) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let Lookups { since, counts } = &mut *asked;
        if now < *since || now.since(*since) >= CACHE_TIME {
            *since = now;
            counts.clear();
        }
        let limits = [
            ((installation, Some(person)), MAX_ASKED_BY_PERSON),
            ((installation, None), MAX_ASKED),
        ];
        let count = |key| counts.get(&key).copied().unwrap_or_default();
        if limits.iter().any(|(key, most)| count(*key) >= *most) {
            return false;
        }
        for (key, _) in limits {
            *counts.entry(key).or_default() += 1;
        }
        true
    }

    fn recall(&self, key: &(u64, Repo), now: Millis) -> Option<Answer> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answers.get(key).copied();
        answer.filter(|answer| answer.is_recent(now))
    }

    fn remember(&self, key: (u64, Repo), answer: Answer) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MAX_REMEMBERED {
            answers.retain(|_, other| other.is_recent(answer.at));
        }
        if answers.len() >= MAX_REMEMBERED {
            answers.clear();
        }
        answers.insert(key, answer);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn nobody_uses_up_the_requests_of_an_installation() {
        let permissions = Permissions::default();
        let ask = |installation, person, now| permissions.admit(installation, person, Millis(now));
        let count = |installation, person, now| {
            let tries = 0..1_000;
            tries.filter(|_| ask(installation, person, now)).count()
        };
        let (own, all) = (MAX_ASKED_BY_PERSON as usize, MAX_ASKED as usize);
        assert_eq!(count(1, 7, 1_000), own);
        assert_eq!(count(2, 7, 1_000), own, "another installation");
        assert_eq!(count(3, 8, 2_000) + count(3, 9, 2_000), all);
        assert_eq!(count(3, 10, 2_000), 0, "others have asked");
        assert_eq!(count(1, 7, 301_000), own, "five minutes later");
    }

    #[test]
    fn answers_are_forgotten_in_time_and_for_lack_of_room() {
        let permissions = Permissions::default();
        let repo = Repo {
            installation: 1,
            id: 2,
            owner: "acme".to_owned(),
            name: "search".to_owned(),
        };
        let answer = |at| Answer {
            at: Millis(at),
            permission: Some(Permission::Read),
        };
        let length = || permissions.answers.lock().unwrap().len();
        let full = u64::try_from(MAX_REMEMBERED).unwrap();
        for person in 0..full {
            permissions.remember((person, repo.clone()), answer(1_000));
        }
        let recall = |person, now| permissions.recall(&(person, repo.clone()), Millis(now));
        assert!(recall(0, 1_000).is_some());
        assert!(recall(0, 300_999).is_some());
        assert!(recall(0, 301_000).is_none());
        assert!(recall(0, 999).is_none(), "the clock was set back");
        assert!(recall(full, 1_000).is_none());
        permissions.remember((full, repo.clone()), answer(2_000));
        assert_eq!(length(), 1);
        for person in 0..full - 1 {
            permissions.remember((person, repo.clone()), answer(301_000));
        }
        permissions.remember((full + 1, repo.clone()), answer(302_500));
        assert_eq!(length(), MAX_REMEMBERED, "the old one is forgotten");
    }
}
