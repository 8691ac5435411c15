//! Cuts what is long: tool parameters and tool results.

/// Characters of a parameter that are not cut.
const PARAMETER: usize = 200;
/// Characters kept at each end of a longer one (erk's figure).
const ENDS: usize = (PARAMETER - 20) / 2;
/// A path has no space in so many characters.
const PATH_PROBE: usize = 100;
/// Lines of a result that are kept.
const LINES: usize = 30;
/// Lines with trouble that are kept of the rest.
const TROUBLE_LINES: usize = 30;
/// Characters of a result's line; longer ones hold no prose.
const LINE: usize = 2_000;
/// What makes a line worth keeping.
const TROUBLE: [&str; 6] = [
    "error",
    "exception",
    "failed",
    "failure",
    "fatal",
    "warning",
];

/// A parameter's value, where it is longer than 200 characters: a path keeps its first and last two parts, any other
/// text its two ends.
pub(super) fn parameter(value: &str) -> Option<String> {
    let length = longer(value, PARAMETER)?;
    path(value).or_else(|| Some(ends(value, length, ENDS)))
}

/// A result's text, where it has more than 30 lines or a very long one. Of the later lines those that speak of trouble
/// are kept, the first 30 of them.
pub(super) fn result(text: &str) -> Option<String> {
    let all = text.split('\n').count();
    let long_line = text.split('\n').any(|line| longer(line, LINE).is_some());
    if all <= LINES && !long_line {
        return None;
    }
    let mut out: Vec<String> = text.split('\n').take(LINES).map(cut_line).collect();
    if all > LINES {
        out.push(format!("\n... [{} lines omitted] ...", all - LINES));
        let mut trouble = text
            .split('\n')
            .skip(LINES)
            .filter(|line| speaks_of_trouble(line));
        let kept: Vec<String> = trouble.by_ref().take(TROUBLE_LINES).map(cut_line).collect();
        let more = trouble.count();
        if !kept.is_empty() {
            out.push(String::new());
        }
        out.extend(kept);
        if more > 0 {
            out.push(format!("... [{more} more lines of this kind omitted] ..."));
        }
    }
    Some(out.join("\n"))
}

fn speaks_of_trouble(line: &str) -> bool {
    let line = line.to_lowercase();
    TROUBLE.iter().any(|word| line.contains(word))
}

fn cut_line(line: &str) -> String {
    match longer(line, LINE) {
        Some(length) => ends(line, length, LINE / 2),
        None => line.to_owned(),
    }
}

/// The number of characters, where it is above `most`.
fn longer(text: &str, most: usize) -> Option<usize> {
    if text.len() <= most {
        return None;
    }
    let length = text.chars().count();
    (length > most).then_some(length)
}

fn path(value: &str) -> Option<String> {
    let plain = !value.contains('\n') && !value.chars().take(PATH_PROBE).any(|c| c == ' ');
    let parts: Vec<&str> = value.split('/').collect();
    if !plain || parts.len() <= 3 {
        return None;
    }
    let last = parts.len() - 2;
    let short = format!("{}/.../{}", parts[..2].join("/"), parts[last..].join("/"));
    longer(&short, PARAMETER).is_none().then_some(short)
}

/// The first and last `keep` of the `length` characters of `text`.
fn ends(text: &str, length: usize, keep: usize) -> String {
    let byte = |index: usize| text.char_indices().nth(index).map_or(text.len(), |at| at.0);
    let (head, tail) = (&text[..byte(keep)], &text[byte(length - keep)..]);
    format!("{head}...[truncated {} chars]...{tail}", length - 2 * keep)
}
