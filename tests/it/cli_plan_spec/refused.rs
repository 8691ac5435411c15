//! Invocations that are refused before anything starts.

use std::fs;

use super::{GOOD, Shop, exit_and_output};

#[test]
fn wrong_inputs_are_said_with_their_place_and_nothing_begins() {
    let shop = Shop::new(GOOD);
    let template = planwright::formats::specification::template("Export");
    shop.write(".planwright/specs/empty.md", &template);
    shop.write("none.md", "\n");
    shop.write("bad.json", "{\"Place\": true}");
    for (arguments, want) in [
        (
            &["plan", "nope", "--trust"][..],
            "specification not found: tried nope, .planwright/specs/nope, \
             .planwright/specs/nope.md, .spektacular/specs/nope, .spektacular/specs/nope.md; give \
             the path of a file, or create one with `planwright new NAME`",
        ),
        (
            &["plan", ".", "--trust"],
            ". is a folder; give the path of a specification, or its name in .planwright/specs",
        ),
        (
            &["plan", "none.md", "--trust"],
            "none.md is empty; describe in it what you want, in plain words; `planwright new NAME` \
             creates one with headings",
        ),
        (
            &["plan", "index"],
            ".planwright/config.toml contains settings that could start programs, pass on your \
             environment variables or raise costs: agent.command, agent.kind; check these keys, \
             then add --trust",
        ),
        (
            &["plan", "index", "--trust", "--answers", "bad.json"],
            "bad.json: the answer to \"Place\" is true, which is neither text nor a number; write \
             e.g. {\"Place\": \"1\", \"Which formats?\": [1, 3]}, see `planwright plan --help`",
        ),
        (
            &["plan", "index", "--trust", "--research", ";"],
            "There is no topic to research; give at most 8 topics, one sentence each, separated by `;`",
        ),
        (
            &["plan", "index", "--trust", "--config", "x.toml"],
            "this command reads no configuration; omit --config",
        ),
        (
            &["plan", "index", "--trust", "--root", "away"],
            "the folder away cannot be opened: No such file or directory (os error 2); create it first, or choose another",
        ),
        (
            &["research", "x"],
            ".planwright/config.toml contains settings that could start programs, pass on your \
             environment variables or raise costs: agent.command, agent.kind; check these keys, \
             then add --trust",
        ),
    ] {
        let (code, out, err) = exit_and_output(&shop.run(arguments));
        assert_eq!(err, format!("error: {want}\n"), "{arguments:?}");
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
    }
    let (code, _, err) = exit_and_output(&shop.run(&["plan", "empty", "--trust"]));
    assert_eq!(code, 2);
    assert!(
        err.starts_with(
            "error: .planwright/specs/empty.md is empty (template text counts as empty); fill in: "
        ) && err.contains("Requirements"),
        "{err}"
    );
    let (code, out, _) = exit_and_output(&shop.run(&["plan", "nope", "--trust", "--json"]));
    assert_eq!(code, 2);
    assert!(
        out.contains("\"success\": false") && out.contains("specification not found"),
        "{out}"
    );
    assert!(!shop.holds(".planwright/runs") && !shop.holds(".planwright/plans"));
    assert_eq!(fs::read_dir(shop.state.path()).unwrap().count(), 0);
}

#[test]
fn without_a_program_or_a_key_nothing_begins() {
    let shop = Shop::new(GOOD);
    shop.write(".planwright/config.toml", "");
    let run = |path: &str| {
        exit_and_output(
            &shop
                .command(&["plan", "index"])
                .env("PATH", path)
                .output()
                .unwrap(),
        )
    };
    let (code, _, err) = run("/nowhere");
    assert_eq!(
        (code, err.as_str()),
        (
            2,
            "error: there is no `claude` in PATH; install it, or set agent.command to its path\n"
        )
    );
    fs::rename(
        shop.root.path().join("agent.sh"),
        shop.root.path().join("claude"),
    )
    .unwrap();
    let (code, _, err) = run(shop.root.path().to_str().unwrap());
    assert_eq!(
        (code, err.as_str()),
        (
            2,
            "error: the agent has no credentials for its model: set PLANWRIGHT_AGENT_API_KEY, \
             ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN; it runs with its own HOME, so your \
             login is not used\n"
        )
    );
    shop.write(".planwright/config.toml", "[agent]\ncommand = \"./gone\"\n");
    let (code, _, err) = exit_and_output(&shop.run(&["plan", "index", "--trust"]));
    assert_eq!(code, 2);
    assert!(
        err.ends_with(
            "/gone does not exist or cannot be executed; install it, or set agent.command to its path\n"
        ),
        "{err}"
    );
}

