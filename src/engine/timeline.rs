//! What happened in a run, in the order of time: audit entries, steps, effects and agents' turns.

use super::model::progress::Progress;
use super::model::time::Millis;
use super::overview::{Effect, NumberedEntry, Turn};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An entry of the audit log.
    Audit,
    /// The start of a step.
    Step,
    /// A turn of an agent.
    Turn,
    /// A write to GitHub.
    Effect,
}

impl Kind {
    /// Returns the name for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Step => "step",
            Self::Turn => "agent",
            Self::Effect => "GitHub",
        }
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The time.
    pub at: Millis,
    /// The kind.
    pub kind: Kind,
    /// What happened.
    pub text: String,
    /// How long it took, in milliseconds, if it has ended and took time.
    pub millis: Option<u64>,
}

/// Returns the events of a run, oldest first.
pub fn timeline(
    progress: Option<&Progress>,
    audit: &[NumberedEntry],
    effects: &[Effect],
    turns: &[Turn],
) -> Vec<Event> {
    let mut events = Vec::new();
    let steps = progress.map_or(&[][..], |progress| &progress.steps);
    for (index, step) in steps.iter().enumerate() {
        events.push(Event {
            at: step.at,
            kind: Kind::Step,
            text: step.name.clone(),
            millis: steps.get(index + 1).map(|next| millis(step.at, next.at)),
        });
    }
    for NumberedEntry { entry, .. } in audit {
        let by = match entry.actor.as_str() {
            "" => String::new(),
            actor => format!(" by {actor}"),
        };
        events.push(Event {
            at: entry.at,
            kind: Kind::Audit,
            text: format!("{}{by}: {}", entry.decision, entry.why),
            millis: None,
        });
    }
    for effect in effects {
        let text = match effect.done {
            Some(_) => effect.key.clone(),
            None => format!("{} (outcome unknown)", effect.key),
        };
        events.push(Event {
            at: effect.begun,
            kind: Kind::Effect,
            text,
            millis: effect.done.map(|done| millis(effect.begun, done)),
        });
    }
    for turn in turns {
        let text = match turn.used {
            None => format!("{}: running, or ended without a report", turn.key),
            Some(used) => format!(
                "{}: model turns {}, tool calls {}, {}, tokens in {} ({} cached), out {}",
                turn.key,
                used.turns,
                used.tools,
                dollars(used.cost),
                used.tokens.input,
                used.tokens.cached,
                used.tokens.output
            ),
        };
        events.push(Event {
            at: turn.at,
            kind: Kind::Turn,
            text,
            millis: None,
        });
    }
    events.sort_by_key(|event| (event.at, event.kind));
    events
}

fn millis(from: Millis, to: Millis) -> u64 {
    u64::try_from(to.since(from).as_millis()).unwrap_or(u64::MAX)
}

/// Formats an amount of money, such as `$1.25`.
pub fn dollars(cost: super::model::agent::Micros) -> String {
    let cents = cost.saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::model::agent::Tokens;
    use crate::engine::model::progress::StepStart;
    use crate::engine::overview::TurnUsage;
    use crate::engine::store::AuditEntry;

    #[test]
    fn events_are_in_the_order_of_time() {
        let progress = Progress {
            steps: vec![
                StepStart {
                    name: "reading".to_owned(),
                    at: Millis(1_000),
                },
                StepStart {
                    name: "saving".to_owned(),
                    at: Millis(3_000),
                },
            ],
            ..Progress::default()
        };
        let audit = [NumberedEntry {
            id: 1,
            entry: AuditEntry {
                at: Millis(4_000),
                run: None,
                guid: None,
                actor: "ann".to_owned(),
                decision: "saved".to_owned(),
                why: "issue 9".to_owned(),
            },
        }];
        let effect = |key: &str, begun, done| Effect {
            key: key.to_owned(),
            begun: Millis(begun),
            done,
        };
        let effects = [
            effect("issue", 3_000, Some(Millis(3_500))),
            effect("body", 3_600, None),
        ];
        let turns = [Turn {
            key: "1".to_owned(),
            at: Millis(2_000),
            used: Some(TurnUsage {
                turns: 2,
                tools: 1,
                cost: 1_254_999,
                tokens: Tokens {
                    input: 10,
                    cached: 4,
                    output: 5,
                },
            }),
        }];
        let events = timeline(Some(&progress), &audit, &effects, &turns);
        let told: Vec<String> = events
            .iter()
            .map(|event| {
                format!(
                    "{} {} {} {:?}",
                    event.at.0,
                    event.kind.name(),
                    event.text,
                    event.millis
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                "1000 step reading Some(2000)",
                "2000 agent 1: model turns 2, tool calls 1, $1.25, tokens in 10 (4 cached), out 5 None",
                "3000 step saving None",
                "3000 GitHub issue Some(500)",
                "3600 GitHub body (outcome unknown) None",
                "4000 audit saved by ann: issue 9 None",
            ]
        );
    }
}
