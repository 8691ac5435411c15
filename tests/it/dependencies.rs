//! Licences and sources of all dependencies, and that there is one TLS stack. `.ci/deny.toml` has the
//! same rules for cargo-deny, which also knows security advisories.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns a list of texts in `.ci/deny.toml`.
fn rule(section: &str, key: &str) -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/deny.toml");
    let rules: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let list = rules[section][key].as_array().unwrap().iter();
    list.map(|one| one.as_str().unwrap().to_owned()).collect()
}

/// Returns the packages that are compiled for some target, not those that only stand in the lock
/// file.
fn packages() -> Vec<Value> {
    let cargo = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let tree = cargo(&[
        "tree",
        "--workspace",
        "--all-features",
        "--locked",
        "--target",
        "all",
        "--prefix",
        "none",
        "--format",
        "{p}",
    ]);
    let used: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.trim_start_matches('v')))
        })
        .collect();
    assert!(used.len() > 200, "{}", used.len());
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--locked"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .filter(|one| {
            let text = |key: &str| one[key].as_str().unwrap();
            used.contains(&(text("name"), text("version")))
        })
        .cloned()
        .collect()
}

/// Returns whether a licence expression of SPDX can be satisfied with `allowed` licences.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], " ");
    let every = |one: &str| {
        let mut all = one.split(" AND ");
        all.all(|licence| allowed.contains(licence.trim()))
    };
    // A conjunction of alternatives, `(A OR B) AND C`, needs its last part as well.
    let mut alternatives = expression.split(" OR ");
    match expression.rsplit_once(" AND ") {
        Some((first, last)) if first.contains(" OR ") && !last.contains(" OR ") => {
            allowed.contains(last.trim()) && first.split(" OR ").any(every)
        }
        _ => alternatives.any(every),
    }
}

#[test]
fn licences_sources_and_the_tls_stack_are_those_we_chose() {
    let allowed = rule("licenses", "allow");
    let banned = rule("bans", "deny");
    let mut wrong = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{name}: the licence `{licence}` is not allowed"));
        }
        if banned.contains(name) {
            wrong.push(format!("{name}: a second TLS stack"));
        }
        let source = package["source"].as_str();
        if source.is_some_and(|source| source.starts_with("git+")) {
            wrong.push(format!("{name}: {source:?} is no registry"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn licence_expressions_are_read() {
    let allowed: BTreeSet<String> = ["MIT", "Apache-2.0", "Unicode-3.0"]
        .map(str::to_owned)
        .into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT/GPL-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), expected, "{expression}");
    }
}
