//! Endpoints for reactions.

use http::StatusCode;
use serde_json::Value;

use crate::actions::Reacted;
use crate::api::{Call, Scope, text};
use crate::json;
use crate::model::Reaction;
use crate::paging;
use crate::reply::Answer;
use crate::state::State;

/// Everything GitHub lets one say.
pub(crate) const CONTENTS: [&str; 8] = [
    "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes",
];

/// Everything below `…/reactions`.
pub(crate) fn answer(
    state: &mut State,
    call: &Call,
    scope: &Scope,
    on: Reacted,
    rest: &[&str],
) -> Result<Answer, Answer> {
    match (call.method.as_str(), rest) {
        ("GET", []) => {
            let wanted = call.query("content");
            let found: Vec<&Reaction> = state
                .reactions(scope.repository, on)?
                .iter()
                .filter(|reaction| wanted.is_none_or(|content| reaction.content == content))
                .collect();
            Ok(paging::page(
                call,
                Some(scope.repository),
                &found,
                |reaction| json::reaction(&call.base, reaction),
            ))
        }
        ("POST", []) => create(state, call, scope, on),
        ("DELETE", [id]) => {
            let id: u64 = id.parse().map_err(|_| Answer::not_found())?;
            let by = state.doer(&scope.token);
            let reactions = state.reactions_mut(scope.repository, on)?;
            let before = reactions.len();
            // Nobody can take back what somebody else said.
            reactions.retain(|reaction| reaction.id != id || reaction.user.id != by.user.id);
            if reactions.len() == before {
                return Err(Answer::not_found());
            }
            Ok(Answer::empty())
        }
        _ => Err(Answer::not_found()),
    }
}

fn create(state: &mut State, call: &Call, scope: &Scope, on: Reacted) -> Result<Answer, Answer> {
    let members = call.members()?;
    let content = text(&members, "content")?.ok_or_else(|| Answer::missing("content"))?;
    if !CONTENTS.contains(&content) {
        return Err(Answer::refuse(
            StatusCode::UNPROCESSABLE_ENTITY,
            &format!(
                "Invalid request.\n\n\"{content}\" is not a member of [{}].",
                CONTENTS.map(|one| format!("\"{one}\"")).join(", ")
            ),
        ));
    }
    let by = state.doer(&scope.token);
    let number = match on {
        Reacted::Issue(number) => number,
        Reacted::Comment(id) => state.comment(id)?.number,
    };
    if state.is_locked_for(&by, scope.repository, number)? {
        // That it is refused is from public issue threads (GitHawkApp/GitHawk#2297, github/gh-aw#15966), which do not have
        // the words of the REST API.
        return Err(Answer::refuse(
            StatusCode::FORBIDDEN,
            "Unable to react because issue is locked.",
        ));
    }
    let (reaction, new) = state.react(&by, scope.repository, on, content)?;
    let body: Value = json::reaction(&call.base, &reaction);
    let status = if new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(Answer::new(status, body))
}
