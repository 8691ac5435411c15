//! Generates texts that are slow to read: every Markdown construct repeated, nested, and opened
//! without being closed.
//!
//! The texts are deterministic. Tests and `benches/decide.rs` share them.

/// Short pieces that begin, continue or end a Markdown construct.
pub(crate) const PIECES: &[&str] = &[
    ">",
    "> ",
    ">\n",
    "> a\n",
    "* ",
    "- ",
    "+ ",
    "1. ",
    "1) ",
    "- a\n",
    "* * a\n",
    "> - ",
    "> - > 1. ",
    ">\t",
    "-\t",
    "*",
    "_",
    "**",
    "__",
    "*_",
    "*a",
    "_a ",
    "a**b",
    "**a *",
    "*a_ ",
    "a*b_c",
    "~",
    "~~",
    "~~a ",
    "~a",
    "[",
    "]",
    "[]",
    "[a",
    "![",
    "![[",
    "[![",
    "[a](",
    "[a](<",
    "[a](b",
    "[](",
    "a]",
    "![a](",
    "](",
    "[^",
    "[^a]",
    "[^1]: ",
    "[^a]:\n",
    "[^a]: a\n",
    "[^a][^b]",
    "[a]: b\n",
    "[a]: ",
    "[a]:",
    "[a\n",
    "[a]: <",
    "[a]: b \"",
    "[a]: b '\n",
    "[a]:\n",
    "<",
    "<a",
    "<a ",
    "<a b",
    "<a b=",
    "<a b='",
    "<a b=\"",
    "</",
    "<!",
    "<!-",
    "<!--",
    "<!-- ",
    "<!---",
    "<!A",
    "<!A ",
    "<![CDATA[",
    "<?",
    "<? ",
    "<?>",
    "<div>",
    "<div>\n",
    "<div>\n\n",
    "<a>",
    "<a>\n\n",
    "<a\nb\n",
    "<script>",
    "<pre>\n",
    "a <!-- b ",
    "a <![CDATA[ b ",
    "&",
    "&a",
    "&a;",
    "&#",
    "&#x",
    "&amp;",
    "&#1;",
    "&#x1;",
    "`",
    "``",
    "`a",
    "`a``",
    "a`",
    "```\n",
    "~~~\n",
    "```a\n",
    "    a\n",
    "\t",
    "\ta\n",
    " ",
    "  \n",
    "\n",
    "\r",
    "\r\n",
    "a\n",
    "a  \n",
    "a\\\n",
    "\\",
    "\\\\",
    "\\*",
    "|",
    "|a",
    "|\n",
    "|-|\n",
    "|a|\n|-|\n",
    "a|b\n-|-\n",
    "|-",
    ":-:|",
    "\\|",
    "`|`",
    "#",
    "# ",
    "# a\n",
    "#\n",
    "a\n=\n",
    "a\n-\n",
    "=\n",
    "-\n",
    "---\n",
    "***\n",
    "_ _ _\n",
    "- [ ] a\n",
    "[ ] ",
    "- [ ] ",
    "* [x] ",
    "1. [ ] a\n",
    "www.",
    "www.a",
    "www.a.b ",
    "http://",
    "https://a ",
    "http://a.b/(",
    "http://a)",
    "a@",
    "@",
    "a@b",
    "a@b.c",
    "a@b.c ",
    "a.",
    "a@b_",
    "_@",
    "mailto:a@",
    "xmpp:a@b/",
    "://",
    ":",
    "www.a&b;",
    "www.a))",
    "<http://",
    "<a@b",
    "<a@b.c>",
    "<http:a>",
    "<http://\0\u{feff}\u{1F600}",
    "~www.a.b<",
    "\u{c}~www.a.b<",
    "\u{1F600}",
    "\u{e9}*",
    "\u{a0}*",
    "\u{201c}*",
    "\0",
    "\u{feff}",
    "/plan-help\n",
    "/plan-help\n\n",
    "/save-plan a\n\n",
    "/save-plan\n\n# Plan: x\n\n",
    "/save-raw-plan\n\n",
    "> /plan-help\n",
    "- /plan-help\n",
    "[!NOTE]\n",
    "> [!NOTE]\n",
    "> [!NOTE]\n> a\n\n",
    "\u{b}",
    "\u{c}",
    "1.\n",
    "999999999. ",
    "-\n\n",
    "* a\n\n  b\n",
    "- a\n  - b\n",
    "a b c\n",
    "x ",
    "plan: x\n\n",
    "session=\"a",
    "research=a ",
    "a\n\n",
];

