//! Renders blocks in the forms that erk reads: `<code>` in the summary of fields (required in 2025,
//! allowed since), a closing marker with its key, and a plan in a plain `<details>` element unless
//! the caller asks for another form.

use serde_json::{Map, Value};

use super::{WARNING, neutralise};
use crate::yaml;

/// Renders a block of fields, in the order of `fields`, without a line end after the closing
/// marker.
pub fn render_yaml(key: &str, fields: &Map<String, Value>) -> String {
    let yaml = yaml::write(fields);
    let yaml = yaml.trim_end_matches('\n');
    format!(
        "{WARNING}\n<!-- erk:metadata-block:{key} -->\n<details>\n<summary><code>{key}</code></summary>\n\n\
         ```yaml\n\n{yaml}\n\n```\n\n</details>\n<!-- /erk:metadata-block:{key} -->"
    )
}

/// Renders a block of text under the summary `summary_html` (trusted HTML on one line), unfolded if
/// `open`.
///
/// `text` is neutralised here; [`super::parse`] returns it byte for byte if `key` is one of
/// [`super::TEXT_KEYS`]. Under another key, a text that is a YAML fence would be parsed as fields.
pub fn render_content(key: &str, summary_html: &str, text: &str, open: bool) -> String {
    let details = if open { "<details open>" } else { "<details>" };
    let text = neutralise(text);
    format!(
        "{WARNING}\n<!-- erk:metadata-block:{key} -->\n{details}\n<summary>{summary_html}</summary>\n\n\
         {text}\n\n</details>\n<!-- /erk:metadata-block:{key} -->"
    )
}

/// The frame of a plan in its comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanForm {
    /// A `plan-body` block with a plain `<details>` element, which every version of erk reads that
    /// has such blocks.
    Folded,
    /// The same with `<details open>`, in which erk before 15 January 2026 finds no plan.
    Unfolded,
    /// `erk:plan-content` markers: the only form that erk of 25 November 2025 reads. Later versions
    /// read it as well.
    Markers,
}

/// Renders the comment that holds a plan. [`super::parse`] returns `text` byte for byte.
pub fn plan_comment(text: &str, form: PlanForm) -> String {
    let open = match form {
        PlanForm::Markers => {
            let text = neutralise(text);
            return format!("<!-- erk:plan-content -->\n\n{text}\n\n<!-- /erk:plan-content -->");
        }
        PlanForm::Folded => false,
        PlanForm::Unfolded => true,
    };
    let summary = "<strong>📋 Implementation Plan</strong>";
    render_content("plan-body", summary, text, open)
}

/// Renders a plan as a `plan-body` block in a plain `<details>` element.
pub fn plan_body(text: &str) -> String {
    plan_comment(text, PlanForm::Folded)
}
