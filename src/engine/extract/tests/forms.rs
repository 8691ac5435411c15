//! Steps in every form and language, and texts that are no plans.

use super::candidates_in_text;
use crate::engine::extract::*;

/// The candidate of a comment by somebody, with its points.
fn score(text: &str) -> i32 {
    candidates_in_text(text)
        .into_iter()
        .map(|candidate| candidate.score)
        .max()
        .unwrap_or(0)
}

#[test]
fn steps_are_recognised_in_every_form() {
    for text in [
        "1. Add the writer\n2. Add the route\n3. Put a button on the page",
        "So:\n\n- [ ] Add the writer in `src/csv.rs`\n- [ ] Add the route\n- [ ] Put a button on the page",
        "| step | what |\n|---|---|\n| 1 | Add the writer |\n| 2 | Add the route |\n| 3 | Put a button on the page |",
        "### 1. Add the writer\n\nIt goes row by row.\n\n### 2. Add the route\n\nBeside the others.\n\n### 3. Test it\n\nWith quotes.",
        "**Step 1: writer.** It goes row by row.\n\n**Step 2: route.** Beside the others.\n\n**Step 3: button.** On the page.",
        "1️⃣ Add the writer row by row\n2️⃣ Add the route beside the others\n3️⃣ Put a button on the page",
        "First we add a writer that goes row by row. Then the route gets a second format, beside the others. Finally the page gets a button.",
        "Ich würde so vorgehen:\n\n1. Schreiber anlegen\n2. Route ergänzen\n3. Knopf auf der Seite einbauen",
        "まず書き出し処理を追加します。次にルートを追加して一覧から呼びます。最後にページにボタンを置き、テストを書きます。",
        "第一步：新增写出模块\n第二步：增加路由\n第三步：页面上加按钮并补测试",
        "1. writer 추가\n2. route 추가\n3. 페이지에 버튼 추가하고 테스트 작성",
    ] {
        assert!(score(text) >= score::POSSIBLE, "{} {text}", score(text));
    }
}

#[test]
fn other_documents_are_no_plans() {
    for text in [
        "**Steps to reproduce**\n\n1. Open the report\n2. Click on export\n3. Look at the file",
        "## Changelog\n\n- Added a writer\n- Fixed the route\n- Removed the old button",
        "- [x] Contrast raised (#1)\n- [x] Focus is visible (#2)\n- [x] Steps are a list (#3)",
        "1. What do we tell the schools?\n2. Who owns the writer then?\n3. Is it worth it?",
        "- Each child should have a list\n- It must be possible to pay\n- As a parent I want to see the dates",
        "- https://a.example/1\n- https://a.example/2\n- https://a.example/3",
        "This PR contains the following updates:\n\n| Package | Change |\n|---|---|\n| a | 1 -> 2 |\n| b | 3 -> 4 |",
        "- 09:12 paged\n- 09:20 restarted the writer\n- 09:40 confirmed\n- 10:02 resolved",
    ] {
        assert!(score(text) < MIN_SCORE, "{} {text}", score(text));
    }
}