/// Pairs of a piece that opens a construct and a piece that closes or follows it.
const PAIRS: &[(&str, &str)] = &[
    ("[", "]"),
    ("*a ", "b*"),
    ("**a ", "b**"),
    ("_a ", "b_"),
    ("*", "_"),
    ("**a _", "_ b**"),
    ("[a](", ")"),
    ("<", ">"),
    ("![", "](a)"),
    ("[", "](a)"),
    ("[a ", "](b)"),
    ("`", "a`"),
    ("> ", "a\n"),
    ("- ", "a\n"),
    ("[a]: b\n", "[a]"),
    ("[a]: b\n", "[a]\n\n"),
    ("[^a]: x\n\n", "[^a]"),
    ("[^", "]"),
    ("[[", "]]"),
    ("~~a ", "b~~"),
    ("~", "~~"),
    ("<!--", "-->"),
    ("<!-- a", "--"),
    ("<a ", ">"),
    ("\\[", "]"),
    ("&", "a;"),
    ("|", "\n"),
    ("-", " "),
    (" ", "- a\n"),
    ("#", " "),
    ("a", "="),
    ("a\n", "="),
    ("a\n", "|-|-\n"),
    ("www.a.", "&a;"),
    ("www.a(", ")"),
    ("a.", "@a"),
    ("a@", "a."),
    ("\t", "- "),
    ("[", "a]: b\n"),
    ("> ", "- "),
    ("*a**a", " b"),
    ("- ", "b\n"),
    (">", "\n"),
    ("- ", "\n"),
    ("|a", "|-|\n"),
    ("/save-raw-plan\n\n", "a\n\n"),
];

/// Repeats `piece` as often as it fits into `length` characters.
pub(crate) fn repeated(piece: &str, length: usize) -> String {
    piece.repeat(length / piece.chars().count())
}

/// Concatenates pieces made from increasing numbers, as many as fit into `length` bytes.
fn growing(length: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        let next = piece(number);
        if text.len() + next.len() > length {
            break;
        }
        text.push_str(&next);
    }
    text
}

/// Returns all shapes with their names, each of at most `length` characters.
pub(crate) fn shapes(length: usize) -> Vec<(String, String)> {
    let half = length / 2;
    let root = length.isqrt();
    let mut all: Vec<(String, String)> = Vec::new();
    for piece in PIECES {
        all.push((format!("{piece:?} repeated"), repeated(piece, length)));
    }
    for (open, close) in PAIRS {
        let text = repeated(open, half) + &repeated(close, half);
        all.push((format!("{open:?}, then {close:?}"), text));
    }
    let deep = |marker: &str| growing(half, |level| format!("{}{marker} a\n", "  ".repeat(level)));
    let wide = |columns: usize| format!("{}|\n{}|\n", "|a".repeat(columns), "|-".repeat(columns));
    let rest = |text: String, piece: &str| {
        let more = repeated(piece, length.saturating_sub(text.chars().count()));
        text + &more
    };
    let one = |name: &str, text: String| (name.to_owned(), text);
    all.extend([
        one(
            "list in list in list",
            growing(length, |level| format!("{}- a\n", "  ".repeat(level))),
        ),
        one("deep list, then blank lines", rest(deep("-"), "\n")),
        one("deep list, then text", rest(deep("1."), "a\n")),
        one(
            "deep on one line, then blank lines",
            rest("- ".repeat(length / 4) + "a\n", "\n"),
        ),
        one(
            "deep quote, again and again",
            repeated(&(">".repeat(root) + "b\n"), length),
        ),
        one(
            "as deep as is read, then blank lines",
            rest("- ".repeat(49) + "a\n", "\n"),
        ),
        one(
            "as deep as is read, then text",
            rest("1. ".repeat(49) + "a\n", "a\n"),
        ),
        one(
            "as deep as is read, footnotes",
            rest("[^a]: ".repeat(49) + "\n", "\n"),
        ),
        one(
            "quotes that grow",
            growing(length, |level| format!("{} b\n", ">".repeat(level + 1))),
        ),
        one(
            "quotes and lists that grow",
            growing(length, |level| format!("{}b\n", "> - ".repeat(level + 1))),
        ),
        one(
            "back-ticks that grow",
            growing(length, |level| format!("e{}", "`".repeat(level + 1))),
        ),
        one(
            "fences that grow",
            growing(length, |level| format!("{}a\n", "`".repeat(level + 3))),
        ),
        one(
            "stars that grow",
            growing(length, |level| format!("a{}", "*".repeat(level + 1))),
        ),
        one(
            "definitions",
            growing(length, |number| format!("[a{number}]: b\n")),
        ),
        one(
            "definitions and references",
            growing(half, |number| format!("[{number}]: b\n"))
                + "\n"
                + &growing(half - 1, |number| format!("[{number}]")),
        ),
        one(
            "a long definition, referred to often",
            rest(format!("[a]: {}\n\n", "b".repeat(half)), "[a]"),
        ),
        one(
            "a long title, referred to often",
            rest(format!("[a]: b '{}'\n\n", "b".repeat(half)), "[a]"),
        ),
        one(
            "long labels",
            repeated(&format!("[{}", "a ".repeat(499)), length),
        ),
        one(
            "long labels, closed",
            repeated(&format!("[{}]", "a ".repeat(499)), length),
        ),
        one(
            "footnotes",
            growing(length, |number| format!("[^{number}]: b\n\n")),
        ),
        one(
            "footnotes and references",
            growing(half, |number| format!("[^{number}]: b\n\n"))
                + &growing(half, |number| format!("[^{number}]")),
        ),
        one(
            "footnote in footnote",
            growing(length, |level| {
                format!("{}[^{level}]: b\n", "    ".repeat(level))
            }),
        ),
        one(
            "a footnote, referred to often",
            rest("[^a]: b\n\n".to_owned(), "[^a]"),
        ),
        one(
            "a footnote of a long name",
            rest(format!("[^{0}]: b\n\n[^{0}]", "a".repeat(1_000)), "[^a]"),
        ),
        one(
            "a wide table, then short rows",
            rest(wide(length / 8), "a\n"),
        ),
        one(
            "a wide table, then empty rows",
            rest(wide(length / 8), "|\n"),
        ),
        one(
            "a wide table, then short rows, with CRLF line ends",
            rest(wide(length / 8).replace('\n', "\r\n"), "a\r\n"),
        ),
        one("a square table", rest(wide(root), "|\n")),
        one(
            "tables below one another",
            repeated(&(wide(20) + "a\n\n"), length),
        ),
        one(
            "a table behind a long paragraph",
            repeated("a\n", length - 12) + "|a|\n|-|\n",
        ),
        one("escaped pipes", rest("|a|\n|-|\n".to_owned(), "\\|")),
        one("attributes", rest("<a ".to_owned(), "b=c ")),
        one(
            "end of an address: parentheses",
            rest("www.a.b/".to_owned(), ")"),
        ),
        one(
            "end of an address: entities",
            rest("www.a.b/".to_owned(), "&a;"),
        ),
        one(
            "end of an address: punctuation",
            rest("www.a.b/".to_owned(), "?!.,:"),
        ),
        one(
            "addresses of mail without an end",
            rest("a@".to_owned(), "a."),
        ),
        one(
            "images in images",
            "![".repeat(length / 8) + "a" + &"](b)".repeat(length / 8),
        ),
        one(
            "parentheses in a link",
            repeated(&("[a]".to_owned() + &"(".repeat(40)), length),
        ),
        one(
            "blanks in the middle of a line",
            rest("a".to_owned(), " ") + "",
        ),
        one(
            "blanks at the end of lines",
            repeated(&format!("a{}\n", " ".repeat(1_000)), length),
        ),
        one(
            "blanks behind markers",
            repeated(&format!("-{}\n", " ".repeat(1_000)), length),
        ),
        one(
            "closing marks of headings",
            repeated(&format!("# a{}\n", " #".repeat(1_000)), length),
        ),
        one("options", rest("/save-plan ".to_owned(), "session=\"a")),
        one("more options", rest("/plan ".to_owned(), "research=a ")),
        one("titles", rest("/save-plan\n\n".to_owned(), "a: b\n\n")),
        one(
            "commands, then a list",
            repeated("/save-raw-plan\n\n", length - 6) + "\n- a\n",
        ),
        one(
            "deep lists around links that do not end",
            rest("* ".repeat(49), "[^a]"),
        ),
        one("emoji", repeated("\u{1F600}*", length)),
    ]);
    all
}

