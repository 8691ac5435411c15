//! The contract of every store, independent of the database: one function per rule, over `&dyn
//! Store`.
//!
//! A backend's test file calls [`for_each_rule`] with a macro that opens a new store for each rule, and
//! [`for_each_history_rule`] with one that also passes the [`History`] of the store.
//!
//! [`History`]: planwright::adapters::store::History

pub(crate) mod accept;
pub(crate) mod asks;
pub(crate) mod claim;
pub(crate) mod intake;
pub(crate) mod lease;
pub(crate) mod messages;
pub(crate) mod overview;
pub(crate) mod queue;
pub(crate) mod records;
pub(crate) mod spending;

use std::time::Duration;

use planwright::engine::model::failure::Code;
use planwright::engine::model::intake::Source;
use planwright::engine::model::progress::Progress;
use planwright::engine::model::run::{RunId, State};
use planwright::engine::model::time::Millis;
use planwright::engine::model::trigger::{Actor, IssueRef, Origin, Repo, Trigger};
use planwright::engine::store::{
    Accepted, ClaimLimits, Claimed, NewDelivery, NewRun, RunOutcome, Store,
};
use planwright::formats::command::Command;

/// Calls the macro with the path of every rule.
macro_rules! for_each_rule {
    ($call:ident) => {
        $call! {
            claim::a_run_that_is_being_acknowledged_hides_no_other
            queue::positions_count_what_precedes_a_run_and_what_runs
            accept::new_then_duplicate
            accept::identical_at_once_make_one_run
            accept::a_failed_delivery_is_requeued
            accept::a_partly_failed_delivery_is_a_duplicate
            accept::runs_of_one_delivery_keep_their_order
            accept::runs_without_serial_are_never_blocked
            accept::a_gone_installation_cancels_its_runs_once
            accept::a_removed_installation_does_not_block_the_runs_of_another
            accept::payloads_and_texts_survive_unchanged
            accept::a_dedup_key_is_accepted_once_whatever_the_delivery_id
            accept::a_text_is_kept_once_and_handed_out_with_every_run
            asks::deferred_runs_come_last_and_one_at_a_time_in_an_installation
            asks::a_deferred_run_is_due_while_one_of_another_installation_is_running
            asks::a_deferred_run_leaves_the_line_of_its_place
            asks::what_was_decided_stays_decided
            asks::budgets_of_person_place_and_installation_end_with_their_window
            asks::a_comment_is_answered_once_to_an_outsider_and_counts_for_eight_commands
            asks::a_refusal_is_posted_once_in_a_window
            asks::deciding_needs_the_lease
            claim::fewest_running_repository_first_then_oldest
            claim::fewest_running_installation_before_repository_before_age
            claim::limits_hold_for_all_workers_together
            claim::waiting_runs_are_claimable_when_due
            claim::a_place_runs_one_at_a_time
            claim::acknowledgement_and_claim_exclude_each_other
            claim::acknowledgement_survives_promotion
            claim::acknowledged_while_running
            claim::arrivals_are_not_lost
            intake::every_decision_about_a_place_is_listed
            intake::old_decisions_are_pruned
            intake::missed_deliveries_wait_oldest_first
            intake::scans_are_remembered_by_repository
            intake::a_late_delivery_precedes_what_was_requested_later
            intake::a_late_delivery_does_not_interrupt_a_run
            intake::a_late_cancel_spares_what_was_requested_later
            lease::attempts_and_fences_are_counted
            lease::writes_without_the_lease_are_refused
            lease::a_forged_lease_does_not_take_the_status_of_the_current_one
            lease::heartbeats_extend_leases_and_report_their_status
            lease::expired_leases_are_recovered
            lease::a_run_is_claimed_as_soon_as_nobody_acknowledges_it
            lease::release_gives_the_attempt_back
            messages::unfinished_runs_take_messages_in_order
            messages::a_message_wakes_a_waiting_run
            messages::a_run_told_after_its_claim_does_not_sleep
            messages::parks_and_messages_at_the_same_time_lose_nothing
            messages::a_run_put_back_in_line_keeps_its_messages
            overview::one_run_is_cancelled_in_every_unfinished_state
            overview::one_failed_or_cancelled_run_is_queued_again
            overview::a_command_is_given_again_once_at_a_time
            overview::a_run_that_is_queued_again_waits_for_the_active_one
            overview::runs_without_serial_are_cancelled_and_queued_again
            queue::ends_promote_the_next
            queue::cancel_reaches_every_earlier_run
            queue::a_cancel_that_meets_a_park_is_not_lost
            queue::a_failed_run_goes_back_in_line
            queue::runs_are_listed_and_counted
            records::effects_are_new_tried_done
            records::progress_is_handed_to_the_next_attempt
            records::audit_is_kept_in_order
            records::prune_deletes_only_what_ended
            records::prune_takes_messages_and_spares_the_days_spending
            records::ping_and_close
            records::saved_plans_are_kept_by_place_and_outlive_their_runs
            records::refused_deliveries_are_deleted_sooner_than_others
            spending::a_run_counts_once_for_its_actor
            spending::runs_of_a_day_count_by_repository_and_in_all
            spending::usage_is_summed_up_by_day_and_outlives_its_runs
            spending::costs_count_when_they_are_known
            spending::turns_that_meet_do_not_pass_a_limit_together
            spending::turns_need_the_lease_and_a_beginning
        }
    };
}
pub(crate) use for_each_rule;

