//! Cuts a stream of bytes into lines, whatever the chunks are.

/// A line longer than this is skipped: 64 MiB. Real lines reach some 50 MB, where a tool has answered with a file.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// What is kept of the buffer after a long line, in bytes.
const KEPT_BUFFER_BYTES: usize = 1024 * 1024;

/// One line of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// The line without its `\n` (a `\r` before it stays).
    Bytes(&'a [u8]),
    /// A line over the limit; its bytes were not kept.
    TooLong,
}

/// Cuts lines out of chunks. A line that lies within one chunk is not copied; at most one line is held.
#[derive(Debug)]
pub struct Lines {
    /// The begun line.
    begun: Vec<u8>,
    /// The begun line is over the limit.
    too_long: bool,
    limit: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::with_limit(MAX_LINE_BYTES)
    }
}

impl Lines {
    /// Lines over `limit` bytes are [`Line::TooLong`].
    pub fn with_limit(limit: usize) -> Self {
        Self {
            begun: Vec::new(),
            too_long: false,
            limit,
        }
    }

    /// Takes the next bytes and gives every line that ends in them.
    pub fn push(&mut self, mut chunk: &[u8], mut line: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (head, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.too_long || self.begun.len() + head.len() > self.limit {
                line(Line::TooLong);
            } else if self.begun.is_empty() {
                line(Line::Bytes(head));
            } else {
                self.begun.extend_from_slice(head);
                line(Line::Bytes(&self.begun));
            }
            self.reset();
        }
        if self.too_long || self.begun.len() + chunk.len() > self.limit {
            self.too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(chunk);
        }
    }

    /// Gives the last line where the text does not end with a line end.
    pub fn finish(self, mut line: impl FnMut(Line<'_>)) {
        if self.too_long {
            line(Line::TooLong);
        } else if !self.begun.is_empty() {
            line(Line::Bytes(&self.begun));
        }
    }

    fn reset(&mut self) {
        self.too_long = false;
        self.begun.clear();
        self.begun.shrink_to(KEPT_BUFFER_BYTES);
    }
}

#[cfg(test)]
mod tests;
