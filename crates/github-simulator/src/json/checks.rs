//! JSON of check runs and annotations.

use serde_json::{Value, json};

use super::{Renderer, iso, node_id};
use crate::model::{Annotation, CheckRun, Repository, TreeEntry};

impl Renderer<'_> {
    /// Renders `check-run`.
    pub(crate) fn check_run(&self, repository: &Repository, run: &CheckRun) -> Value {
        let url = format!("{}/check-runs/{}", self.urls.repository(repository), run.id);
        let page = self.urls.repository_page(repository);
        // GitHub lists no pull requests from forks.
        let pulls: Vec<Value> = repository
            .issues
            .values()
            .filter(|issue| issue.closed.is_none())
            .filter_map(|issue| Some((issue, issue.pull.as_ref()?)))
            .filter(|(_, pull)| pull.head == run.head_sha && pull.head_repository == repository.id)
            .map(|(issue, pull)| self.minimal_pull_request(repository, issue, pull))
            .collect();
        json!({
            "id": run.id,
            "node_id": node_id("CR", run.id),
            "head_sha": run.head_sha,
            "external_id": run.external_id,
            "url": url,
            "html_url": format!("{page}/runs/{}", run.id),
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
            "check_suite": {"id": suite_id(&run.head_sha)},
            "app": self.app(),
            "pull_requests": pulls,
        })
    }

    /// Renders `check-annotation`.
    pub(crate) fn annotation(
        &self,
        repository: &Repository,
        run: &CheckRun,
        annotation: &Annotation,
    ) -> Value {
        let commit = repository.commits.get(&run.head_sha);
        let entry = commit.and_then(|commit| commit.tree.get(&annotation.path));
        let blob = entry.map(TreeEntry::sha).unwrap_or_default();
        json!({
            "path": annotation.path,
            "start_line": annotation.start_line,
            "end_line": annotation.end_line,
            "start_column": annotation.start_column,
            "end_column": annotation.end_column,
            "annotation_level": annotation.level,
            "title": annotation.title,
            "message": annotation.message,
            "raw_details": annotation.raw_details,
            "blob_href": format!("{}/git/blobs/{blob}", self.urls.repository(repository)),
        })
    }
}

/// Returns the id of the App's only check suite for a commit, derived from the SHA.
fn suite_id(sha: &str) -> u64 {
    let digits = sha.get(..10).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or_default()
}