/// A deterministic pseudorandom number generator (`SplitMix64`), with its state.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (end.max(1) as u64)).unwrap_or_default()
    }
}

/// A compact description of a text, which can be varied: pieces, each with its number of
/// repetitions.
pub(crate) type Recipe = Vec<(String, usize)>;

/// Returns a random recipe of up to five pieces.
pub(crate) fn recipe(numbers: &mut Numbers) -> Recipe {
    (0..=numbers.below(5))
        .map(|_| {
            let piece = (0..=numbers.below(3))
                .map(|_| PIECES[numbers.below(PIECES.len())])
                .collect();
            let times = [1, 1, 2, 10, 49, 200, 2_000, 20_000][numbers.below(8)];
            (piece, times)
        })
        .collect()
}

#[allow(dead_code, reason = "only the benchmark explores")]
/// Returns a recipe that differs from `of` in one place.
pub(crate) fn varied(of: &Recipe, numbers: &mut Numbers) -> Recipe {
    let mut next = of.clone();
    let at = numbers.below(next.len());
    let piece = PIECES[numbers.below(PIECES.len())];
    match numbers.below(6) {
        0 => next[at].0.push_str(piece),
        1 => next[at].0.insert_str(0, piece),
        2 => next[at].1 = 1 + numbers.below(next[at].1 * 3),
        3 => next.insert(at, (piece.to_owned(), 1 + numbers.below(200))),
        4 if next.len() > 1 => drop(next.remove(at)),
        _ => piece.clone_into(&mut next[at].0),
    }
    next
}

/// Returns `head` followed by the text of `recipe`, repeated up to `length` characters in total.
pub(crate) fn cooked(head: &str, recipe: &Recipe, length: usize) -> String {
    let mut text = head.to_owned();
    let mut count = head.chars().count();
    while count < length {
        let before = count;
        for (piece, times) in recipe {
            let size = piece.chars().count();
            for _ in 0..*times {
                if count + size > length {
                    return text;
                }
                text.push_str(piece);
                count += size;
            }
        }
        if count == before {
            break;
        }
    }
    text
}
