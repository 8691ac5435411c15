//! Cuts text to a limit of bytes, at line ends where it can.

/// What erk let a comment hold of a session: GitHub's 65,536 less a buffer of 1,000. Bytes, which is on the safe side
/// of GitHub's characters.
pub const COMMENT_BYTES: usize = 65_536 - 1_000;

/// The chunks of `text`, each of at most `most` bytes of UTF-8; joined with `\n` they are the text again unless a line
/// alone was longer. Such a line is cut between characters into chunks of its own, one byte shorter than `most`. A
/// character wider than that is a chunk all the same.
pub fn chunk(text: &str, most: usize) -> Vec<&str> {
    if text.len() <= most {
        return vec![text];
    }
    let mut chunks = Vec::new();
    // The chunk that grows: whole lines, the line end after the last one not included.
    let mut open: Option<(usize, usize)> = None;
    let mut at = 0;
    for line in text.split('\n') {
        let end = at + line.len();
        // A line counts with its line end, as erk counted.
        if line.len() + 1 > most {
            chunks.extend(open.take().map(|(from, to)| &text[from..to]));
            cut(line, most.saturating_sub(1), &mut chunks);
        } else {
            match open {
                Some((from, _)) if end + 1 - from <= most => open = Some((from, end)),
                _ => {
                    chunks.extend(open.take().map(|(from, to)| &text[from..to]));
                    open = Some((at, end));
                }
            }
        }
        at = end + 1;
    }
    chunks.extend(open.map(|(from, to)| &text[from..to]));
    chunks
}

fn cut<'a>(line: &'a str, most: usize, chunks: &mut Vec<&'a str>) {
    let mut rest = line;
    while !rest.is_empty() {
        let one = rest.chars().next().map_or(0, char::len_utf8);
        let piece = rest.floor_char_boundary(most).max(one);
        let (head, tail) = rest.split_at(piece);
        chunks.push(head);
        rest = tail;
    }
}

#[cfg(test)]
mod tests;
