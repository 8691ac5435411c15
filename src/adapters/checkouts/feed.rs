//! Passes the pieces of a download from an async task to the thread that unpacks them, with a bound
//! on what is in between.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use tokio::runtime::{Handle, RuntimeFlavor};

/// Maximum number of pieces that wait to be unpacked. hyper's pieces have at most some 400 KB.
const MAX_WAITING: usize = 16;

/// Creates a pair of a writer and a reader. Reading fails after `most` bytes.
pub(super) fn feed(most: u64) -> (Pieces, Feed) {
    let (sender, receiver) = sync_channel(MAX_WAITING);
    let feed = Feed {
        receiver,
        piece: Vec::new(),
        read: 0,
        ended: false,
        left: most,
    };
    (Pieces(sender), feed)
}

/// The sending end of the channel, used by the download.
pub(super) struct Pieces(SyncSender<Vec<u8>>);

impl Pieces {
    /// Passes on a piece. Returns false if the reader is gone. Blocks while too many pieces wait,
    /// after other tasks were moved off this thread.
    pub(super) fn send(&self, piece: &[u8]) -> bool {
        piece.is_empty() || self.pass(piece.to_vec())
    }

    /// Marks the end of the download. A reader that finds none knows that it was interrupted.
    pub(super) fn end(self) {
        // Without a reader, its own result says why.
        self.pass(Vec::new());
    }

    fn pass(&self, piece: Vec<u8>) -> bool {
        match self.0.try_send(piece) {
            Ok(()) => true,
            Err(TrySendError::Disconnected(_)) => false,
            Err(TrySendError::Full(piece)) => {
                let send = || self.0.send(piece).is_ok();
                let workers = Handle::try_current()
                    .is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
                if workers {
                    tokio::task::block_in_place(send)
                } else {
                    send()
                }
            }
        }
    }
}

/// The receiving end, read by the unpacking thread.
pub(super) struct Feed {
    receiver: Receiver<Vec<u8>>,
    piece: Vec<u8>,
    read: usize,
    ended: bool,
    left: u64,
}

impl BufRead for Feed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read == self.piece.len() && !self.ended {
            self.piece = self.receiver.recv().map_err(|_| {
                io::Error::new(ErrorKind::ConnectionAborted, "the download was interrupted")
            })?;
            self.read = 0;
            self.ended = self.piece.is_empty();
            self.left = left_after(self.left, self.piece.len())?;
        }
        Ok(&self.piece[self.read..])
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount;
    }
}

impl Read for Feed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

/// A reader that fails after a number of bytes.
pub(super) struct Limited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Limited<R> {
    /// Creates a reader of at most `most` bytes.
    pub(super) fn new(inner: R, most: u64) -> Self {
        Self { inner, left: most }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.left = left_after(self.left, length)?;
        Ok(length)
    }
}

fn left_after(left: u64, length: usize) -> io::Result<u64> {
    left.checked_sub(length as u64)
        .ok_or_else(|| ErrorKind::FileTooLarge.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::io::Write as _;

    use flate2::Compression;
    use flate2::bufread::MultiGzDecoder;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn pieces_arrive_in_order_and_the_end_is_told_from_an_interruption() {
        let (pieces, mut feed) = feed(100);
        assert!(pieces.send(b"one ") && pieces.send(b"") && pieces.send(b"two"));
        pieces.end();
        let mut text = String::new();
        feed.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
        assert_eq!(feed.read(&mut [0]).unwrap(), 0);
        let (pieces, mut feed) = super::feed(100);
        assert!(pieces.send(b"one"));
        drop(pieces);
        let error = feed.read_to_string(&mut text).unwrap_err();
        assert_eq!(error.to_string(), "the download was interrupted");
    }

    #[test]
    fn a_writer_learns_that_the_reader_is_gone_and_waits_for_a_slow_one() {
        let (pieces, feed) = feed(1_000_000);
        let reading = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            Limited::new(feed, 1_000_000)
                .read_to_end(&mut bytes)
                .unwrap();
            bytes.len()
        });
        for _ in 0..1_000 {
            assert!(pieces.send(&[0; 100]));
        }
        pieces.end();
        assert_eq!(reading.join().unwrap(), 100_000);
        let (pieces, feed) = super::feed(1_000_000);
        drop(feed);
        assert!(!pieces.send(b"one"));
    }

    #[test]
    fn both_sides_of_a_compression_are_limited() {
        // Members without content are read without producing anything.
        let member = GzEncoder::new(Vec::new(), Compression::default());
        let endless = member.finish().unwrap().repeat(100);
        let (pieces, feed) = feed(1_000);
        assert!(pieces.send(&endless[..500]) && pieces.send(&endless));
        let error = MultiGzDecoder::new(feed).read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let mut zeros = GzEncoder::new(Vec::new(), Compression::default());
        zeros.write_all(&vec![0; 100_000]).unwrap();
        let zeros = zeros.finish().unwrap();
        let mut limited = Limited::new(MultiGzDecoder::new(&zeros[..]), 99_999);
        let error = io::copy(&mut limited, &mut io::sink()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    }
}
