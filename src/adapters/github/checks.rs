//! Check runs: created, read and changed; only Apps may write them.

use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Notifies, PER_PAGE, Page};
use super::own::Own;
use super::{GitHub, answer, link, wire};
use crate::engine::forge::{
    Annotation, CheckReport, CheckRun, CheckState, Conclusion, ForgeError, Level,
    MOST_ANNOTATION_TITLE, MOST_CHECK_TEXT, MOST_MESSAGE, NewCheckRun,
};
use crate::engine::model::trigger::Repo;

/// What a cut text ends with.
const CUT: &str = "…";

/// A check run as GitHub answers it.
#[derive(Debug, Deserialize)]
struct Run {
    id: u64,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    external_id: Option<String>,
    #[serde(default)]
    name: String,
    output: Output,
    #[serde(default)]
    app: Option<wire::AppRef>,
}

#[derive(Debug, Deserialize)]
struct Output {
    annotations_count: usize,
}

#[derive(Debug, Deserialize)]
struct Runs {
    check_runs: Vec<Run>,
}

impl Page for Runs {
    type Item = Run;

    fn items(self) -> Vec<Run> {
        self.check_runs
    }
}

impl From<Run> for CheckRun {
    fn from(run: Run) -> Self {
        Self {
            id: run.id,
            url: run.html_url.unwrap_or_default(),
            external_id: run.external_id.unwrap_or_default(),
            annotations: run.output.annotations_count,
        }
    }
}

impl GitHub {
    /// See [`crate::engine::forge::Forge::own_check_runs`].
    pub(super) async fn list_check_runs(
        &self,
        repo: &Repo,
        head_sha: &str,
        name: &str,
    ) -> Result<Vec<CheckRun>, ForgeError> {
        let Own::App { id, .. } = self.own().await? else {
            // People cannot make any.
            return Ok(Vec::new());
        };
        // `latest` would leave all but one of the same name out.
        let path = format!(
            "/commits/{}/check-runs?check_name={}&app_id={id}&filter=all&per_page={PER_PAGE}",
            link::encode(head_sha),
            link::encode(name),
        );
        let what = format!(
            "the check runs of commit {head_sha} in {}",
            repo.full_name()
        );
        let runs = self
            .all::<Runs>(repo, self.repo_path(repo, &path), &what)
            .await?;
        Ok(runs
            .into_iter()
            .filter(|run| run.name == name && run.app.as_ref().is_some_and(|app| app.is(id)))
            .map(CheckRun::from)
            .collect())
    }

    /// See [`crate::engine::forge::Forge::check_run`].
    pub(super) async fn read_check_run(
        &self,
        repo: &Repo,
        id: u64,
    ) -> Result<CheckRun, ForgeError> {
        let path = self.repo_path(repo, &format!("/check-runs/{id}"));
        let what = format!("check run {id} in {}", repo.full_name());
        let (request, answer) = self.get(repo.installation, path, what).await?;
        answer::read::<Run>(&answer, &request).map(CheckRun::from)
    }

    /// See [`crate::engine::forge::Forge::create_check_run`].
    pub(super) async fn send_check_run(
        &self,
        repo: &Repo,
        new: &NewCheckRun,
        external_id: &str,
    ) -> Result<CheckRun, ForgeError> {
        let mut body = self.check_body(&new.report);
        body["name"] = json!(new.name);
        body["head_sha"] = json!(new.head_sha);
        body["external_id"] = json!(external_id);
        if let Some(url) = &new.details_url {
            body["details_url"] = json!(url);
        }
        let what = format!(
            "a check run for commit {} in {}",
            new.head_sha,
            repo.full_name()
        );
        let (request, answer) = self
            .post(
                repo,
                Notifies::Nobody,
                Method::POST,
                "/check-runs",
                body,
                what,
            )
            .await?;
        answer::read::<Run>(&answer, &request).map(CheckRun::from)
    }

    /// See [`crate::engine::forge::Forge::update_check_run`].
    pub(super) async fn send_check_report(
        &self,
        repo: &Repo,
        id: u64,
        report: &CheckReport,
    ) -> Result<(), ForgeError> {
        let body = self.check_body(report);
        let path = format!("/check-runs/{id}");
        let what = format!("the report of check run {id} in {}", repo.full_name());
        self.post(repo, Notifies::Nobody, Method::PATCH, &path, body, what)
            .await?;
        Ok(())
    }

    /// A report as GitHub takes it: redacted first, then cut.
    fn check_body(&self, report: &CheckReport) -> Value {
        let clean = |text: &str, most: usize| cut(&self.redactor.redact(text), most);
        let annotations: Vec<Value> = report
            .annotations
            .iter()
            .map(|one| annotation(one, &clean))
            .collect();
        let mut output = json!({
            "title": self.redactor.redact(&report.title),
            "summary": clean(&report.summary, MOST_CHECK_TEXT),
        });
        if let Some(text) = &report.text {
            output["text"] = json!(clean(text, MOST_CHECK_TEXT));
        }
        if !annotations.is_empty() {
            output["annotations"] = json!(annotations);
        }
        match report.state {
            CheckState::Queued => json!({"status": "queued", "output": output}),
            CheckState::InProgress => json!({"status": "in_progress", "output": output}),
            CheckState::Completed(conclusion) => json!({
                "status": "completed", "conclusion": word(conclusion), "output": output,
            }),
        }
    }
}

fn annotation(one: &Annotation, clean: &impl Fn(&str, usize) -> String) -> Value {
    let mut value = json!({
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "annotation_level": match one.level {
            Level::Notice => "notice",
            Level::Warning => "warning",
            Level::Failure => "failure",
        },
        "message": clean(&one.message, MOST_MESSAGE),
    });
    if let Some(title) = &one.title {
        let title: String = clean(title, usize::MAX);
        value["title"] = json!(short(&title, MOST_ANNOTATION_TITLE));
    }
    if let Some(details) = &one.raw_details {
        value["raw_details"] = json!(clean(details, MOST_MESSAGE));
    }
    value
}

fn word(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Success => "success",
        Conclusion::Failure => "failure",
        Conclusion::Neutral => "neutral",
        Conclusion::Skipped => "skipped",
        Conclusion::Cancelled => "cancelled",
        Conclusion::TimedOut => "timed_out",
        Conclusion::ActionRequired => "action_required",
    }
}

/// At most `most` bytes of the text.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let start = text.floor_char_boundary(most - CUT.len());
    format!("{}{CUT}", &text[..start])
}

/// At most `most` characters of the text.
fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most - CUT.chars().count())
            .chain(CUT.chars())
            .collect(),
    }
}
