//! Tests of `config::project`.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn env(name: &str) -> Option<String> {
    match name {
        "MODEL" => Some("sk-secret".to_owned()),
        "FOLDER" => Some("../sk-secret".to_owned()),
        "NAMES" => Some("A=sk-secret".to_owned()),
        "TOOL" => Some("-sk-secret".to_owned()),
        "NESTED" => Some("${MODEL}".to_owned()),
        _ => None,
    }
}

fn loaded(text: &str) -> Result<Loaded, ProjectError> {
    load(project(&[(CONFIG, text)]).path(), &env)
}

fn config(text: &str) -> ProjectConfig {
    loaded(text).unwrap().config
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    let (read, _) = read::read("project.default.toml", DEFAULT).unwrap();
    assert_eq!(read, ProjectConfig::default());
    assert_eq!(render(&read), DEFAULT);
    assert_eq!(read.needs_trust(), [""; 0]);
    rules::check(&read, &|key| (String::new(), key.to_owned())).unwrap();
    let keys: Vec<_> = read.values().into_iter().map(|(key, _)| key).collect();
    let mut commented = false;
    let mut documented = Vec::new();
    let mut section = "";
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            commented = false;
        } else if line.starts_with('#') {
            commented = true;
        } else if let Some((key, _)) = line.split_once(" = ") {
            assert!(commented, "{key} has no comment");
            documented.push(format!("{section}.{key}"));
        }
    }
    assert_eq!(documented, keys);
}

#[test]
fn settings_that_are_written_read_back() {
    let text = "[agent]\ncommand = 'C:\\x \"y\"'\nkind = 'command'\nargs = ['a', '''b'c''']\nenvironment = ['HTTPS_PROXY']\noutput = 'stream-json'\n[models]\nsimple = '${MODEL}'\n[models.thresholds]\nsimple = 0\nmedium = 1\n[limits]\nmax_cost_usd = 0\nconcurrency = 5\n[output]\nplans = 'docs/plans'\nknowledge = []\n";
    let first = config(text);
    let again = render(&first);
    assert_eq!(config(&again), first);
    assert!(again.contains("\nsimple = \"${MODEL}\"\n"), "{again}");
    assert!(again.contains("\nmax_cost_usd = 0.0\n"), "{again}");
    assert_eq!(first.limits.max_cost, None);
    assert_eq!(first.output.plans.as_str(), "docs/plans");
    assert_eq!(
        config("[limits]\nmax_cost_usd = 0.25\n").limits.max_cost,
        Some(250_000)
    );
}

#[test]
fn tiers_begin_at_the_thresholds_and_fall_back_to_the_default_model() {
    let models = config("[models]\ndefault = 'd'\nsimple = 's'\n").models;
    for (score, tier, model) in [
        (0.0, Tier::Simple, "s"),
        (0.29, Tier::Simple, "s"),
        (0.3, Tier::Medium, "d"),
        (0.6, Tier::Complex, "d"),
        (1.0, Tier::Complex, "d"),
    ] {
        assert_eq!(models.tier(score), tier, "{score}");
        assert_eq!(models.model(tier), Some(model), "{score}");
    }
    let none = Models::default();
    for (tier, name) in [
        (Tier::Simple, "simple"),
        (Tier::Medium, "medium"),
        (Tier::Complex, "complex"),
    ] {
        assert_eq!((none.model(tier), tier.name()), (None, name));
    }
}

#[test]
fn whatever_asks_for_more_than_the_defaults_needs_trust() {
    for (text, key) in [
        ("[agent]\ncommand = './claude'\n", "agent.command"),
        ("[agent]\ncommand = 'claude '\n", "agent.command"),
        ("[agent]\ntools = ['Read', 'Bash']\n", "agent.tools"),
        ("[agent]\ntools = ['Read,Bash']\n", "agent.tools"),
        ("[agent]\ntools = ['read']\n", "agent.tools"),
        (
            "[agent]\nenvironment = ['AWS_SECRET_ACCESS_KEY']\n",
            "agent.environment",
        ),
        ("[models]\ncomplex = 'x-${MODEL}'\n", "models.complex"),
        ("[output]\nspecs = 'a/${MODEL}'\n", "output.specs"),
        ("[limits]\nmax_cost_usd = 5.01\n", "limits.max_cost_usd"),
        ("[limits]\nmax_cost_usd = 0\n", "limits.max_cost_usd"),
    ] {
        assert_eq!(config(text).needs_trust(), [key], "{text}");
    }
    assert_eq!(
        config("[agent]\nkind = 'command'\nargs = ['-c', 'x']\n").needs_trust(),
        ["agent.kind", "agent.args"]
    );
    for text in [
        "[agent]\ntools = ['Read', 'TodoWrite']\n",
        "[models]\ndefault = '$HOME'\nsimple = '${}'\n",
        "[limits]\nmax_cost_usd = 1\nmax_turns = 1000\n",
        "[output]\nplans = './docs/plans'\n",
    ] {
        assert_eq!(config(text).needs_trust(), [""; 0], "{text}");
    }
}