#[test]
fn the_agents_folder_never_lies_in_what_they_may_read() {
    let shop = Shop::new(GOOD);
    let state = shop.root.path().join("state");
    let mut command = shop.command(&["plan", "index", "--trust"]);
    let (code, _, err) = exit_and_output(&command.env("XDG_STATE_HOME", &state).output().unwrap());
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains("would be inside the project")
            && err.ends_with(
                "which agents can read; choose a narrower --root, or another XDG_STATE_HOME\n"
            ),
        "{err}"
    );
}

#[test]
fn links_of_a_hostile_project_lead_nowhere() {
    let shop = Shop::new(GOOD);
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(&secret, "# The secret\n\nIt is 42.\n").unwrap();
    let link = |from: &std::path::Path, to: &str| {
        std::os::unix::fs::symlink(from, shop.root.path().join(to)).unwrap();
    };
    link(&secret, ".planwright/specs/secret.md");
    for name in ["secret", ".planwright/specs/secret.md"] {
        let (code, _, err) = exit_and_output(&shop.run(&["plan", name, "--trust"]));
        assert_eq!(
            (code, err.as_str()),
            (
                2,
                "error: .planwright/specs/secret.md cannot be read: a symbolic link in its path \
                 leads out of the project's folder; check that it is a text file that you can \
                 read\n"
            )
        );
    }
    link(outside.path(), ".planwright/plans");
    let (code, _, err) = shop.plan(&[]);
    assert_eq!(code, 1);
    assert!(
        err.contains(".planwright/plans was not written") || err.contains("leads out"),
        "{err}"
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    fs::remove_file(shop.root.path().join(".planwright/plans")).unwrap();
    link(outside.path(), ".planwright/runs");
    assert_eq!(shop.plan(&[]).0, 1);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn a_run_that_comes_with_the_project_is_not_gone_on_with() {
    let shop = Shop::new("say asks");
    assert_eq!(shop.plan(&[]).0, 3);
    let state = shop.remembered();
    // Somebody else's computer.
    let other = Shop::new(GOOD);
    let mut planted = state.clone();
    planted["work"]["session"] = "--dangerously-skip-permissions".into();
    let run = &shop.runs()[0];
    other.write(
        &format!(".planwright/runs/{run}/state.json"),
        &planted.to_string(),
    );
    let (code, _, err) = other.plan(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(!err.contains("resuming"), "{err}");
}

#[test]
fn help_names_agents_questions_exit_codes_and_examples() {
    let shop = Shop::new(GOOD);
    for (command, parts) in [
        (
            "plan",
            &[
                "get",
                "list",
                "--answers",
                "Questions:",
                ".env files and keys",
                "JSON fields:",
                "  130  interrupted",
            ][..],
        ),
        (
            "research",
            &[
                "NNN-topic.md",
                ".env files and keys",
                "JSON fields:",
                "  130  interrupted",
            ],
        ),
    ] {
        let help = |columns: &str| {
            let mut command = shop.command(&[command, "--help"]);
            exit_and_output(&command.env("COLUMNS", columns).output().unwrap())
        };
        let (code, out, _) = help("100");
        assert_eq!(code, 0);
        for part in parts.iter().chain(&["Exit codes:\n", "Examples:\n"]) {
            assert!(out.contains(part), "{command}: {part}: {out}");
        }
        let below = |text: &str| text.split_once("Print help").unwrap().1.to_owned();
        assert_eq!(below(&out), below(&help("1000").1), "{command}");
    }
    let (code, _, err) = exit_and_output(&shop.run(&["plan"]));
    assert_eq!(code, 2);
    assert!(err.contains("Usage:"), "{err}");
}
