//! The files of the repository that a plan is about, read beforehand.

use std::collections::HashMap;

use super::super::super::effects::Stop;
use super::super::super::forge::{Content, Kind, ReadError, content};
use super::super::super::say::check as sentences;
use super::super::Context;
use crate::formats::action_plan::check::{Files, Found, wanted};
use crate::formats::action_plan::{ActionPlan, ProjectPath};

/// The newest commit of the default branch.
pub(super) const DEFAULT: &str = "HEAD";

/// Longest file that is compared, in bytes.
const MOST_FILE: u64 = 1024 * 1024;

/// What is at the paths that were asked for.
#[derive(Debug, Default)]
pub(super) struct Loaded(HashMap<ProjectPath, Content>);

impl Files for Loaded {
    fn look(&self, path: &ProjectPath) -> Found<'_> {
        match self.0.get(path) {
            Some(Content::Text(text)) => Found::File(text),
            Some(Content::Binary) => Found::Binary,
            Some(Content::TooLarge { .. }) => Found::TooLarge,
            Some(Content::NotAFile(Kind::Directory)) => Found::Folder,
            Some(Content::NotAFile(Kind::Submodule)) => Found::Unreadable("it is a submodule"),
            Some(Content::NotAFile(Kind::Link)) => {
                Found::Unreadable("it is a symbolic link to nowhere")
            }
            Some(Content::Missing) => Found::Missing,
            None => Found::Unreadable("it was not looked at"),
        }
    }
}

/// Reads what `plan` will be checked against, as far as the operator allows.
pub(super) async fn load(
    context: &Context,
    plan: &ActionPlan,
    commit: &str,
    name: &str,
    notes: &mut Vec<String>,
) -> Result<Loaded, Stop> {
    let forge = context.effects.forge.as_ref();
    let repo = &context.trigger.place.repo;
    let most = context.settings.check.most_looks;
    let paths = wanted(plan);
    if paths.len() > most {
        notes.push(sentences::not_all_looked_at(name, paths.len(), most));
    }
    let mut loaded = Loaded::default();
    for path in paths.into_iter().take(most) {
        let found = match content(forge, repo, path.as_str(), commit, MOST_FILE).await {
            Ok(found) => found,
            // A repository without a commit has no files.
            Err(ReadError::NoReference) => Content::Missing,
            Err(ReadError::Forge(error)) => return Err(error.into()),
            Err(_) => continue,
        };
        loaded.0.insert(path, found);
    }
    Ok(loaded)
}
