//! Neutralisation of images in an agent's text.

use crate::markdown;
use crate::text::truncate_bytes;

/// Length that the URL of a known image must exceed, in bytes.
const MIN_KNOWN_URL_BYTES: usize = 8;

/// HTML tags that fetch a URL when a page is displayed.
const FETCHING_TAGS: [&str; 12] = [
    "audio", "embed", "iframe", "image", "img", "input", "link", "object", "picture", "source",
    "svg", "video",
];

/// Maximum distance of the URL from `![`, in bytes.
const MAX_URL_DISTANCE: usize = 1_000;

/// Number of passes that leave code unchanged. A replacement can change which text is code, but
/// only texts made for this purpose need more passes.
const MAX_CODE_PASSES: usize = 4;

/// Replaces `![` by `[`, and `<` by `&lt;` in tags that fetch a URL, outside code. Images whose URL
/// occurs in `known` are kept. Returns the text and the number of replacements.
pub(super) fn as_links(mut text: String, known: &str) -> (String, usize) {
    let mut count = 0;
    for passes in 0.. {
        let (next, found) = pass(text, |offsets, text| {
            // Text that is still changing is replaced in code as well, and known images too.
            if passes >= MAX_CODE_PASSES {
                return vec![false; offsets.len()];
            }
            let code = markdown::in_code(text, offsets);
            let kept = |(at, code): (&usize, bool)| code || is_known(&text[*at..], known);
            offsets.iter().zip(code).map(kept).collect()
        });
        text = next;
        count += found;
        if found == 0 {
            break;
        }
    }
    (text, count)
}

/// Replaces every image once unless `keep`, which receives all offsets, returns true for it.
fn pass(text: String, keep: impl Fn(&[usize], &str) -> Vec<bool>) -> (String, usize) {
    let mut offsets: Vec<usize> = text.match_indices("![").map(|(at, _)| at).collect();
    offsets.extend(
        text.match_indices('<')
            .map(|(at, _)| at)
            .filter(|at| fetches(&text[at + 1..])),
    );
    if offsets.is_empty() {
        return (text, 0);
    }
    offsets.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let (mut from, mut count) = (0, 0);
    for (at, kept) in offsets.iter().copied().zip(keep(&offsets, &text)) {
        if kept {
            continue;
        }
        if text.as_bytes()[at] == b'<' {
            out.push_str(&text[from..at]);
            out.push_str("&lt;");
        } else {
            // `!![` would become an image again.
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
    FETCHING_TAGS
        .iter()
        .any(|name| name.eq_ignore_ascii_case(&tag[..end]))
}

/// Returns true if the URL of the image at the start of `rest` occurs in `known`. Only the simplest
/// syntax is accepted, since otherwise a browser may use another URL than the one found here.
fn is_known(rest: &str, known: &str) -> bool {
    let near = truncate_bytes(rest, MAX_URL_DISTANCE);
    let url = match near.strip_prefix("![") {
        Some(inside) => markdown_url(inside),
        None => tag_url(near),
    };
    url.is_some_and(|url| url.len() > MIN_KNOWN_URL_BYTES && known.contains(url))
}

/// Returns `x` of `alt](x)` and of `alt](x "title")` if the alternative text is plain.
fn markdown_url(inside: &str) -> Option<&str> {
    let (alt, behind) = inside.split_once(']')?;
    let plain = !alt.contains(['[', '\\', '`', '<', '&']);
    let url = behind.strip_prefix('(').filter(|_| plain)?;
    let url = &url[..url.find([')', ' ', '\n'])?];
    (!url.starts_with('<')).then_some(url)
}

/// Returns `x` of `<img src="x">` if no other attribute can contain a URL.
fn tag_url(tag: &str) -> Option<&str> {
    let tag = tag.get(..tag.find('>')?)?;
    let (before, behind) = tag.split_once("src=\"")?;
    let (url, behind) = behind.split_once('"')?;
    let plain = |text: &str| {
        let lower = text.to_ascii_lowercase();
        !["src", "href", "data", "poster"]
            .iter()
            .any(|name| lower.contains(name))
    };
    (plain(before) && plain(behind)).then_some(url)
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
