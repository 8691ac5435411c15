//! The findings of `planwright doctor`, as text and as JSON.

use std::fmt;

use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::cli) enum Status {
    /// Nothing is wrong.
    Ok,
    /// Something works, but is probably not intended.
    Warning,
    /// Something does not work.
    Error,
    /// It was not checked.
    Skipped,
}

impl Status {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// A check and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct Check {
    /// Stable name, such as `store.schema`. Several results may have the same.
    pub(in crate::cli) name: &'static str,
    /// The result.
    pub(in crate::cli) status: Status,
    /// What was seen.
    pub(in crate::cli) seen: String,
    /// What to do. Warnings and errors have one.
    pub(in crate::cli) remedy: Option<String>,
}

/// The results of all checks in the order in which they were made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::cli) struct Report {
    checks: Vec<Check>,
}

impl Report {
    /// Adds that nothing is wrong.
    pub(in crate::cli) fn ok(&mut self, name: &'static str, seen: impl Into<String>) {
        self.add(name, Status::Ok, seen.into(), None);
    }

    /// Adds something that works, but is probably not intended.
    pub(in crate::cli) fn warning(
        &mut self,
        name: &'static str,
        seen: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(name, Status::Warning, seen.into(), Some(remedy.into()));
    }

    /// Adds something that does not work.
    pub(in crate::cli) fn error(
        &mut self,
        name: &'static str,
        seen: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(name, Status::Error, seen.into(), Some(remedy.into()));
    }

    /// Adds what was not checked, why, and how to have it checked.
    pub(in crate::cli) fn skipped(
        &mut self,
        name: &'static str,
        why: impl Into<String>,
        remedy: Option<String>,
    ) {
        self.add(name, Status::Skipped, why.into(), remedy);
    }

    fn add(&mut self, name: &'static str, status: Status, seen: String, remedy: Option<String>) {
        self.checks.push(Check {
            name,
            status,
            seen,
            remedy,
        });
    }

    /// Returns the number of results.
    pub(in crate::cli) fn len(&self) -> usize {
        self.checks.len()
    }

    /// Returns the number of results with this status.
    pub(in crate::cli) fn count(&self, status: Status) -> usize {
        let with = self.checks.iter().filter(|check| check.status == status);
        with.count()
    }

    /// Returns the report for programs.
    pub(in crate::cli) fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "ok": self.count(Status::Error) == 0,
            "errors": self.count(Status::Error),
            "warnings": self.count(Status::Warning),
            "checks": self.checks,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for check in &self.checks {
            writeln!(
                f,
                "{:<8} {}: {}",
                check.status.as_str(),
                check.name,
                check.seen
            )?;
            if let Some(remedy) = &check.remedy {
                writeln!(f, "         to do: {remedy}")?;
            }
        }
        let plural = |count: usize, one: &str| {
            let end = if count == 1 { "" } else { "s" };
            format!("{count} {one}{end}")
        };
        writeln!(
            f,
            "{}, {}, {} ok, {} skipped",
            plural(self.count(Status::Error), "error"),
            plural(self.count(Status::Warning), "warning"),
            self.count(Status::Ok),
            self.count(Status::Skipped)
        )
    }
}

/// Splits a sentence of the form `what is wrong; what to do`. Without a remedy, `other` is one.
pub(in crate::cli) fn split(sentence: &str, separator: &str, other: &str) -> (String, String) {
    let (seen, remedy) = sentence.split_once(separator).unwrap_or((sentence, other));
    (seen.to_owned(), remedy.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_result_is_a_line_and_remedies_follow() {
        let mut report = Report::default();
        report.ok("a", "fine");
        report.warning("b", "odd", "change it");
        report.error("c.d", "broken", "repair it");
        report.skipped("e", "not tried", None);
        assert_eq!(
            report.to_string(),
            "ok       a: fine\n\
             warning  b: odd\n         to do: change it\n\
             error    c.d: broken\n         to do: repair it\n\
             skipped  e: not tried\n\
             1 error, 1 warning, 1 ok, 1 skipped\n"
        );
        let json = report.json();
        assert_eq!(json["ok"], false);
        assert_eq!(json["checks"][2]["status"], "error");
        assert_eq!(json["checks"][2]["remedy"], "repair it");
        assert!(json["checks"][0]["remedy"].is_null());
    }
}
