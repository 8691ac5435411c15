//! Writes blocks, in the one form that every era of erk reads: `<code>` in the summary of fields (required in 2025,
//! allowed since), a closing marker with its key.

use serde_json::{Map, Value};

use super::{WARNING, neutralise};
use crate::formats::yaml;

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

/// The `plan-body` block: the plan itself, in the first comment of its issue.
pub fn plan_body(text: &str) -> String {
    render_content(
        "plan-body",
        "<strong>📋 Implementation Plan</strong>",
        text,
        true,
    )
}
