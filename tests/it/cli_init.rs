//! Tests of the commands `planwright init` and `planwright new` in folders of all kinds.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use planwright::config::project::{CONFIG, DEFAULT, Source, load};
use planwright::formats::specification::{parse, template};
use tempfile::TempDir;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command.env_clear().current_dir(folder);
    command.args(arguments).output().unwrap()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// Fails with `code` and prints nothing but `error`.
fn refused(folder: &Path, arguments: &[&str], code: i32, error: &str) {
    let output = run(folder, arguments);
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(said, format!("error: {error}\n"), "{arguments:?}");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    assert_eq!(out(&output), "", "{arguments:?}");
}

fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn text(folder: &TempDir, path: &str) -> String {
    fs::read_to_string(folder.path().join(path)).unwrap()
}

#[test]
fn a_project_is_prepared_once_and_what_is_missing_is_added() {
    let folder = project(&[]);
    let first = run(folder.path(), &["init"]);
    assert_eq!(first.status.code(), Some(0));
    assert_eq!(
        out(&first),
        "created    .planwright/specs/\n\
         created    .planwright/plans/\n\
         created    .planwright/knowledge/architecture/\n\
         created    .planwright/knowledge/conventions/\n\
         created    .planwright/knowledge/decisions/\n\
         created    .planwright/knowledge/gotchas/\n\
         created    .planwright/knowledge/learnings/\n\
         created    .planwright/README.md\n\
         created    .planwright/specs/README.md\n\
         created    .planwright/plans/README.md\n\
         created    .planwright/config.toml\n\
         next: planwright new NAME\n"
    );
    assert_eq!(text(&folder, CONFIG), DEFAULT);
    let again = run(folder.path(), &["init", "."]);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(
        out(&again),
        out(&first)
            .replace("created   ", "exists    ")
            .replace("next:", "nothing to do: everything exists\nnext:")
    );
    fs::write(folder.path().join(".planwright/README.md"), "ours").unwrap();
    fs::remove_dir(folder.path().join(".planwright/knowledge/gotchas")).unwrap();
    let mended = run(folder.path(), &["init"]);
    let made: Vec<&str> = out(&mended)
        .lines()
        .filter(|line| line.starts_with("created"))
        .collect();
    assert_eq!(made, ["created    .planwright/knowledge/gotchas/"]);
    assert_eq!(text(&folder, ".planwright/README.md"), "ours");
}

/// Everything below `knowledge` is read by agents.
#[test]
fn folders_of_knowledge_begin_empty() {
    let folder = project(&[]);
    run(folder.path(), &["init"]);
    for entry in fs::read_dir(folder.path().join(".planwright/knowledge")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(
            fs::read_dir(&path).unwrap().count(),
            0,
            "{}",
            path.display()
        );
    }
}

#[test]
fn force_writes_the_settings_anew_and_loses_none() {
    let folder = project(&[(CONFIG, "first")]);
    let kept = "config.toml";
    run(folder.path(), &["init"]);
    assert_eq!(text(&folder, CONFIG), "first");
    let forced = run(folder.path(), &["init", "--force"]);
    assert!(
        out(&forced).ends_with(
            "created    .planwright/config.toml\n\
             kept       .planwright/config.toml.bak, the previous settings\n\
             next: planwright new NAME\n"
        ),
        "{}",
        out(&forced)
    );
    assert_eq!(text(&folder, CONFIG), DEFAULT);
    fs::write(folder.path().join(CONFIG), "second").unwrap();
    run(folder.path(), &["init", "--force"]);
    assert_eq!(text(&folder, &format!(".planwright/{kept}.bak")), "first");
    assert_eq!(
        text(&folder, &format!(".planwright/{kept}.bak.2")),
        "second"
    );
}

