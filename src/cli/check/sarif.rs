//! Formats the results of `planwright check` as SARIF 2.1.0 (OASIS standard,
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/>), with the properties that GitHub requires
//! (<https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>).

use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use super::verdict::{Checked, Verdict};
use crate::formats::action_plan::check::FindingKind;
use crate::formats::action_plan::{Annotation, ErrorKind};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The documentation of action plans.
const PAGE: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/action-plans.md"
);

/// Returns a log with one run for all files. `here` is the directory that paths are relative to.
pub(super) fn log(checked: &[Checked], here: &Path) -> Value {
    let results: Vec<Value> = checked
        .iter()
        .flat_map(|one| {
            let uri = uri(&one.file, here);
            let troubles = troubles(&one.verdict).into_iter();
            troubles.map(move |trouble| result(&trouble, &uri))
        })
        .collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules(),
            }},
            "results": results,
        }],
    })
}

/// Returns the rules: first the errors of the text, then the findings on the files. [`troubles`]
/// computes indexes from this order.
fn rules() -> Vec<Value> {
    let errors = ErrorKind::ALL.iter().map(|kind| {
        let full = "A text with this error is not an action plan and cannot be executed.";
        rule(&format!("plan/{kind}"), kind.describe(), full)
    });
    let findings = FindingKind::ALL.iter().map(|kind| {
        let full = "The text is an action plan, but would fail on the files of the project.";
        rule(&format!("files/{kind}"), kind.describe(), full)
    });
    errors.chain(findings).collect()
}

fn rule(id: &str, short: &str, full: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": { "text": short },
        "fullDescription": { "text": format!("{short} {full}") },
        "help": { "text": format!("Each result includes a remedy. Format of action plans: {PAGE}") },
        "helpUri": PAGE,
        "defaultConfiguration": { "level": "error" },
    })
}

/// One SARIF result.
struct Trouble {
    /// The id of its rule and the index in [`rules`].
    rule: (String, usize),
    remark: Annotation,
}

fn troubles(verdict: &Verdict) -> Vec<Trouble> {
    match verdict {
        Verdict::Refused { rejected, .. } => {
            let errors = rejected.errors.iter();
            let trouble = errors.map(|error| Trouble {
                rule: (
                    format!("plan/{}", error.kind),
                    place(ErrorKind::ALL, error.kind),
                ),
                remark: error.annotation(),
            });
            trouble.collect()
        }
        Verdict::Plan { findings, .. } => {
            let findings = findings.iter().flatten();
            let trouble = findings.map(|finding| Trouble {
                rule: (
                    format!("files/{}", finding.kind),
                    ErrorKind::ALL.len() + place(FindingKind::ALL, finding.kind),
                ),
                remark: finding.annotation(),
            });
            trouble.collect()
        }
    }
}

/// Returns the index of `kind` in `all`.
fn place<T: PartialEq + Copy>(all: &[T], kind: T) -> usize {
    all.iter().take_while(|one| **one != kind).count()
}

fn result(trouble: &Trouble, uri: &str) -> Value {
    let Trouble { rule, remark } = trouble;
    json!({
        "ruleId": rule.0,
        "ruleIndex": rule.1,
        "level": "error",
        "message": { "text": remark.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": uri },
            "region": { "startLine": remark.line, "endLine": remark.end_line },
        }}],
    })
}

/// Returns the URI of `file`: relative if it is below `here`, otherwise absolute.
fn uri(file: &Path, here: &Path) -> String {
    if file.as_os_str() == "-" {
        return "stdin".to_owned();
    }
    let whole = |path: &Path| Url::from_file_path(path).ok();
    // Parsing the URL again resolves `..`.
    let file_url = whole(&here.join(file)).and_then(|url| Url::parse(url.as_str()).ok());
    let Some(url) = file_url else {
        return "unknown".to_owned();
    };
    let base = Url::from_directory_path(here).ok();
    match base.and_then(|base| base.make_relative(&url)) {
        // Escape colons, because the text before one would be read as a scheme.
        Some(relative) if !relative.starts_with("../") => relative.replace(':', "%3A"),
        _ => url.into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_relative_below_the_working_directory() {
        for (file, expected) in [
            ("plan.md", "plan.md"),
            ("./plans/a b#1.md", "plans/a%20b%231.md"),
            ("plans/../x/é.md", "x/%C3%A9.md"),
            ("/home/here/c:d.md", "c%3Ad.md"),
            ("../other/plan.md", "file:///home/other/plan.md"),
            ("/etc/plan.md", "file:///etc/plan.md"),
            ("-", "stdin"),
        ] {
            assert_eq!(uri(Path::new(file), Path::new("/home/here")), expected);
        }
    }
}
