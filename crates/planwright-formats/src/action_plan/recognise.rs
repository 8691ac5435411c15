//! Is this text meant to be an action plan? Cheap: one look at its lines, no parser.

/// `text` begins with a title, and of its headings of level 2 the first names the rationale and a later one the action
/// plan. It may still be refused by [`super::parse`]. Headings in fenced code do not count.
pub fn is_action_plan(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.trim_start_matches(['\n', '\r']);
    if !text.starts_with("# ") {
        return false;
    }
    let mut fence: Option<(u8, usize)> = None;
    let mut rationale = false;
    for line in text.lines() {
        let line = line.trim_start_matches(' ');
        let Some(first @ (b'#' | b'`' | b'~')) = line.bytes().next() else {
            continue;
        };
        if first == b'#' {
            if fence.is_none() && line.starts_with("## ") {
                if !rationale {
                    if !line.contains("Rationale") {
                        return false;
                    }
                    rationale = true;
                } else if line.contains("Action Plan") {
                    return true;
                }
            }
            continue;
        }
        let length = line.bytes().take_while(|byte| *byte == first).count();
        match fence {
            Some((mark, least))
                if first == mark && length >= least && line[length..].trim().is_empty() =>
            {
                fence = None;
            }
            None if length >= 3 => fence = Some((first, length)),
            _ => {}
        }
    }
    false
}
