//! Schemas, headers and event comments against erk's recorded test vectors, if available.

use planwright::formats::block::schema::{
    Era, SchemaError, check, header_set, in_order, review, update, update_header,
};
use planwright::formats::block::{self, Content, event, render_yaml};
use serde_json::{Map, Value, json};

use crate::harness::{Tests, erk, id};

crate::harness::tests!(
    schemas_refuse_what_erk_refuses,
    what_erk_takes_is_not_odd,
    new_headers_are_written_as_erk_writes_them,
    new_headers_have_the_fields_of_the_first_era,
    headers_are_updated_as_erk_updates_them,
    headers_are_updated_as_the_first_era_updates_them_without_more_warnings,
    event_comments_are_laid_out_as_erk_s,
    event_comments_are_read_back,
    real_headers_are_judged_as_erk_judges_them,
    every_real_header_can_be_updated_and_nothing_else_is_touched,
);

fn era(case: &Value) -> Era {
    match case["rev"].as_str() {
        Some(rev) if rev.starts_with("HEAD") => Era::Current,
        _ => Era::First,
    }
}

/// The key of the blocks that one of erk's schema classes is for.
fn key(class: &str) -> &'static str {
    match class {
        "ImplementationStatusSchema" | "ProgressStatusSchema" | "StartStatusSchema" => {
            "erk-implementation-status"
        }
        "WorktreeCreationSchema" => "erk-worktree-creation",
        "PlanSchema" => "erk-plan",
        "SubmissionQueuedSchema" => "submission-queued",
        "WorkflowStartedSchema" => "workflow-started",
        "PlanRetrySchema" => "plan-retry",
        "PlanHeaderSchema" => "plan-header",
        "ObjectiveHeaderSchema" => "objective-header",
        other => panic!("no such schema: {other}"),
    }
}

fn fields(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn verdict(result: Result<(), SchemaError>) -> Value {
    match result {
        Ok(()) => json!({ "valid": true }),
        Err(error) => json!({ "valid": false, "error": error.to_string() }),
    }
}

/// The eras differ in whether the key in the summary stands in `<code>`; that is not about fields.
fn without_code(text: &str) -> Value {
    text.replace("<summary><code>", "<summary>")
        .replace("</code></summary>", "</summary>")
        .into()
}

fn expected<'a>(case: &'a Value, name: &str) -> &'a str {
    case["expected"][name].as_str().unwrap()
}

fn schemas_refuse_what_erk_refuses(tests: &mut Tests) {
    for suite in ["schema_validate", "schema_validate_head"] {
        tests.hold(
            suite,
            |_| true,
            &[],
            |case| {
                let key = key(case["input"]["schema"].as_str().unwrap());
                let ours = check(key, era(case), fields(&case["input"]["data"]));
                (verdict(ours), case["expected"].clone())
            },
        );
    }
    let mine = |case: &Value| case["group"] == "plan_header_schema";
    tests.hold("probes", mine, &[], |case| {
        let ours = check("plan-header", era(case), fields(&case["input"]["data"]));
        let ours = ours.err().map(|error| error.to_string());
        (json!(ours), case["expected"]["error"].clone())
    });
}

fn what_erk_takes_is_not_odd(tests: &mut Tests) {
    const NUMBER: &str = "erk takes a run id that is a number, with a warning; so do we";
    let valid = |case: &Value| case["expected"]["valid"] == true;
    let odd = |case: &Value| {
        let key = key(case["input"]["schema"].as_str().unwrap());
        let odd = review(key, fields(&case["input"]["data"]));
        (json!(odd), json!([]))
    };
    tests.hold("schema_validate", valid, &[], odd);
    tests.hold(
        "schema_validate_head",
        valid,
        &[
            ("schema_validate_head-059", NUMBER),
            ("schema_validate_head-060", NUMBER),
            ("schema_validate_head-061", NUMBER),
        ],
        odd,
    );
}

fn new_header(case: &Value) -> Map<String, Value> {
    let mut header = fields(&case["input"]).clone();
    header.insert("schema_version".to_owned(), json!("2"));
    in_order(header)
}