#[test]
fn settings_of_old_are_taken_over_and_the_rest_is_named() {
    let old = "models:\n  default: anthropic/opus\n  tiers:\n    simple: ${SMALL}\ndebug:\n  enabled: true\n";
    let folder = project(&[(".spektacular/config.yaml", old)]);
    let made = run(folder.path(), &["init"]);
    assert!(
        out(&made).ends_with(
            "created    .planwright/config.toml, from .spektacular/config.yaml\n\
             note: `debug.enabled` was not migrated: planwright writes no logs to the project\n\
             note: `models.default` is \"opus\" here, without `anthropic/`, as Claude Code names \
             it; remove it for the program's own default\n\
             next: planwright new NAME\n"
        ),
        "{}",
        out(&made)
    );
    assert!(text(&folder, CONFIG).contains("\nsimple = \"${SMALL}\"\n"));
    let loaded = load(folder.path(), &|_| Some("haiku".to_owned())).unwrap();
    assert_eq!(loaded.source, Source::Planwright);
    assert_eq!(loaded.config.models.simple.as_str(), "haiku");
    assert_eq!(loaded.config.models.default.as_str(), "opus");
    assert_eq!(text(&folder, ".spektacular/config.yaml"), old);
}

#[test]
fn nothing_is_written_where_the_old_settings_are_wrong() {
    let folder = project(&[(".spektacular/config.yaml", "agent: null\n")]);
    refused(
        folder.path(),
        &["init"],
        2,
        ".spektacular/config.yaml: `agent` must be a mapping, not nothing",
    );
    assert!(!folder.path().join(".planwright").exists());
}

#[test]
fn wrong_places_are_refused() {
    let folder = project(&[
        (".planwright/specs", "a file"),
        ("docs/.planwright", "a file"),
    ]);
    refused(
        folder.path(),
        &["init"],
        1,
        ".planwright/specs is not a folder; move it away",
    );
    refused(
        folder.path(),
        &["init", "docs"],
        1,
        ".planwright is not a folder; move it away",
    );
    let gone = run(folder.path(), &["init", "none"]);
    let said = String::from_utf8(gone.stderr).unwrap();
    assert!(
        said.starts_with("error: the folder none cannot be opened: "),
        "{said}"
    );
    assert!(
        said.ends_with("; create it first, or choose another\n"),
        "{said}"
    );
    assert_eq!(gone.status.code(), Some(2));
}

