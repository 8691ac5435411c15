//! All settings of the operator in the order of the documentation, and the documents that are
//! generated from them.

use std::fmt::Write;

use super::agent::Agent;
use super::layers::variable;
use super::rules::allowed;
use super::{GitHub, Log, Server, Store, Web, Webhook};
use crate::engine::settings::{
    AgentSettings, CheckSettings, ErkSettings, ExtractSettings, LateSettings, OutsiderSettings,
    PublishSettings, ReportSettings, RepositorySettings, ResearchSettings, ResourceLimits,
    ScanSettings, SourceSettings, SweepSettings, WorkerSettings, labels,
};
use crate::setting::{Section, Setting};

/// Maximum length of a line of documentation, in characters.
const COLUMNS: usize = 100;

const INTRODUCTION: &str = include_str!("introduction.md");

/// Returns all sections. Three of them make up `[agent]`.
pub fn sections() -> [Section; 23] {
    [
        Server::SECTION,
        Webhook::SECTION,
        GitHub::SECTION,
        Store::SECTION,
        SweepSettings::SECTION,
        ScanSettings::SECTION,
        LateSettings::SECTION,
        WorkerSettings::SECTION,
        labels::section(),
        CheckSettings::SECTION,
        ExtractSettings::SECTION,
        OutsiderSettings::SECTION,
        ResearchSettings::SECTION,
        SourceSettings::SECTION,
        PublishSettings::SECTION,
        ErkSettings::SECTION,
        ReportSettings::SECTION,
        Agent::SECTION,
        AgentSettings::SECTION,
        ResourceLimits::SECTION,
        RepositorySettings::SECTION,
        Web::SECTION,
        Log::SECTION,
    ]
}

/// Returns all settings with their full keys, such as `server.listen`.
pub(super) fn settings() -> impl Iterator<Item = (String, Setting)> {
    sections().into_iter().flat_map(|section| {
        let settings = section.settings.into_owned().into_iter();
        settings.map(move |setting| (format!("{}.{}", section.name, setting.key), setting))
    })
}

/// Returns a configuration file with every setting, its default and its documentation.
pub fn default_file() -> String {
    let mut out = String::from("# Planwright's settings and their defaults.\n#\n");
    for line in INTRODUCTION.lines() {
        out.push_str(format!("# {line}").trim_end());
        out.push('\n');
    }
    document(
        &mut out,
        |out, section| {
            out.push('\n');
            wrap(out, "# ", "# ", &section.doc);
            line(out, format_args!("[{}]", section.name));
        },
        |out, key, setting| {
            wrap(out, "# ", "# ", &setting.doc);
            let allowed = format!("Allowed: {}", allowed(setting.rule));
            wrap(out, "# ", "# ", &allowed);
            line(out, format_args!("# Env: {}", variable(key)));
            line(out, format_args!("{} = {}", setting.key, setting.value()));
        },
    );
    out
}

/// Returns `docs/configuration.md`.
pub fn documentation() -> String {
    let mut out = format!(
        "# Settings\n\n\
         <!-- Generated from the schema of the settings. To update it, run:\n     \
         UPDATE_DOCS=1 cargo test --test it config_schema -->\n\n\
         {INTRODUCTION}\n\
         `planwright config` prints the effective values and where each comes from.\n\
         `planwright config --default` prints a configuration file with every setting. See also\n\
         [Operations](operations.md#configuration).\n"
    );
    document(
        &mut out,
        |out, section| {
            line(out, format_args!("\n## `[{}]`\n", section.name));
            wrap(out, "", "", &section.doc);
        },
        |out, key, setting| {
            line(out, format_args!("\n### `{key}`\n"));
            wrap(out, "", "", &setting.doc);
            out.push('\n');
            line(out, format_args!("* Default: `{}`", setting.value()));
            let allowed = format!("Allowed: {}", allowed(setting.rule));
            wrap(out, "* ", "  ", &allowed);
            line(
                out,
                format_args!("* Environment variable: `{}`", variable(key)),
            );
        },
    );
    out
}

/// Writes the heading of each section and each of its settings.
fn document(
    out: &mut String,
    heading: impl Fn(&mut String, &Section),
    entry: impl Fn(&mut String, &str, &Setting),
) {
    let mut last = "";
    for section in &sections() {
        if section.name != last {
            heading(out, section);
            last = section.name;
        }
        for setting in section.settings.iter() {
            entry(out, &format!("{}.{}", section.name, setting.key), setting);
        }
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{text}");
}

/// Writes a paragraph in lines of at most [`COLUMNS`] characters, with a prefix for the first line
/// and one for the others.
fn wrap(out: &mut String, first: &str, others: &str, text: &str) {
    let mut line = first.to_owned();
    let mut begun = false;
    for word in text.split_whitespace() {
        if begun && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            out.push_str(&line);
            out.push('\n');
            others.clone_into(&mut line);
            begun = false;
        }
        if begun {
            line.push(' ');
        }
        line.push_str(word);
        begun = true;
    }
    out.push_str(&line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::super::layers::{Sources, merge};
    use super::super::{Config, rules};
    use super::*;
    use crate::engine::settings::Settings;

    #[test]
    fn every_default_has_the_type_and_the_range_of_its_setting() {
        let merged = merge(settings(), &Sources::default()).unwrap();
        rules::check(&merged).unwrap();
        let config = Config::read(merged.table()).unwrap();
        let defaults = Settings::default();
        assert_eq!(format!("{:?}", config.engine), format!("{defaults:?}"));
    }

    #[test]
    fn the_default_file_sets_every_setting_to_its_default() {
        let file = default_file();
        let sources = Sources {
            file: Some(("default.toml".to_owned(), file.clone())),
            ..Sources::default()
        };
        let defaults = merge(settings(), &Sources::default()).unwrap().table();
        assert_eq!(merge(settings(), &sources).unwrap().table(), defaults);
        assert_eq!(file.parse::<toml::Table>().unwrap(), defaults);
        for (key, _) in settings() {
            let name = format!("Env: {}\n", variable(&key));
            assert!(file.contains(&name), "{key}");
        }
        let long = file.lines().find(|line| line.chars().count() > COLUMNS);
        assert_eq!(long, None);
    }
}
