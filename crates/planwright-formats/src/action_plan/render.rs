//! A plan written out, such that [`super::parse`] gives the same plan again; and its actions as a table for people.

use std::fmt::Write as _;

use super::action::{Action, ActionPlan};
use super::fences::fence_of;
use super::items;
use super::path::{ProjectPath, Resource};
use crate::block;

/// Shortest fence that is written: three would be refused around Markdown.
const FENCE: usize = 4;
/// Longest target and description of the table, in Unicode code points.
const CELL: usize = 100;

/// Writes a plan that was parsed. Languages of code blocks are those of the files' names, since the plan does not keep
/// others.
pub fn render(plan: &ActionPlan) -> String {
    let mut out = format!("# {}\n\n", escaped(&plan.title));
    for (key, value) in &plan.header.entries {
        item(&mut out, '-', key, value);
    }
    out.push_str("\n## Rationale\n\n");
    code(&mut out, "text", &plan.rationale);
    if let Some(memos) = &plan.memos {
        out.push_str("\n## Memos\n\n");
        code(&mut out, "text", memos);
    }
    out.push_str("\n## Action Plan\n");
    for step in &plan.actions {
        let _ = write!(out, "\n### `{}`\n\n", step.action.name());
        body(&mut out, &step.action);
    }
    out
}

fn body(out: &mut String, action: &Action) {
    let description = action.description();
    let described = |out: &mut String| {
        if let Some(description) = description {
            item(out, '-', "Description", description);
        }
    };
    match action {
        Action::Create(it) => {
            item(out, '-', "File Path", &path(&it.path));
            described(out);
            out.push('\n');
            code(out, &language(it.path.as_str()), &it.content);
        }
        Action::Edit(it) => {
            item(out, '-', "File Path", &path(&it.path));
            described(out);
            for pair in &it.edits {
                out.push_str("\n#### `FIND:`\n");
                code(out, &language(it.path.as_str()), &pair.find);
                out.push_str("#### `REPLACE:`\n");
                code(out, &language(it.path.as_str()), &pair.replace);
            }
        }
        Action::Read(it) => {
            item(out, '-', "Resource", &resource(&it.resource));
            described(out);
        }
        Action::Prune(it) => {
            item(out, '-', "Resource", &resource(&it.resource));
            described(out);
        }
        Action::Execute(it) => {
            described(out);
            if let Some(outcome) = &it.expected_outcome {
                item(out, '-', "Expected Outcome", outcome);
            }
            if let Some(cwd) = &it.cwd {
                item(out, '-', "cwd", &code_span(cwd.as_str()));
            }
            if !it.env.is_empty() {
                out.push_str("- **env:**\n");
                for (name, value) in &it.env {
                    let _ = writeln!(out, "  - `{name}`: \"{value}\"");
                }
            }
            if out.ends_with("\n\n") {
                // The list is required, and all of its keys may be absent only in a plan that was not parsed.
                item(out, '-', "Description", "Run a command.");
            }
            out.push('\n');
            code(out, "shell", &it.command);
        }
        Action::Research(it) => {
            described(out);
            for query in &it.queries {
                out.push('\n');
                code(out, "text", query);
            }
        }
        Action::Chat(it) => text(out, &it.prompt),
        Action::Invoke(it) => {
            let bullet = bullet(&it.message);
            item(out, bullet, "Agent", &it.agent);
            resources(out, bullet, &it.handoff_resources);
            out.push('\n');
            text(out, &it.message);
        }
        Action::Return(it) => {
            if !it.handoff_resources.is_empty() {
                resources(out, bullet(&it.message), &it.handoff_resources);
                out.push('\n');
            }
            text(out, &it.message);
        }
    }
}

/// The bullet of a list before `message`: another one than that of a list which the message starts with, or the two
/// would be one list.
fn bullet(message: &str) -> char {
    if message.starts_with('-') { '*' } else { '-' }
}

fn resources(out: &mut String, bullet: char, resources: &[Resource]) {
    if resources.is_empty() {
        return;
    }
    let _ = writeln!(out, "{bullet} **Handoff Resources:**");
    for it in resources {
        let _ = writeln!(out, "  - {}", resource(it));
    }
}

fn item(out: &mut String, bullet: char, key: &str, value: &str) {
    let bold = format!("**{key}:** {value}");
    if items::split(&bold) == Some((key, value)) {
        let _ = writeln!(out, "{bullet} {bold}");
    } else {
        let _ = writeln!(out, "{bullet} {key}: {value}");
    }
}

fn code(out: &mut String, language: &str, content: &str) {
    let fence = fence_of(content, FENCE);
    let end = if content.is_empty() { "" } else { "\n" };
    let _ = writeln!(out, "{fence}{language}\n{content}{end}{fence}");
}

fn text(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn path(path: &ProjectPath) -> String {
    let text = path.as_str();
    // What Markdown might read otherwise is written as code.
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

/// `text`, one line, as a code span.
pub(super) fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if text.contains('`') || text.starts_with(' ') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// Text of one line with everything escaped that could be markup or a link.
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

/// Info string for the content of a file, by its name: the usual name of the language, or the name's ending.
pub fn language(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => ending.to_ascii_lowercase(),
        _ => String::new(),
    };
    match ending.as_str() {
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

/// The actions as a Markdown table that shows the plan's texts as they are: no link, mention, command or HTML of theirs
/// works in it.
pub fn table(plan: &ActionPlan) -> String {
    let mut out = "| # | Action | Target | Description |\n| --: | --- | --- | --- |\n".to_owned();
    for step in &plan.actions {
        let target = match step.action.target() {
            Some(target) => cell_code(&one_line(target)),
            None => String::new(),
        };
        let said = match &step.action {
            Action::Chat(it) => Some(it.prompt.as_str()),
            Action::Invoke(it) => Some(it.message.as_str()),
            Action::Return(it) => Some(it.message.as_str()),
            other => other.description(),
        };
        let description = block::quiet(&escaped(&one_line(said.unwrap_or_default())));
        let _ = writeln!(
            out,
            "| {} | `{}` | {target} | {description} |",
            step.number,
            step.action.name()
        );
    }
    out
}

/// A code span in a cell, where a pipe is escaped even in code. A backslash before a pipe cannot be written there (parsers
/// disagree), so such a text is shown without code.
fn cell_code(text: &str) -> String {
    if text.contains("\\|") {
        return block::quiet(&escaped(text));
    }
    code_span(&text.replace('|', "\\|"))
}

/// White space collapsed, cut.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
            chars += 1;
        }
        for c in word.chars() {
            if chars == CELL {
                out.push('…');
                return out;
            }
            out.push(if c.is_control() { '\u{FFFD}' } else { c });
            chars += 1;
        }
    }
    out
}
