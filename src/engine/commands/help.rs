//! `/plan-help`: lists the commands.

use crate::engine::messages::code_span;
use crate::engine::messages::replies::permission_name;
use crate::formats::command::{Command, REGISTRY};

/// Lists the commands of the registry.
///
/// `labels` are the configured names; a command without an entry has no label.
pub(in crate::engine) fn text(labels: &[(Command, String)]) -> String {
    let mut text = String::from(
        "Write a command at the start of a line of a comment. Setting a label does the same as its \
         command.\n\n\
         | command | label | needs | what it does |\n|---|---|---|---|\n",
    );
    for spec in REGISTRY {
        let argument = spec
            .argument
            .map(|argument| format!(" {argument}"))
            .unwrap_or_default();
        let mut options = String::new();
        for option in spec.options {
            options.push_str(&format!(" [{option}]"));
        }
        let label = labels.iter().find(|(command, _)| *command == spec.command);
        let label = label.map_or_else(|| "–".to_owned(), |(_, name)| code_span(name));
        text.push_str(&format!(
            "| {} | {label} | {} | {} |\n",
            code_span(&format!("/{}{options}{argument}", spec.name)),
            match spec.command {
                // Whoever requested the run that asks may answer.
                Command::Answer => "requester, or write",
                _ => permission_name(spec.permission),
            },
            spec.summary
        ));
    }
    text.push('\n');
    let mut told: Vec<&str> = Vec::new();
    for option in REGISTRY.iter().flat_map(|spec| spec.options) {
        if !told.contains(&option.name) {
            told.push(option.name);
            text.push_str(&format!(
                "- {}: {}\n",
                code_span(&option.to_string()),
                option.summary
            ));
        }
    }
    text.push_str(
        "\nA session log may also be attached to the command's own comment.\n\nA command in a quote, a list, code or an HTML comment is not a command. Commands count in new comments, and in edits by the author within ten minutes; at most eight per comment.",
    );
    text
}
