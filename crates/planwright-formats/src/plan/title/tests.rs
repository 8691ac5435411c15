//! Tests of `formats::plan::title`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::*;
use crate::plan::gate::{TitleError, gate_title};

#[test]
fn titles() {
    for (text, expected) in [
        ("# Add CSV export\n\ntext", Some("Add CSV export")),
        ("# Plan: Add CSV export", Some("Add CSV export")),
        ("# plan - Add CSV export", Some("Add CSV export")),
        (
            "# 📋 Implementation Plan: Add CSV export",
            Some("Add CSV export"),
        ),
        ("# Documentation Plan: Learn it", Some("Learn it")),
        ("# Plan: Plan: twice", Some("Plan: twice")),
        ("# Extraction Plan: main", Some("Extraction Plan: main")),
        (
            "# Plan Mode - Implementation Plan",
            Some("Plan Mode - Implementation Plan"),
        ),
        (
            "# **Add** `csv` [export](https://e.org)  ##",
            Some("Add csv export"),
        ),
        ("Add CSV\nexport\n======\n\ntext", Some("Add CSV export")),
        ("## Add CSV export\n\ntext", Some("Add CSV export")),
        (
            "## Overview\n\ntext\n\n## Add CSV export",
            Some("Add CSV export"),
        ),
        ("## Overview\n\n## Phase 1: Config\n\n## 2. Wire up", None),
        (
            "# Implementation Plan\n\n## Add CSV export\n",
            Some("Add CSV export"),
        ),
        ("# Implementation Plan\n\n1. a\n", None),
        ("**Plan: Add CSV export**\n\n1. a", Some("Add CSV export")),
        (
            "Implementation plan: add CSV\n\n## Rows\n\n- a",
            Some("add CSV"),
        ),
        ("Some plain text\n\nMore", Some("Some plain text")),
        ("1. First thing\n2. Second", Some("First thing")),
        (
            "---\ntitle: foo\ntags:\n  - a\n---\n# Real title\n",
            Some("Real title"),
        ),
        ("---\n\n# After a rule", Some("After a rule")),
        ("```sh\n# comment\n```\n\n# Real title", Some("Real title")),
        ("```sh\n# comment\n```", None),
        (
            "<!-- # hidden -->\n\n> # Quoted\n\n# Real title",
            Some("Real title"),
        ),
        ("### Add CSV export\n\ntext", Some("Add CSV export")),
        ("text\n\n### Add CSV export", None),
        ("### Phase 1\n\n#### Add CSV export", None),
        ("#Add CSV export\n\n## Tidy up", Some("Tidy up")),
        ("#\tAdd CSV export", Some("Add CSV export")),
        ("---\ntitle: Add CSV export\n---\n\n## Overview\n", None),
        ("", None),
        (" \n\t\n", None),
    ] {
        assert_eq!(title_of(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn long_titles_are_cut_on_a_character() {
    let title = title_of(&format!("# {}", "ü".repeat(300))).unwrap();
    assert_eq!(title.chars().count(), MAX_TITLE_CHARS);
    assert!(title.ends_with("ü…"));
    let whole = "ü".repeat(MAX_TITLE_CHARS);
    assert_eq!(title_of(&format!("# {whole}")), Some(whole));
}

#[test]
fn the_gate() {
    for (title, expected) in [
        ("Add user authentication", None),
        ("hello", None),
        ("你好世界的计划", None),
        ("", Some("Title is empty or whitespace-only")),
        (" \n", Some("Title is empty or whitespace-only")),
        (" ab ", Some("Too short (2 characters, minimum 5)")),
        (
            "12345 67890",
            Some("Must contain at least one alphabetic character"),
        ),
        (
            "Implementation Plan",
            Some("'Implementation Plan' is a default fallback title, not a descriptive plan title"),
        ),
        (
            " untitled plan ",
            Some("'untitled plan' is a default fallback title, not a descriptive plan title"),
        ),
    ] {
        let fault = gate_title(title).err().map(|fault| fault.to_string());
        assert_eq!(fault.as_deref(), expected, "{title}");
    }
    assert_eq!(
        TitleError::NoLetter.feedback(),
        "Start the plan with a heading that says what it will do, for example `# Plan: Add user authentication`."
    );
}

#[test]
fn a_plan_in_a_conversation_has_a_title_only_where_one_says_something() {
    for (text, expected) in [
        (
            "# Export reports as CSV\n\n1. a\n2. b",
            Some("Export reports as CSV"),
        ),
        ("## Plan: Export reports\n\n1. a", Some("Export reports")),
        (
            "## Implementation plan for the export\n\n1. a",
            Some("the export"),
        ),
        ("**Umsetzungsplan: CSV-Export**\n\n1. a", Some("CSV-Export")),
        ("## Plan, Fassung 3: CSV-Export\n\n1. a", Some("CSV-Export")),
        (
            "## Plan, deuxième mouture : export CSV\n\n1. a",
            Some("export CSV"),
        ),
        ("■ 帳票をCSVで書き出す\n\n1. a", Some("帳票をCSVで書き出す")),
        (
            "### Plan de acción: exportar informes\n\n1. a",
            Some("exportar informes"),
        ),
        ("## 実装計画：CSV出力に対応\n\n1. a", Some("CSV出力に対応")),
        ("## 方案二：流式导出报表\n\n1. a", Some("流式导出报表")),
        (
            "### Option B - Write on the server\n\n1. a",
            Some("Write on the server"),
        ),
        ("[RFC] Export reports (v2)\n\n1. a", Some("Export reports")),
        ("# Export reports (1/2)\n\n1. a", Some("Export reports")),
        ("Plan: export reports\n\n1. a", Some("export reports")),
        (
            "---\ntitle: Export reports\n---\n\n1. a",
            Some("Export reports"),
        ),
        ("# Plan\n\n1. a", None),
        ("## Umsetzungsplan\n\n1. a", None),
        ("**Propuesta:**\n\n1. a", None),
        ("## 方案\n\n1. a", None),
        ("# Proposal B:\n\n1. a", None),
        ("(2/2)\n\n3. c", None),
        ("## Steps\n\n1. a", None),
        (
            "### Step 1: Write the rows\n\nx\n\n### Step 2: Read them\n\ny",
            None,
        ),
        ("Here is what I would do:\n\n1. a", None),
        ("Hi all, sorry for the delay.\n\n1. a", None),
        ("1. Write the rows\n2. Read them", None),
        ("## How I want to go about it\n\n1. a", None),
        ("*Write on the server*\n\n1. a", Some("Write on the server")),
        ("*Edited: the third step was wrong.*\n\n1. a", None),
        ("## Plan, as agreed on Monday\n\n1. a", None),
        ("## Short version\n\n1. a", None),
        ("## Só o necessário\n\n1. a", None),
        (
            "### (b) Write on the server\n\n1. a",
            Some("Write on the server"),
        ),
        ("a) Write on the server\nb) Read there", None),
        ("## Minimal plan\n\n1. a", None),
        ("## Co robimy\n\n1. a", None),
        ("## Що робимо далі\n\n1. a", None),
        (
            "Why we do it.\n\n## What we'll do\n\n1. a\n\n## Afterwards, in spring\n\n2. b",
            None,
        ),
        (
            "**What we'll do: write on the server**\n\n1. a",
            Some("write on the server"),
        ),
        (
            "## Our new proposal: write on the server\n\n1. a",
            Some("write on the server"),
        ),
        (
            "### Vorschlag „Schattenindex“\n\n1. a",
            Some("Schattenindex"),
        ),
        ("### The “shadow” index\n\n1. a", Some("The “shadow” index")),
        ("【CSV出力の作り直し】\n\n1. a", Some("CSV出力の作り直し")),
        ("나. 이중 스케줄러\n- a", Some("이중 스케줄러")),
        (
            "## 📝 Coding plan: limit reset mails\n\n1. a",
            Some("limit reset mails"),
        ),
        (
            "## Counter-proposal: adapter first\n\n1. a",
            Some("adapter first"),
        ),
        ("## Tech plan\n\n1. a", None),
        ("### O que muda\n\n1. a", None),
        ("## 0.8.1: old saves\n\n1. a", Some("0.8.1: old saves")),
        (
            "Pre-orders, done properly\n\n1. a",
            Some("Pre-orders, done properly"),
        ),
        ("Yes, makes sense to me\n\n1. a", None),
        ("Agreed, one small change though\n\n1. a", None),
        ("Stimmt, das geht schneller\n\n1. a", None),
        (
            "## 웹: 로그인 다시 작성\n\n1. a",
            Some("웹: 로그인 다시 작성"),
        ),
        ("注：以下步骤需要停机。\n\n1. a", None),
        (
            "## Fix “undefined is not a function”\n\n1. a",
            Some("Fix “undefined is not a function”"),
        ),
        ("## Proposal “B”\n\n1. a", None),
        ("Concretely: drop the queue and poll.\n\n1. a", None),
        (
            "## Plan changes: send e-mail\n\n1. a",
            Some("Plan changes: send e-mail"),
        ),
        ("# Plan\n\n## 1.1 Set up the server\n\n1. a", None),
        (
            "## Complete the missing items\n\n1. a",
            Some("Complete the missing items"),
        ),
        ("*संपादित: तीसरा चरण गलत था।*\n\n1. a", None),
        (
            "## Phase 2 - Sessions\n\n### Step 1: a\n\nb\n\n### Step 2: c\n\nd",
            Some("Phase 2 - Sessions"),
        ),
        ("План\u{a0}для Let´s\n\n1. a", Some("Let´s")),
        ("As Ann said on Monday, we do these\n\n1. a", None),
        (
            "## Phase 2: write on the server\n\n- a",
            Some("Phase 2: write on the server"),
        ),
        ("## Phase 2\n\n- a", None),
        ("## Wat we willen doen\n\n1. a", None),
        ("## 改訂した計画\n\n1. a", None),
        (
            "## Do it on the server\n\n1. a",
            Some("Do it on the server"),
        ),
        (
            "### Stop the loss\n\n1. a\n\n### Find the cause\n\n1. b",
            None,
        ),
        (
            "### Stop the loss\n\n1. a\n\n### Risks\n\n1. b",
            Some("Stop the loss"),
        ),
        (
            "Shutters on their own port\n→ a\n→ b",
            Some("Shutters on their own port"),
        ),
        ("*Light from below*\n– a\n– b", Some("Light from below")),
        ("Hlídání podle cukru\n① a\n② b", Some("Hlídání podle cukru")),
        ("Shutters on their own port\nand nothing else\n→ a", None),
        ("① write the rows\n② read them\n③ rank them", None),
        ("→ write the rows\n→ read them\n→ rank them", None),
        ("the rows go to Redis\n→ a\n→ b", None),
        ("備品貸出のQR化\n\n① a\n② b", Some("備品貸出のQR化")),
        ("お疲れさまです\n\n1. a", None),
        (
            "뷰어 로딩 순서 바꾸기\n\n1. a",
            Some("뷰어 로딩 순서 바꾸기"),
        ),
        (
            "**Write on the server** 🐾\n\n1. a",
            Some("Write on the server"),
        ),
        (
            "## A. Write on the server\n\n1. a",
            Some("Write on the server"),
        ),
        ("## 五、改进措施\n\n1. a", None),
        ("## 二、流式导出报表\n\n1. a", Some("流式导出报表")),
        ("### Describe the solution you'd like\n\n1. a", None),
        ("**Je Reihe ein Akku**\n– a\n– b", Some("Je Reihe ein Akku")),
        ("Buffer u tanku\n1/ a\n2/ b", Some("Buffer u tanku")),
        ("## 2) Outbox\n\n- a", Some("Outbox")),
        ("**2: Outbox**\n\n- a", Some("Outbox")),
        ("## 1) Outbox\n\n- a\n\n## 2) Retries\n\n- b", None),
        ("### 1.4 → 2.0 in parts\n\n1. a", Some("1.4 → 2.0 in parts")),
        ("## 案② 署名を直す\n\n- a", Some("署名を直す")),
        ("## 方案二 用现成的仓库\n\n- a", Some("用现成的仓库")),
        ("## Proposal CSV Export\n\n- a", Some("Proposal CSV Export")),
        ("## A|B test\n\n- a", Some("A|B test")),
        (
            "## fix(auth): rotate tokens\n\n- a",
            Some("fix(auth): rotate tokens"),
        ),
        (
            "## REST: pages of orders\n\n- a",
            Some("REST: pages of orders"),
        ),
        ("## Move to Node, v20\n\n- a", Some("Move to Node, v20")),
        ("## 1.1: Set up the server\n\n- a\n\n## 1.2: b", None),
        (
            "## Plan B for the outbox\n\n- a",
            Some("Plan B for the outbox"),
        ),
        ("## 計畫 v2|改成靜態\n\n- a", Some("改成靜態")),
        ("## 第二版：断网落盘\n\n- a", Some("断网落盘")),
        ("## Plan v3 (9 May): Outbox\n\n- a", Some("Outbox")),
        ("## Outbox, v2\n\n- a", Some("Outbox")),
        ("## API v2\n\n- a", Some("API v2")),
        ("## The rest\n\n1. a", None),
    ] {
        assert_eq!(own_title(text).as_deref(), expected, "{text}");
    }
    assert_eq!(
        descriptive_title("[Feature]: Export reports").as_deref(),
        Some("Export reports")
    );
    assert_eq!(descriptive_title("Plan:"), None);
}
