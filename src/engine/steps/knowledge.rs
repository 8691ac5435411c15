//! Reads the repository's documents at the newest commit of the default branch, also for commands
//! on pull requests, because only content on the default branch has been accepted.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::engine::effects::StepError;
use crate::engine::forge::{EntryKind, Forge, ReadError};
use crate::engine::knowledge::{
    Document, FOLDERS, Knowledge, LeftOut, Limits, Listed, Why, choose,
};
use crate::engine::model::trigger::Repo;

/// Number of documents requested concurrently. GitHub allows an App 100 concurrent requests in all.
const AT_A_TIME: usize = 4;

/// Reads the documents of `repo`, within `limits`: one request for each document, plus five.
/// Returns an empty result for a repository without documents.
///
/// # Errors
/// Returns [`StepError::Forge`] if GitHub does not respond or refuses. A single document that
/// cannot be read is left out.
pub async fn gather(
    forge: &dyn Forge,
    repo: &Repo,
    limits: Limits,
) -> Result<Knowledge, StepError> {
    let Some(tree) = forge.tree(repo, &FOLDERS, None).await? else {
        return Ok(Knowledge::default());
    };
    let mut listed = Vec::new();
    let mut left_out: Vec<LeftOut> = tree
        .cut
        .into_iter()
        .map(|folder| LeftOut::new(&folder, Why::NotListed))
        .collect();
    for entry in tree.entries {
        match entry.kind {
            EntryKind::File => listed.push(Listed {
                path: entry.path,
                size: entry.size,
                id: entry.id,
            }),
            EntryKind::Link => left_out.push(LeftOut::new(&entry.path, Why::Link)),
            EntryKind::Submodule => left_out.push(LeftOut::new(&entry.path, Why::Submodule)),
        }
    }
    let chosen = choose(&FOLDERS, listed, limits);
    left_out.extend(chosen.left_out);
    let reading = chosen.take.into_iter().map(|one| read(forge, repo, one));
    let read: Vec<_> = stream::iter(reading)
        .buffered(AT_A_TIME)
        .try_collect()
        .await?;
    Ok(Knowledge::new(Some(tree.commit), read, left_out))
}

async fn read(
    forge: &dyn Forge,
    repo: &Repo,
    one: Listed,
) -> Result<Result<Document, LeftOut>, StepError> {
    let mut content = Vec::new();
    let mut take = |piece: &[u8]| {
        content.extend_from_slice(piece);
        true
    };
    // Read no more than the listed size, which is what the limits account for.
    let why = match forge.blob(repo, &one.id, one.size, &mut take).await {
        Ok(()) => return Ok(Document::read(&one.path, content)),
        Err(ReadError::Forge(error)) => return Err(error.into()),
        Err(ReadError::NoFile | ReadError::TooLarge { .. }) => Why::Gone,
        Err(error) => Why::Unreadable(error.to_string()),
    };
    Ok(Err(LeftOut::new(&one.path, why)))
}
