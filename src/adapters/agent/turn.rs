//! One turn: starts the process, feeds and watches it, and ends it with everything it has started.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

use super::cgroup::Cgroups;
use super::limits::TurnLimits;
use super::output::{OutputReader, Tail};
use super::process_tree::ProcessTree;
use super::report::{self, FinishedTurn, StopReason};
use super::sandbox::NetworkPolicy;
use super::{MARK_VARIABLE, Program, RunDirs, RunnerSettings, SandboxMode, run_dirs};
use crate::engine::agent::{Task, TurnObserver};
use crate::engine::clock::Clock;
use crate::engine::model::agent::{Document, Ending, Limit, Report, Spent};
use crate::engine::model::time::Millis;

/// Time that an agent has to exit by itself after its result. Clients save their session then.
const EXIT_TIME: Duration = Duration::from_secs(2);

/// Size of the read buffers, in bytes: the capacity of a pipe.
const CHUNK_BYTES: usize = 64 * 1024;

/// The `PATH` of agents.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Environment variable with the path of the copy of the repository, for programs that have no other
/// way to learn it.
const REPOSITORY_VARIABLE: &str = "PLANWRIGHT_REPOSITORY";

/// What a turn needs in addition to its task and program.
pub(super) struct TurnContext<'t> {
    pub(super) settings: &'t RunnerSettings,
    pub(super) clock: &'t dyn Clock,
    /// Where turns get cgroups of their own, if anywhere.
    pub(super) cgroups: Option<&'t Cgroups>,
    /// Files and directories that the program may read.
    pub(super) reads: &'t [PathBuf],
    /// How the network is restricted; `None` if it is not.
    pub(super) network: Option<&'t NetworkPolicy>,
    /// Value of [`MARK_VARIABLE`], by which the processes of this turn are found.
    pub(super) mark: String,
    pub(super) dirs: RunDirs,
    /// Directory of the run's documents.
    pub(super) documents: PathBuf,
}

/// A running process. Dropping it kills the process and everything it has started, before the drop
/// returns.
struct RunningProcess {
    child: Child,
    tree: Arc<ProcessTree>,
    has_ended: bool,
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        if !self.has_ended {
            self.tree.kill();
            // Reaps the process; if that is too early, the runtime does it later.
            let _ = self.child.try_wait();
        }
    }
}

/// Runs a turn to its end.
pub(super) async fn run(
    context: &TurnContext<'_>,
    task: &Task,
    program: &Program,
    seen: &TurnObserver,
    stop: CancellationToken,
) -> Report {
    let settings = context.settings;
    let start = context.clock.now();
    let limits = TurnLimits::new(
        &settings.resources,
        context.cgroups,
        &context.mark,
        &context.dirs,
    );
    let mut child = match command(context, task, program, &limits).spawn() {
        Ok(child) => child,
        Err(error) => {
            return report::not_run(Ending::NotStarted(format!(
                "{} cannot be started: {error}: the agent's helper is this program itself; was it replaced or removed?",
                settings.helper.display()
            )));
        }
    };
    let mark = format!("{MARK_VARIABLE}={}", context.mark);
    let tree = ProcessTree::of_child(child.id().unwrap_or_default(), mark, limits.cgroup());
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut process = RunningProcess {
        child,
        tree: Arc::new(tree),
        has_ended: false,
    };
    let mut watcher = Watcher {
        context,
        task,
        seen,
        start,
        output: OutputReader::new(
            program.output,
            settings.max_line_bytes,
            settings.max_output_bytes,
            task.cost_before,
        ),
        stderr: Tail::default(),
    };
    let stopped = watcher
        .watch(&mut process, pipes, &program.input, &limits, &stop)
        .await;
    let limit = match stopped {
        StopReason::Exited(status) => limits.exceeded_at_end(status).await,
        StopReason::AfterResult => limits.exceeded_at_end(None).await,
        StopReason::Limit(_) | StopReason::Cancelled => None,
    };
    let stopped = limit.map_or(stopped, StopReason::Limit);
    watcher.print(true);
    let Watcher { output, stderr, .. } = watcher;
    let finished = FinishedTurn {
        task,
        files: written_files(context, task).await,
        stopped,
        output: output.finish(),
        stderr: stderr.text(),
        millis: millis_since(start, context.clock),
    };
    let report = report::report(finished, &settings.redactor);
    seen.set_spent(report.spent);
    report
}

