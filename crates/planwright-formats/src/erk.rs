//! The versions of erk that plans are written for.
//!
//! erk has changed how it reads a saved plan and which commands take one. A version is named by the
//! month from which its rules hold; it holds until the next one.
//!
//! | version | the plan in its comment | `plan_comment_id` in the header | commands for a plan issue |
//! |---|---|---|---|
//! | `2025-11` | between `erk:plan-content` markers | refused when the header is updated | `erk implement`, `erk submit` |
//! | `2025-12` | `plan-body` block, `<details>` only | refused until 23 December | `erk implement`, `erk submit` |
//! | `2026-01` | `plan-body` block, `<details open>` from 15 January | used | `erk implement`, `erk plan submit` |
//! | `2026-02` | `plan-body` block, `<details open>` too | used | `erk br co --for-plan`, `erk plan submit` |
//! | `2026-03`, `latest` | the same | used | none: plans are draft pull requests |
//!
//! Every version after the first still reads the forms before it, so what is written for an older
//! erk stays readable.

use crate::block::PlanForm;

/// A version of erk; see the module's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Version {
    /// November 2025: `erk:plan-content` markers.
    November2025,
    /// December 2025: `plan-body` blocks.
    December2025,
    /// January 2026: the header names the plan's comment.
    January2026,
    /// February 2026: `<details open>` is read.
    February2026,
    /// March 2026 and later: plans are draft pull requests.
    #[default]
    Latest,
}

impl Version {
    /// All versions, oldest first, each with the name it has in the configuration.
    pub const NAMED: [(Self, &'static str); 5] = [
        (Self::November2025, "2025-11"),
        (Self::December2025, "2025-12"),
        (Self::January2026, "2026-01"),
        (Self::February2026, "2026-02"),
        (Self::Latest, "latest"),
    ];

    /// The version that `name` means: `latest`, or the month of a release, `YYYY-MM`, from November
    /// 2025 on.
    pub fn named(name: &str) -> Option<Self> {
        let known = Self::NAMED.iter().find(|(_, known)| *known == name);
        known.map(|(version, _)| *version).or_else(|| {
            let (year, month) = name.split_once('-')?;
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let is_month = year.len() == 4
                && month.len() == 2
                && digits(year)
                && digits(month)
                && ("01"..="12").contains(&month);
            (is_month && name > "2026-02").then_some(Self::Latest)
        })
    }

    /// Whether it finds a plan in `<details open>`.
    pub fn reads_open_details(self) -> bool {
        self >= Self::February2026
    }

    /// Whether it updates a header that has `plan_comment_id`. Without the field it takes the first
    /// comment.
    pub fn takes_comment_id(self) -> bool {
        self >= Self::January2026
    }

    /// How a plan is framed in its comment; `open`: unfolded, where this version reads that.
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
            assert_eq!(Version::named(name), Some(version));
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
            assert_eq!(Version::named(name), version, "{name}");
        }
    }
}
