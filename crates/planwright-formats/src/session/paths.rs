//! Names of files and directories in a Claude home: project directories, plan files, and which
//! names are safe in a path.

/// Maximum length of a project directory name that is not shortened, in characters. Newer versions
/// of Claude Code append a hash to the beginning of a longer one.
pub const MAX_PROJECT_NAME_CHARS: usize = 200;

/// Returns the possible names of a working directory below `projects/`, newest rule first, without
/// duplicates.
///
/// Three rules have been in use: every character that is not an ASCII letter or digit becomes `-`
/// (the current one; a character of two UTF-16 units becomes two), only `/` and `.` do
/// ([`project_name`]), and only `/` does.
pub fn project_names(directory: &str) -> Vec<String> {
    let strict = directory
        .chars()
        .flat_map(|c| match c {
            c if c.is_ascii_alphanumeric() => std::iter::repeat_n(c, 1),
            c => std::iter::repeat_n('-', c.len_utf16()),
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

/// Returns the name of a working directory by erk's rule: `/` and `.` become `-`, with exactly one
/// `-` in front.
pub fn project_name(directory: &str) -> String {
    let plain = directory.replace(['/', '.'], "-");
    format!("-{}", plain.trim_start_matches('-'))
}

/// Whether a session id, an agent id or a slug is safe as a file name: `[A-Za-z0-9._-]`, at most
/// 128 characters, not beginning with a dot. They come from logs, which are untrusted data.
pub fn is_safe_name(name: &str) -> bool {
    let is_safe = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'_' | b'-');
    (1..=128).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_safe)
}

/// Returns the slug of a plan file, given a path that ends in `.claude/plans/<slug>.md`, with
/// either kind of slash.
pub fn plan_slug(path: &str) -> Option<&str> {
    let mut parts = path.rsplit(['/', '\\']);
    let slug = parts.next()?.strip_suffix(".md")?;
    let in_plans = parts.next() == Some("plans") && parts.next() == Some(".claude");
    (in_plans && is_safe_name(slug)).then_some(slug)
}

#[cfg(test)]
mod tests;
