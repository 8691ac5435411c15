//! A disk with a volatile cache: what it holds after a power failure.
//!
//! A sync of a file makes its content durable, a sync of the folder its names. Nothing else does.

use std::collections::BTreeMap;
use std::path::Path;

use rand::RngExt as _;
use rand::rngs::StdRng;

/// An operation on the files of the folder.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    kind: Kind,
    /// Name of the file; empty for the folder.
    name: String,
    data: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Kind {
    Create,
    /// Writes the data at this offset.
    Write(usize),
    /// Sets the length.
    Truncate(usize),
    Sync,
    Unlink,
    /// The data is the new name.
    Rename,
}

impl Operation {
    pub(super) fn is_sync(&self) -> bool {
        matches!(self.kind, Kind::Sync)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn data(&self) -> &[u8] {
        &self.data
    }
}

/// Reads the records that `trace.c` describes.
pub(super) fn read(mut trace: &[u8]) -> Vec<Operation> {
    let mut operations = Vec::new();
    while let Some((kind, rest)) = trace.split_first() {
        let number = |n: usize| {
            let bytes = rest[8 * n..8 * n + 8].try_into().unwrap();
            usize::try_from(u64::from_le_bytes(bytes)).unwrap()
        };
        let (name, data, offset) = (number(0), number(1), number(2));
        let rest = &rest[24..];
        let (name, rest) = rest.split_at(name);
        let (data, rest) = rest.split_at(data);
        let kind = match kind {
            b'c' => Kind::Create,
            b'w' => Kind::Write(offset),
            b't' => Kind::Truncate(offset),
            b's' => Kind::Sync,
            b'u' => Kind::Unlink,
            b'r' => Kind::Rename,
            other => panic!("not a record: {other}"),
        };
        operations.push(Operation {
            kind,
            name: String::from_utf8(name.to_vec()).unwrap(),
            data: data.to_vec(),
        });
        trace = rest;
    }
    operations
}

/// What survives of that which was not synced.
#[derive(Debug, Clone, Copy)]
pub(super) enum Survival {
    Nothing,
    Everything,
    /// Of each write any sectors, and of the names any state since the last sync.
    Random,
}

/// How a random failure treats what was written to the files.
struct Fate {
    /// Size of what is written as a whole, in bytes.
    sector: usize,
    /// Probability in percent that a sector survives.
    percent: u32,
    /// Whether a file has grown although the new content was not written.
    grows: bool,
}

/// A file, independent of its name.
#[derive(Debug, Default)]
struct File {
    durable: Vec<u8>,
    /// Writes and truncations since the last sync.
    volatile: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

fn write(content: &mut Vec<u8>, offset: usize, data: &[u8]) {
    let end = offset + data.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(data);
}

impl File {
    fn sync(&mut self) {
        for change in self.volatile.drain(..) {
            match change {
                Change::Write(offset, data) => write(&mut self.durable, offset, &data),
                Change::Truncate(length) => self.durable.resize(length, 0),
            }
        }
    }

    /// Returns the content if of each change that is not synced those sectors survive that `fate`
    /// selects.
    fn content(&self, fate: &Fate, random: &mut StdRng) -> Vec<u8> {
        let mut content = self.durable.clone();
        for change in &self.volatile {
            match change {
                Change::Write(offset, data) => {
                    let mut start = 0;
                    while start < data.len() {
                        let at = offset + start;
                        let next = (at / fate.sector + 1) * fate.sector;
                        let end = data.len().min(next - offset);
                        if random.random_ratio(fate.percent, 100) {
                            write(&mut content, at, &data[start..end]);
                        } else if fate.grows && content.len() < offset + end {
                            content.resize(offset + end, 0);
                        }
                        start = end;
                    }
                }
                Change::Truncate(length) => {
                    if random.random_ratio(fate.percent, 100) {
                        content.resize(*length, 0);
                    }
                }
            }
        }
        content
    }
}

/// The files of a folder, and what of them is durable.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: Vec<File>,
    /// For each name, the file that it has durably, and those it was given since; `None` where
    /// there is no file.
    names: BTreeMap<String, Vec<Option<usize>>>,
}

impl Disk {
    fn file(&mut self, name: &str) -> Option<&mut File> {
        let file = (*self.names.get(name)?.last()?)?;
        self.files.get_mut(file)
    }

    fn link(&mut self, name: &str, file: Option<usize>) {
        let states = self.names.entry(name.to_owned());
        states.or_insert_with(|| vec![None]).push(file);
    }

    /// Performs an operation.
    pub(super) fn perform(&mut self, operation: &Operation) {
        let name = operation.name.as_str();
        match operation.kind {
            Kind::Create => {
                self.files.push(File::default());
                self.link(name, Some(self.files.len() - 1));
            }
            Kind::Unlink => self.link(name, None),
            Kind::Rename => {
                let file = self.names.get(name).and_then(|states| *states.last()?);
                let new = std::str::from_utf8(&operation.data).unwrap().to_owned();
                self.link(&new, file);
                self.link(name, None);
            }
            Kind::Sync if name.is_empty() => {
                for states in self.names.values_mut() {
                    states.drain(..states.len() - 1);
                }
            }
            // Whatever is done to a file that has no name any more does not matter.
            Kind::Sync => {
                if let Some(file) = self.file(name) {
                    file.sync();
                }
            }
            Kind::Write(offset) => {
                if let Some(file) = self.file(name) {
                    let data = operation.data.clone();
                    file.volatile.push(Change::Write(offset, data));
                }
            }
            Kind::Truncate(length) => {
                if let Some(file) = self.file(name) {
                    file.volatile.push(Change::Truncate(length));
                }
            }
        }
    }

    /// Writes what the disk holds after a power failure into `folder`.
    pub(super) fn fail(&self, folder: &Path, survival: Survival, random: &mut StdRng) {
        let fate = Fate {
            sector: if random.random() { 512 } else { 4_096 },
            percent: match survival {
                Survival::Nothing => 0,
                Survival::Everything => 100,
                Survival::Random => [5, 50, 95][random.random_range(0..3)],
            },
            grows: matches!(survival, Survival::Random) && random.random(),
        };
        for (name, states) in &self.names {
            let state = match survival {
                Survival::Nothing => 0,
                Survival::Everything => states.len() - 1,
                Survival::Random => random.random_range(0..states.len()),
            };
            if let Some(file) = states[state] {
                let content = self.files[file].content(&fate, random);
                std::fs::write(folder.join(name), content).unwrap();
            }
        }
    }
}