#[test]
fn variables_are_put_in_and_never_shown() {
    let config = config("[models]\ndefault = 'a-${MODEL}-${MODEL}'\nsimple = '${}${NESTED}${'\n");
    assert_eq!(config.models.default.as_str(), "a-sk-secret-sk-secret");
    assert_eq!(config.models.simple.as_str(), "${}${MODEL}${");
    assert!(!format!("{config:?}").contains("sk-secret"));
    assert!(format!("{config:?}").contains("a-${MODEL}-${MODEL}"));
    assert!(!render(&config).contains("sk-secret"));
    for (text, error) in [
        (
            "[output]\nplans = '${FOLDER}'\n",
            ".planwright/config.toml:2: `output.plans` is \"${FOLDER}\"; it must be below the project's folder: relative, with / between names, without .. and not in .git",
        ),
        (
            "[agent]\nenvironment = ['${NAMES}']\n",
            ".planwright/config.toml:2: `agent.environment` is [\"${NAMES}\"]; it must be a list of names of environment variables, e.g. [\"HTTPS_PROXY\"]",
        ),
        (
            "[agent]\nenvironment = ['A=literal']\n",
            ".planwright/config.toml:2: `agent.environment` is [\"A=***\"]; it must be a list of names of environment variables, e.g. [\"HTTPS_PROXY\"]",
        ),
        (
            "[agent]\ntools = ['${TOOL}']\n",
            ".planwright/config.toml:2: `agent.tools` is [\"${TOOL}\"]; it must name at least one tool, e.g. [\"Read\", \"Write\"]",
        ),
        (
            "[models]\n\nsimple = 'x ${NOT_SET}'\n",
            ".planwright/config.toml:3: `models.simple` needs the environment variable NOT_SET, which is not set; set it, or write the value instead of ${NOT_SET}",
        ),
    ] {
        assert_eq!(loaded(text).unwrap_err().to_string(), error);
    }
}

#[test]
fn errors_name_the_line_the_key_and_the_remedy() {
    for (text, error) in [
        (
            "[agent]\n\ncomand = 'x'\n",
            "3: unknown key `agent.comand` (did you mean `agent.command`?); correct or remove it; `planwright init --print` prints every key",
        ),
        (
            "[zzz]\nq = 1\n",
            "1: unknown key `zzz`; correct or remove it; `planwright init --print` prints every key",
        ),
        (
            "[models.thresholds]\nlow = 1\n",
            "2: unknown key `models.thresholds.low`; correct or remove it; `planwright init --print` prints every key",
        ),
        (
            "agent = 'claude'\n",
            "1: `agent` must be a section with keys, not a string \"claude\"",
        ),
        (
            "[agent]\ncommand = 4\n",
            "2: `agent.command` must be text in quotes, not an integer 4",
        ),
        (
            "[agent]\nargs = [1]\n",
            "2: `agent.args` must be a list of quoted strings, not an array [1]",
        ),
        (
            "[agent.command]\nx = 1\n",
            "1: `agent.command` must be text in quotes, not a table { x = 1 }",
        ),
        (
            "[limits]\ntries = 'x'\n",
            "2: `limits.tries` must be a whole number, not a string \"x\"",
        ),
        (
            "[limits]\ntries = -1\n",
            "2: `limits.tries` is -1; it must be 1 to 10 tries",
        ),
        (
            "[limits]\ndeadline_seconds = 0\n",
            "2: `limits.deadline_seconds` is 0; it must be 1 to 86400 seconds",
        ),
        (
            "[limits]\nmax_cost_usd = 10001\n",
            "2: `limits.max_cost_usd` is 10001; it must be 0 to 10000 US dollars",
        ),
        (
            "[models.thresholds]\nsimple = 1.5\n",
            "2: `models.thresholds.simple` is 1.5; it must be 0 to 1",
        ),
        (
            "[models.thresholds]\nmedium = nan\n",
            "2: `models.thresholds.medium` is nan; it must be 0 to 1",
        ),
        (
            "[models.thresholds]\nsimple = 0.7\n",
            "2: `models.thresholds.simple` is 0.7; it must not be above `models.thresholds.medium`, which is 0.6",
        ),
        (
            "[agent]\nkind = 'codex'\n",
            "2: `agent.kind` is unusable; unknown variant `codex`, expected `claude` or `command`",
        ),
        (
            "[agent]\nargs = ['-x']\n",
            "2: `agent.args` is [\"-x\"]; it must be empty unless `agent.kind` is \"command\"",
        ),
        (
            "[agent]\nargs = [\"a\\u0000\"]\n",
            "2: `agent.args` is [\"a\\u0000\"]; it must be a list of strings without NUL",
        ),
        (
            "[agent]\ncommand = ''\n",
            "2: `agent.command` is \"\"; it must be a program's path or name, e.g. claude",
        ),
        (
            "[agent]\ntools = []\n",
            "2: `agent.tools` is []; it must name at least one tool, e.g. [\"Read\", \"Write\"]",
        ),
        (
            "[agent]\nenvironment = ['GITHUB_TOKEN']\n",
            "2: `agent.environment` is [\"GITHUB_TOKEN\"]; GITHUB_TOKEN can hold a secret of Planwright and cannot be passed to agents; remove it",
        ),
        (
            "[models]\ndefault = '--x'\n",
            "2: `models.default` is \"--x\"; it must be at most 100 characters on one line and not begin with -, or it would be taken for an option",
        ),
    ] {
        assert_eq!(
            loaded(text).unwrap_err().to_string(),
            format!(".planwright/config.toml:{error}"),
            "{text}"
        );
    }
    let syntax = loaded("[agent]\ncommand = \n").unwrap_err().to_string();
    assert!(
        syntax.starts_with(".planwright/config.toml:2: not valid TOML: "),
        "{syntax}"
    );
    for path in [
        "/etc",
        "..",
        "a/../b",
        "",
        ".",
        "a\\b",
        ".git/hooks",
        "x/.GIT",
    ] {
        let error = loaded(&format!("[output]\nknowledge = ['ok', '{path}']\n")).unwrap_err();
        assert!(
            error.to_string().ends_with("; it must be below the project's folder: relative, with / between names, without .. and not in .git"),
            "{path}: {error}"
        );
    }
}

