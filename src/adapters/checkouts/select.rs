//! Which entries of an archive are stored, decided by their paths.

use std::borrow::Cow;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::adapters::text::truncate_chars;
use crate::engine::checkout::WhyLeftOut;
use crate::engine::settings::{Instructions, RepositorySettings};

/// Maximum length of a name, in bytes (`NAME_MAX` of Linux).
const MAX_NAME: usize = 255;

/// Maximum length of the path of an entry that is left out, in characters.
const MAX_SHOWN: usize = 300;

/// Names of files and folders that configure or instruct agents, at any depth. Case is ignored.
const INSTRUCTIONS: [&str; 38] = [
    ".agent",
    ".agents",
    ".aider.conf.yml",
    ".augment",
    ".claude",
    ".claude-plugin",
    ".claude.json",
    ".clinerules",
    ".codex",
    ".continue",
    ".cursor",
    ".cursorignore",
    ".cursorrules",
    ".gemini",
    ".goosehints",
    ".junie",
    ".kiro",
    ".mcp.json",
    ".opencode",
    ".qwen",
    ".roo",
    ".roomodes",
    ".rules",
    ".trae",
    ".windsurf",
    ".windsurfrules",
    "agent.md",
    "agents.local.md",
    "agents.md",
    "agents.override.md",
    "claude.local.md",
    "claude.md",
    "codex.md",
    "gemini.md",
    "opencode.json",
    "opencode.jsonc",
    "qwen.md",
    "warp.md",
];

/// The same in a particular folder.
const INSTRUCTIONS_IN: [(&str, &str); 6] = [
    (".github", "agents"),
    (".github", "chatmodes"),
    (".github", "copilot-instructions.md"),
    (".github", "instructions"),
    (".github", "prompts"),
    (".vscode", "mcp.json"),
];

/// The limits of a copy and what it leaves out.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    exclude: GlobSet,
    instructions: Instructions,
    /// Maximum number of files.
    pub(super) max_files: u64,
    /// Maximum size of all files, in bytes.
    pub(super) max_bytes: u64,
}

impl Rules {
    /// Creates the rules that the operator configured.
    ///
    /// # Errors
    /// Returns an error if a pattern of `exclude` is not valid.
    pub(super) fn new(settings: &RepositorySettings) -> Result<Self, globset::Error> {
        let mut exclude = GlobSetBuilder::new();
        for pattern in &settings.exclude {
            exclude.add(
                GlobBuilder::new(&anchored(pattern))
                    .literal_separator(true)
                    .build()?,
            );
        }
        Ok(Self {
            exclude: exclude.build()?,
            instructions: settings.instructions,
            max_files: settings.max_files,
            max_bytes: settings.max_bytes,
        })
    }

    /// Returns the part of `path` that is left out and why: the path itself or a folder that
    /// contains it.
    pub(super) fn left_out<'a>(&self, path: &'a str) -> Option<(&'a str, WhyLeftOut)> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        let mut folder = "";
        let mut start = 0;
        for end in ends.chain([path.len()]) {
            let (part, name) = (&path[..end], &path[start..end]);
            if self.instructions == Instructions::Omit && is_instruction(folder, name) {
                return Some((part, WhyLeftOut::Instructions));
            }
            if !self.exclude.is_empty() && self.exclude.is_match(part) {
                return Some((part, WhyLeftOut::Excluded));
            }
            (folder, start) = (name, end + 1);
        }
        None
    }
}

/// Returns a pattern that is matched from the root of the repository.
fn anchored(pattern: &str) -> Cow<'_, str> {
    let inner = pattern.strip_suffix('/').unwrap_or(pattern);
    match inner.strip_prefix('/') {
        Some(path) => path.into(),
        None if inner.contains('/') => inner.into(),
        None => format!("**/{inner}").into(),
    }
}

fn is_instruction(folder: &str, name: &str) -> bool {
    let is = |other: &&str| name.eq_ignore_ascii_case(other);
    INSTRUCTIONS.iter().any(is)
        || INSTRUCTIONS_IN
            .iter()
            .any(|(parent, other)| folder.eq_ignore_ascii_case(parent) && is(other))
}

/// The path of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The top folder, in which GitHub puts the files of the repository.
    pub(super) top: String,
    /// The path from the root of the repository, separated by `/`; empty for the root.
    pub(super) path: String,
}

impl Place {
    /// Parses a path of an archive. Returns `None` if it must not or cannot be stored: it is not
    /// UTF-8, absolute, contains `..`, `.git`, control characters or names that are too long, or
    /// has more than `most` bytes.
    pub(super) fn parse(raw: &[u8], most: usize) -> Option<Self> {
        let text = std::str::from_utf8(raw).ok()?;
        if text.starts_with('/') || text.len() > most || text.chars().any(char::is_control) {
            return None;
        }
        let mut names = Vec::new();
        for name in text.split('/') {
            match name {
                "" | "." => {}
                ".." => return None,
                _ if name.len() > MAX_NAME || name.eq_ignore_ascii_case(".git") => return None,
                _ => names.push(name),
            }
        }
        let (top, rest) = names.split_first()?;
        Some(Self {
            top: (*top).to_owned(),
            path: rest.join("/"),
        })
    }
}

