//! The layers and modules of the code: imports point down only, and modules of a layer do not
//! import one another in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the root package, and what each may import of the others.
const LAYERS: &[(&str, &[&str])] = &[
    ("regular_file", &[]),
    ("setting", &[]),
    ("engine", &["setting"]),
    ("config", &["engine", "regular_file", "setting"]),
    ("adapters", &["engine", "regular_file"]),
    ("cli", &["adapters", "config", "engine", "regular_file"]),
];

/// Crates of the workspace, and which of the others each may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("planwright-formats", &[]),
    ("github-simulator", &[]),
    ("gradient-boosting", &[]),
    ("text-classifier", &[]),
];

#[test]
fn imports_point_down() {
    let modules = modules(&top().join("src"), &[]);
    let mut wrong = Vec::new();
    for (module, imports) in &modules {
        let Some((_, allowed)) = LAYERS.iter().find(|(layer, _)| *layer == module[0]) else {
            continue;
        };
        for import in imports {
            let layer = import[0].as_str();
            let is_layer = LAYERS.iter().any(|(known, _)| *known == layer);
            if is_layer && layer != module[0] && !allowed.contains(&layer) {
                wrong.push(format!(
                    "{} imports {}",
                    module.join("::"),
                    import.join("::")
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn crates_do_not_depend_on_what_is_above_them() {
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(top().join("crates").join(name).join("Cargo.toml"));
        let manifest: toml::Table = manifest.unwrap().parse().unwrap();
        let dependencies = manifest["dependencies"].as_table().unwrap();
        for other in [
            "planwright",
            "planwright-formats",
            "github-simulator",
            "gradient-boosting",
            "text-classifier",
        ] {
            let depends = dependencies.contains_key(other);
            assert!(
                !depends || allowed.contains(&other),
                "{name} depends on {other}"
            );
        }
    }
    // The formats are pure.
    let manifest = fs::read_to_string(top().join("crates/planwright-formats/Cargo.toml")).unwrap();
    for runtime in ["tokio", "hyper", "reqwest", "octocrab", "sqlx"] {
        assert!(
            !manifest.contains(runtime),
            "planwright-formats depends on {runtime}"
        );
    }
}

#[test]
fn modules_of_a_layer_do_not_import_each_other_in_a_circle() {
    let layers = [
        ("src", "adapters"),
        ("src", "cli"),
        ("src", "config"),
        ("src", "engine"),
        ("crates/github-simulator/src", ""),
        ("crates/planwright-formats/src", ""),
        ("crates/gradient-boosting/src", ""),
        ("crates/text-classifier/src", ""),
    ];
    for (root, layer) in layers {
        let prefix: Vec<&str> = layer.split("::").filter(|part| !part.is_empty()).collect();
        let modules = modules(&top().join(root), &[]);
        let cycle = cycle(&edges(&modules, &prefix));
        assert!(
            cycle.is_none(),
            "{root} {layer}: {}",
            cycle.unwrap().join(" -> ")
        );
    }
}

/// A path in backquotes or the target of a relative link.
#[test]
fn files_that_the_documentation_names_exist() {
    let pages = fs::read_dir(top().join("docs")).unwrap();
    let pages = pages.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let more = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(|page| top().join(page));
    let mut sources = Vec::new();
    for folder in ["src", "crates", "tests", "benches"] {
        source_files(&top().join(folder), &mut sources);
    }
    let mut missing = Vec::new();
    for page in pages.chain(more) {
        let text = fs::read_to_string(&page).unwrap();
        let folders = [
            "src/",
            "crates/",
            "tests/",
            "benches/",
            "deploy/",
            "docs/",
            "fixtures/",
        ];
        let plain = |word: &&str| {
            word.chars()
                .all(|c| c.is_ascii_alphanumeric() || "/_-.".contains(c))
        };
        let words: Vec<&str> = text.split('`').skip(1).step_by(2).filter(plain).collect();
        let named = words.iter().copied();
        let named = named.filter(|path| folders.iter().any(|folder| path.starts_with(folder)));
        let named = named
            // Examples: a section of the settings, a command to add, a file of another repository.
            .filter(|path| {
                !["SECTION", "close_plan", "src/report"]
                    .iter()
                    .any(|name| path.contains(name))
            })
            .map(|path| top().join(path));
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split([')', '#']).next());
        let links = links
            .filter(|link| !link.is_empty() && !link.contains(':') && !link.starts_with('/'))
            .map(|link| page.parent().unwrap().join(link));
        for path in named.chain(links) {
            if !path.exists() {
                missing.push(format!("{}: {}", page.display(), path.display()));
            }
        }
        // Short names, such as `github/limit.rs` behind a whole path.
        let short = words
            .iter()
            .filter(|word| Path::new(word).extension().is_some_and(|kind| kind == "rs"));
        for word in short.filter(|word| !word.contains("close_plan") && **word != "SECTION.rs") {
            if !sources.iter().any(|source| source.ends_with(word)) {
                missing.push(format!("{}: {word}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn an_import_that_is_put_in_is_found() {
    let text = "use crate::cli::Failure;\nuse super::{store::{Store, self}, run as other};\n\
                fn f() { crate::adapters::github::call(); } // crate::config::x\n";
    let found = imports(text, &["engine".to_owned(), "worker".to_owned()]);
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        [
            "adapters::github::call",
            "cli::Failure",
            "engine::run",
            "engine::store",
            "engine::store::Store",
        ]
    );
    let path = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
    let modules = BTreeMap::from([
        (path("engine::a"), BTreeSet::from([path("engine::b::X")])),
        (path("engine::b"), BTreeSet::from([path("engine::c::d::Y")])),
        (path("engine::c"), BTreeSet::from([path("engine::a")])),
    ]);
    let found = cycle(&edges(&modules, &["engine"])).unwrap();
    assert_eq!(found.len(), 4, "{found:?}");
}

type Modules = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Adds every Rust file below `folder` to `found`.
fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("node_modules") && !path.ends_with("target") {
            source_files(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// Every module below `folder` that is not a test, with the paths within the crate that it imports.
fn modules(folder: &Path, above: &[String]) -> Modules {
    let mut found = Modules::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name == "tests" || above.is_empty() && ["lib", "main"].contains(&name.as_str()) {
            continue;
        }
        let module = [above, &[name]].concat();
        if path.is_dir() {
            found.append(&mut modules(&path, &module));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            found.insert(module.clone(), imports(text, &module));
        }
    }
    found
}

/// The paths in `text`, the source of `module`, that begin with `crate` or `super`, from the root
/// of the crate.
fn imports(text: &str, module: &[String]) -> BTreeSet<Vec<String>> {
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let mut found = BTreeSet::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            tree(&code[at..], &[], &mut found);
        }
    }
    let resolved = found.into_iter().filter_map(|path| {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let rest = &path[ups.max(usize::from(path[0] == "crate"))..];
        let base = if ups == 0 {
            &[][..]
        } else {
            &module[..module.len().checked_sub(ups)?]
        };
        let path: Vec<String> = base.iter().chain(rest).cloned().collect();
        (!path.is_empty()).then_some(path)
    });
    resolved.collect()
}

/// Adds the paths of the use tree that `text` begins with; returns what follows it.
fn tree<'t>(text: &'t str, above: &[String], found: &mut BTreeSet<Vec<String>>) -> &'t str {
    let mut path = above.to_vec();
    let mut rest = text.trim_start();
    loop {
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        if end > 0 && &rest[..end] != "self" {
            path.push(rest[..end].to_owned());
        }
        rest = rest[end..].trim_start();
        let Some(next) = rest.strip_prefix("::") else {
            found.insert(path);
            return rest;
        };
        rest = next.trim_start();
        if let Some(mut group) = rest.strip_prefix('{') {
            loop {
                group = tree(group, &path, found);
                // An alias is not part of a path.
                let end = group.find([',', '}']).unwrap_or(group.len());
                let (separator, after) = group[end..].split_at(1.min(group.len() - end));
                group = after.trim_start();
                if separator != "," {
                    return group;
                }
                if let Some(after) = group.strip_prefix('}') {
                    return after;
                }
            }
        }
    }
}

/// Which modules directly below `prefix` import which others.
fn edges(modules: &Modules, prefix: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let below = |path: &[String]| {
        let inside = path.len() > prefix.len() && path.iter().zip(prefix).all(|(a, b)| a == b);
        inside.then(|| path[prefix.len()].clone())
    };
    let names: BTreeSet<String> = modules.keys().filter_map(|module| below(module)).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, imports) in modules {
        let Some(from) = below(module) else { continue };
        let targets = imports.iter().filter_map(|import| below(import));
        let targets = targets.filter(|to| *to != from && names.contains(to));
        found.entry(from.clone()).or_default().extend(targets);
    }
    found
}

/// A circle of imports, its first module repeated at the end.
fn cycle(edges: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        module: &str,
        edges: &BTreeMap<String, BTreeSet<String>>,
        path: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(at) = path.iter().position(|one| one == module) {
            return Some([&path[at..], &[module.to_owned()]].concat());
        }
        if done.contains(module) {
            return None;
        }
        path.push(module.to_owned());
        let mut targets = edges.get(module).into_iter().flatten();
        let found = targets.find_map(|to| visit(to, edges, path, done));
        path.pop();
        done.insert(module.to_owned());
        found
    }
    let mut done = BTreeSet::new();
    edges
        .keys()
        .find_map(|module| visit(module, edges, &mut Vec::new(), &mut done))
}
