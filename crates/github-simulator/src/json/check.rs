//! Check runs and annotations in JSON.

use crate::clock::iso;
use serde_json::{Value, json};

use super::issue::root;
use super::{integration, minimal_pull, node_id, segment};
use crate::model::{Annotation, CheckRun, Entry, Repository};
use crate::state::{Base, State};

/// `check-run`.
pub(crate) fn check_run(
    state: &State,
    base: &Base,
    repository: &Repository,
    run: &CheckRun,
) -> Value {
    let url = format!("{}/check-runs/{}", root(base, repository), run.id);
    // Of pull requests from forks GitHub names none.
    let pulls: Vec<Value> = repository
        .issues
        .values()
        .filter(|issue| issue.closed.is_none())
        .filter_map(|issue| Some((issue, issue.pull.as_ref()?)))
        .filter(|(_, pull)| pull.head == run.head_sha && pull.head_repository == repository.id)
        .map(|(issue, pull)| minimal_pull(base, repository, issue, pull))
        .collect();
    json!({
        "id": run.id,
        "node_id": node_id("CR", run.id),
        "head_sha": run.head_sha,
        "external_id": run.external_id,
        "url": url,
        "html_url": format!("{}/{}/{}/runs/{}",
            base.web, segment(&repository.owner.login), segment(&repository.name), run.id),
        "details_url": run.details_url,
        "status": run.status,
        "conclusion": run.conclusion,
        "started_at": iso(run.started),
        "completed_at": run.completed.map(iso),
        "output": {
            "title": run.title,
            "summary": run.summary,
            "text": run.text,
            "annotations_count": run.annotations.len(),
            "annotations_url": format!("{url}/annotations"),
        },
        "name": run.name,
        "check_suite": {"id": suite(&run.head_sha)},
        "app": integration(state, base),
        "pull_requests": pulls,
    })
}

/// The App has one suite for a commit: a number made of the commit's name.
fn suite(sha: &str) -> u64 {
    sha.get(..10)
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .unwrap_or_default()
}

/// `check-annotation`.
pub(crate) fn annotation(
    base: &Base,
    repository: &Repository,
    run: &CheckRun,
    of: &Annotation,
) -> Value {
    let commit = repository.commits.get(&run.head_sha);
    let entry = commit.and_then(|commit| commit.tree.get(&of.path));
    let blob = entry.map(Entry::sha).unwrap_or_default();
    json!({
        "path": of.path,
        "start_line": of.start_line,
        "end_line": of.end_line,
        "start_column": of.start_column,
        "end_column": of.end_column,
        "annotation_level": of.level,
        "title": of.title,
        "message": of.message,
        "raw_details": of.raw_details,
        "blob_href": format!("{}/git/blobs/{blob}", root(base, repository)),
    })
}
