//! The digest of a report that a planner receives instead of the whole report.

use super::metadata::ReportMetadata;

/// Renders the digest of a report as Markdown: path, title, summary, recommendations, files and
/// size.
///
/// It has at most some 3 KB for an English report, and never more than 10 KB besides `path`.
pub fn render_digest(path: &str, report: &ReportMetadata) -> String {
    let mut text = format!("- **Report**: `{path}`\n- **Title**: {}\n", report.title);
    if report.degraded {
        text.push_str("- **Note**: the agent wrote no report; this is made from its words\n");
    }
    if !report.summary.is_empty() {
        text.push_str(&format!("- **Summary**: {}\n", report.summary));
    }
    if !report.recommendations.is_empty() {
        let count = count(report.recommendations.len(), report.recommendations_total);
        text.push_str(&format!("- **Recommendations** ({count}):\n"));
        for one in &report.recommendations {
            text.push_str(&format!("  - {one}\n"));
        }
    }
    if !report.file_paths.is_empty() {
        let count = count(report.file_paths.len(), report.file_paths_total);
        let paths = report.file_paths.join("`, `");
        text.push_str(&format!("- **Files** ({count}): `{paths}`\n"));
    }
    let (size, words) = (report.size, report.words);
    text.push_str(&format!("- **Size**: {size} bytes, {words} words\n"));
    text
}

fn count(shown: usize, total: usize) -> String {
    if shown == total {
        shown.to_string()
    } else {
        format!("{shown} of {total}")
    }
}

/// Estimates the tokens of a text as a quarter of its code points, rounded down.
///
/// This is a rule of thumb for English prose; code and other languages take more.
pub fn estimate_tokens(text: &str) -> usize {
    text.chars().count() / 4
}

/// Sizes of a text before and after it was shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    /// Bytes of the full text.
    pub full_bytes: usize,
    /// Tokens of the full text, see [`estimate_tokens`].
    pub full_tokens: usize,
    /// Bytes of the shortened text.
    pub kept_bytes: usize,
    /// Tokens of the shortened text.
    pub kept_tokens: usize,
}

impl Reduction {
    /// Measures both texts.
    pub fn of(full: &str, kept: &str) -> Self {
        Self {
            full_bytes: full.len(),
            full_tokens: estimate_tokens(full),
            kept_bytes: kept.len(),
            kept_tokens: estimate_tokens(kept),
        }
    }

    /// Returns the share of bytes saved in percent: 100 minus the kept share, which is rounded
    /// down. Negative if the text grew, 0 if the full text is empty.
    pub fn percent(self) -> i64 {
        if self.full_bytes == 0 {
            return 0;
        }
        let kept = self.kept_bytes.saturating_mul(100) / self.full_bytes;
        100_i64.saturating_sub_unsigned(kept as u64)
    }

    /// Returns true if nothing is saved, so that the full text is the better choice.
    pub fn keeps_full(self) -> bool {
        self.kept_bytes >= self.full_bytes
    }
}
