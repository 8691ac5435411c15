//! The labels that act as commands.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::formats::command::{Command, REGISTRY};
use crate::setting::Rule::Line;
use crate::setting::{Section, Setting};

/// Returns the description of the `[labels]` section: one setting for each command with a label.
pub fn section() -> Section {
    let setting = |(command, label): (Command, &str)| Setting {
        key: label_key(command).into(),
        default: format!("{label:?}").into(),
        // 50 characters is GitHub's limit for label names.
        rule: Line(50),
        doc: format!("Label that acts as `/{}`; empty for none.", command.name()).into(),
    };
    Section {
        name: "labels",
        doc: "Labels that act as commands when they are added. The label for `/check-plan` stays on a \
              pull request, and new commits are checked too."
            .into(),
        settings: defaults().map(setting).collect(),
    }
}

/// Returns the commands with a label and the label's default name.
pub(super) fn defaults() -> impl Iterator<Item = (Command, &'static str)> {
    REGISTRY
        .iter()
        .filter_map(|spec| Some((spec.command, spec.label?)))
}

/// Returns the key of a command's label in `[labels]`.
fn label_key(command: Command) -> String {
    command.name().replace('-', "_")
}

/// Parses the `[labels]` section, in the order of the registry. Commands whose label is the empty
/// string have none.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    value: D,
) -> Result<Vec<(Command, String)>, D::Error> {
    let mut names = BTreeMap::<String, String>::deserialize(value)?;
    let commands = defaults().map(|(command, _)| command);
    let labels = commands.filter_map(|command| Some((command, names.remove(&label_key(command))?)));
    Ok(labels.filter(|(_, name)| !name.is_empty()).collect())
}
