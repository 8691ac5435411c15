//! Renders a plan such that [`super::parse`] returns the same plan, and its actions as a table for
//! people.

use std::fmt::Write as _;

use super::action::{Action, ActionPlan, Prune, Read};
use super::fences::fence_for;
use super::items;
use super::path::{ProjectPath, Resource};
use crate::block;
use crate::text::code_span;

/// Minimum length of a fence. Three would be rejected around Markdown.
const MIN_FENCE: usize = 4;
/// Maximum length of a target or description in the table, in Unicode code points.
const MAX_CELL: usize = 100;

/// Renders a parsed plan. The info strings of code blocks follow from the file names, because the
/// plan does not keep the original ones.
pub fn render(plan: &ActionPlan) -> String {
    let mut out = format!("# {}\n\n", escaped(&plan.title));
    for (key, value) in &plan.header.entries {
        write_item(&mut out, '-', key, value);
    }
    out.push_str("\n## Rationale\n\n");
    write_code(&mut out, "text", &plan.rationale);
    if let Some(memos) = &plan.memos {
        out.push_str("\n## Memos\n\n");
        write_code(&mut out, "text", memos);
    }
    out.push_str("\n## Action Plan\n");
    for step in &plan.actions {
        let _ = write!(out, "\n### `{}`\n\n", step.action.name());
        write_action(&mut out, &step.action);
    }
    out
}

fn write_action(out: &mut String, action: &Action) {
    match action {
        Action::Create(it) => write_item(out, '-', "File Path", &path(&it.path)),
        Action::Edit(it) => write_item(out, '-', "File Path", &path(&it.path)),
        Action::Read(Read { resource: it, .. }) | Action::Prune(Prune { resource: it, .. }) => {
            write_item(out, '-', "Resource", &resource(it));
        }
        _ => {}
    }
    if let Some(description) = action.description() {
        write_item(out, '-', "Description", description);
    }
    match action {
        Action::Create(it) => {
            out.push('\n');
            write_code(out, &language(it.path.as_str()), &it.content);
        }
        Action::Edit(it) => {
            for pair in &it.edits {
                out.push_str("\n#### `FIND:`\n");
                write_code(out, &language(it.path.as_str()), &pair.find);
                out.push_str("#### `REPLACE:`\n");
                write_code(out, &language(it.path.as_str()), &pair.replace);
            }
        }
        Action::Read(_) | Action::Prune(_) => {}
        Action::Execute(it) => {
            if let Some(outcome) = &it.expected_outcome {
                write_item(out, '-', "Expected Outcome", outcome);
            }
            if let Some(cwd) = &it.cwd {
                write_item(out, '-', "cwd", &code_span(cwd.as_str()));
            }
            if !it.env.is_empty() {
                out.push_str("- **env:**\n");
                for (name, value) in &it.env {
                    let _ = writeln!(out, "  - `{name}`: \"{value}\"");
                }
            }
            if out.ends_with("\n\n") {
                // The list is required. Only a plan that was not parsed can have none of its keys.
                write_item(out, '-', "Description", "Run a command.");
            }
            out.push('\n');
            write_code(out, "shell", &it.command);
        }
        Action::Research(it) => {
            for query in &it.queries {
                out.push('\n');
                write_code(out, "text", query);
            }
        }
        Action::Chat(it) => {
            let _ = writeln!(out, "{}", it.prompt);
        }
        Action::Invoke(it) => {
            write_item(out, bullet(&it.message), "Agent", &it.agent);
            write_message(out, &it.handoff_resources, &it.message);
        }
        Action::Return(it) => write_message(out, &it.handoff_resources, &it.message),
    }
}

/// Appends the resources of a handoff and its message.
fn write_message(out: &mut String, resources: &[Resource], message: &str) {
    if !resources.is_empty() {
        let _ = writeln!(out, "{} **Handoff Resources:**", bullet(message));
    }
    for it in resources {
        let _ = writeln!(out, "  - {}", resource(it));
    }
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    let _ = writeln!(out, "{message}");
}