/// Returns the files that the program has left, if the task asks for files and they can be read.
async fn written_files(context: &TurnContext<'_>, task: &Task) -> Vec<Document> {
    if task.wanted.is_empty() {
        return Vec::new();
    }
    let (documents, dirs) = (context.documents.clone(), context.dirs.clone());
    let wanted = task.wanted.clone();
    let files = super::blocking(move || run_dirs::collect_files(&documents, &dirs, &wanted)).await;
    files.unwrap_or_else(|error| {
        tracing::warn!(%error, "the files that the agent wrote cannot be read");
        Vec::new()
    })
}

fn command(
    context: &TurnContext<'_>,
    task: &Task,
    program: &Program,
    limits: &TurnLimits,
) -> Command {
    let RunDirs {
        home,
        work,
        scratch,
    } = &context.dirs;
    let mut command = Command::new(&context.settings.helper);
    let sandbox = match context.settings.sandbox {
        SandboxMode::Auto => "auto",
        SandboxMode::Required => "required",
        SandboxMode::Off => "off",
    };
    command.args(["agent-exec", "--sandbox", sandbox]);
    for read in context.reads.iter().chain(&task.repository) {
        command.arg("--read").arg(read);
    }
    for write in [home, work, scratch] {
        command.arg("--write").arg(write);
    }
    if let Some(NetworkPolicy { port, filter }) = context.network {
        command.arg("--port").arg(port.to_string());
        command.args(filter.then_some("--filter"));
    }
    let inherited = limits.inherited(context.settings.concurrency);
    for (option, most) in [
        ("--open-files", inherited.open_files),
        ("--file-size", inherited.file_size),
        ("--processes", inherited.processes),
    ] {
        if let Some(most) = most {
            command.arg(option).arg(most.to_string());
        }
    }
    if let Some(cgroup) = inherited.cgroup {
        command.arg("--cgroup").arg(cgroup);
    }
    command.arg("--input").arg(program.input.len().to_string());
    command.arg(&program.path).arg("--").args(&program.args);
    command
        .env_clear()
        .env("PATH", PATH)
        .env("LANG", "C.UTF-8")
        .env("HOME", home)
        .env("TMPDIR", scratch);
    if let Some(repository) = &task.repository {
        command.env(REPOSITORY_VARIABLE, repository);
    }
    for (name, value) in &program.environment {
        command.env(name, value.expose_secret());
    }
    command
        .env(MARK_VARIABLE, &context.mark)
        .current_dir(work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .process_group(0)
        .arg0("planwright");
    command
}

type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

/// Watches a running turn and collects its output.
struct Watcher<'t> {
    context: &'t TurnContext<'t>,
    task: &'t Task,
    seen: &'t TurnObserver,
    start: Millis,
    output: OutputReader,
    stderr: Tail,
}