/// Returns the path of an entry that is left out, as people read it: without the top folder, with
/// control characters escaped.
pub(super) fn shown(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(&raw[..raw.len().min(4 * MAX_SHOWN)]);
    let inner = match text.split_once('/') {
        Some((top, inner)) if !top.is_empty() && !inner.is_empty() => inner,
        _ => &text,
    };
    let mut out = String::new();
    for character in inner.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    truncate_chars(&out, MAX_SHOWN)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn rules(exclude: &[&str], instructions: Instructions) -> Rules {
        let settings = RepositorySettings {
            exclude: exclude.iter().map(|&pattern| pattern.to_owned()).collect(),
            instructions,
            ..RepositorySettings::default()
        };
        Rules::new(&settings).unwrap()
    }

    #[test]
    fn files_that_instruct_agents_are_recognised_at_any_depth_and_in_any_case() {
        let omit = rules(&[], Instructions::Omit);
        for (path, part) in [
            ("CLAUDE.md", "CLAUDE.md"),
            ("a/b/claude.MD", "a/b/claude.MD"),
            ("CLAUDE.local.md", "CLAUDE.local.md"),
            ("docs/AGENTS.md", "docs/AGENTS.md"),
            ("GEMINI.md", "GEMINI.md"),
            (".claude/settings.json", ".claude"),
            ("x/.Claude/skills/a/SKILL.md", "x/.Claude"),
            (".mcp.json", ".mcp.json"),
            (".cursor/rules/a.mdc", ".cursor"),
            (".cursorrules", ".cursorrules"),
            (".codex/config.toml", ".codex"),
            (".gemini/settings.json", ".gemini"),
            (".opencode/agent/a.md", ".opencode"),
            (
                "a/.github/copilot-instructions.md",
                "a/.github/copilot-instructions.md",
            ),
            (".github/instructions/a.md", ".github/instructions"),
        ] {
            assert_eq!(omit.left_out(path), Some((part, WhyLeftOut::Instructions)));
            assert_eq!(rules(&[], Instructions::Data).left_out(path), None);
        }
        for path in [
            "README.md",
            "claude.rs",
            "docs/CLAUDE.md.txt",
            "copilot-instructions.md",
            ".github/workflows/ci.yml",
            "claude/settings.json",
        ] {
            assert_eq!(omit.left_out(path), None, "{path}");
        }
    }

    #[test]
    fn patterns_leave_out_files_and_whole_folders() {
        for (pattern, path, part) in [
            ("vendor", "vendor/a/b.c", Some("vendor")),
            ("vendor", "src/vendor/a", Some("src/vendor")),
            ("vendor/", "vendor/a", Some("vendor")),
            ("/vendor", "vendor/a", Some("vendor")),
            ("/vendor", "src/vendor/a", None),
            ("*.pdf", "docs/a.pdf", Some("docs/a.pdf")),
            ("docs/*.pdf", "docs/a.pdf", Some("docs/a.pdf")),
            ("docs/*.pdf", "docs/old/a.pdf", None),
            ("docs/**/*.pdf", "docs/old/a.pdf", Some("docs/old/a.pdf")),
            ("a/**", "a/b/c", Some("a/b")),
            ("vendor", "vendors/a", None),
        ] {
            let found = rules(&[pattern], Instructions::Omit).left_out(path);
            let expected = part.map(|part| (part, WhyLeftOut::Excluded));
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }

    #[test]
    fn paths_that_lead_elsewhere_or_cannot_be_stored_are_refused() {
        let parse = |raw: &str| Place::parse(raw.as_bytes(), 4_000).map(|place| place.path);
        let name = |length: usize| "n".repeat(length);
        for (raw, path) in [
            ("o-r-1/src/main.rs", Some("src/main.rs".to_owned())),
            ("o-r-1/", Some(String::new())),
            ("o-r-1", Some(String::new())),
            ("o-r-1/./a//b/", Some("a/b".to_owned())),
            (&format!("o-r-1/{}", name(255)), Some(name(255))),
            ("o-r-1/..a/b..", Some("..a/b..".to_owned())),
            ("o-r-1/.gitignore", Some(".gitignore".to_owned())),
            (&format!("o-r-1/{}", name(256)), None),
            (&format!("o-r-1/{}", "d/".repeat(2_000)), None),
            ("/etc/passwd", None),
            ("//etc/passwd", None),
            ("o-r-1/../../etc/passwd", None),
            ("o-r-1/a/..", None),
            ("../o-r-1/a", None),
            ("o-r-1/a\nb", None),
            ("o-r-1/a\0b", None),
            ("o-r-1/\u{1b}[2J", None),
            ("o-r-1/\u{9b}2J", None),
            ("o-r-1/.git/config", None),
            ("o-r-1/sub/.GIT/hooks/x", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(parse(raw), path, "{raw:?}");
        }
        assert_eq!(Place::parse(b"o-r-1/caf\xe9", 4_000), None);
    }

    #[test]
    fn paths_are_shown_without_control_characters() {
        for (raw, text) in [
            (&b"o-r-1/a\nb"[..], "a\\nb"),
            (b"o-r-1/\x1b[2J", "\\u{1b}[2J"),
            (b"/etc/passwd", "/etc/passwd"),
            (b"o-r-1/", "o-r-1/"),
            (b"o-r-1/caf\xe9", "caf\u{fffd}"),
        ] {
            assert_eq!(shown(raw), text);
        }
        assert!(shown(&vec![b'x'; 100_000]).chars().count() <= MAX_SHOWN);
    }
}
