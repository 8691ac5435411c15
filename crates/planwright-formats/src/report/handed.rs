//! What a planner is handed instead of a whole report, and how much shorter that is.

use super::metadata::ReportMetadata;

/// The lines a planner gets of a report, as Markdown: where it is, what it says in short, and how large it is. At most
/// some 3 KB in English, and never more than 10 KB beside `path`, whatever the report says.
pub fn handed(path: &str, report: &ReportMetadata) -> String {
    let mut text = format!("- **Report**: `{path}`\n- **Title**: {}\n", report.title);
    if report.degraded {
        text.push_str("- **Note**: the agent wrote no report; this is made from its words\n");
    }
    if !report.summary.is_empty() {
        text.push_str(&format!("- **Summary**: {}\n", report.summary));
    }
    if !report.recommendations.is_empty() {
        let shown = of(report.recommendations.len(), report.recommendations_total);
        text.push_str(&format!("- **Recommendations** ({shown}):\n"));
        for one in &report.recommendations {
            text.push_str(&format!("  - {one}\n"));
        }
    }
    if !report.file_paths.is_empty() {
        let shown = of(report.file_paths.len(), report.file_paths_total);
        let paths = report.file_paths.join("`, `");
        text.push_str(&format!("- **Files** ({shown}): `{paths}`\n"));
    }
    text.push_str(&format!(
        "- **Size**: {} bytes, {} words\n",
        report.size, report.words
    ));
    text
}

fn of(shown: usize, total: usize) -> String {
    if shown == total {
        shown.to_string()
    } else {
        format!("{shown} of {total}")
    }
}

/// About how many tokens a text is: a quarter of its code points, rounded down. A rule of thumb for English prose; code
/// and other languages take more.
pub fn tokens(text: &str) -> usize {
    text.chars().count() / 4
}

/// How much shorter a text became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    /// Bytes before.
    pub full_bytes: usize,
    /// Tokens before, see [`tokens`].
    pub full_tokens: usize,
    /// Bytes that are handed on.
    pub kept_bytes: usize,
    /// Tokens that are handed on.
    pub kept_tokens: usize,
}

impl Reduction {
    /// Measures both texts.
    pub fn of(full: &str, kept: &str) -> Self {
        Self {
            full_bytes: full.len(),
            full_tokens: tokens(full),
            kept_bytes: kept.len(),
            kept_tokens: tokens(kept),
        }
    }

    /// Per cent of the bytes that are saved: 100 less the kept ones, these rounded down. Negative when more is kept than
    /// there was; 0 when there was nothing.
    pub fn percent(self) -> i64 {
        if self.full_bytes == 0 {
            return 0;
        }
        let kept = self.kept_bytes.saturating_mul(100) / self.full_bytes;
        100_i64.saturating_sub_unsigned(kept as u64)
    }

    /// Nothing is saved: better hand on the whole text.
    pub fn keeps_full(self) -> bool {
        self.kept_bytes >= self.full_bytes
    }
}
