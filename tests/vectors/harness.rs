//! The recorded test vectors, and the trials that are made of them: one for each recorded case.
//!
//! `PLANWRIGHT_VECTORS` names the directory with `erk.json`, `agent-and-reports.json` and
//! `action-plan.json`. Recorded output of the real client is beside it in `../claude-streams`, and
//! plans written by people are in `../seeds`.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use libtest_mimic::Trial;
use serde_json::Value;

/// The environment variable that names the directory.
pub(crate) const VARIABLE: &str = "PLANWRIGHT_VECTORS";

/// The environment variable with which tests run without the directory although `CI` is `true`.
pub(crate) const WITHOUT: &str = "PLANWRIGHT_WITHOUT_VECTORS";

/// Vectors that are answered differently on purpose: the exact `id`, and why.
pub(crate) type Departures = &'static [(&'static str, &'static str)];

/// Defines `register`, which adds the given test functions of a module.
macro_rules! tests {
    ($($test:ident),* $(,)?) => {
        /// Adds the tests of this module.
        pub(crate) fn register(tests: &mut $crate::harness::Tests) {
            $(tests.add(module_path!(), stringify!($test), $test);)*
        }
    };
}
pub(crate) use tests;

/// Returns the directory that the environment variable names, if it is set.
pub(crate) fn directory() -> Option<&'static Path> {
    static DIRECTORY: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let value = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    });
    DIRECTORY.as_deref()
}

/// Returns the path of a recorded file, relative to the directory of the vectors.
pub(crate) fn path(name: &str) -> PathBuf {
    directory().expect("only called with vectors").join(name)
}

/// Reads a recorded file. Panics with the name of the file if it cannot be read.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = path(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a recorded text.
pub(crate) fn text(name: &str) -> String {
    String::from_utf8(bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Parses a recorded JSON file. Each file is read once and kept until the process ends.
pub(crate) fn json(name: &str) -> &'static Value {
    static FILES: LazyLock<Mutex<HashMap<String, &'static Value>>> = LazyLock::new(Mutex::default);
    if let Some(file) = FILES.lock().unwrap().get(name) {
        return file;
    }
    let file: Value = serde_json::from_slice(&bytes(name))
        .unwrap_or_else(|error| panic!("{}: {error}", path(name).display()));
    let file: &'static Value = Box::leak(Box::new(file));
    FILES.lock().unwrap().insert(name.to_owned(), file);
    file
}

/// Returns the contents of `erk.json`.
pub(crate) fn erk() -> &'static Value {
    json("erk.json")
}

/// Returns the contents of `agent-and-reports.json`.
pub(crate) fn agent() -> &'static Value {
    json("agent-and-reports.json")
}

/// Returns the contents of `action-plan.json`.
pub(crate) fn action_plans() -> &'static Value {
    json("action-plan.json")
}

/// The trials of all tests.
#[derive(Default)]
pub(crate) struct Tests {
    pub(crate) trials: Vec<Trial>,
    names: HashSet<String>,
    /// Module and name of the test that is being added.
    test: String,
}

impl Tests {
    /// Adds the trials of the test `name`, which `register` adds to its argument. Without vectors
    /// the test is one ignored trial. If `register` panics, for example because a file is missing,
    /// the test is one failed trial.
    pub(crate) fn add(&mut self, module: &str, name: &str, register: fn(&mut Self)) {
        let module = module.split_once("::").map_or(module, |(_, module)| module);
        self.test = format!("{module}::{name}");
        if directory().is_none() {
            let missing = || Err(format!("{VARIABLE} is not set").into());
            let trial = Trial::test(self.test.clone(), missing);
            self.trials.push(trial.with_ignored_flag(true));
        } else if let Err(panic) = catch_unwind(AssertUnwindSafe(|| register(self))) {
            let why = message(panic.as_ref());
            let fails = move || Err(why.into());
            self.trials.push(Trial::test(self.test.clone(), fails));
        }
    }

