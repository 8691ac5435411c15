//! A project for tests of `planwright plan SPEC` whose agent is a script.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A plan that holds.
pub(crate) const PLAN: &str = include_str!("../../../fixtures/plans/planner.md");

/// A specification that says something.
pub(crate) const SPECIFICATION: &str =
    "# Feature: Keep the index\n\n## Requirements\n\n- [ ] Start in a second\n";

/// Two questions.
pub(crate) const ASKS: &str = r#"I must know.
<!--QUESTION:{"questions":[{"question":"Where does the file live?","header":"Place","type":"choice","options":[{"label":"Cache","description":"may be lost"},{"label":"Disk"}]},{"question":"Who may read it?","header":"Readers","type":"text"}]}-->"#;

/// A project with a script as its agent, and a home of its own.
pub(crate) struct Shop {
    /// The project.
    pub(crate) root: TempDir,
    /// `XDG_STATE_HOME`.
    pub(crate) state: TempDir,
}

/// What the client prints for a text.
pub(crate) fn events(text: &str) -> String {
    let lines = [
        json!({"type": "system", "subtype": "init", "session_id": "s"}),
        json!({"type": "assistant", "session_id": "s", "message": {
            "id": "m", "role": "assistant", "content": [{"type": "text", "text": text}],
        }}),
        json!({"type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "s",
            "num_turns": 1, "total_cost_usd": 0.01}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

impl Shop {
    /// With an agent that runs these shell lines; `$prompt` is what it was asked, `say NAME` prints
    /// `say/NAME`, and `$here` is the project.
    pub(crate) fn new(lines: &str) -> Self {
        Self::printing("stream-json", lines)
    }

    /// The same for a program that prints in another form.
    pub(crate) fn printing(output: &str, lines: &str) -> Self {
        let shop = Self {
            root: tempfile::tempdir().unwrap(),
            state: tempfile::tempdir().unwrap(),
        };
        let config = format!(
            "[agent]\ncommand = \"./agent.sh\"\nkind = \"command\"\noutput = \"{output}\"\n"
        );
        shop.write(".planwright/config.toml", &config);
        shop.write(".planwright/specs/index.md", SPECIFICATION);
        shop.write("plan.good", PLAN);
        for (name, text) in [
            ("done", "PLAN_CREATED: plan.md"),
            ("asks", ASKS),
            ("chat", "Great choice. Would you like me to proceed…?"),
        ] {
            shop.write(&format!("say/{name}"), &events(text));
        }
        shop.act(lines);
        shop
    }

    /// The agent runs these lines from now on.
    pub(crate) fn act(&self, lines: &str) {
        let script = format!(
            "#!/bin/sh\nhere=$(dirname \"$0\")\nprompt=$(cat)\nsay() {{ cat \"$here/say/$1\"; }}\n\
             asked() {{ case $prompt in *\"$1\"*) return 0;; esac; return 1; }}\n{lines}\n"
        );
        self.write("agent.sh", &script);
        let path = self.root.path().join("agent.sh");
        let may = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path, may).unwrap();
    }

    /// Writes a file into the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file of the project.
    pub(crate) fn text(&self, path: &str) -> String {
        let read = fs::read_to_string(self.root.path().join(path));
        read.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Something is there in the project.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.root.path().join(path).exists()
    }

    /// The program in the project.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_planwright"));
        command
            .env_clear()
            .env("XDG_STATE_HOME", self.state.path())
            .current_dir(self.root.path())
            .args(arguments);
        command
    }

    /// What comes of it, standard input being no terminal.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// `planwright plan index --trust` and more; its exit code, standard output and standard error.
    pub(crate) fn plan(&self, more: &[&str]) -> (i32, String, String) {
        exit_and_output(&self.run(&[&["plan", "index", "--trust"], more].concat()))
    }

    /// Names of the runs that are remembered.
    pub(crate) fn runs(&self) -> Vec<String> {
        let listed = fs::read_dir(self.root.path().join(".planwright/runs"));
        let names = listed.into_iter().flatten();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != ".gitignore").collect()
    }

    /// What the only run remembers.
    pub(crate) fn remembered(&self) -> Value {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        let state = self.text(&format!(".planwright/runs/{}/state.json", runs[0]));
        serde_json::from_str(&state).unwrap()
    }

    /// Private folders of runs.
    pub(crate) fn private(&self) -> Vec<PathBuf> {
        let agents = self.state.path().join("planwright/agents");
        let folders = fs::read_dir(agents)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let inside = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
        let paths = inside.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.is_dir()).collect()
    }
}

pub(crate) fn exit_and_output(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let code = output.status.code().unwrap();
    (code, text(&output.stdout), text(&output.stderr))
}

/// Leaves the good plan.
pub(crate) const GOOD: &str = "cp \"$here/plan.good\" plan.md; say done";
