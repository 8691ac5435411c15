//! The versions of erk that plans can be written for.
//!
//! erk has changed how it reads saved plans and which commands accept them. Each version is named
//! after the month in which it appeared and covers the time until the next one.
//!
//! | version | form of the plan in its comment | `plan_comment_id` in the header | commands for a plan issue |
//! |---|---|---|---|
//! | `2025-11` | between `erk:plan-content` markers | refused when the header is updated | `erk implement`, `erk submit` |
//! | `2025-12` | `plan-body` block, `<details>` only | refused until 23 December | `erk implement`, `erk submit` |
//! | `2026-01` | `plan-body` block, `<details open>` from 15 January | used | `erk implement`, `erk plan submit` |
//! | `2026-02` | `plan-body` block, `<details open>` too | used | `erk br co --for-plan`, `erk plan submit` |
//! | `2026-03`, `latest` | the same | used | none: plans are draft pull requests |
//!
//! Every version also reads the forms of the versions before it, so a plan that was written for an
//! older erk stays readable.

use crate::block::PlanForm;

/// A version of erk; see the table in the module documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Version {
    /// November 2025: `erk:plan-content` markers.
    November2025,
    /// December 2025: `plan-body` blocks.
    December2025,
    /// January 2026: the header has the id of the plan's comment.
    January2026,
    /// February 2026: supports `<details open>`.
    February2026,
    /// March 2026 and later: plans are draft pull requests.
    #[default]
    Latest,
}

impl Version {
    /// All versions, oldest first, with their names in the configuration.
    pub const NAMED: [(Self, &'static str); 5] = [
        (Self::November2025, "2025-11"),
        (Self::December2025, "2025-12"),
        (Self::January2026, "2026-01"),
        (Self::February2026, "2026-02"),
        (Self::Latest, "latest"),
    ];

    /// Returns the version for `latest` or for the month of a release, `YYYY-MM`, from November
    /// 2025 on.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some((version, _)) = Self::NAMED.iter().find(|(_, known)| *known == name) {
            return Some(*version);
        }
        let (year, month) = name.split_once('-')?;
        let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
        let is_month = matches!(month.as_bytes(), [b'0', b'1'..=b'9'] | [b'1', b'0'..=b'2']);
        (is_year && is_month && name > "2026-02").then_some(Self::Latest)
    }

    /// Whether this version finds a plan in `<details open>`.
    pub fn reads_open_details(self) -> bool {
        self >= Self::February2026
    }

    /// Whether this version accepts `plan_comment_id` when it updates a header. Without the field,
    /// erk reads the plan from the first comment.
    pub fn accepts_comment_id(self) -> bool {
        self >= Self::January2026
    }

    /// Returns the form of a plan in its comment; `open` unfolds it if this version supports that.
    pub fn plan_form(self, open: bool) -> PlanForm {
        match self {
            Self::November2025 => PlanForm::Markers,
            _ if open && self.reads_open_details() => PlanForm::Unfolded,
            _ => PlanForm::Folded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_named_by_the_month_of_the_release() {
        for (version, name) in Version::NAMED {
            assert_eq!(Version::from_name(name), Some(version));
        }
        for (name, version) in [
            ("2026-03", Some(Version::Latest)),
            ("2026-04", Some(Version::Latest)),
            ("2031-12", Some(Version::Latest)),
            ("2025-10", None),
            ("2026-13", None),
            ("2026-00", None),
            ("2026-3", None),
            ("26-03", None),
            ("2026-03-01", None),
            ("Latest", None),
            ("", None),
        ] {
            assert_eq!(Version::from_name(name), version, "{name}");
        }
    }
}
