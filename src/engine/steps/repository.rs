//! The repository's files: the base commit, the read-only copy for the agents of a run, and the
//! check of the files that a plan or report names.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::prepare::computing;
use super::{Context, report};
use crate::engine::checkout::{Checkout, CheckoutError};
use crate::engine::effects::StepError;
use crate::engine::forge::{EntryKind, ForgeError};
use crate::engine::grounding::{self, CommitFiles, Grounding, MissingSymbol};
use crate::engine::messages::grounding as findings;
use crate::engine::messages::repository as sentences;
use crate::engine::model::progress::Fault;
use crate::engine::model::repository::Base;
use crate::formats::plan::files::{Named, named_files};

/// Maximum number of files that are searched for symbols.
const MAX_SEARCHED_FILES: usize = 50;

/// Maximum size of a file that is searched for symbols, in bytes.
const MAX_SEARCHED_BYTES: u64 = 1024 * 1024;

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

/// The files of the base commit.
#[derive(Debug)]
pub struct BaseFiles {
    commit: String,
    /// Sorted paths of files and symbolic links.
    paths: Vec<String>,
    submodules: Vec<String>,
}

/// Returns one line on how many of the files that `text` names exist in the base commit; `None` if it
/// names none, or the files of the commit cannot be listed.
///
/// # Errors
/// Returns [`StepError::Failed`] if the computation fails.
pub(in crate::engine) async fn checked_files(
    context: &mut Context,
    text: &str,
) -> Result<Option<String>, StepError> {
    let judged = judge(context, text).await?;
    Ok(judged.and_then(|(_, grounding)| findings::summary(&grounding)))
}

/// Judges the files that `text` names against those of the base commit: that of the agents' copy, or
/// else the newest one of the default branch.
async fn judge(
    context: &mut Context,
    text: &str,
) -> Result<Option<(Arc<Named>, Grounding)>, StepError> {
    let repo = &context.trigger.place.repo;
    let page = format!("{}/{}", context.settings.web, repo.full_name());
    let text = text.to_owned();
    let named = Arc::new(computing(move || named_files(&text, &page)).await?);
    if named.files.is_empty() {
        return Ok(None);
    }
    let Some(files) = files(context).await else {
        return Ok(None);
    };
    let own = Arc::clone(&named);
    let grounding = computing(move || {
        let submodules: Vec<&str> = files.submodules.iter().map(String::as_str).collect();
        let commit = CommitFiles::new(&files.paths, &submodules);
        grounding::judge(&own, &commit, &files.commit)
    })
    .await?;
    let grounding = Some(grounding).filter(|grounding| !grounding.files.is_empty());
    Ok(grounding.map(|grounding| (named, grounding)))
}

/// Returns the files of the base commit, with at most one request in an attempt. Nothing depends on
/// them, so that a failure is only logged.
async fn files(context: &mut Context) -> Option<Arc<BaseFiles>> {
    if context.base_files.is_some() {
        return context.base_files.clone();
    }
    let forge = Arc::clone(&context.effects.forge);
    let repo = context.trigger.place.repo.clone();
    let base = context.progress.repository.base.clone();
    let commit = base.as_ref().map(|base| base.commit.as_str());
    let tree = match forge.tree(&repo, &[""], commit).await {
        Ok(tree) => tree?,
        Err(error) => {
            tracing::info!(%error, "the files that the plan names are not checked");
            return None;
        }
    };
    let (mut paths, mut submodules) = (Vec::new(), Vec::new());
    for entry in tree.entries {
        match entry.kind {
            EntryKind::File | EntryKind::Link => paths.push(entry.path),
            EntryKind::Submodule => submodules.push(entry.path),
        }
    }
    if !tree.cut.is_empty() {
        // GitHub does not list very many files; the copy has them.
        let (checkouts, checkout) = (context.checkouts.clone()?, context.checkout.clone()?);
        match checkouts.paths(&checkout).await {
            Ok(more) => paths.extend(more),
            Err(error) => {
                tracing::warn!(%error, "the copy of the repository cannot be listed");
                return None;
            }
        }
    }
    paths.sort_unstable();
    paths.dedup();
    if base.is_none() {
        context.progress.repository.base = Some(Base {
            branch: None,
            commit: tree.commit.clone(),
        });
    }
    context.base_files = Some(Arc::new(BaseFiles {
        commit: tree.commit,
        paths,
        submodules,
    }));
    context.base_files.clone()
}

/// Returns what the agent has to correct in `document`: files that do not exist, and symbols that
/// are not in their files.
pub(in crate::engine) async fn wrong_paths(
    context: &mut Context,
    document: &str,
) -> Result<Vec<Fault>, StepError> {
    let Some((named, grounding)) = judge(context, document).await? else {
        return Ok(Vec::new());
    };
    let symbols = symbols(context, named, &grounding).await?;
    let mut faults = findings::not_found("plan", &grounding);
    faults.extend(findings::missing_symbols(
        "plan",
        &grounding.commit,
        &symbols,
    ));
    Ok(faults)
}

/// Returns the symbols that are not in the files that they are named with.
async fn symbols(
    context: &Context,
    named: Arc<Named>,
    grounding: &Grounding,
) -> Result<Vec<MissingSymbol>, StepError> {
    let (Some(checkouts), Some(checkout)) = (&context.checkouts, &context.checkout) else {
        return Ok(Vec::new());
    };
    let mut texts = BTreeMap::new();
    for path in grounding
        .readable(&named)
        .into_iter()
        .take(MAX_SEARCHED_FILES)
    {
        match checkouts.read(checkout, path, MAX_SEARCHED_BYTES).await {
            Ok(Some(bytes)) => {
                if let Ok(text) = String::from_utf8(bytes) {
                    texts.insert(path.to_owned(), text);
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a file of the copy cannot be read"),
        }
    }
    let grounding = grounding.clone();
    computing(move || grounding::missing_symbols(&named, &grounding, &texts)).await
}