/// Returns the bullet for a list before `message`. It differs from that of a list at the start of
/// the message, because the two would otherwise be one list.
fn bullet(message: &str) -> char {
    if message.starts_with('-') { '*' } else { '-' }
}

/// Appends an item with a bold key, or a plain key if the bold one would be parsed differently.
fn write_item(out: &mut String, bullet: char, key: &str, value: &str) {
    let bold = format!("**{key}:** {value}");
    if items::split(&bold) == Some((key, value)) {
        let _ = writeln!(out, "{bullet} {bold}");
    } else {
        let _ = writeln!(out, "{bullet} {key}: {value}");
    }
}

fn write_code(out: &mut String, language: &str, content: &str) {
    let fence = fence_for(content, MIN_FENCE);
    let end = if content.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{fence}{language}\n{content}{end}{fence}");
}

fn path(path: &ProjectPath) -> String {
    let text = path.as_str();
    // A path with characters that Markdown may interpret is written as code.
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if text.chars().all(plain) && !text.contains("www.") {
        format!("[{text}](/{text})")
    } else {
        code_span(text)
    }
}

fn resource(it: &Resource) -> String {
    match it {
        Resource::Path(it) => path(it),
        Resource::Url(url) if url.contains(['[', '`', '*']) => code_span(url),
        Resource::Url(url) => url.clone(),
    }
}

/// Escapes everything in a single line that could be markup or a link.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let markup = match c {
            ':' => chars.peek() == Some(&'/'),
            '.' => out.ends_with("www"),
            c => "\\`*_[]<>~|&!#$".contains(c),
        };
        if c.is_control() {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.extend(markup.then_some('\\'));
            out.push(c);
        }
    }
    out
}

/// Returns the info string for a file by its name: the name of its language, or the extension.
pub fn language(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => String::new(),
    };
    match extension.as_str() {
        "rs" => "rust",
        "py" => "python",
        "js" => "javascript",
        "ts" => "typescript",
        "md" => "markdown",
        "sh" => "shell",
        "yml" => "yaml",
        "cfg" => "ini",
        "h" => "c",
        "txt" | "" => "text",
        other if other.bytes().all(|byte| byte.is_ascii_alphanumeric()) => other,
        _ => "text",
    }
    .to_owned()
}

/// Renders the actions as a Markdown table in which no link, mention, command or HTML of the plan
/// is active.
pub fn table(plan: &ActionPlan) -> String {
    let mut out = "| # | Action | Target | Description |\n| --: | --- | --- | --- |\n".to_owned();
    for step in &plan.actions {
        let target = match step.action.target() {
            Some(target) => cell_code(&one_line(target)),
            None => String::new(),
        };
        let text = match &step.action {
            Action::Chat(it) => Some(it.prompt.as_str()),
            Action::Invoke(it) => Some(it.message.as_str()),
            Action::Return(it) => Some(it.message.as_str()),
            other => other.description(),
        };
        let description = block::quiet(&escaped(&one_line(text.unwrap_or_default())));
        let _ = writeln!(
            out,
            "| {} | `{}` | {target} | {description} |",
            step.number,
            step.action.name()
        );
    }
    out
}

/// Renders a code span in a table cell, where a pipe is escaped even in code. Parsers disagree
/// about a backslash before a pipe, so such a text is rendered without code.
fn cell_code(text: &str) -> String {
    if text.contains("\\|") {
        return block::quiet(&escaped(text));
    }
    code_span(&text.replace('|', "\\|"))
}

/// Collapses white space and cuts the text at the maximum length of a cell.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
            chars += 1;
        }
        for c in word.chars() {
            if chars == MAX_CELL {
                out.push('…');
                return out;
            }
            out.push(if c.is_control() { '\u{FFFD}' } else { c });
            chars += 1;
        }
    }
    out
}
