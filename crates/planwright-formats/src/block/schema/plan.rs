//! Schemas of the header of a plan, with its retired fields, and of the older comment that
//! contained a plan.

use super::kind::FieldKind::{
    EitherOrNull, FilledOrNull, FilledTextsOrNull, Positive, PositiveOrNull, PositivesOrNull,
    RepoOrNull, RunIdOrNull, Text, TextOrNull, TextsOrNull, Word, WordOrNull,
};
use super::{Era, Field, OPEN, Schema, may, must, number};

pub(super) const HEADER: &str = "plan-header";

/// Fields that are set when a plan is saved and never changed.
pub(super) const IMMUTABLE: &[&str] = &["schema_version", "created_at", "created_by"];

/// The only version of a header so far; a string.
pub(super) const VERSION: &str = "2";

pub(super) static SCHEMAS: &[Schema] = &[
    Schema {
        keys: &[HEADER],
        eras: &[Era::Current],
        fields: CURRENT,
        retired: RETIRED,
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &[HEADER],
        eras: &[Era::First],
        fields: &[
            must("schema_version", Word(&[VERSION])),
            must("created_at", Text),
            must("created_by", Text),
            must("worktree_name", Text),
            may("last_dispatched_run_id", TextOrNull),
            may("last_dispatched_at", TextOrNull),
        ],
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &["erk-plan", "erk-pr"],
        eras: &[Era::Current],
        fields: &[
            number(true),
            must("worktree_name", Text),
            must("timestamp", Text),
            may("plan_file", Text),
        ],
        closed: true,
        ..OPEN
    },
    Schema {
        keys: &["erk-plan"],
        eras: &[Era::First],
        fields: &[
            must("issue_number", Positive),
            must("worktree_name", Text),
            must("timestamp", Text),
            may("plan_file", Text),
        ],
        closed: true,
        ..OPEN
    },
];

/// Fields of a current header, in the order in which erk writes them.
pub(super) const CURRENT: &[Field] = &[
    must("schema_version", Word(&[VERSION])),
    must("created_at", Text),
    must("created_by", Text),
    may("worktree_name", FilledOrNull),
    may("branch_name", FilledOrNull),
    may("plan_comment_id", PositiveOrNull),
    may("ci_summary_comment_id", PositiveOrNull),
    may("last_dispatched_run_id", RunIdOrNull),
    may("last_dispatched_node_id", TextOrNull),
    may("last_dispatched_at", TextOrNull),
    may("last_local_impl_at", TextOrNull),
    may("last_local_impl_event", EitherOrNull("started", "ended")),
    may("last_local_impl_session", TextOrNull),
    may("last_local_impl_user", TextOrNull),
    may("last_remote_impl_at", TextOrNull),
    may("last_remote_impl_run_id", RunIdOrNull),
    may("last_remote_impl_session_id", TextOrNull),
    may("source_repo", RepoOrNull),
    may("objective_issue", PositiveOrNull),
    may("node_ids", TextsOrNull),
    may("created_from_session", FilledOrNull),
    may("created_from_workflow_run_url", FilledOrNull),
    may("last_learn_session", FilledOrNull),
    may("last_learn_at", FilledOrNull),
    may(
        "learn_status",
        WordOrNull(&[
            "completed_no_plan",
            "completed_with_plan",
            "not_started",
            "pending",
            "pending_review",
            "plan_completed",
        ]),
    ),
    may("learn_run_id", RunIdOrNull),
    may("last_session_branch", FilledOrNull),
    may("last_session_id", FilledOrNull),
    may("last_session_at", FilledOrNull),
    may("last_session_source", EitherOrNull("local", "remote")),
    may("learn_plan_issue", PositiveOrNull),
    may("learn_plan_pr", PositiveOrNull),
    may("learned_from_issue", PositiveOrNull),
    may("learn_materials_branch", FilledOrNull),
    may(
        "lifecycle_stage",
        WordOrNull(&[
            "impl",
            "implemented",
            "implementing",
            "planned",
            "planning",
            "prompted",
        ]),
    ),
];

/// Fields from December 2025 to March 2026. Existing plans have them, although erk rejects every
/// plan that does.
const RETIRED: &[Field] = &[
    may("plan_type", WordOrNull(&["extraction", "standard"])),
    may("source_plan_issues", PositivesOrNull),
    may("extraction_session_ids", FilledTextsOrNull),
    may("last_session_gist_id", FilledOrNull),
    may("last_session_gist_url", FilledOrNull),
    may("learn_materials_gist_url", FilledOrNull),
    may("review_pr", PositiveOrNull),
    may("last_review_pr", PositiveOrNull),
];
