//! Pictures in an agent's text, made into links and words.

use crate::markdown;

/// Tags that fetch something when a page is shown.
const FETCHING: [&str; 12] = [
    "audio", "embed", "iframe", "image", "img", "input", "link", "object", "picture", "source",
    "svg", "video",
];

/// How far behind `![` the address is looked for, in bytes.
const REACH: usize = 1_000;

/// How often a text is gone through. What is taken out can change what is code; texts that need more were made for it.
const PASSES: usize = 4;

/// `text` with `[` for `![` and `&lt;` before tags that fetch something, outside code; and how many there were. Those
/// whose address stands in `known` stay.
pub(super) fn as_links(mut text: String, known: &str) -> (String, usize) {
    let mut count = 0;
    for _ in 0..PASSES {
        let (next, found) = pass(text, |places, text| {
            let code = markdown::in_code(text, places);
            let stays = |(at, code): (&usize, bool)| code || is_known(&text[*at..], known);
            places.iter().zip(code).map(stays).collect()
        });
        text = next;
        count += found;
        if found == 0 {
            return (text, count);
        }
    }
    // Layer upon layer: code or not, nothing is left that could be one.
    loop {
        let (next, found) = pass(text, |places, _| vec![false; places.len()]);
        text = next;
        count += found;
        if found == 0 {
            return (text, count);
        }
    }
}

/// Takes the power from every picture that does not stay, as `stay` says for each place; and how many these were.
fn pass(text: String, stay: impl Fn(&[usize], &str) -> Vec<bool>) -> (String, usize) {
    let mut places: Vec<usize> = text.match_indices("![").map(|(at, _)| at).collect();
    places.extend(
        text.match_indices('<')
            .map(|(at, _)| at)
            .filter(|at| fetches(&text[at + 1..])),
    );
    if places.is_empty() {
        return (text, 0);
    }
    places.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let (mut from, mut count) = (0, 0);
    for (at, stays) in places.iter().copied().zip(stay(&places, &text)) {
        if stays {
            continue;
        }
        if text.as_bytes()[at] == b'<' {
            out.push_str(&text[from..at]);
            out.push_str("&lt;");
        } else {
            // `!![` would leave a picture.
            out.push_str(text[from..at].trim_end_matches('!'));
        }
        from = at + 1;
        count += 1;
    }
    out.push_str(&text[from..]);
    (out, count)
}

fn fetches(tag: &str) -> bool {
    let end = tag
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(tag.len());
    FETCHING
        .iter()
        .any(|name| name.eq_ignore_ascii_case(&tag[..end]))
}

/// The address of the picture that `rest` begins with is in `known`. Only the plainest spelling is taken for known: in
/// any other one the address may be another than the one that is found here.
fn is_known(rest: &str, known: &str) -> bool {
    let near = &rest[..rest.floor_char_boundary(REACH)];
    let address = match near.strip_prefix("![") {
        Some(inside) => in_brackets(inside),
        None => in_tag(near),
    };
    address.is_some_and(|address| address.len() > 8 && known.contains(address))
}

/// `x` of `alt](x)` and of `alt](x "title")`, where the text has no brackets of its own.
fn in_brackets(inside: &str) -> Option<&str> {
    let (alt, behind) = inside.split_once(']')?;
    let plain = !alt.contains(['[', '\\', '`', '<', '&']);
    let address = behind.strip_prefix('(').filter(|_| plain)?;
    let address = &address[..address.find([')', ' ', '\n'])?];
    (!address.starts_with('<')).then_some(address)
}

/// `x` of `<img src="x">`, where the tag says nothing else but the picture's text and size.
fn in_tag(tag: &str) -> Option<&str> {
    let tag = tag.get(..tag.find('>')?)?;
    let (before, behind) = tag.split_once("src=\"")?;
    let (address, behind) = behind.split_once('"')?;
    let plain = |text: &str| {
        let lower = text.to_ascii_lowercase();
        !["src", "href", "data", "poster"]
            .iter()
            .any(|name| lower.contains(name))
    };
    (plain(before) && plain(behind)).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::as_links;

    #[test]
    fn nothing_is_fetched_that_was_not_before() {
        for (text, want, count) in [
            ("![a](https://evil.test/?x)", "[a](https://evil.test/?x)", 1),
            (
                "![a][b]\n\n[b]: https://evil.test",
                "[a][b]\n\n[b]: https://evil.test",
                1,
            ),
            (
                "<IMG src=\"https://evil.test\">",
                "&lt;IMG src=\"https://evil.test\">",
                1,
            ),
            ("`![a](b)` and <b>x</b>", "`![a](b)` and <b>x</b>", 0),
            ("```\n<img>\n```", "```\n<img>\n```", 0),
            (
                "![a](https://here.test/a.png)",
                "![a](https://here.test/a.png)",
                0,
            ),
        ] {
            let found = as_links(text.to_owned(), "see ![a](https://here.test/a.png)");
            assert_eq!(found, (want.to_owned(), count));
        }
    }

    #[test]
    fn what_is_taken_out_leaves_no_other_picture() {
        let known = "see ![a](https://here.test/a.png)";
        for text in [
            "!![a](https://evil.test)",
            "!!!![a](https://evil.test)",
            // Another address than the one that is found first.
            "![a][b] and [c](https://here.test/a.png)\n\n[b]: https://evil.test",
            "![[a](https://here.test/a.png)](https://evil.test)",
            "<img src='https://evil.test' alt=\"src=\"https://here.test/a.png\">",
            "<img src='https://evil.test' src=\"https://here.test/a.png\">",
            "<img src=\"https://here.test/a.png\" srcset=\"https://evil.test 2x\">",
            // No code any more when the tag is gone.
            "<picture>\n```\n</picture>\n\n```\n![a](https://evil.test)\n```\n",
        ] {
            let (left, count) = as_links(text.to_owned(), known);
            assert!(count > 0, "{text}");
            let html = comrak::markdown_to_html(&left, &{
                let mut options = crate::markdown::options();
                options.render.r#unsafe = true;
                options
            });
            assert!(
                !html.contains("<img") && !html.contains("<picture"),
                "{text}\n{left}\n{html}"
            );
        }
    }
}
