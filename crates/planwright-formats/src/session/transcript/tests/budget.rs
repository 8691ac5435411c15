//! Splitting of a transcript by its tokens.

use super::*;

#[test]
fn four_characters_are_a_token() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("abc"), 0);
    assert_eq!(estimate("日本語だ"), 1);
    assert_eq!(estimate(&"x".repeat(4_003)), 1_000);
}

#[test]
fn without_a_budget_everything_is_one_part() {
    let mut budget = Budget::new(&Head::default(), None);
    assert!((0..100).all(|_| budget.add_entry(&"x".repeat(1_000_000))));
}

#[test]
fn a_part_ends_before_the_entry_that_is_too_much() {
    // 5 for the frame, 10 for each entry.
    let mut budget = Budget::new(&Head::default(), Some(25));
    let entry = format!("{}\n", "x".repeat(40));
    let taken: Vec<bool> = (0..5).map(|_| budget.add_entry(&entry)).collect();
    assert_eq!(taken, [true, true, false, true, false]);
}

#[test]
fn an_entry_over_the_budget_is_a_part_of_its_own() {
    let mut budget = Budget::new(&Head::default(), Some(25));
    let (small, large) = ("x".repeat(40), "x".repeat(4_000));
    assert!(
        budget.add_entry(&large),
        "nothing could be in a part before it"
    );
    assert!(!budget.add_entry(&small));
    assert!(!budget.add_entry(&large));
    assert!(!budget.add_entry(&large));
    assert!(!budget.add_entry(&small));
    assert!(budget.add_entry(&small));
}

#[test]
fn the_head_counts_in_every_part() {
    let head = Head::new(Some("agent-1f2e3d4c".to_owned()));
    assert_eq!(
        head.open(),
        "<session>\n  <meta source=\"agent-1f2e3d4c\" />\n"
    );
    // 5 for the frame, 9 for the line.
    let mut budget = Budget::new(&head, Some(24));
    let entry = "x".repeat(20);
    let taken: Vec<bool> = (0..4).map(|_| budget.add_entry(&entry)).collect();
    assert_eq!(taken, [true, true, false, true]);
}
