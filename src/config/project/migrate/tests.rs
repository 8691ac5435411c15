//! Tests of the migration, for each format of the old settings.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::config::project::AgentKind;

/// A settings file as written by the first version of Spektacular.
const PYTHON: &str = "\
agent:
  allowed_tools: [Bash, Read, Write, Edit, Glob, Grep, WebFetch, WebSearch]
  args: [--output-format, stream-json, --verbose]
  command: claude
  dangerously_skip_permissions: false
api:
  anthropic_api_key: ${ANTHROPIC_API_KEY}
  timeout: 60
complexity:
  thresholds: {complex: 0.8, medium: 0.5, simple: 0.2}
debug:
  enabled: false
  log_dir: .spektacular/logs
models:
  default: anthropic/claude-3-5-sonnet-20241022
  tiers:
    complex: anthropic/claude-3-opus-20240229
    medium: claude-sonnet
    simple: ${SMALL_MODEL}
output:
  format: markdown
  include_metadata: true
";

fn keys(migrated: &Migrated) -> Vec<&str> {
    let left = migrated.not_carried.iter();
    left.map(|left| left.key.as_str()).collect()
}

#[test]
fn what_has_a_place_is_taken_and_the_rest_is_named() {
    let migrated = migrate(PYTHON).unwrap();
    let config = &migrated.config;
    assert_eq!(config.agent.command.as_str(), "claude");
    assert_eq!(config.agent.kind, AgentKind::Claude);
    assert!(config.agent.args.is_empty());
    let tools: Vec<&str> = config.agent.tools.iter().map(Text::as_str).collect();
    assert_eq!(tools, ["Read", "Write", "Glob", "Grep"]);
    assert_eq!(config.models.default.as_str(), "claude-3-5-sonnet-20241022");
    assert_eq!(config.models.complex.as_str(), "claude-3-opus-20240229");
    assert_eq!(config.models.medium.as_str(), "claude-sonnet");
    assert_eq!(config.models.simple.written(), "${SMALL_MODEL}");
    assert_eq!(
        format!("{:?}", config.models.thresholds),
        "Thresholds { simple: 0.2, medium: 0.5 }"
    );
    assert_eq!(config.needs_trust(), ["models.simple"]);
    assert_eq!(
        migrated.notes(),
        [
            "`agent.allowed_tools` was not migrated: Bash, Edit, WebFetch, WebSearch: planning needs none of these; add them to agent.tools if they are intended, and use --trust",
            "`agent.args` was not migrated: planwright sets the agent program's arguments itself",
            "`agent.dangerously_skip_permissions` was not migrated: agents never bypass permissions here",
            "`api.anthropic_api_key` was not migrated: keys do not belong in a project's files; the agent's program uses its own login, or a variable listed in agent.environment",
            "`api.timeout` was not migrated: it never had any effect; see limits.deadline_seconds",
            "`complexity.thresholds.complex` was not migrated: it never had any effect: everything above the medium threshold is complex",
            "`debug.enabled` was not migrated: planwright writes no logs to the project",
            "`debug.log_dir` was not migrated: planwright writes no logs to the project",
            "`output.format` was not migrated: it never had any effect",
            "`output.include_metadata` was not migrated: it never had any effect",
            "`models.default` is \"claude-3-5-sonnet-20241022\" here, without `anthropic/`, as Claude Code names it; remove it for the program's own default",
            "`models.tiers.complex` is \"claude-3-opus-20240229\" here, without `anthropic/`, as Claude Code names it; remove it for the program's own default",
        ]
    );
}

#[test]
fn the_newest_form_has_little_that_is_needed_here() {
    let yaml = "name: p\nsource: x\ncommand: spektacular\nagent: claude\nspec_trigger_threshold: strict\ndebug: {enabled: true}\nspec: {provider: file}\nplan: {}\nchangelog: {}\nknowledge: {sources: []}\nrepos: [{name: a, local: .}, {name: b}]\ncolour: red\n";
    let migrated = migrate(yaml).unwrap();
    assert_eq!(migrated.config, ProjectConfig::default());
    assert_eq!(
        keys(&migrated),
        [
            "name",
            "source",
            "command",
            "spec_trigger_threshold",
            "debug.enabled",
            "spec.provider",
            "changelog",
            "repos",
            "colour"
        ]
    );
    for left in &migrated.not_carried {
        assert!(left.why.len() > 10, "{left:?}");
    }
    assert_eq!(migrated.not_carried[8].why, "this key is unknown");
}

#[test]
fn folders_of_its_own_are_taken_over_and_the_naming_of_specifications_is_named() {
    let yaml = "spec:\n  provider: file\n  id_method: counter\n  config: {directory: docs/specs}\nplan:\n  config: {directory: docs/plans/}\nknowledge:\n  sources:\n  - {scope: a, provider: file, config: {location: docs/knowledge}}\n  - {scope: b, config: {location: .spektacular/knowledge}}\n  - {scope: c}\n";
    let migrated = migrate(yaml).unwrap();
    let output = &migrated.config.output;
    assert_eq!(output.specs.as_str(), "docs/specs");
    assert_eq!(output.plans.as_str(), "docs/plans/");
    let knowledge: Vec<&str> = output.knowledge.iter().map(Text::as_str).collect();
    assert_eq!(
        knowledge,
        [
            ".planwright/knowledge",
            ".spektacular/knowledge",
            "docs/knowledge"
        ]
    );
    assert_eq!(
        migrated.notes(),
        [
            "`spec.provider` was not migrated: specifications, plans and knowledge are always files here",
            "`spec.id_method` was not migrated: it is chosen for each specification: `planwright new --id timestamp`, `counter` or `none`",
            "`knowledge.sources` was not migrated: one of them names no folder",
        ]
    );
    // The old folder needs no setting: it is searched anyway.
    let usual = migrate("spec: {config: {directory: .spektacular/specs}}\n").unwrap();
    assert_eq!(usual.config, ProjectConfig::default());
    assert_eq!(
        usual.notes(),
        [
            "`spec.config.directory` was not migrated: existing files in that folder are still found; new files go to the folder in [output]"
        ]
    );
    let outside = migrate("spec: {config: {directory: ../specs}}\n")
        .unwrap_err()
        .to_string();
    assert!(outside.contains("spec.config.directory"), "{outside}");
    let wrong = migrate("spec: {config: docs}\n").unwrap_err().to_string();
    assert!(
        wrong.contains("spec.config") && wrong.contains("a mapping"),
        "{wrong}"
    );
}

