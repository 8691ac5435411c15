//! How the files of reports are named. Names come from us alone: nothing of a topic but letters and digits gets in.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

/// Longest [`slug`], in characters.
const MAX_SLUG: usize = 50;

/// The number of the next file in a folder with files of these `names`: one more than the highest of those that begin
/// with exactly three digits and `_` or `-` and end in `.md`; `001` without one. Gaps are not filled. Behind `999`
/// comes `1000`, which is not seen any more.
pub fn next_number<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let numbers = names.into_iter().filter_map(|name| {
        let (digits, rest) = name.split_at_checked(3)?;
        let numbered = digits.bytes().all(|byte| byte.is_ascii_digit())
            && rest.starts_with(['_', '-'])
            && Path::new(rest)
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("md"));
        numbered.then(|| digits.parse::<u32>().ok()).flatten()
    });
    format!("{:03}", numbers.max().unwrap_or(0) + 1)
}

/// A topic as a part of a file name: lower-case ASCII letters, digits and single `-` between them, at most 50
/// characters; accents are taken off. `report` when nothing is left.
pub fn slug(topic: &str) -> String {
    let mut slug = String::new();
    for c in topic.nfd() {
        if slug.len() >= MAX_SLUG {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !('\u{300}'..='\u{36f}').contains(&c) && !slug.is_empty() && !slug.ends_with('-')
        {
            slug.push('-');
        }
    }
    match slug.trim_end_matches('-') {
        "" => "report".to_owned(),
        slug => slug.to_owned(),
    }
}

/// The name of a report's file: `001-retry-policy.md`. `number` is one of [`next_number`].
pub fn report_file(number: &str, topic: &str) -> String {
    format!("{number}-{}.md", slug(topic))
}
