//! The documents that are generated from the schema of the settings and the registry of commands.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::env;
use std::fs;
use std::path::Path;

use planwright::config::schema;
use planwright::formats::command::REGISTRY;

#[test]
fn the_documentation_of_the_settings_is_that_of_the_schema() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    let want = schema::documentation();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&page, &want).unwrap();
    }
    assert!(
        fs::read_to_string(&page).unwrap_or_default() == want,
        "docs/configuration.md is out of date: run `UPDATE_DOCS=1 cargo test --test it config_schema`"
    );
}

#[test]
fn the_table_of_commands_is_that_of_the_registry() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md");
    let text = fs::read_to_string(page).unwrap();
    let rows = text
        .lines()
        .skip_while(|line| *line != "| command | label | permission | effect |")
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<Vec<&str>> = rows
        .map(|row| row.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), REGISTRY.len());
    for (row, spec) in rows.iter().zip(REGISTRY) {
        let [_, command, label, _, effect, _] = row[..] else {
            panic!("{row:?}");
        };
        let name = command
            .split(['`', ' '])
            .find_map(|word| word.strip_prefix('/'));
        assert_eq!(name, Some(spec.name));
        let with_label = spec.label.map(|label| format!("`{label}`"));
        assert_eq!(label, with_label.unwrap_or_default(), "{command}");
        assert!(effect.starts_with(spec.summary), "{command}: {effect}");
        for alias in spec.aliases {
            assert!(effect.contains(alias), "{command}: {alias}");
        }
    }
}
