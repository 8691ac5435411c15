//! From lines to pieces: what is written when, and what waits.

use super::entry::{self, Usage};
use super::filter::Filter;
use super::judge::Judge;
use super::{End, HELD_BYTES, Head, LeftOut, Options, Piece, Stats, Verdict, xml};
use crate::session::budget::Budget;
use crate::session::lines::Line;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Turns lines into pieces.
#[derive(Debug)]
pub(super) struct Writer {
    session_id: Option<String>,
    filter: Option<Filter>,
    judge: Option<Judge>,
    head: Head,
    max_tokens: Option<usize>,
    /// Entries that wait for the head.
    pub(super) held: Vec<String>,
    held_bytes: usize,
    /// There once the head has been written.
    budget: Option<Budget>,
    /// The entry that its message's token counts may have to follow.
    pending: Option<Pending>,
    pub(super) stats: Stats,
}

/// An entry that waits for the one after it.
#[derive(Debug)]
struct Pending {
    message: String,
    usage: Usage,
    xml: String,
}

impl Writer {
    pub(super) fn new(options: Options) -> Self {
        Self {
            session_id: options.session_id,
            filter: options.filter.then(Filter::default),
            judge: options.filter.then(Judge::default),
            head: Head::new(options.source),
            max_tokens: options.max_tokens,
            held: Vec::new(),
            held_bytes: 0,
            budget: None,
            pending: None,
            stats: Stats::default(),
        }
    }

    pub(super) fn line(&mut self, line: Line<'_>, pieces: &mut Vec<Piece>) {
        self.stats.lines += 1;
        let read = match line {
            Line::TooLong => Err(LeftOut::TooLong),
            Line::Bytes(bytes) => {
                let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
                    Some(rest) if self.stats.lines == 1 => rest,
                    _ => bytes,
                };
                if bytes.trim_ascii().is_empty() {
                    return;
                }
                self.read(bytes)
            }
        };
        self.stats.entries_in += 1;
        match read {
            Ok((xml, message, usage)) => self.entry(xml, message, usage, pieces),
            Err(why) => self.stats.leave_out(why),
        }
    }

    /// The XML of a line's entry, the id of its message and the token counts.
    fn read(&mut self, line: &[u8]) -> Result<(String, Option<String>, Option<Usage>), LeftOut> {
        let mut entry = entry::read(line, self.session_id.as_deref())?;
        if let Some(pending) = &mut self.pending
            && entry.message.as_ref() == Some(&pending.message)
        {
            pending.usage = entry.usage.unwrap_or(pending.usage);
        }
        if let Some(filter) = &mut self.filter {
            filter.apply(&mut entry, &mut self.stats)?;
        }
        self.head.note(&entry);
        if let Some(judge) = &mut self.judge {
            judge.note(&entry);
        }
        let xml = xml::entry(&entry);
        if xml.is_empty() {
            return Err(LeftOut::Blank);
        }
        Ok((xml, entry.message, entry.usage))
    }

    /// Puts the token counts behind the last entry of a message: it fills several entries, and the counts grow.
    fn entry(
        &mut self,
        mut xml: String,
        message: Option<String>,
        usage: Option<Usage>,
        pieces: &mut Vec<Piece>,
    ) {
        let before = self.pending.take();
        let goes_on = before
            .as_ref()
            .is_some_and(|before| message.as_ref() == Some(&before.message));
        let carried = before
            .as_ref()
            .map(|before| before.usage)
            .filter(|_| goes_on);
        if let Some(mut before) = before {
            if !goes_on {
                before.xml.push_str(&xml::usage(before.usage));
            }
            self.take(before.xml, pieces);
        }
        match (message, usage.or(carried)) {
            (Some(message), Some(usage)) => {
                self.pending = Some(Pending {
                    message,
                    usage,
                    xml,
                });
            }
            (_, usage) => {
                if let Some(usage) = usage {
                    xml.push_str(&xml::usage(usage));
                }
                self.take(xml, pieces);
            }
        }
    }

    /// Writes an entry, or holds it back until the head can be written.
    fn take(&mut self, xml: String, pieces: &mut Vec<Piece>) {
        self.stats.entries_out += 1;
        if self.budget.is_some() {
            self.write(xml, pieces);
            return;
        }
        self.held_bytes += xml.len();
        self.held.push(xml);
        let ready = self.verdict() == Verdict::Worth && self.head.is_complete();
        if ready || self.held_bytes > HELD_BYTES {
            self.release(pieces);
        }
    }

    /// [`Verdict::Worth`] is final, as is whatever has begun to be written.
    fn verdict(&self) -> Verdict {
        match &self.judge {
            Some(judge) if self.budget.is_none() => judge.verdict(),
            _ => Verdict::Worth,
        }
    }

    pub(super) fn finish(mut self, mut pieces: Vec<Piece>) -> End {
        if let Some(mut last) = self.pending.take() {
            last.xml.push_str(&xml::usage(last.usage));
            self.take(last.xml, &mut pieces);
        }
        let verdict = self.verdict();
        if verdict == Verdict::Worth {
            if self.budget.is_none() {
                self.release(&mut pieces);
            }
            self.text(xml::CLOSE.to_owned(), &mut pieces);
        } else {
            self.stats.leave_out_all();
        }
        End {
            pieces,
            verdict,
            stats: self.stats,
        }
    }

    /// Writes the head and what waited for it.
    fn release(&mut self, pieces: &mut Vec<Piece>) {
        self.budget = Some(Budget::new(&self.head, self.max_tokens));
        self.text(self.head.open(), pieces);
        for xml in std::mem::take(&mut self.held) {
            self.write(xml, pieces);
        }
    }

    fn write(&mut self, xml: String, pieces: &mut Vec<Piece>) {
        let another = self
            .budget
            .as_mut()
            .is_some_and(|budget| !budget.takes(&xml));
        if another {
            self.text(xml::CLOSE.to_owned(), pieces);
            pieces.push(Piece::NextPart);
            self.text(self.head.open(), pieces);
        }
        self.text(xml, pieces);
    }

    fn text(&mut self, text: String, pieces: &mut Vec<Piece>) {
        self.stats.bytes_out += text.len() as u64;
        pieces.push(Piece::Text(text));
    }
}
