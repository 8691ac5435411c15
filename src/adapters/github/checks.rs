//! Renders check runs as GitHub takes them.

use serde_json::{Value, json};

use crate::adapters::redact::Redactor;
use crate::adapters::text::{truncate_bytes, truncate_chars};
use crate::engine::forge::{
    Annotation, CheckReport, CheckState, Conclusion, Level, MAX_ANNOTATION_TITLE, MAX_CHECK_TEXT,
    MAX_MESSAGE, NewCheckRun,
};

/// Renders a new check run. Texts are redacted before they are truncated.
pub(super) fn new_check_run(new: &NewCheckRun, external_id: &str, redactor: &Redactor) -> Value {
    let mut body = report(&new.report, redactor);
    body["name"] = json!(new.name);
    body["head_sha"] = json!(new.head_sha);
    body["external_id"] = json!(external_id);
    if let Some(url) = &new.details_url {
        body["details_url"] = json!(url);
    }
    body
}

/// Renders a report. Texts are redacted before they are truncated.
pub(super) fn report(report: &CheckReport, redactor: &Redactor) -> Value {
    let clean = |text: &str, max: usize| truncate_bytes(&redactor.redact(text), max);
    let annotation = |one: &Annotation| {
        let mut value = json!({
            "path": one.path,
            "start_line": one.start_line,
            "end_line": one.end_line,
            "annotation_level": match one.level {
                Level::Notice => "notice",
                Level::Warning => "warning",
                Level::Failure => "failure",
            },
            "message": clean(&one.message, MAX_MESSAGE),
        });
        if let Some(title) = &one.title {
            value["title"] = json!(truncate_chars(
                &redactor.redact(title),
                MAX_ANNOTATION_TITLE
            ));
        }
        if let Some(details) = &one.raw_details {
            value["raw_details"] = json!(clean(details, MAX_MESSAGE));
        }
        value
    };
    let mut output = json!({
        "title": redactor.redact(&report.title),
        "summary": clean(&report.summary, MAX_CHECK_TEXT),
    });
    if let Some(text) = &report.text {
        output["text"] = json!(clean(text, MAX_CHECK_TEXT));
    }
    if !report.annotations.is_empty() {
        let annotations: Vec<Value> = report.annotations.iter().map(annotation).collect();
        output["annotations"] = json!(annotations);
    }
    match report.state {
        CheckState::Queued => json!({"status": "queued", "output": output}),
        CheckState::InProgress => json!({"status": "in_progress", "output": output}),
        CheckState::Completed(conclusion) => json!({
            "status": "completed", "conclusion": conclusion_name(conclusion), "output": output,
        }),
    }
}

fn conclusion_name(conclusion: Conclusion) -> &'static str {
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