    /// Adds a trial for the whole of the test that is being added.
    pub(crate) fn whole(&mut self, run: impl FnOnce() + Send + 'static) {
        self.push(self.test.clone(), run);
    }

    /// Adds a trial for one recorded case.
    pub(crate) fn case(&mut self, case: &str, run: impl FnOnce() + Send + 'static) {
        self.push(format!("{}::{case}", self.test), run);
    }

    fn push(&mut self, name: String, run: impl FnOnce() + Send + 'static) {
        assert!(self.names.insert(name.clone()), "two trials named {name}");
        let run = move || {
            run();
            Ok(())
        };
        self.trials.push(Trial::test(name, run));
    }

    /// Adds a trial for every vector of `suite` of `erk.json` that `mine` accepts. `suite` is a
    /// name below `suites`, or `probes`, `flows` or `real_world_plan_headers`. `compare` returns
    /// the answers of Planwright and of erk in comparable form. A trial fails if they differ and
    /// the vector is not in `departures`, or if they are equal and it is.
    pub(crate) fn hold(
        &mut self,
        suite: &str,
        mine: impl Fn(&Value) -> bool,
        departures: Departures,
        compare: impl Fn(&Value) -> (Value, Value) + Send + Sync + 'static,
    ) {
        let all = erk();
        let cases = all["suites"].get(suite).or_else(|| all.get(suite));
        let cases = array(suite, cases).filter(|case| mine(case));
        self.hold_cases(suite, cases, departures, compare);
    }

    /// Adds a trial for every vector of `agent-and-reports.json` whose `kind` is `kind`. The
    /// comparison is that of [`Tests::hold`].
    pub(crate) fn hold_agent(
        &mut self,
        kind: &str,
        departures: Departures,
        compare: impl Fn(&Value) -> (Value, Value) + Send + Sync + 'static,
    ) {
        let cases = array(kind, agent().get("vectors")).filter(|case| case["kind"] == kind);
        self.hold_cases(kind, cases, departures, compare);
    }

    /// Adds a trial for every vector of one suite of `action-plan.json`. The comparison is that of
    /// [`Tests::hold`].
    pub(crate) fn hold_action_plans(
        &mut self,
        suite: &str,
        departures: Departures,
        compare: impl Fn(&Value) -> (Value, Value) + Send + Sync + 'static,
    ) {
        let cases = array(suite, action_plans().get(suite));
        self.hold_cases(suite, cases, departures, compare);
    }

    fn hold_cases(
        &mut self,
        suite: &str,
        cases: impl Iterator<Item = &'static Value>,
        departures: Departures,
        compare: impl Fn(&Value) -> (Value, Value) + Send + Sync + 'static,
    ) {
        let compare = Arc::new(compare);
        let mut seen = HashSet::new();
        for case in cases {
            let id = id(case);
            seen.insert(id);
            let departure = departures.iter().find(|(known, _)| *known == id);
            let compare = Arc::clone(&compare);
            self.case(id, move || {
                let (ours, want) = compare(case);
                match departure {
                    None => assert!(ours == want, "\n  ours: {ours}\n  want: {want}"),
                    Some((_, why)) => assert!(ours != want, "equal, but listed as: {why}"),
                }
            });
        }
        assert!(!seen.is_empty(), "{suite}: no vector was taken");
        let mut unused = departures.iter().map(|(id, _)| *id);
        let unused = unused.find(|id| !seen.contains(id));
        assert_eq!(unused, None, "{suite}: a departure is not in the data");
    }
}

/// Returns the name of a recorded case.
pub(crate) fn id(case: &Value) -> &str {
    ["id", "name", "path"]
        .iter()
        .find_map(|key| case[key].as_str())
        .unwrap_or_else(|| panic!("a case without a name: {case}"))
}

fn array(name: &str, value: Option<&'static Value>) -> impl Iterator<Item = &'static Value> {
    let array = value.and_then(Value::as_array);
    array
        .unwrap_or_else(|| panic!("no such suite: {name}"))
        .iter()
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panicked".to_owned())
}
