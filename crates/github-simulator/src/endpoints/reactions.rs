//! Endpoints for reactions to issues and comments.

use http::StatusCode;

use crate::actions::ReactionTarget;
use crate::model::{REACTION_CONTENTS, Reaction};
use crate::repository_call::RepositoryCall;
use crate::request::required_text;
use crate::response::{ApiResponse, ApiResult};

/// Handles the paths below `…/reactions`.
pub(super) fn handle(
    call: &mut RepositoryCall<'_>,
    target: ReactionTarget,
    path: &[&str],
) -> ApiResult {
    match (call.request.method.as_str(), path) {
        ("GET", []) => {
            let content = call.request.query("content");
            let reactions = call.state.reactions(call.repository_id, target)?.iter();
            let reactions: Vec<&Reaction> = reactions
                .filter(|reaction| content.is_none_or(|content| reaction.content == content))
                .collect();
            let renderer = call.renderer();
            Ok(call.page(&reactions, |reaction| renderer.reaction(reaction)))
        }
        ("POST", []) => create(call, target),
        ("DELETE", [id]) => {
            let id: u64 = id.parse().map_err(|_| ApiResponse::not_found())?;
            let actor = call.actor();
            let reactions = call.state.reactions_mut(call.repository_id, target)?;
            let before = reactions.len();
            // Reactions of other accounts cannot be removed.
            reactions.retain(|reaction| reaction.id != id || reaction.user.id != actor.user.id);
            if reactions.len() == before {
                return Err(ApiResponse::not_found());
            }
            Ok(ApiResponse::no_content())
        }
        _ => Err(ApiResponse::not_found()),
    }
}

fn create(call: &mut RepositoryCall<'_>, target: ReactionTarget) -> ApiResult {
    let members = call.request.members()?;
    let content = required_text(&members, "content")?;
    if !REACTION_CONTENTS.contains(&content) {
        let allowed = REACTION_CONTENTS.map(|content| format!("\"{content}\""));
        return Err(ApiResponse::invalid_request(&format!(
            "\"{content}\" is not a member of [{}].",
            allowed.join(", ")
        )));
    }
    let actor = call.actor();
    let id = call.repository_id;
    let number = match target {
        ReactionTarget::Issue(number) => number,
        ReactionTarget::Comment(id) => call.state.comment(id)?.number,
    };
    if call.state.is_locked_for(&actor, id, number)? {
        // Public issue threads show that it is refused (GitHawkApp/GitHawk#2297,
        // github/gh-aw#15966), but not the message of the REST API.
        let message = "Unable to react because issue is locked.";
        return Err(ApiResponse::forbidden(message));
    }
    let (reaction, new) = call.state.add_reaction(&actor, id, target, content)?;
    let status = if new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let body = call.renderer().reaction(&reaction);
    Ok(ApiResponse::new(status, body))
}
