//! Where a command counts, and where it is only text.

use super::super::parse;

/// Number of commands found.
fn count(comment: &str) -> usize {
    parse(comment).len()
}

#[test]
fn commands_fire_where_a_reader_sees_a_paragraph_s_line() {
    for comment in [
        "/save-plan",
        "text\n/save-plan",
        "text\r\n/save-plan\r\n",
        "text\r/save-plan\rmore",
        " /save-plan",
        "  /save-plan",
        "   /save-plan",
        "hard break  \n/save-plan",
        "hard break\\\n/save-plan",
        "<details>\n\n/save-plan\n\n</details>",
        "\u{feff}/save-plan",
        "\u{feff}  /save-plan",
        "/save-plan\tguidance",
        "/save-plan\u{a0}guidance",
        "/save-plan\u{3000}guidance",
        "/Save-Plan",
        "/SAVE-PLAN now",
        "/erk:save-plan",
        "/ERK:SAVE-RAW-PLAN",
        "/save-plan **bold** `code`",
        "/save-plan <!-- note -->",
        "*emphasis*\n/save-plan",
        "`code`\n/save-plan",
        "text\n        /save-plan",
        "text\n\t/save-plan",
        "```\nx\n```\n/save-plan",
        "```\n/cancel\n```\n\n/save-plan",
        "> quote\n\n/save-plan",
        "- item\n\n/save-plan",
        "# heading\n/save-plan",
        "<!-- x -->\n/save-plan",
        "---\n/save-plan",
        "/save-plan\n| a |\n|---|\n| b |",
        "/save-plan\n- item",
        "/save-plan\n> quote",
        "/save-plan\n```\nx\n```",
        "🚀 ready\n/save-plan 🚀",
        "[^1]\n\n/save-plan",
        "\n\n\n/save-plan\n\n\n",
        "/retry",
        "/plan-status",
        "/plan-help",
    ] {
        assert_eq!(count(comment), 1, "{comment:?}");
    }
    assert_eq!(count(&format!("/save-plan {}", "x".repeat(200_000))), 1);
    assert_eq!(count("/save-plan\n/save-plan"), 2);
    assert_eq!(count("/cancel\n/retry\n\n/save-plan\n\n/plan-help"), 4);
    assert_eq!(count("/save-plan\r/cancel\r"), 2);
}

#[test]
fn commands_are_text_everywhere_else() {
    for comment in [
        "",
        "no command",
        "```\n/save-plan\n```",
        "~~~\n/save-plan\n~~~",
        "```\n/save-plan",
        "    /save-plan",
        "\t/save-plan",
        "> /save-plan",
        ">/save-plan",
        "> > /save-plan",
        "> quote\n/save-plan",
        "- /save-plan",
        "1. /save-plan",
        "- [ ] /save-plan",
        "- item\n/save-plan",
        "- item\n\n  /save-plan",
        "| a |\n|---|\n| /save-plan |",
        "| a |\n|---|\n/save-plan",
        "# /save-plan",
        "/save-plan\n---",
        "/save-plan\n===",
        "<!--\n/save-plan\n-->",
        "<!--\n\n/save-plan\n\n-->",
        "`/save-plan`",
        "<details>\n/save-plan\n</details>",
        "<details><summary>x</summary>\n/save-plan\n\n</details>",
        "x <!--\n/save-plan\n--> y",
        "<a title=\"\n/save-plan\n\">x</a>",
        "x <a title=\"\n/save-plan\n\">y</a>",
        "`code\n/save-plan\nmore`",
        "[link\n/save-plan\ntext](https://example.com)",
        "**bold\n**/save-plan",
        "*\n/save-plan*x",
        "/save-planet",
        "/save-plan/x",
        "/save-plan.",
        "/save-plan:",
        "/save-plan,now",
        "/save-plan\u{200b}",
        "/save-plan\u{202e}x",
        "/save-plan\0",
        "/save-plan*a*",
        "/save-plan`a`",
        "\\/save-plan",
        "&#47;save-plan",
        "&sol;save-plan",
        "/save&#45;plan",
        "\u{200b}/save-plan",
        "\u{2060}/save-plan",
        "\u{202e}/save-plan",
        "\0/save-plan",
        "x\n\u{feff}/save-plan",
        "\u{ff0f}save-plan",
        "\u{2044}save-plan",
        "\u{2215}save-plan",
        "/s\u{430}ve-plan",
        "/save\u{2010}plan",
        "/\u{17f}ave-plan",
        "/ save-plan",
        "//save-plan",
        "please /save-plan",
        "@bot /save-plan",
        "/usr/lib/x",
        "/plans",
        "/researches x",
        "/check-plans",
        "/answers 1",
        "/save-plans",
        "/erk:cancel",
        "> [!NOTE]\n> /save-plan",
        "[^1]\n\n[^1]: /save-plan",
        "[^1]\n\n[^1]: note\n\n    /save-plan",
        "~~/save-plan~~",
        "<https://example.com>/save-plan",
        "<pre>\n\n/save-plan\n\n</pre>",
        "<script>\n\n/save-plan\n\n</script>",
    ] {
        assert_eq!(count(comment), 0, "{comment:?}");
    }
}

/// The parser does not know the line of text behind a definition, so the command is missed: it
/// fails closed.
#[test]
fn a_command_right_behind_a_definition_is_missed() {
    assert_eq!(count("[^1]: x\n/save-plan"), 0);
    assert_eq!(count("[a]: https://example.com\n/save-plan"), 0);
    assert_eq!(count("[a]: https://example.com\n\n/save-plan"), 1);
}