#[test]
fn an_empty_file_means_the_defaults() {
    for yaml in ["", "# nothing\n", "---\n", "{}"] {
        let migrated = migrate(yaml).unwrap();
        assert_eq!(migrated.config, ProjectConfig::default(), "{yaml:?}");
        assert_eq!(migrated.notes(), [""; 0]);
    }
}

#[test]
fn arguments_are_named_without_what_stands_behind_them() {
    let left = |args: &str| {
        let migrated = migrate(&format!("agent:\n  args: {args}\n")).unwrap();
        assert!(migrated.config.agent.args.is_empty());
        migrated
            .not_carried
            .into_iter()
            .map(|left| left.why)
            .collect::<Vec<_>>()
    };
    let behind = ": planwright sets the agent program's arguments itself; see models.default, agent.tools and limits for what you can choose";
    assert_eq!(
        left("[--model, opus, --settings=hush, --verbose, --dangerously-skip-permissions]"),
        [format!(
            "--model, --settings, --dangerously-skip-permissions{behind}"
        )]
    );
    assert_eq!(
        left("[--output-format, text]"),
        [format!("--output-format{behind}")]
    );
    assert_eq!(left("[]"), [""; 0]);
}

#[test]
fn other_programs_and_other_tools_are_said_to_need_more() {
    let migrated =
        migrate("agent:\n  command: bob\n  allowed_tools: [Bash]\n  disallowed_tools: []\n")
            .unwrap();
    assert_eq!(migrated.config, ProjectConfig::default());
    assert_eq!(
        migrated.notes(),
        [
            "`agent.command` was not migrated: bob is not supported directly; set agent.kind to \"command\" with a program that takes a prompt on standard input",
            "`agent.allowed_tools` was not migrated: none of them is needed for planning; the default tools are used",
            "`agent.disallowed_tools` was not migrated: only the tools in agent.tools are allowed, and AskUserQuestion never is",
        ]
    );
    let own = migrate("agent:\n  command: ./my-claude\n").unwrap();
    assert_eq!(own.config.needs_trust(), ["agent.command"]);
}

#[test]
fn errors_name_the_old_key_and_the_remedy() {
    for (yaml, error) in [
        (
            "- a\n- b\n",
            ": not a mapping of keys to values but a list; write e.g. `agent:` and below it `  command: claude`",
        ),
        ("agent: null\n", ": `agent` must be a mapping, not nothing"),
        ("agent: [a]\n", ": `agent` must be a mapping, not a list"),
        (
            "models:\n  tiers: x\n",
            ": `models.tiers` must be a mapping, not the text \"x\"",
        ),
        (
            "agent:\n  args: --verbose\n",
            ": `agent.args` must be a list of strings, not the text \"--verbose\"",
        ),
        (
            "agent:\n  allowed_tools: [1]\n",
            ": `agent.allowed_tools` must be a list of strings, not a list",
        ),
        (
            "agent:\n  command: 4\n",
            ": `agent.command` must be text, not the number 4",
        ),
        (
            "debug:\n  enabled: [x]\n",
            ": `debug.enabled` must be true or false, not a list",
        ),
        (
            "api:\n  timeout: {}\n",
            ": `api.timeout` must be a number, not a mapping",
        ),
        (
            "complexity:\n  thresholds:\n    simple: 1.5\n",
            ": `complexity.thresholds.simple` is 1.5; it must be 0 to 1",
        ),
        (
            "complexity:\n  thresholds:\n    medium: 0.1\n",
            ": `complexity.thresholds.simple` is 0.3; it must not be above `complexity.thresholds.medium`, which is 0.1",
        ),
        (
            "models:\n  tiers:\n    simple: --x\n",
            ": `models.tiers.simple` is \"--x\"; it must be at most 100 characters on one line and not begin with -, or it would be taken for an option",
        ),
        (
            "agent:\n  command: ''\n",
            ": `agent.command` is \"\"; it must be a program's path or name, e.g. claude",
        ),
        (
            "spec_trigger_threshold: harsh\n",
            ": spec_trigger_threshold must be one of \"strict\", \"moderate\", or \"lenient\", not \"harsh\"; use one of them, or remove it",
        ),
        (
            "repos: [{name: api}, {name: api}]\n",
            ": repos: name \"api\" is configured more than once; remove one of them",
        ),
    ] {
        assert_eq!(
            migrate(yaml).unwrap_err().to_string(),
            format!("{OLD_CONFIG}{error}"),
            "{yaml}"
        );
    }
    let broken = migrate("agent: [unclosed\n").unwrap_err().to_string();
    assert!(
        broken.starts_with(".spektacular/config.yaml: not valid YAML: "),
        "{broken}"
    );
    assert!(broken.ends_with("; correct it there"), "{broken}");
}
