//! Tests of `planwright plan SPEC` with the real Claude Code client and a stub of the model's API.

use serde_json::json;

use super::{PLAN, Shop, exit_and_output};
use crate::support::model::{Model, Turn};
use crate::support::peers;

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_plans_without_trust_and_with_the_user_s_key() {
    let Some(client) = peers::claude() else {
        return;
    };
    let asks = "<!--QUESTION:{\"questions\":[{\"question\":\"Where?\",\"header\":\"Place\"}]}-->";
    let shop = Shop::new("");
    shop.write(
        ".planwright/config.toml",
        "[models]\ndefault = \"model-of-the-project\"\n",
    );
    shop.write("src/heron.rs", "// The heron stands.\n");
    let root = shop.root.path().canonicalize().unwrap();
    let model = Model::start([
        Turn::tool("Read", &json!({ "file_path": root.join("src/heron.rs") })),
        Turn::text(asks),
        Turn::tool("Write", &json!({ "file_path": "plan.md", "content": PLAN })),
        Turn::text("PLAN_CREATED: plan.md"),
    ])
    .await;
    let start = |more: &[&str]| {
        let mut command = shop.command(&[&["plan", "index"], more].concat());
        command
            .env("PATH", client.parent().unwrap())
            .env("ANTHROPIC_API_KEY", "key-of-the-stub-1f6b0c")
            .env("ANTHROPIC_BASE_URL", model.url());
        tokio::task::spawn_blocking(move || exit_and_output(&command.output().unwrap()))
    };
    let (code, _, err) = start(&[]).await.unwrap();
    assert_eq!(code, 3, "{err}");
    shop.write("answers.toml", "Place = \"in the cache\"\n");
    let (code, out, err) = start(&["--answers", "answers.toml"]).await.unwrap();
    assert_eq!(
        (code, out.as_str()),
        (0, ".planwright/plans/index/plan.md\n"),
        "{err}"
    );
    assert_eq!(shop.text(".planwright/plans/index/plan.md"), PLAN);
    let asked = model.asked();
    assert_eq!(asked.len(), 4);
    assert!(asked[1].said().contains("The heron stands."));
    assert!(asked[2].said().contains("in the cache"));
    for one in &asked {
        assert_eq!(one.headers["x-api-key"], "key-of-the-stub-1f6b0c");
        assert_eq!(one.body["model"], "model-of-the-project");
    }
}
