//! One turn: the process is started, fed and watched, and ended with everything that it has started.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::output::{Reading, Tail};
use super::report::{self, Stopped, Turn};
use super::tree::Tree;
use super::{Program, RunDirs, RunnerSettings, SandboxMode, files};
use crate::engine::agent::{Document, Ending, Limit, Report, Spent, Task};
use crate::engine::clock::{Clock, Millis};

/// How long an agent that has given its result has to end by itself: clients write their session to disk then.
const AFTER_RESULT: Duration = Duration::from_secs(2);

/// Bytes that are read from a pipe at once; pipes hold as much.
const CHUNK: usize = 64 * 1024;

/// Where agents find programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a turn needs besides its task.
pub(super) struct Given<'t> {
    pub(super) settings: &'t RunnerSettings,
    pub(super) clock: &'t dyn Clock,
    /// Files and folders that the program may read.
    pub(super) reads: &'t [std::path::PathBuf],
    /// `NAME` and value by which every process of this turn is found again.
    pub(super) mark: (&'static str, String),
    /// Where the run's documents are kept.
    pub(super) documents: std::path::PathBuf,
}

/// A process that runs. Dropping it ends it with everything that it has started, before the drop returns.
struct Running {
    child: Child,
    tree: Arc<Tree>,
    over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.tree.end();
            // Takes it off the process table; where that is too early, the runtime does it.
            let _ = self.child.try_wait();
        }
    }
}

/// Works on one turn.
pub(super) async fn work(
    given: &Given<'_>,
    task: &Task,
    program: Program,
    rooms: &RunDirs,
    seen: &watch::Sender<Spent>,
    stop: CancellationToken,
) -> Report {
    let start = given.clock.now();
    let Program {
        output, ref input, ..
    } = program;
    let mut command = command(given, &program, rooms);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return report::without_program(Ending::NotStarted(format!(
                "{} cannot be started: {error}: the agent's helper is this program itself; was it replaced or removed?",
                given.settings.helper.display()
            )));
        }
    };
    let (name, value) = &given.mark;
    let tree = Tree::of_child(child.id().unwrap_or_default(), format!("{name}={value}"));
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut running = Running {
        child,
        tree: Arc::new(tree),
        over: false,
    };
    let settings = given.settings;
    let reading = Reading::new(
        output,
        settings.max_line_bytes,
        settings.max_output_bytes,
        task.cost_before,
    );
    let mut watched = Watched {
        given,
        task,
        seen,
        start,
        reading,
        stderr: Tail::default(),
    };
    let stopped = watched.watch(&mut running, pipes, input, &stop).await;
    let Watched {
        reading, stderr, ..
    } = watched;
    let files = if task.wanted.is_empty() {
        Vec::new()
    } else {
        left(given.documents.clone(), rooms.clone(), task.wanted.clone()).await
    };
    let report = report::report(
        Turn {
            task,
            files,
            stopped,
            read: reading.finish(),
            stderr: stderr.text(),
            millis: millis(start, given.clock),
        },
        &settings.redactor,
    );
    seen.send_replace(report.spent);
    report
}

/// What the program has left in its folders; nothing where they cannot be read.
async fn left(documents: std::path::PathBuf, rooms: RunDirs, wanted: Vec<String>) -> Vec<Document> {
    let left = super::blocking(move || files::left(&documents, &rooms, &wanted)).await;
    left.unwrap_or_else(|error| {
        tracing::warn!(%error, "the files that the agent wrote cannot be read");
        Vec::new()
    })
}

fn command(given: &Given<'_>, program: &Program, rooms: &RunDirs) -> Command {
    let mut command = Command::new(&given.settings.helper);
    let sandbox = match given.settings.sandbox {
        SandboxMode::Auto => "auto",
        SandboxMode::Required => "required",
        SandboxMode::Off => "off",
    };
    command.args(["agent-exec", "--sandbox", sandbox]);
    for read in given.reads {
        command.arg("--read").arg(read);
    }
    for write in [&rooms.home, &rooms.work, &rooms.scratch] {
        command.arg("--write").arg(write);
    }
    command.arg("--input").arg(program.input.len().to_string());
    command.arg(&program.path).arg("--").args(&program.args);
    command
        .env_clear()
        .env("PATH", PATH)
        .env("LANG", "C.UTF-8")
        .env("HOME", &rooms.home)
        .env("TMPDIR", &rooms.scratch);
    for (name, value) in &program.environment {
        command.env(name, value.expose_secret());
    }
    let (name, value) = &given.mark;
    command
        .env(name, value)
        .current_dir(&rooms.work)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0).arg0("planwright");
    command
}

type Pipes = (
    Option<ChildStdin>,
    Option<tokio::process::ChildStdout>,
    Option<tokio::process::ChildStderr>,
);

/// A turn under way.
struct Watched<'t> {
    given: &'t Given<'t>,
    task: &'t Task,
    seen: &'t watch::Sender<Spent>,
    start: Millis,
    reading: Reading,
    stderr: Tail,
}

