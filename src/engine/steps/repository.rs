//! The repository's files for the agents of a run: the base commit and the read-only copy.

use std::sync::Arc;

use super::{Context, report};
use crate::engine::checkout::{Checkout, CheckoutError};
use crate::engine::effects::StepError;
use crate::engine::forge::ForgeError;
use crate::engine::messages::repository as sentences;
use crate::engine::model::repository::Base;

/// Provides the agents of this attempt with a copy of the repository at the base commit. Without
/// one, the run goes on, and its report says why.
///
/// # Errors
/// Returns [`StepError::Forge`] if GitHub fails temporarily, and [`StepError::Store`] if the store
/// fails.
pub(in crate::engine) async fn provide(
    context: &mut Context,
) -> Result<Option<Arc<Checkout>>, StepError> {
    let Some(checkouts) = context.checkouts.clone() else {
        return Ok(None);
    };
    if context.checkout.is_some() || context.progress.repository.unseen.is_some() {
        return Ok(context.checkout.clone());
    }
    let base = match base(context).await {
        Ok(Some(base)) => base,
        Ok(None) => return unseen(context, sentences::NO_COMMITS.to_owned()).await,
        Err(error) if error.is_refusal() => {
            return unseen(context, sentences::refused(&error)).await;
        }
        Err(error) => return Err(error.into()),
    };
    report::step(context, sentences::COPYING).await?;
    let forge = Arc::clone(&context.effects.forge);
    let repo = context.trigger.place.repo.clone();
    match checkouts.checkout(&*forge, &repo, &base.commit).await {
        Ok(checkout) => {
            let checkout = Arc::new(checkout);
            tracing::info!(
                commit = base.commit,
                files = checkout.files,
                bytes = checkout.bytes,
                left_out = checkout.left_out.len(),
                "the agent gets a copy of the repository"
            );
            context.checkout = Some(Arc::clone(&checkout));
            Ok(Some(checkout))
        }
        Err(CheckoutError::Forge(error)) if !error.is_refusal() => Err(error.into()),
        Err(error) => {
            tracing::warn!(
                run.id = %context.run(),
                repo = repo.full_name(),
                %error,
                "there is no copy of the repository for the agent"
            );
            unseen(context, sentences::not_copied(&error)).await
        }
    }
}

/// Records why there is no copy.
async fn unseen(context: &mut Context, why: String) -> Result<Option<Arc<Checkout>>, StepError> {
    context.progress.repository.unseen = Some(why);
    context.remember().await?;
    Ok(None)
}

/// Returns the base commit: the newest one of the default branch, or the base of the pull request;
/// `None` if the repository has no commits.
async fn base(context: &mut Context) -> Result<Option<Base>, ForgeError> {
    if let Some(base) = &context.progress.repository.base {
        return Ok(Some(base.clone()));
    }
    let place = context.home().clone();
    let forge = Arc::clone(&context.effects.forge);
    let base = if place.pull_request {
        let pull = forge.pull_request(&place).await?;
        Some(Base {
            branch: Some(pull.base_branch),
            commit: pull.base_sha,
        })
    } else {
        let tree = forge.tree(&context.trigger.place.repo, &[], None).await?;
        tree.map(|tree| Base {
            branch: None,
            commit: tree.commit,
        })
    };
    context.progress.repository.base.clone_from(&base);
    Ok(base)
}
