//! Endpoints for pull requests, where they are more than issues.

use crate::api::{Call, Scope};
use crate::model::{Issue, Pull, Repository};
use crate::reply::Answer;
use crate::state::State;
use crate::{json, paging};

/// The most files that are listed ("List pull requests files": "a maximum of 3000 files").
const MOST_FILES: usize = 3_000;

/// Everything below `…/pulls/{number}`.
pub(crate) fn answer(
    state: &State,
    call: &Call,
    scope: &Scope,
    number: &str,
    rest: &[&str],
) -> Result<Answer, Answer> {
    scope.need(&["pull_requests"], false)?;
    let repository = state.repository(scope.repository)?;
    let (issue, pull) = find(repository, number).ok_or_else(Answer::not_found)?;
    match (call.method.as_str(), rest) {
        ("GET", []) => Ok(Answer::ok(json::pull_request(
            state, &call.base, repository, issue, pull,
        ))),
        ("GET", ["files"]) => {
            let mut changed = repository.changed(pull);
            changed.truncate(MOST_FILES);
            Ok(paging::page(call, Some(repository.id), &changed, |one| {
                json::changed_file(&call.base, repository, pull, one)
            }))
        }
        _ => Err(Answer::not_found()),
    }
}

fn find<'a>(repository: &'a Repository, number: &str) -> Option<(&'a Issue, &'a Pull)> {
    let issue = repository.issues.get(&number.parse().ok()?)?;
    Some((issue, issue.pull.as_ref()?))
}
