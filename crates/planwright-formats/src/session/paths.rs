//! Names in a Claude home: what a working directory is called there, and which names may become part of a path.

/// The longest project directory name that is written in full, in characters. Behind it newer versions put a hash.
pub const MAX_PROJECT_NAME: usize = 200;

/// The names below `projects/` that a working directory may have, newest rule first, without repetitions.
///
/// Three rules have been in use: every character that is not an ASCII letter or digit becomes `-` (today's; what
/// JavaScript counts as two characters becomes two), only `/` and `.` do ([`project_name`]), and only `/` does.
pub fn project_names(directory: &str) -> Vec<String> {
    let strict = directory
        .chars()
        .flat_map(|c| {
            let (c, times) = if c.is_ascii_alphanumeric() {
                (c, 1)
            } else {
                ('-', c.len_utf16())
            };
            std::iter::repeat_n(c, times)
        })
        .collect();
    let mut names: Vec<String> = vec![strict];
    for name in [project_name(directory), directory.replace('/', "-")] {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The name of a working directory by erk's rule: `/` and `.` become `-`, and there is exactly one `-` in front.
pub fn project_name(directory: &str) -> String {
    let plain = directory.replace(['/', '.'], "-");
    format!("-{}", plain.trim_start_matches('-'))
}

/// Whether a session id, an agent id or a slug may become a file name. They come from logs, which are data:
/// `[A-Za-z0-9._-]`, at most 128 characters, not beginning with a dot.
pub fn is_safe_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.starts_with('.')
        && name
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-'))
}

/// The slug of a plan file: of a path that ends in `.claude/plans/<slug>.md`, with either kind of slash.
pub fn plan_slug(path: &str) -> Option<&str> {
    let mut parts = path.rsplit(['/', '\\']);
    let slug = parts.next()?.strip_suffix(".md")?;
    let in_plans = parts.next() == Some("plans") && parts.next() == Some(".claude");
    (in_plans && is_safe_name(slug)).then_some(slug)
}

#[cfg(test)]
mod tests;