/// Calls the macro with the path of every rule that takes the store and its history.
macro_rules! for_each_history_rule {
    ($call:ident) => {
        $call! {
            overview::output_is_kept_in_order_and_deleted_with_its_run
            overview::output_is_kept_up_to_a_size
            overview::no_portion_appears_before_one_that_was_seen
            overview::repositories_are_found_by_their_last_known_name
            overview::runs_are_selected_by_state_repository_and_command
            overview::watching_a_run_gives_its_state_and_what_is_new
            overview::plans_are_found_by_the_beginnings_of_their_words
            overview::hostile_searches_are_searches
            overview::plans_are_selected_by_repository_person_and_date
            overview::searches_follow_plans_that_are_replaced_and_deleted
            overview::usage_is_listed_by_day_repository_and_command
            overview::audit_entries_are_selected_by_run_person_and_decision
            overview::the_last_decisions_of_all_places_are_listed
            overview::turns_and_effects_of_a_run_are_listed_in_order
        }
    };
}
pub(crate) use for_each_history_rule;

pub(crate) const LEASE: Duration = Duration::from_secs(1);

/// A moment, counted from an arbitrary one.
pub(crate) fn at(ms: i64) -> Millis {
    Millis(1_700_000_000_000 + ms)
}

/// A run on the issue `repo#number`, one after another with its neighbours.
pub(crate) fn new_run(repo: u64, number: u64) -> NewRun {
    let place = format!("{repo}#{number}");
    let trigger = Trigger {
        command: Command::SavePlan,
        actor: Actor {
            id: 7,
            login: "octocat".into(),
            bot: false,
        },
        place: IssueRef {
            repo: Repo {
                installation: 1,
                id: repo,
                owner: "acme".into(),
                name: "search".into(),
            },
            number,
            pull_request: false,
        },
        origin: Origin::Label {
            name: "save-plan".into(),
        },
        options: Vec::new(),
        guidance: None,
        also: Vec::new(),
        expired: false,
        repeated: false,
        inline: None,
        opening: None,
        at: at(0),
    };
    NewRun {
        id: RunId::new(),
        command: "save-plan".into(),
        serial: Some(place.clone()),
        place,
        repo_id: repo,
        installation: 1,
        trigger,
    }
}

/// A delivery with these runs that arrived at [`at`]`(ms)`.
pub(crate) fn delivery(guid: &str, ms: i64, runs: Vec<NewRun>) -> NewDelivery {
    NewDelivery {
        source: Source::Webhook,
        guid: guid.into(),
        event: "issue_comment".into(),
        action: Some("created".into()),
        installation: 1,
        dedup_key: None,
        received: at(ms),
        payload: None,
        runs,
        installation_gone: false,
    }
}

/// Stores a new delivery with one run; its id.
pub(crate) async fn add(store: &dyn Store, guid: &str, ms: i64, run: NewRun) -> RunId {
    let id = run.id.clone();
    let accepted = store.accept(delivery(guid, ms, vec![run])).await.unwrap();
    assert_eq!(accepted, Accepted::New);
    id
}

/// Claims for the worker `w` what is to be had at [`at`]`(ms)`.
pub(crate) async fn claim(store: &dyn Store, ms: i64) -> Option<Claimed> {
    store
        .claim("w", at(ms), LEASE, &ClaimLimits::default())
        .await
        .unwrap()
}

/// Claims what must be there.
pub(crate) async fn must_claim(store: &dyn Store, ms: i64) -> Claimed {
    claim(store, ms).await.expect("a claimable run")
}

pub(crate) async fn finish(store: &dyn Store, claimed: &Claimed, how: RunOutcome, ms: i64) {
    store.finish(&claimed.lease, &how, at(ms)).await.unwrap();
}

/// Returns how many unfinished runs at its place precede a run.
pub(crate) async fn ahead_of(store: &dyn Store, id: &RunId) -> u64 {
    store.queue_position(id).await.unwrap().at_place
}

pub(crate) async fn state(store: &dyn Store, id: &RunId) -> State {
    store.run(id).await.unwrap().expect("the run").state
}

/// Progress that differs for each `step`.
pub(crate) fn progress(step: u32) -> Progress {
    Progress {
        status_lost: step,
        ..Progress::default()
    }
}

pub(crate) fn failed() -> RunOutcome {
    RunOutcome::Failed {
        code: Code::Internal,
        message: "it broke".into(),
    }
}

pub(crate) fn park(ms: i64, counts: bool) -> RunOutcome {
    RunOutcome::Park {
        until: at(ms),
        reason: "not now".into(),
        counts,
    }
}
