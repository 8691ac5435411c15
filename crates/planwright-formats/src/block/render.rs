//! Writes blocks in the forms that erk reads: `<code>` in the summary of fields (required in 2025,
//! allowed since), a closing marker with its key, and a plan in a plain `<details>` element unless
//! the caller asks for another form.

use serde_json::{Map, Value};

use super::{WARNING, neutralise};
use crate::yaml;

/// A block of fields, keys in the order of `fields`. No line end after the closing marker.
pub fn render_yaml(key: &str, fields: &Map<String, Value>) -> String {
    let yaml = yaml::write(fields);
    let yaml = yaml.trim_end_matches('\n');
    format!(
        "{WARNING}\n<!-- erk:metadata-block:{key} -->\n<details>\n<summary><code>{key}</code></summary>\n\n\
         ```yaml\n\n{yaml}\n\n```\n\n</details>\n<!-- /erk:metadata-block:{key} -->"
    )
}

/// A block of text under the summary `summary_html` (trusted HTML on one line), unfolded when `open`.
///
/// `text` is neutralised here; [`super::parse`] gives it back byte for byte when `key` is one of
/// [`super::TEXT_KEYS`]. Under another key a text that is a YAML fence would be read as fields.
pub fn render_content(key: &str, summary_html: &str, text: &str, open: bool) -> String {
    let details = if open { "<details open>" } else { "<details>" };
    let text = neutralise(text);
    format!(
        "{WARNING}\n<!-- erk:metadata-block:{key} -->\n{details}\n<summary>{summary_html}</summary>\n\n\
         {text}\n\n</details>\n<!-- /erk:metadata-block:{key} -->"
    )
}

/// How a plan is framed in its comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanForm {
    /// A `plan-body` block with a plain `<details>` element, which erk reads since it has such
    /// blocks.
    Folded,
    /// The same with `<details open>`, in which erk before 15 January 2026 finds no plan.
    Unfolded,
    /// Between `erk:plan-content` markers: the only form that erk of 25 November 2025 reads. Later
    /// versions read it, too.
    Markers,
}

/// The comment that holds a plan, in `form`. [`super::parse`] gives `text` back byte for byte.
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

/// [`plan_comment`] as a `plan-body` block in a plain `<details>` element.
pub fn plan_body(text: &str) -> String {
    plan_comment(text, PlanForm::Folded)
}
