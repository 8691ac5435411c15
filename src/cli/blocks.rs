//! `planwright blocks`: prints the metadata blocks of a text.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::failure::print;
use super::{Failure, input, terminal};
use crate::formats::block::schema::{Finding, review};
use crate::formats::block::{self, Block, Content, Parsed};
use crate::formats::markdown::Lines;

const HELP: &str = "\
JSON fields:
  blocks       in order: key; span (byte range, end exclusive, including warning
               lines and markers); inner (byte range of the content); lines
               (first and last); kind; the fields of kind `yaml`, the text of
               `text` and `raw`; findings (problems with the fields of an erk
               block: field, oddity, detail, message). `raw` is an unusable
               block; a diagnostic gives the reason
  diagnostics  unusable blocks: key, line, message, remedy

Exit codes:
  0  no diagnostics; there may be no blocks, or findings
  1  there are diagnostics
  2  the arguments are wrong, or the file cannot be read

Examples:
  planwright blocks body.md
  gh issue view 12 --json body -q .body | planwright blocks - | jq .blocks
  planwright blocks --human body.md           a table for people";

/// Print the metadata blocks of a text as JSON
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Blocks {
    /// File to read; `-` for standard input
    file: PathBuf,
    /// Print a table instead of JSON
    #[arg(long)]
    human: bool,
}

impl Blocks {
    pub(super) fn run(self) -> Result<(), Failure> {
        let name = self.file.display().to_string();
        let text = input::text(&self.file)?;
        let parsed = block::parse(&text);
        let lines = Lines::new(&text);
        if self.human {
            print(&table(&parsed, &lines))?;
        } else {
            print(&format!("{:#}\n", as_json(&parsed, &lines)))?;
        }
        match parsed.diagnostics.len() {
            0 => Ok(()),
            1 => Err(Failure::failed(format!("{name}: 1 unusable block"))),
            more => Err(Failure::failed(format!("{name}: {more} unusable blocks"))),
        }
    }
}

/// Returns the first and last line of a block.
fn span(block: &Block, lines: &Lines<'_>) -> (usize, usize) {
    let last = block.span.end.saturating_sub(1).max(block.span.start);
    (lines.at(block.span.start), lines.at(last))
}

fn as_json(parsed: &Parsed, lines: &Lines<'_>) -> Value {
    let blocks: Vec<Value> = parsed
        .blocks
        .iter()
        .map(|block| {
            let (first, last) = span(block, lines);
            let (kind, name, content) = match &block.content {
                Content::Yaml(fields) => ("yaml", "fields", json!(fields)),
                Content::Text(text) => ("text", "text", json!(text)),
                Content::Raw(text) => ("raw", "text", json!(text)),
            };
            let findings: Vec<Value> = match &block.content {
                Content::Yaml(fields) => review(&block.key, fields).iter().map(finding).collect(),
                Content::Text(_) | Content::Raw(_) => Vec::new(),
            };
            json!({
                "key": block.key, "span": [block.span.start, block.span.end],
                "inner": [block.inner.start, block.inner.end], "lines": [first, last], "kind": kind, name: content,
                "findings": findings,
            })
        })
        .collect();
    let diagnostics: Vec<Value> = parsed
        .diagnostics
        .iter()
        .map(|one| {
            json!({
                "key": one.key, "line": one.line, "message": one.message, "remedy": one.remedy,
            })
        })
        .collect();
    json!({"blocks": blocks, "diagnostics": diagnostics})
}

fn finding(odd: &Finding) -> Value {
    let mut shown = json!(odd);
    shown["message"] = json!(odd.to_string());
    shown
}

fn table(parsed: &Parsed, lines: &Lines<'_>) -> String {
    let mut table = String::new();
    for block in &parsed.blocks {
        let (first, last) = span(block, lines);
        let content = match &block.content {
            Content::Yaml(fields) => format!("yaml, {} fields", fields.len()),
            Content::Text(text) => format!("text, {} bytes", text.len()),
            Content::Raw(text) => format!("raw, {} bytes", text.len()),
        };
        let odd = match &block.content {
            Content::Yaml(fields) => review(&block.key, fields),
            Content::Text(_) | Content::Raw(_) => Vec::new(),
        };
        let range = format!("{first}-{last}");
        table.push_str(&format!(
            "{range:<11}  {:<28}  {content}\n",
            terminal::one_line(&block.key)
        ));
        for one in odd {
            let message = terminal::one_line(&one.to_string());
            table.push_str(&format!("{:<11}  {:<28}  {message}\n", "", ""));
        }
    }
    for one in &parsed.diagnostics {
        table.push_str(&format!(
            "{:<11}  {:<28}  {}; {}\n",
            one.line,
            terminal::one_line(&one.key),
            terminal::one_line(&one.message),
            one.remedy
        ));
    }
    if table.is_empty() {
        table.push_str("no blocks\n");
    }
    table
}