impl Watcher<'_> {
    /// Watches until the turn is over and no process of it is left.
    async fn watch(
        &mut self,
        process: &mut RunningProcess,
        (stdin, mut stdout, mut stderr): Pipes,
        input: &[u8],
        resources: &TurnLimits,
        stop: &CancellationToken,
    ) -> StopReason {
        let clock = self.context.clock;
        let limits = &self.task.limits;
        let mut out = vec![0; CHUNK_BYTES];
        let mut err = vec![0; CHUNK_BYTES];
        let mut feeding = Box::pin(feed(stdin, input));
        // Standard input is held open: closing it makes the helper end everything.
        let mut held_stdin = None;
        let mut deadline = clock.sleep(limits.deadline);
        let mut silence = clock.sleep(limits.silence);
        let mut exit_time = None;
        let mut exit = None;
        let tree = Arc::clone(&process.tree);
        let mut exceeded = Box::pin(resources.exceeded(&tree, clock));
        let mut is_frozen = false;
        let stopped = loop {
            if exit.is_some() && stdout.is_none() && stderr.is_none() {
                break StopReason::Exited(exit.flatten());
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => break StopReason::Cancelled,
                () = &mut deadline, if exit_time.is_none() => {
                    break StopReason::Limit(Limit::Deadline);
                }
                limit = &mut exceeded, if exit.is_none() => {
                    // Given time to exit, it would go on using more.
                    tree.freeze();
                    is_frozen = true;
                    break match exit_time {
                        Some(_) => StopReason::AfterResult,
                        None => StopReason::Limit(limit),
                    };
                }
                () = wait_for(&mut exit_time), if exit_time.is_some() => {
                    break StopReason::AfterResult;
                }
                read = read(&mut stdout, &mut out), if stdout.is_some() => {
                    silence = clock.sleep(limits.silence);
                    let had_result = self.output.has_result();
                    if let Err(limit) = self.push(out.get(..read).unwrap_or_default()) {
                        break StopReason::Limit(limit);
                    }
                    if self.output.has_result() && !had_result {
                        exit_time = Some(clock.sleep(EXIT_TIME));
                    }
                }
                read = read(&mut stderr, &mut err), if stderr.is_some() => {
                    silence = clock.sleep(limits.silence);
                    self.stderr.push(err.get(..read).unwrap_or_default());
                }
                status = process.child.wait(), if exit.is_none() => {
                    exit = Some(status.ok());
                    // A process that still holds the pipes has escaped from the helper.
                    kill(&tree).await;
                }
                stdin = &mut feeding, if held_stdin.is_none() => held_stdin = Some(stdin),
                () = &mut silence, if exit_time.is_none() => {
                    break StopReason::Limit(Limit::Silence);
                }
            }
        };
        drop(exceeded);
        if exit.is_none() && !is_frozen {
            tree.terminate();
            let mut grace = clock.sleep(self.context.settings.grace);
            // Keep reading, so that no process blocks on a full pipe. Of this output only the end
            // of standard error is kept.
            loop {
                tokio::select! {
                    biased;
                    _ = process.child.wait() => break,
                    () = &mut grace => break,
                    _ = read(&mut stdout, &mut out), if stdout.is_some() => {}
                    read = read(&mut stderr, &mut err), if stderr.is_some() => {
                        self.stderr.push(err.get(..read).unwrap_or_default());
                    }
                }
            }
        }
        drop((held_stdin, feeding));
        if exit.is_none() {
            kill(&tree).await;
            // Reaps the process, which is dead by now.
            let _ = process.child.wait().await;
        }
        process.has_ended = true;
        stopped
    }

    /// Passes on what the agent has printed since the last time.
    fn print(&mut self, is_complete: bool) {
        if self.seen.wants_output() {
            let lines = self.output.take_lines(is_complete);
            if !lines.is_empty() {
                let redactor = &self.context.settings.redactor;
                self.seen.print(redactor.redact(&lines).into_owned());
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        let result = self.output.push(bytes, &self.task.limits);
        self.print(false);
        self.seen.set_spent(Spent {
            millis: millis_since(self.start, self.context.clock),
            ..self.output.spent()
        });
        result
    }
}

/// Writes the prompt and returns the pipe. That an agent exits without reading all of it is not an
/// error.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) -> Option<ChildStdin> {
    let mut stdin = stdin?;
    let _ = stdin.write_all(input).await;
    Some(stdin)
}

/// Reads some bytes. At the end of the stream and on an error, `pipe` becomes `None`.
async fn read(pipe: &mut Option<impl tokio::io::AsyncRead + Unpin>, buffer: &mut [u8]) -> usize {
    let Some(open) = pipe else {
        return std::future::pending().await;
    };
    let read = open.read(buffer).await.unwrap_or(0);
    if read == 0 {
        *pipe = None;
    }
    read
}

async fn wait_for(sleep: &mut Option<impl Future<Output = ()> + Unpin>) {
    match sleep {
        Some(sleep) => sleep.await,
        None => std::future::pending().await,
    }
}

/// Kills the tree on a thread that may block.
async fn kill(tree: &Arc<ProcessTree>) {
    let (own, span) = (Arc::clone(tree), tracing::Span::current());
    let killed = tokio::task::spawn_blocking(move || span.in_scope(|| own.kill())).await;
    if killed.is_err() {
        // The runtime is shutting down and starts no more threads.
        tree.kill();
    }
}

fn millis_since(start: Millis, clock: &dyn Clock) -> u64 {
    u64::try_from(clock.now().since(start).as_millis()).unwrap_or(u64::MAX)
}

/// Checks that `path` is an absolute path of an executable file. The error names the remedy.
pub(super) fn check_program(path: &Path) -> Result<(), String> {
    let shown = path.display();
    if !path.is_absolute() {
        return Err(format!(
            "the agent's program {shown} is not an absolute path: set agent.path to the full path"
        ));
    }
    match std::fs::metadata(path) {
        Err(error) => Err(format!(
            "the agent's program {shown} cannot be found: {error}: install it, or set agent.path to its path"
        )),
        Ok(found) if !found.is_file() => Err(format!(
            "the agent's program {shown} is not a file: set agent.path to the program itself"
        )),
        Ok(found) if found.permissions().mode() & 0o111 == 0 => Err(format!(
            "the agent's program {shown} cannot be executed: make it executable (chmod +x)"
        )),
        Ok(_) => Ok(()),
    }
}
