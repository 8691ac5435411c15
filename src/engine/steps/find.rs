//! Search for the plan: candidates in the conversation, trusted authors, and the choice of a
//! candidate.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Context, prepare, verify};
use crate::engine::effects::StepError;
use crate::engine::extract::{self, Scan, Trust};
use crate::engine::forge::Forge;
use crate::engine::messages;
use crate::engine::model::conversation::Conversation;
use crate::engine::model::failure::Failure;
use crate::engine::model::progress::{Logs, SearchResult};
use crate::engine::model::trigger::{Actor, Repo};
use crate::engine::settings::WhenUnclear;
use crate::formats::command::{Permission, read_options};

/// Returns the plan of the named session log, or else the best candidate in the conversation.
///
/// # Errors
/// Returns [`StepError::Forge`] if GitHub does not return the authors' permissions, and
/// [`StepError::Failed`] for the errors of [`verify::find`].
pub(super) async fn find(
    context: &Context,
    thread: &Arc<Conversation>,
    logs: Logs,
) -> Result<SearchResult, StepError> {
    let (trigger, read) = (context.trigger.clone(), Arc::clone(thread));
    let scan = prepare::computing(move || extract::scan(&read, &trigger)).await?;
    let trust = match &logs.plan {
        Some(_) => Trust::Writers(HashSet::new()),
        None => trust(context, &scan, thread).await?,
    };
    let (trigger, read) = (context.trigger.clone(), Arc::clone(thread));
    let mut found = prepare::computing(move || {
        verify::find(&trigger, &read, scan.search(&read, &trigger, &trust), &logs)
    })
    .await?
    .map_err(StepError::Failed)?;
    settle_unclear(context, thread, &mut found).map_err(StepError::Failed)?;
    Ok(found)
}

/// Applies the operator's setting for cases where it is unclear which plan is meant.
fn settle_unclear(
    context: &Context,
    thread: &Conversation,
    found: &mut SearchResult,
) -> Result<(), Failure> {
    let Some(unclear) = &found.unclear else {
        return Ok(());
    };
    match context.settings.extract.when_unclear {
        WhenUnclear::Ask => Ok(()),
        WhenUnclear::Refuse => Err(messages::unclear::refused(context.trigger.command, unclear)),
        WhenUnclear::Best => {
            found.notes.extend(messages::unclear::taken(unclear));
            found.candidate = unclear.among.first().cloned();
            found.unclear = None;
            if let Some(candidate) = &mut found.candidate {
                found.notes.extend(verify::remark_below(thread, candidate));
                found.hidden = verify::settle_hidden(&context.trigger, candidate)?;
            }
            Ok(())
        }
    }
}

/// Returns the authors whose posts may hold the plan: the account named in the command, or else all
/// accounts with write permission.
async fn trust(context: &Context, scan: &Scan, thread: &Conversation) -> Result<Trust, StepError> {
    let trigger = &context.trigger;
    let options = read_options(trigger.command, &trigger.options).unwrap_or_default();
    if let Some(login) = options.author {
        return Ok(Trust::Named(login));
    }
    let forge = context.effects.forge.as_ref();
    let mut writers = HashSet::new();
    for author in scan.authors(thread) {
        if has_write_permission(forge, &trigger.place.repo, &author).await? {
            writers.insert(author.id);
        }
    }
    Ok(Trust::Writers(writers))
}

/// Returns whether the account has write permission. Compares the account id, because a login can
/// be given up and taken by someone else.
async fn has_write_permission(
    forge: &dyn Forge,
    repo: &Repo,
    account: &Actor,
) -> Result<bool, StepError> {
    let access = forge.access(repo, &account.login).await?;
    let has = access.permission.filter(|_| access.user_id == account.id);
    Ok(has.is_some_and(|has| has >= Permission::Write))
}
