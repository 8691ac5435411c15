//! `planwright session transcript`: converts a session log to a short XML transcript.

use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::{NamedTempFile, TempPath};

use super::SessionFolders;
use crate::cli::Failure;
use crate::cli::failure::print;
use crate::formats::session::MAX_LINE_BYTES;
use crate::formats::session::transcript::{self, LeftOut, Options, Piece, Stats, Verdict};
use crate::regular_file;

const HELP: &str = "\
Omitted: entries of other sessions, file snapshots, bookkeeping, commands that
search for the log itself, repeated texts. Truncated: long tool parameters and
tool results, except for lines with errors. A session that is empty or only a
warm-up has no transcript (exit code 1). Unreadable lines and lines over 64 MiB
are skipped and counted.

Exit codes:
  0  the transcript was written
  1  nothing is left, or the output cannot be written
  2  the arguments are wrong, or the file cannot be read

Examples:
  planwright session transcript 3f2a                        of the session whose
                                                            id begins so
  planwright session transcript session.jsonl               the transcript, on
                                                            standard output
  planwright session transcript session.jsonl --max-tokens 20000 --output parts
                                                            parts/session-1.xml,
                                                            …-2.xml, …
  planwright session transcript - --stats < session.jsonl   counts on standard
                                                            error";

/// Compress a Claude Code session log to an XML transcript for an agent
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Transcript {
    /// Session log (JSON Lines) to read, `-` for standard input, or the id of a session or its
    /// beginning
    #[arg(value_name = "LOG")]
    file: PathBuf,
    #[command(flatten)]
    place: SessionFolders,
    /// Use only entries of this session, and entries without a session id
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// Split the transcript into parts of at most this size, at four characters per token; entries
    /// are never split. Needs --output
    #[arg(long, value_name = "N", requires = "output")]
    max_tokens: Option<NonZeroUsize>,
    /// Write the parts to NAME-1.xml, NAME-2.xml, … in this directory and print their paths; no
    /// file is overwritten
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Keep everything: omit and truncate nothing
    #[arg(long)]
    no_filter: bool,
    /// Print counts of what was read, omitted and truncated on standard error
    #[arg(long)]
    stats: bool,
}

/// Maximum length of a line, in MiB. Longer lines are skipped.
const MAX_LINE_MIB: usize = MAX_LINE_BYTES / (1024 * 1024);

/// Size of the chunks in which the log is read, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

impl Transcript {
    pub(super) fn run(mut self) -> Result<(), Failure> {
        if let Some(id) = self.id() {
            self.file = self.place.log_of(&id)?;
        }
        let name = self.file.display().to_string();
        let stem = self.stem();
        let unreadable = |error: io::Error| Failure::Usage(format!("cannot read {name}: {error}"));
        let mut input: Box<dyn Read> = if self.file.as_os_str() == "-" {
            Box::new(io::stdin().lock())
        } else {
            Box::new(regular_file::open_named(&self.file).map_err(unreadable)?)
        };
        let mut transcript = transcript::Transcript::new(Options {
            session_id: self.session_id.clone(),
            source: stem.starts_with("agent-").then(|| stem.clone()),
            filter: !self.no_filter,
            max_tokens: self.max_tokens.map(NonZeroUsize::get),
        });
        let mut output: Box<dyn Output> = match &self.output {
            Some(directory) => Box::new(Files::new(directory, &stem)?),
            None => Box::new(Stdout),
        };
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match input.read(&mut chunk) {
                Ok(0) => break,
                Ok(length) => output.write(transcript.push(&chunk[..length]))?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(error)),
            }
        }
        let end = transcript.finish();
        self.report(&end.stats);
        if let Some(why) = nothing(end.verdict, &end.stats, self.session_id.as_deref()) {
            return Err(Failure::failed(format!("{name}: {why}")));
        }
        output.write(end.pieces)?;
        output.finish()
    }

    /// Returns the session id if `file` is one: it does not look like a path, and no file of that
    /// name exists.
    fn id(&self) -> Option<String> {
        let text = self.file.to_str()?;
        let is_path = text == "-" || text.contains(['/', '\\']) || self.file.extension().is_some();
        (!is_path && !self.file.exists()).then(|| text.to_owned())
    }

    /// Returns the name of the log: the id of the session or of the agent.
    fn stem(&self) -> String {
        let stem = self.file.file_stem().map(|stem| stem.to_string_lossy());
        match stem {
            Some(stem) if stem != "-" => stem.into_owned(),
            _ => "session".to_owned(),
        }
    }

    fn report(&self, stats: &Stats) {
        let longer = stats.left_out.get(&LeftOut::TooLong).copied().unwrap_or(0);
        match (stats.unreadable(), stats.first_unreadable) {
            (1, Some(line)) if longer == 1 => {
                eprintln!("note: line {line} is longer than {MAX_LINE_MIB} MiB and was skipped");
            }
            (1, Some(line)) => eprintln!("note: line {line} cannot be read and was skipped"),
            (count, Some(line)) => {
                let longer = match longer {
                    0 => String::new(),
                    longer => format!(", {longer} of them because of more than {MAX_LINE_MIB} MiB"),
                };
                eprintln!(
                    "note: {count} lines cannot be read and were skipped{longer}, the first is line {line}"
                );
            }
            (_, None) => {}
        }
        if self.stats {
            eprintln!("{stats}");
        }
    }
}

