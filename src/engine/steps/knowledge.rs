//! The repository's knowledge, read at the newest commit of the default branch: what stands there somebody has agreed to,
//! also when the command stands on a pull request.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::engine::effects::Stop;
use crate::engine::forge::{EntryKind, Forge, ReadError};
use crate::engine::knowledge::{
    Document, FOLDERS, Knowledge, LeftOut, Limits, Listed, Why, choose,
};
use crate::engine::model::trigger::Repo;

/// Documents that are asked for at a time. GitHub allows a hundred requests at once, of all that an App does.
const AT_A_TIME: usize = 4;

/// Reads the documents of `repo`, within `limits`: one request for each document, and five more. A repository without any
/// has no knowledge.
///
/// # Errors
/// [`Stop::Forge`] when GitHub does not answer or refuses. A document that cannot be read for its own sake is left out.
pub async fn gather(forge: &dyn Forge, repo: &Repo, limits: Limits) -> Result<Knowledge, Stop> {
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
) -> Result<Result<Document, LeftOut>, Stop> {
    let mut content = Vec::new();
    let mut take = |piece: &[u8]| {
        content.extend_from_slice(piece);
        true
    };
    // No longer than was listed: that is what there is room for.
    let why = match forge.blob(repo, &one.id, one.size, &mut take).await {
        Ok(()) => return Ok(Document::read(&one.path, content)),
        Err(ReadError::Forge(error)) => return Err(error.into()),
        Err(ReadError::NoFile | ReadError::TooLarge { .. }) => Why::Gone,
        Err(error) => Why::Unreadable(error.to_string()),
    };
    Ok(Err(LeftOut::new(&one.path, why)))
}