impl Watched<'_> {
    /// Watches until the turn is over and nothing of it is left.
    async fn watch(
        &mut self,
        running: &mut Running,
        (stdin, mut stdout, mut stderr): Pipes,
        input: &[u8],
        stop: &CancellationToken,
    ) -> Stopped {
        let clock = self.given.clock;
        let limits = &self.task.limits;
        let mut out = vec![0; CHUNK];
        let mut err = vec![0; CHUNK];
        let mut feeding = Box::pin(feed(stdin, input));
        // Held open: its end tells the helper to end everything.
        let mut lifeline = None;
        let mut deadline = clock.sleep(limits.deadline);
        let mut silence = clock.sleep(limits.silence);
        let mut patience = None;
        let mut exit = None;
        let tree = Arc::clone(&running.tree);
        let stopped = loop {
            if exit.is_some() && stdout.is_none() && stderr.is_none() {
                break Stopped::Exited(exit.flatten());
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => break Stopped::Cancelled,
                () = &mut deadline, if patience.is_none() => break Stopped::Limited(Limit::Deadline),
                () = wait_for(&mut patience), if patience.is_some() => break Stopped::AfterResult,
                read = read(&mut stdout, &mut out), if stdout.is_some() => {
                    silence = clock.sleep(limits.silence);
                    let had_result = self.reading.has_result();
                    if let Err(limit) = self.take(out.get(..read).unwrap_or_default()) {
                        break Stopped::Limited(limit);
                    }
                    if self.reading.has_result() && !had_result {
                        patience = Some(clock.sleep(AFTER_RESULT));
                    }
                }
                read = read(&mut stderr, &mut err), if stderr.is_some() => {
                    silence = clock.sleep(limits.silence);
                    self.stderr.push(err.get(..read).unwrap_or_default());
                }
                ended = running.child.wait(), if exit.is_none() => {
                    exit = Some(ended.ok());
                    // Whoever still holds the pipes now has escaped from the helper.
                    end(&tree).await;
                }
                held = &mut feeding, if lifeline.is_none() => lifeline = Some(held),
                () = &mut silence, if patience.is_none() => break Stopped::Limited(Limit::Silence),
            }
        };
        if exit.is_none() {
            tree.terminate();
            let mut grace = clock.sleep(self.given.settings.grace);
            // What it still says is read, so that nobody waits for a pipe: behind a result for nothing, else for the end
            // of standard error.
            loop {
                tokio::select! {
                    biased;
                    _ = running.child.wait() => break,
                    () = &mut grace => break,
                    _ = read(&mut stdout, &mut out), if stdout.is_some() => {}
                    read = read(&mut stderr, &mut err), if stderr.is_some() => {
                        self.stderr.push(err.get(..read).unwrap_or_default());
                    }
                }
            }
        }
        drop((lifeline, feeding));
        if exit.is_none() {
            end(&tree).await;
            // Its end is certain now; this takes it off the process table.
            let _ = running.child.wait().await;
        }
        running.over = true;
        stopped
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Limit> {
        let taken = self.reading.push(bytes, &self.task.limits);
        let spent = Spent {
            millis: millis(self.start, self.given.clock),
            ..self.reading.spent()
        };
        self.seen.send_replace(spent);
        taken
    }
}

/// Writes the prompt and gives the pipe back. An agent that ends without reading it all is no fault of its own.
async fn feed(stdin: Option<ChildStdin>, input: &[u8]) -> Option<ChildStdin> {
    let mut stdin = stdin?;
    let _ = stdin.write_all(input).await;
    Some(stdin)
}

/// Reads some bytes; at the end, or when the pipe breaks, there is no pipe any more.
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

/// Ends the tree on a thread that may wait.
async fn end(tree: &Arc<Tree>) {
    let own = Arc::clone(tree);
    if tokio::task::spawn_blocking(move || own.end())
        .await
        .is_err()
    {
        // The runtime stops: there are no more threads.
        tree.end();
    }
}

fn millis(start: Millis, clock: &dyn Clock) -> u64 {
    u64::try_from(clock.now().since(start).as_millis()).unwrap_or(u64::MAX)
}

/// Why the program cannot be started, if it cannot: a sentence with the path and what to do.
pub(super) fn complaint(path: &Path) -> Option<String> {
    let shown = path.display();
    if !path.is_absolute() {
        return Some(format!(
            "the agent's program {shown} is no absolute path: set agent.path to the whole path"
        ));
    }
    match std::fs::metadata(path) {
        Err(error) => Some(format!(
            "the agent's program {shown} cannot be found: {error}: install it, or set agent.path to where it is"
        )),
        Ok(found) if !found.is_file() => Some(format!(
            "the agent's program {shown} is no file: set agent.path to the program itself"
        )),
        Ok(found) if !executable(&found) => Some(format!(
            "the agent's program {shown} cannot be executed: make it executable (chmod +x)"
        )),
        Ok(_) => None,
    }
}

#[cfg(unix)]
fn executable(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_found: &std::fs::Metadata) -> bool {
    true
}