/// Returns why there is no transcript, or `None` if there is one.
fn nothing(verdict: Verdict, stats: &Stats, wanted: Option<&str>) -> Option<String> {
    let whole = "--no-filter prints everything";
    let longer = stats.left_out.get(&LeftOut::TooLong).copied().unwrap_or(0);
    let other = stats.left_out.get(&LeftOut::OtherKind).copied();
    let lines = match stats.entries_in {
        1 => "1 line".to_owned(),
        many => format!("{many} lines"),
    };
    match verdict {
        _ if stats.entries_in == 0 => Some("it contains no entries".to_owned()),
        _ if stats.unreadable() == stats.entries_in && longer > 0 => Some(format!(
            "it cannot be read: of {lines}, {longer} longer than {MAX_LINE_MIB} MiB"
        )),
        _ if stats.unreadable() == stats.entries_in => Some(format!(
            "this is not a session log: {lines}, none of them an entry"
        )),
        _ if stats.unreadable() + other.unwrap_or(0) == stats.entries_in => Some(format!(
            "{lines}, but no entry of a conversation; is it a session log?"
        )),
        Verdict::Empty => Some(match wanted {
            Some(id) => format!(
                "session {id} is empty: it needs three entries with text from the user and the assistant; check the id, {whole}"
            ),
            None => format!(
                "the session is empty: it needs three entries with text from the user and the assistant; {whole}"
            ),
        }),
        Verdict::WarmUp => Some(format!(
            "the session is only a warm-up: the first prompt says so and no tool is used; {whole}"
        )),
        Verdict::Worth if stats.entries_out == 0 => Some(
            "no entry in it is part of a conversation; is it a session log, and the id right?"
                .to_owned(),
        ),
        Verdict::Worth => None,
    }
}

/// Destination of the transcript.
trait Output {
    fn write(&mut self, pieces: Vec<Piece>) -> Result<(), Failure>;
    fn finish(self: Box<Self>) -> Result<(), Failure>;
}

struct Stdout;

impl Output for Stdout {
    fn write(&mut self, pieces: Vec<Piece>) -> Result<(), Failure> {
        let text: String = pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::NextPart => "\n\n".to_owned(),
            })
            .collect();
        print(&text)
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        print("\n")
    }
}

/// Writes the parts to temporary files and renames them when all are complete, so that no
/// incomplete transcript is left behind.
struct Files {
    directory: PathBuf,
    stem: String,
    done: Vec<TempPath>,
    open: Option<io::BufWriter<NamedTempFile>>,
}

impl Files {
    fn new(directory: &Path, stem: &str) -> Result<Self, Failure> {
        std::fs::create_dir_all(directory).map_err(|error| {
            Failure::failed(format!(
                "cannot create the directory {}: {error}",
                directory.display()
            ))
        })?;
        Ok(Self {
            directory: directory.to_owned(),
            stem: stem.to_owned(),
            done: Vec::new(),
            open: None,
        })
    }

    fn cannot_write(&self, error: &io::Error) -> Failure {
        let directory = self.directory.display();
        Failure::failed(format!("cannot write to {directory}: {error}"))
    }

    fn piece(&mut self, piece: Piece) -> io::Result<()> {
        let Piece::Text(text) = piece else {
            return self.close();
        };
        let open = match &mut self.open {
            Some(open) => open,
            none => none.insert(io::BufWriter::new(NamedTempFile::new_in(&self.directory)?)),
        };
        open.write_all(text.as_bytes())
    }

    fn close(&mut self) -> io::Result<()> {
        if let Some(mut open) = self.open.take() {
            open.write_all(b"\n")?;
            let file = open.into_inner().map_err(io::IntoInnerError::into_error)?;
            self.done.push(file.into_temp_path());
        }
        Ok(())
    }

    /// Returns the path of the part with the 0-based `index`.
    fn path(&self, index: usize) -> PathBuf {
        self.directory
            .join(format!("{}-{}.xml", self.stem, index + 1))
    }
}

impl Output for Files {
    fn write(&mut self, pieces: Vec<Piece>) -> Result<(), Failure> {
        pieces
            .into_iter()
            .try_for_each(|piece| self.piece(piece))
            .map_err(|error| self.cannot_write(&error))
    }

    fn finish(mut self: Box<Self>) -> Result<(), Failure> {
        self.close().map_err(|error| self.cannot_write(&error))?;
        let paths: Vec<PathBuf> = (0..self.done.len()).map(|index| self.path(index)).collect();
        if let Some(there) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
            return Err(exists(there));
        }
        for (part, path) in std::mem::take(&mut self.done).into_iter().zip(&paths) {
            part.persist_noclobber(path)
                .map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => exists(path),
                    _ => self.cannot_write(&error.error),
                })?;
        }
        paths
            .iter()
            .try_for_each(|path| print(&format!("{}\n", path.display())))
    }
}

fn exists(path: &Path) -> Failure {
    let path = path.display();
    Failure::failed(format!(
        "{path} already exists; move it or choose another --output"
    ))
}
