//! Tests of the reader of named files.

use proptest::prelude::*;

use super::*;

const REPOSITORY: &str = "https://github.com/acme/ferry";

/// Returns the files that are certainly named.
fn certain(text: &str) -> Vec<String> {
    let named = named_files(text, REPOSITORY);
    let files = named.files.into_iter().filter(|file| file.certain);
    files.map(|file| file.path).collect()
}

fn intent(text: &str) -> Vec<(String, Option<Intent>)> {
    let named = named_files(text, REPOSITORY);
    let files = named.files.into_iter();
    files.map(|file| (file.path, file.intent)).collect()
}

#[test]
fn paths_are_read_in_every_notation() {
    for (text, path) in [
        ("Look at `src/engine/queue.rs`.", "src/engine/queue.rs"),
        ("Look at src/engine/queue.rs.", "src/engine/queue.rs"),
        ("(see ./src/x.rs, please)", "src/x.rs"),
        ("**src/x.rs**: and so on", "src/x.rs"),
        (r"Open `src\x.rs`", "src/x.rs"),
        (r"Open `.\src\x.rs`", "src/x.rs"),
        ("`src/lib.rs:42`", "src/lib.rs"),
        ("`src/lib.rs#L10-L20`", "src/lib.rs"),
        ("`a/b.rs::Symbol`", "a/b.rs"),
        ("`a/b.rs:parse_all`", "a/b.rs"),
        ("`main.rs`", "main.rs"),
        ("`Makefile`", "Makefile"),
        ("`.gitignore`", ".gitignore"),
        ("`src/engine/`", "src/engine"),
        ("[the code](src/x.rs)", "src/x.rs"),
        ("[the code](/src/a%20b.rs#L3)", "src/a b.rs"),
        (
            "[x](https://github.com/acme/ferry/blob/main/src/x.rs#L3)",
            "src/x.rs",
        ),
        (
            "<https://github.com/Acme/Ferry/tree/main/src/engine>",
            "src/engine",
        ),
        ("![x](docs/x.svg)", "docs/x.svg"),
        ("# Change `src/x.rs`", "src/x.rs"),
        ("| File |\n|---|\n| src/x.rs |", "src/x.rs"),
        ("- > src/x.rs", "src/x.rs"),
        ("`cargo test --test it src/x.rs`", "src/x.rs"),
        ("`tool --config=conf/x.toml run`", "conf/x.toml"),
        ("```rust src/x.rs\ncode\n```", "src/x.rs"),
        ("```rust title=\"src/x.rs\"\ncode\n```", "src/x.rs"),
        ("```rust:src/x.rs\ncode\n```", "src/x.rs"),
        ("src/あ.rsを更新する、server/src/a.rsも", "server/src/a.rs"),
        ("`web/src/@types/x.d.ts`", "web/src/@types/x.d.ts"),
    ] {
        let found = certain(text);
        assert!(found.contains(&path.to_owned()), "{text}: {found:?}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}

#[test]
fn what_only_looks_like_a_path_is_not_certainly_one() {
    for text in [
        "https://example.org/a/b.html and `https://example.org/a.rs`",
        "www.example.org/a.html, docs.rs/serde/a.html, `github.com/foo/bar.git`",
        "mail a.b/c@example.org or x@example.org",
        "`@octokit/rest`, `github.com/foo/bar`, `serde/derive`, `actions/cache@v4`",
        "`application/json`, text/html, `image/svg+xml`",
        "`/repos/{o}/{r}`, `GET /users/1`, `/bookings/:id`, `/a/b.html`",
        "2026/11/23, 23/11/2026, and/or, read/write, TCP/IP, n/a, 24/7, 1.5/2.0",
        "feature/x, `origin/main`, `release/1.2`",
        "`src/*.rs`, `<path>/a.rs`, `{name}.rs`, `src/**/mod.rs`, src/{a,b}.rs",
        "path/to/x.rs, a/NNNN_x.sql",
        "`/etc/passwd`, `~/.ssh/config`, `/usr/bin/env`, `$HOME/x.rs`, `C:\\x\\y.rs`, `../a/b.rs`",
        "`cargo test --all-targets`, `rm -rf target/`, `target/debug/x.d.ts`",
        "#12, acme/ferry#34",
        "`std::fs::read`, `foo.bar()`, `config.toml.key`, `console.log`, `process.env`",
        "`response.json`, `self.c`, `.example.com`, Node.js, Node.js/Express.js",
        "`\\d+\\.\\d+`, `\\n`, `\\.rs`",
        "```\nsrc/x.rs\n```\n\n    src/y.rs\n\n~~src/z.rs~~ <!-- src/a.rs -->",
        "[their](https://github.com/other/ferry/blob/main/src/x.rs) [up](../x.md) [here](#x.rs)",
        "README.md/CHANGELOG.md",
        "`.rs` files",
        "e.g./i.e. v1/v2",
    ] {
        assert_eq!(certain(text), [""; 0], "{text}");
    }
}

#[test]
fn a_text_says_what_happens_to_a_file() {
    use Intent::{Absent, Change, Create, Delete, MayCreate, Rename, RenameTarget};
    for (text, want) in [
        ("Create `a/x.rs`.", Some(Create)),
        ("Create the module at `a/x.rs`.", Some(MayCreate)),
        ("Add `a/x.rs`.", Some(MayCreate)),
        ("Add a field to `a/x.rs`.", None),
        ("Add tests in `a/x.rs`.", Some(MayCreate)),
        ("Extract the parser into `a/x.rs`.", Some(MayCreate)),
        ("`a/x.rs` (new)", Some(Create)),
        ("`a/x.rs` (new helper)", None),
        ("`a/x.rs` – new file with the parser", Some(Create)),
        ("`a/x.rs` does not exist yet", Some(Create)),
        ("`a/x.rs`: when a user is created, send mail", None),
        ("`a/x.rs` — add `b_c`", None),
        ("There is no `a/x.rs`.", Some(Absent)),
        ("Delete `a/x.rs`.", Some(Delete)),
        ("Rename `a/x.rs`.", Some(Rename)),
        ("Everything moves: move it to `a/x.rs`", Some(RenameTarget)),
        ("Update the link to `a/x.rs`.", Some(Change)),
        ("Neue Datei `a/x.rs`.", Some(Create)),
        ("`a/x.rs` anlegen", Some(Create)),
        ("Texte in `a/x.rs` ergänzen", None),
        ("Crear `a/x.rs`", Some(Create)),
        ("Créer le fichier `a/x.rs`", Some(Create)),
        ("`a/x.rs` を新規作成する", Some(Create)),
        ("`a/x.rs` に項目を追加する", None),
        ("新建 `a/x.rs`", Some(Create)),
        (
            "### CREATE\n\n- **File Path:** [a/x.rs](/a/x.rs)",
            Some(Create),
        ),
        ("## New files\n\n- `a/x.rs`", Some(Create)),
        ("## New files\n\n## Others\n\n- `a/x.rs`", None),
        ("- Files to delete:\n  - `a/x.rs`", Some(Delete)),
        ("**Neue Dateien**\n\n- a/x.rs", Some(Create)),
        ("| f | a |\n|---|---|\n| `a/x.rs` | new |", Some(Create)),
        ("| f | a |\n|---|---|\n| `a/x.rs` | new helper |", None),
        ("```\na/\n└── x.rs (new)\n```", Some(Create)),
        ("```\na/\n+├── x.rs\n```", Some(Create)),
    ] {
        let found = intent(text);
        let one = found.iter().find(|(path, _)| path == "a/x.rs");
        assert_eq!(one.map(|(_, intent)| *intent), Some(want), "{text}");
    }
    assert_eq!(
        intent("Create `a.rs`, `b.rs` and `c.rs`; update `d.rs` and remove `e.rs`."),
        [
            ("a.rs".to_owned(), Some(Create)),
            ("b.rs".to_owned(), Some(Create)),
            ("c.rs".to_owned(), Some(Create)),
            ("d.rs".to_owned(), Some(Change)),
            ("e.rs".to_owned(), Some(Delete)),
        ]
    );
    assert_eq!(
        intent("`git mv a.rs b.rs`, then move `c.rs` → `d.rs`"),
        [
            ("a.rs".to_owned(), Some(Rename)),
            ("b.rs".to_owned(), Some(RenameTarget)),
            ("c.rs".to_owned(), Some(Rename)),
            ("d.rs".to_owned(), Some(RenameTarget)),
        ]
    );
}

#[test]
fn mentions_are_counted_and_located() {
    let text = "# Plan\n\nFix `src/a.rs` and\n`src/b.rs:7`.\n\n- `src/a.rs:12`\n- src/b\\_c.rs\n";
    let named = named_files(text, REPOSITORY);
    let files: Vec<_> = named
        .files
        .iter()
        .map(|file| {
            (
                &text[file.span.clone()],
                file.line,
                file.mentions,
                file.at_line,
            )
        })
        .collect();
    assert_eq!(
        files,
        [
            ("src/a.rs", 3, 2, Some(12)),
            ("src/b.rs", 4, 1, Some(7)),
            // The whole block, because of the escape.
            ("- src/b\\_c.rs", 7, 1, None),
        ]
    );
    assert_eq!(named.files[2].path, "src/b_c.rs");
}

#[test]
fn symbols_belong_to_the_files_beside_them() {
    let symbols = |text: &str| -> Vec<(String, Vec<String>)> {
        let named = named_files(text, REPOSITORY);
        let files = |symbol: &NamedSymbol| {
            let files = symbol.files.iter();
            files.map(|file| named.files[*file].path.clone()).collect()
        };
        let symbols = named.symbols.iter();
        symbols.map(|one| (one.name.clone(), files(one))).collect()
    };
    let one = |name: &str, file: &str| vec![(name.to_owned(), vec![file.to_owned()])];
    let none = Vec::new();
    for (text, want) in [
        (
            "Fix `decide_comment` in `src/a.rs`.",
            one("decide_comment", "src/a.rs"),
        ),
        (
            "Fix `Queue::next()` in `src/a.rs`.",
            one("next", "src/a.rs"),
        ),
        (
            "- `src/a.rs`\n  Change `fn parse(..)`.",
            one("parse", "src/a.rs"),
        ),
        ("See `src/a.rs::Symbol`.", one("Symbol", "src/a.rs")),
        (
            "Read `src/a.rs`. Fix `do_it` in `src/b.rs`.",
            one("do_it", "src/b.rs"),
        ),
        ("Add `do_it` to `src/a.rs`.", none.clone()),
        (
            "Add `do_it` to `src/a.rs`, then call `do_it` in `src/b.rs`.",
            none.clone(),
        ),
        ("`src/a.rs`: `onKeyDown`", none.clone()),
        ("Fix the `queue` and `JSON` in `src/a.rs`.", none.clone()),
        ("Fix `do_it`.", none),
    ] {
        assert_eq!(symbols(text), want, "{text}");
    }
}

#[test]
fn trees_name_files_with_their_directories() {
    let tree = [
        "```",
        ".",
        "├── a/",
        "│   ├── b/",
        "│   │   └── c.rs  # new",
        "│   └── d.rs",
        "└── e.toml (deleted)",
        "```",
    ]
    .join("\n");
    let tree = &tree;
    let paths: Vec<_> = intent(tree);
    assert_eq!(
        paths,
        [
            ("a".to_owned(), None),
            ("a/b".to_owned(), None),
            ("a/b/c.rs".to_owned(), Some(Intent::Create)),
            ("a/d.rs".to_owned(), None),
            ("e.toml".to_owned(), Some(Intent::Delete)),
        ]
    );
    assert_eq!(certain(tree), ["a/b/c.rs"]);
}

#[test]
fn there_is_a_maximum_of_files_and_symbols() {
    let many: Vec<String> = (0..5_000)
        .map(|n| format!("- `a/f{n}.rs`, and/or{n}, fix `do_it_{n}`"))
        .collect();
    let named = named_files(&many.join("\n"), REPOSITORY);
    let certain = named.files.iter().filter(|file| file.certain).count();
    assert_eq!(certain, MAX_FILES);
    assert_eq!(named.files.len(), MAX_FILES + MAX_UNCERTAIN);
    assert_eq!(named.symbols.len(), MAX_SYMBOLS);
}

/// An algorithm with quadratic time would take minutes.
#[test]
fn long_texts_are_read_within_the_limits() {
    for part in [
        "a/b ",
        "a/b.rs ",
        "`a/b.rs` ",
        "`a_b` ",
        "create ",
        "create `a/b.rs`, ",
        "新規作成 a/b.rs、",
        "a/",
        "a.b/",
        "[x](a/b.rs) ",
        "| a/b.rs ",
        "- a\\_b/c.rs\n",
        "`a b/c.rs` add to ",
        "(new) ",
        "a/b.rs (",
        "├── a/\n",
        "```\n├── a/\n```\n",
        "# new\n",
        "- new:\n",
    ] {
        let length = if part == "a/b " { 1_000_000 } else { 100_000 };
        let text = part.repeat(length / part.len());
        let named = named_files(&text, REPOSITORY);
        assert!(named.files.len() <= MAX_FILES + MAX_UNCERTAIN, "{part:?}");
    }
    let distinct: Vec<String> = (0..50_000).map(|n| format!("a\\_{n}/b.rs")).collect();
    let distinct = distinct.join(" ");
    let named = named_files(&distinct, REPOSITORY);
    assert!(named.files.len() <= MAX_FILES + MAX_UNCERTAIN);
}

/// Parts of texts that matter to the reader.
const PARTS: &[&str] = &[
    "a/b.rs",
    "`",
    "``",
    "src\\x.rs",
    "[x](",
    ")",
    "./",
    "../",
    ":42",
    "#L1",
    "::",
    "\n\n",
    "- ",
    "| ",
    "|---|\n",
    "```\n",
    "├── ",
    "└── x.rs (new)",
    "create ",
    "(new)",
    "新規作成",
    "、",
    "*",
    "_",
    "~~",
    "<b>",
    "%",
    "\u{e000}",
    "\u{e001}",
    "\u{e002}",
    "\u{fffc}",
    "\r",
    "\t",
    "&amp;",
    "\\",
    "https://github.com/acme/ferry/blob/",
    "é",
    "İ",
];

proptest! {
    #[test]
    fn any_text_is_read_and_spans_are_valid(
        parts in prop::collection::vec(
            prop_oneof![
                any::<String>(),
                prop::sample::select(PARTS).prop_map(str::to_owned),
            ],
            0..40,
        )
    ) {
        let text = parts.concat();
        let named = named_files(&text, REPOSITORY);
        prop_assert_eq!(&named, &named_files(&text, REPOSITORY));
        for file in &named.files {
            prop_assert!(text.get(file.span.clone()).is_some());
            prop_assert!(file.line >= 1 && file.line <= text.len() + 1);
            prop_assert!(file.mentions >= 1);
            prop_assert!(!file.path.is_empty() && file.path.len() <= 300);
            let plain = |c: char| !c.is_control() && c != '`' && c != '<' && c != '>';
            prop_assert!(file.path.chars().all(plain), "{:?}", file.path);
            prop_assert!(file.path.split('/').all(|part| !part.is_empty() && part != ".."));
        }
        for symbol in &named.symbols {
            prop_assert!(!symbol.files.is_empty());
            prop_assert!(symbol.files.iter().all(|file| *file < named.files.len()));
        }
    }
}