fn new_headers_are_written_as_erk_writes_them(tests: &mut Tests) {
    const NULLS: &str = "the first era writes null for what is not known yet, the current one leaves it out, as we do";
    tests.hold(
        "plan_header_render",
        |_| true,
        &[
            ("plan_header_render-001", NULLS),
            ("plan_header_render-002", NULLS),
            ("plan_header_render-003", NULLS),
            ("plan_header_render-004", NULLS),
            ("plan_header_render-005", NULLS),
            ("plan_header_render-006", NULLS),
        ],
        |case| {
            let text = render_yaml("plan-header", &new_header(case));
            (without_code(&text), without_code(expected(case, "text")))
        },
    );
}

/// Apart from the nulls the fields are the first era's, and its own schema takes ours.
fn new_headers_have_the_fields_of_the_first_era(tests: &mut Tests) {
    let first = |case: &Value| era(case) == Era::First;
    tests.hold("plan_header_render", first, &[], |case| {
        let ours = new_header(case);
        check("plan-header", Era::First, &ours).unwrap();
        let text = expected(case, "text");
        let Content::Yaml(mut theirs) = block::parse(text).blocks.remove(0).content else {
            panic!("{text}");
        };
        theirs.retain(|_, value| !value.is_null());
        (Value::Object(ours), Value::Object(theirs))
    });
}

fn headers_are_updated_as_erk_updates_them(tests: &mut Tests) {
    const WARNING: &str = "the first era adds one more warning line with every update; the current one does not, nor do we";
    tests.hold(
        "plan_header_update_dispatch",
        |_| true,
        &[
            ("plan_header_update_dispatch-001", WARNING),
            ("plan_header_update_dispatch-003", WARNING),
            ("plan_header_update_dispatch-004", WARNING),
            ("plan_header_update_dispatch-005", WARNING),
            ("plan_header_update_dispatch-006", WARNING),
            ("plan_header_update_dispatch-008", WARNING),
            ("plan_header_update_dispatch-009", WARNING),
        ],
        |case| (dispatched(case), wanted(case)),
    );
}

fn headers_are_updated_as_the_first_era_updates_them_without_more_warnings(tests: &mut Tests) {
    let first = |case: &Value| era(case) == Era::First;
    tests.hold("plan_header_update_dispatch", first, &[], |case| {
        let twice = [block::WARNING, "\n", block::WARNING, "\n"].concat();
        let want = wanted(case);
        let want = want.as_str().unwrap();
        (
            dispatched(case),
            want.replace(&twice, &twice[..twice.len() / 2]).into(),
        )
    });
}

fn wanted(case: &Value) -> Value {
    match &case["expected"]["error"] {
        Value::Null => without_code(expected(case, "body")),
        error => error.clone(),
    }
}

fn dispatched(case: &Value) -> Value {
    let mut sets = Map::new();
    for (from, to) in [
        ("run_id", "last_dispatched_run_id"),
        ("node_id", "last_dispatched_node_id"),
        ("dispatched_at", "last_dispatched_at"),
    ] {
        if let Some(value) = case["input"].get(from) {
            sets.insert(to.to_owned(), value.clone());
        }
    }
    match update(case["input"]["issue_body"].as_str().unwrap(), &sets) {
        Ok(body) => without_code(&body),
        Err(error) => error.to_string().into(),
    }
}

fn event_comments_are_laid_out_as_erk_s(tests: &mut Tests) {
    tests.hold(
        "event_comment_render",
        |_| true,
        &[],
        |case| {
            let input = |name: &str| case["input"][name].as_str().unwrap();
            let data = fields(&case["input"]["metadata"]["data"]);
            let rendered = render_yaml(case["input"]["metadata"]["key"].as_str().unwrap(), data);
            let text = event::render(input("title"), Some(&rendered), input("description"));
            (without_code(&text), without_code(expected(case, "text")))
        },
    );
}

fn event_comments_are_read_back(tests: &mut Tests) {
    tests.hold(
        "event_comment_render",
        |_| true,
        &[],
        |case| {
            let event = event::read(expected(case, "text")).unwrap();
            let found = event.block.unwrap();
            let Content::Yaml(data) = found.content else {
                panic!("{found:?}");
            };
            let ours = json!({
                "title": event.title,
                "metadata": {"key": found.key, "data": data},
                "description": event.description,
            });
            (ours, case["input"].clone())
        },
    );
}