#[test]
fn the_documented_settings_can_be_printed_anywhere() {
    let folder = project(&[]);
    assert_eq!(out(&run(folder.path(), &["init", "--print"])), DEFAULT);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_specification_is_made_from_the_template() {
    let folder = project(&[]);
    let made = run(folder.path(), &["new", "Csv.Export.md"]);
    assert_eq!(
        out(&made),
        ".planwright/specs/csv-export.md\nnext: fill it in, then planwright plan .planwright/specs/csv-export.md\n"
    );
    assert_eq!(made.status.code(), Some(0));
    let written = text(&folder, ".planwright/specs/csv-export.md");
    assert_eq!(written, template("Csv Export"));
    assert!(parse("Csv Export", &written).is_empty());
    run(folder.path(), &["new", "x", "--title", " Reports as CSV "]);
    assert!(text(&folder, ".planwright/specs/x.md").starts_with("# Feature: Reports as CSV\n"));
}

#[test]
fn ids_stand_before_names() {
    let folder = project(&[]);
    for (name, path) in [("a", "000001_a"), ("a", "000002_a"), ("b", "000003_b")] {
        let made = run(folder.path(), &["new", name, "--id", "counter"]);
        assert!(out(&made).starts_with(&format!(".planwright/specs/{path}.md\n")));
    }
    let one = run(folder.path(), &["new", "a", "--id", "timestamp"]);
    let two = run(folder.path(), &["new", "a", "--id", "timestamp"]);
    assert_eq!((one.status.code(), two.status.code()), (Some(0), Some(0)));
    let path = |output: &Output| out(output).lines().next().unwrap().to_owned();
    assert_ne!(path(&one), path(&two));
    let stem = path(&one).replace(".planwright/specs/20", "");
    assert_eq!(stem.len(), "260509010203-a.md".len(), "{stem}");
    let full = project(&[(".planwright/specs/999999_a.md", "")]);
    refused(
        full.path(),
        &["new", "x", "--id", "counter"],
        2,
        "the number 999999 is taken and there is none after it; use --id timestamp or none",
    );
}

#[test]
fn a_specification_that_is_there_is_not_written_over() {
    let folder = project(&[(".planwright/specs/a.md", "mine")]);
    refused(
        folder.path(),
        &["new", "A"],
        2,
        ".planwright/specs/a.md already exists; edit it, choose another name, or add a number with --id counter",
    );
    assert_eq!(text(&folder, ".planwright/specs/a.md"), "mine");
}

#[test]
fn names_and_titles_that_cannot_be_are_refused() {
    let folder = project(&[]);
    for (arguments, error) in [
        (
            &["new", "../../etc/x"][..],
            "name must not contain path separators; give the name alone, the folder is known",
        ),
        (
            &["new", "é"],
            "name contains unsupported character 'é'; use a to z and digits, e.g. e",
        ),
        (
            &["new", "a", "--title", " "],
            "--title must be 1 to 250 characters on one line; omit it to derive the title from the name",
        ),
        (
            &["new", "a", "--title", "a\nb"],
            "--title must be 1 to 250 characters on one line; omit it to derive the title from the name",
        ),
    ] {
        refused(folder.path(), arguments, 2, error);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_folder_of_specifications_is_the_projects_choice() {
    let folder = project(&[(CONFIG, "[output]\nspecs = 'docs/specs'\n")]);
    let made = run(folder.path(), &["new", "a"]);
    assert!(out(&made).starts_with("docs/specs/a.md\n"));
    let wrong = project(&[(CONFIG, "[output]\nspecs = '../specs'\n")]);
    refused(
        wrong.path(),
        &["new", "a"],
        2,
        ".planwright/config.toml:2: `output.specs` is \"../specs\"; it must be below the project's folder: relative, with / between names, without .. and not in .git",
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_not_written_through() {
    use std::os::unix::fs::symlink;
    let outside = project(&[]);
    let leaves = |path: &str| {
        format!(
            "{path} was not written: a symbolic link in its path leads out of the project's folder; replace it with a folder"
        )
    };
    let whole = project(&[]);
    symlink(outside.path(), whole.path().join(".planwright")).unwrap();
    refused(whole.path(), &["init"], 1, &leaves(".planwright"));
    let specs = project(&[(CONFIG, "")]);
    symlink(outside.path(), specs.path().join(".planwright/specs")).unwrap();
    refused(specs.path(), &["init"], 1, &leaves(".planwright/specs"));
    refused(specs.path(), &["new", "a"], 1, &leaves(".planwright/specs"));
    let file = project(&[(CONFIG, ""), (".planwright/specs/b.md", "")]);
    symlink(
        outside.path().join("x.md"),
        file.path().join(".planwright/specs/a.md"),
    )
    .unwrap();
    assert_eq!(run(file.path(), &["new", "a"]).status.code(), Some(2));
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    // One that stays inside is somebody's own order.
    let inside = project(&[(CONFIG, ""), ("docs/x", "")]);
    symlink("../docs", inside.path().join(".planwright/specs")).unwrap();
    assert_eq!(run(inside.path(), &["new", "a"]).status.code(), Some(0));
    assert!(inside.path().join("docs/a.md").exists());
}

#[test]
fn helps_fit_a_terminal_and_server_settings_are_refused() {
    let folder = project(&[]);
    for command in ["init", "new"] {
        let help = run(folder.path(), &[command, "--help"]);
        assert!(out(&help).contains("Exit codes:\n") && out(&help).contains("Examples:\n"));
        assert!(
            out(&help).lines().all(|line| line.chars().count() <= 100),
            "{}",
            out(&help)
        );
    }
    for arguments in [&["init", "--set", "a=1"][..], &["new", "a", "--set", "a=1"]] {
        refused(
            folder.path(),
            arguments,
            2,
            "this command reads no configuration; omit --set",
        );
    }
}

#[test]
fn a_variable_does_not_become_the_name_of_a_folder() {
    let folder = project(&[(CONFIG, "[output]\nspecs = \"docs/${SECRET}\"\n")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
    command
        .env_clear()
        .env("SECRET", "sk-1")
        .current_dir(folder.path());
    let output = command.args(["new", "hello"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: output.specs in .planwright/config.toml uses an environment variable; write the path of the folder instead\n"
    );
    assert!(!folder.path().join("docs").exists());
}

#[test]
fn earlier_settings_are_carried_over_or_listed() {
    let own = planwright::config::project::migrate("agent:\n  command: my-claude\n").unwrap();
    assert_eq!(own.config.agent.command.as_str(), "my-claude");
    for (yaml, key) in [
        ("debug:\n  enabled: true\n", "debug.enabled"),
        ("agent:\n  disallowed_tools: []\n", "agent.disallowed_tools"),
    ] {
        assert_eq!(
            planwright::config::project::migrate(yaml)
                .unwrap()
                .not_carried[0]
                .key,
            key
        );
    }
}