#[test]
fn our_own_file_comes_before_the_old_one_and_nothing_means_the_defaults() {
    let old = (OLD_CONFIG, "models:\n  default: anthropic/opus\n");
    let none = load(project(&[]).path(), &env).unwrap();
    assert_eq!(
        (none.config, none.source, none.notes),
        (ProjectConfig::default(), Source::Default, vec![])
    );
    let both = load(project(&[old, (CONFIG, "")]).path(), &env).unwrap();
    assert_eq!(
        (both.config, both.source),
        (ProjectConfig::default(), Source::Planwright)
    );
    let migrated = load(project(&[old]).path(), &env).unwrap();
    assert_eq!(migrated.source, Source::Spektacular);
    assert_eq!(migrated.config.models.default.as_str(), "opus");
    assert_eq!(
        migrated.notes,
        [
            "using the settings of .spektacular/config.yaml; `planwright init` migrates them to .planwright/config.toml",
            "`models.default` is \"opus\" here, without `anthropic/`, as Claude Code names it; remove it for the program's own default",
        ]
    );
    let unset = load(
        project(&[(OLD_CONFIG, "models:\n  tiers:\n    simple: ${NO}\n")]).path(),
        &env,
    );
    assert_eq!(
        unset.unwrap_err().to_string(),
        ".spektacular/config.yaml: `models.tiers.simple` needs the environment variable NO, which is not set; set it, or write the value instead of ${NO}"
    );
}

#[test]
fn files_that_cannot_be_settings_are_errors() {
    let said = |root: &Path| load(root, &env).unwrap_err().to_string();
    let long = project(&[(CONFIG, &"#".repeat(64 * 1024 + 1))]);
    assert_eq!(
        said(long.path()),
        ".planwright/config.toml is longer than 64 KB; remove what is not a setting, or start over with `planwright init --force`"
    );
    let binary = project(&[]);
    fs::create_dir(binary.path().join(".planwright")).unwrap();
    fs::write(binary.path().join(CONFIG), b"a = '\xff'").unwrap();
    assert_eq!(
        said(binary.path()),
        ".planwright/config.toml cannot be read: byte 6 is not UTF-8; save it as UTF-8"
    );
    let folder = project(&[(".planwright/config.toml/x", "")]);
    assert_eq!(
        said(folder.path()),
        ".planwright/config.toml cannot be read: it is not a file; it must be a file that you can read"
    );
    let gone = said(&folder.path().join("none"));
    assert!(gone.ends_with("; give the project's folder"), "{gone}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_project_is_not_followed() {
    let outside = project(&[("config.toml", "[agent]\ncommand = 'x'\n")]);
    let root = project(&[]);
    std::os::unix::fs::symlink(outside.path(), root.path().join(".planwright")).unwrap();
    assert_eq!(
        load(root.path(), &env).unwrap_err().to_string(),
        ".planwright/config.toml cannot be read: a symbolic link in its path leads out of the project's folder; put the file itself there"
    );
}