fn header_of(text: &str) -> Map<String, Value> {
    match block::parse(text).blocks.remove(0).content {
        Content::Yaml(fields) => fields,
        other => panic!("{other:?}"),
    }
}

fn real_headers_are_judged_as_erk_judges_them(tests: &mut Tests) {
    tests.hold(
        "real_world_plan_headers",
        |_| true,
        &[],
        |case| {
            let fields = header_of(case["input"]["text"].as_str().unwrap());
            let ours = check("plan-header", Era::Current, &fields);
            (verdict(ours), case["expected"]["schema"].clone())
        },
    );
}

/// A value for every field that an update may set.
const SETS: &[&str] = &[
    "worktree_name=w",
    "branch_name=42",
    "plan_comment_id=42",
    "ci_summary_comment_id=42",
    "last_dispatched_run_id=42",
    "last_dispatched_node_id=n",
    "last_dispatched_at=2026-05-01T10:00:00Z",
    "last_local_impl_at=2026-05-01T10:00:00Z",
    "last_local_impl_event=ended",
    "last_local_impl_session=s",
    "last_local_impl_user=u",
    "last_remote_impl_at=2026-05-01T10:00:00Z",
    "last_remote_impl_run_id=42",
    "last_remote_impl_session_id=s",
    "source_repo=acme/widgets",
    "objective_issue=42",
    "created_from_session=s",
    "created_from_workflow_run_url=https://example.com/42",
    "last_learn_session=s",
    "last_learn_at=2026-05-01T10:00:00Z",
    "learn_status=pending",
    "learn_run_id=42",
    "last_session_branch=b",
    "last_session_id=s",
    "last_session_at=2026-05-01T10:00:00Z",
    "last_session_source=local",
    "learn_plan_issue=42",
    "learn_plan_pr=42",
    "learned_from_issue=42",
    "learn_materials_branch=b",
    "lifecycle_stage=planning",
    "objective_issue=null",
    "lifecycle_stage=null",
];

/// erk's current schema refuses twelve of these headers for fields it dropped, and with them every
/// update.
fn every_real_header_can_be_updated_and_nothing_else_is_touched(tests: &mut Tests) {
    let headers = erk()["real_world_plan_headers"].as_array().unwrap();
    assert_eq!(headers.len(), 40);
    let mut with_retired = 0;
    for case in headers {
        let id = id(case);
        let text = case["input"]["text"].as_str().unwrap();
        let before = header_of(text);
        let odd = review("plan-header", &before);
        let retired = |name: &String| name.contains("gist");
        let all_retired = odd.iter().all(|finding| retired(&finding.field));
        assert!(all_retired, "{id}: {odd:?}");
        assert_eq!(
            odd.len(),
            before.keys().filter(|name| retired(name)).count(),
            "{id}"
        );
        with_retired += usize::from(!odd.is_empty());
        tests.case(id, move || {
            let mut changes: Vec<_> = SETS.iter().map(|pair| header_set(pair).unwrap()).collect();
            changes.push(("node_ids".to_owned(), json!(["1.1"])));
            for (name, value) in changes {
                let sets = Map::from_iter([(name.clone(), value.clone())]);
                let mut want = before.clone();
                update_header(&mut want, &sets).unwrap();
                let mut others = want.clone();
                let mut expected = before.clone();
                let set = others.shift_remove(&name);
                let was = expected.shift_remove(&name);
                assert_eq!(
                    set,
                    if value.is_null() && was.is_none() {
                        None
                    } else {
                        Some(value)
                    },
                    "{name}"
                );
                assert_eq!(
                    Value::Object(others).to_string(),
                    Value::Object(expected).to_string(),
                    "{name}: order counts"
                );
                let body =
                    update(&format!("Before.\r\n\n{text}\n\n---\nAfter.\r\n"), &sets).unwrap();
                let body = body.strip_prefix("Before.\r\n\n").unwrap();
                let body = body.strip_suffix("\n\n---\nAfter.\r\n").unwrap();
                if want == before {
                    assert_eq!(body, text, "{name}");
                } else {
                    assert_eq!(body, render_yaml("plan-header", &want), "{name}");
                }
                assert_eq!(header_of(body), want, "{name}");
            }
        });
    }
    assert_eq!(with_retired, 12);
}
