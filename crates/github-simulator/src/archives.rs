//! Archives of repositories.
//!
//! The API redirects to an archive server (`codeload.github.com`, here a path of the same host).
//! The target of a private repository contains a token that is valid for one download within a few
//! minutes. Archives are made as `git archive` makes them: a global header with the commit, one top
//! folder, the modes of a umask of 002, submodules as empty folders, and the same bytes each time.

use std::collections::BTreeSet;
use std::io::{self, Write};

use bytes::Bytes;
use chrono::TimeDelta;
use flate2::{Compression, GzBuilder};
use http::StatusCode;
use tar::{Builder, EntryType, Header};

use crate::model::{ArchiveToken, Commit, Repository, Tree, TreeEntry};
use crate::request::ApiRequest;
use crate::response::{ApiResponse, ApiResult};
use crate::state::State;
use crate::urls::repository_path;

/// First path segment of the archive server, which is on another host on GitHub.
const SERVER: &str = "codeload";

/// Path segment of the format.
const FORMAT: &str = "legacy.tar.gz";

/// Number of minutes for which a token is valid: "For private repositories, these links are
/// temporary and expire after five minutes" ("Download a repository archive (tar)").
const TOKEN_MINUTES: i64 = 5;

/// Size of the unit that `git archive` fills up, in bytes.
const RECORD: usize = 10_240;

/// Returns the redirect to the archive of a commit.
pub(crate) fn redirect(
    state: &mut State,
    request: &ApiRequest,
    repository: u64,
    commit: &str,
) -> ApiResult {
    let found = state.repository(repository)?;
    let (path, private) = (repository_path(found), found.private);
    let mut url = format!("{}/{SERVER}/{path}/{FORMAT}/{commit}", request.urls.web);
    if private {
        let token = uuid::Uuid::new_v4().simple().to_string().to_uppercase();
        url.push_str(&format!("?token={token}"));
        let entry = ArchiveToken {
            repository,
            commit: commit.to_owned(),
            expires: state.now() + TimeDelta::minutes(TOKEN_MINUTES),
        };
        state.archive_tokens.insert(token, entry);
    }
    Ok(ApiResponse::found(url))
}

/// Returns whether [`handle`] serves the path of a request.
pub(crate) fn is_archive(request: &ApiRequest) -> bool {
    matches!(*request.segments(), [SERVER, _, _, FORMAT, _])
}

/// Returns an archive, or a 404 as text.
pub(crate) fn handle(state: &mut State, request: &ApiRequest) -> ApiResponse {
    let found = match *request.segments() {
        [SERVER, owner, name, FORMAT, commit] => archive(state, request, (owner, name), commit),
        _ => None,
    };
    match found {
        None => {
            let text = Bytes::from_static(b"404: Not Found");
            ApiResponse::raw(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", text)
        }
        Some(Ok(archive)) => ApiResponse::raw(StatusCode::OK, "application/x-gzip", archive),
        Some(Err(error)) => {
            ApiResponse::error(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
        }
    }
}

fn archive(
    state: &mut State,
    request: &ApiRequest,
    (owner, name): (&str, &str),
    commit: &str,
) -> Option<io::Result<Bytes>> {
    let now = state.now();
    let token = request.query("token").map(str::to_owned);
    let token = token.and_then(|token| state.archive_tokens.remove(&token));
    let repository = state.repository_named(owner, name)?;
    let granted = token.is_some_and(|token| {
        token.repository == repository.id && token.commit == commit && now < token.expires
    });
    if repository.private && !granted {
        return None;
    }
    if let Some(archive) = state.archives.get(&(repository.id, commit.to_owned())) {
        return Some(Ok(archive.clone()));
    }
    Some(create(repository, repository.commits.get(commit)?))
}

/// Makes the archive of a commit.
fn create(repository: &Repository, commit: &Commit) -> io::Result<Bytes> {
    let mut tar = Tar {
        builder: Builder::new(Vec::new()),
        commit,
    };
    tar.global_header()?;
    let short = &commit.sha[..commit.sha.len().min(7)];
    let top = format!("{}-{}-{short}", repository.owner.login, repository.name);
    tar.folder(&format!("{top}/"))?;
    tar.tree(&top, &commit.tree)?;
    let mut bytes = tar.builder.into_inner()?;
    bytes.resize(bytes.len().next_multiple_of(RECORD), 0);
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::default());
    gzip.write_all(&bytes)?;
    Ok(gzip.finish()?.into())
}

struct Tar<'a> {
    builder: Builder<Vec<u8>>,
    commit: &'a Commit,
}

impl Tar<'_> {
    fn global_header(&mut self) -> io::Result<()> {
        // The length of a record includes its own digits.
        let record = format!(
            "{} comment={}\n",
            self.commit.sha.len() + 12,
            self.commit.sha
        );
        let mut header = self.header(EntryType::XGlobalHeader, 0o666, record.len());
        header.set_path("pax_global_header")?;
        header.set_cksum();
        self.builder.append(&header, record.as_bytes())
    }

    /// Adds all entries of a tree, each folder before what is in it.
    fn tree(&mut self, top: &str, tree: &Tree) -> io::Result<()> {
        let mut folders = BTreeSet::new();
        for (path, entry) in tree {
            for (end, _) in path.match_indices('/') {
                if folders.insert(&path[..end]) {
                    self.folder(&format!("{top}/{}/", &path[..end]))?;
                }
            }
            let path = format!("{top}/{path}");
            match entry {
                TreeEntry::File(content) => {
                    self.entry(&path, EntryType::Regular, 0o664, None, content)?;
                }
                TreeEntry::Link(target) => {
                    self.entry(&path, EntryType::Symlink, 0o777, Some(target), &[])?;
                }
                TreeEntry::Submodule(_) => self.folder(&format!("{path}/"))?,
            }
        }
        Ok(())
    }

    fn folder(&mut self, path: &str) -> io::Result<()> {
        self.entry(path, EntryType::Directory, 0o775, None, &[])
    }

    /// Adds an entry. A path or target that does not fit into the header is in an extended header.
    fn entry(
        &mut self,
        path: &str,
        kind: EntryType,
        mode: u32,
        target: Option<&str>,
        content: &[u8],
    ) -> io::Result<()> {
        let mut header = self.header(kind, mode, content.len());
        let mut records = Vec::new();
        if header.set_path(path).is_err() {
            header.set_path(format!("{}.data", self.commit.sha))?;
            records.push(("path", path.as_bytes()));
        }
        if let Some(target) = target
            && header.set_link_name_literal(target).is_err()
        {
            records.push(("linkpath", target.as_bytes()));
        }
        if !records.is_empty() {
            self.builder.append_pax_extensions(records)?;
        }
        header.set_cksum();
        self.builder.append(&header, content)
    }

    fn header(&self, kind: EntryType, mode: u32, size: usize) -> Header {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size as u64);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(u64::try_from(self.commit.created.timestamp()).unwrap_or_default());
        if let Some(ustar) = header.as_ustar_mut() {
            // Both names fit.
            let _ = ustar.set_username("root");
            let _ = ustar.set_groupname("root");
        }
        header
    }
}
