//! Messages about commands that were received long after they were written.

use std::time::Duration;

use super::{asked, person};
use crate::engine::model::time::Millis;
use crate::engine::model::trigger::Trigger;

/// Time after which a command counts as picked up late. Deliveries usually arrive within seconds,
/// and some of them minutes later.
const MIN_LATE: Duration = Duration::from_mins(10);

/// Returns a line for the report of a command that was received late; `None` if it was not.
pub fn note(trigger: &Trigger, received: Millis) -> Option<String> {
    let late = received.since(trigger.at);
    (late >= MIN_LATE).then(|| {
        format!(
            "<sub>🕓 Written at {} and picked up {} later, because its delivery did not arrive at once.</sub>",
            trigger.at.iso(),
            duration(late)
        )
    })
}

/// Returns the answer to a command that was found too late to be executed.
pub fn too_old(trigger: &Trigger, received: Millis, limit: Duration) -> String {
    format!(
        "😕 {}: {} was given at {}, but received only {} later; the limit is {}, so it was not executed. Repeat it if it is \
         still wanted.",
        person(trigger),
        asked(trigger),
        trigger.at.iso(),
        duration(received.since(trigger.at)),
        duration(limit)
    )
}

/// Returns a duration in its two largest units.
fn duration(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
    let parts = [(days, "d"), (hours, "h"), (minutes, "min")];
    let shown = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .take(2)
        .map(|(count, unit)| format!("{count} {unit}"));
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() {
        return "0 min".to_owned();
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units() {
        for (minutes, text) in [
            (0, "0 min"),
            (12, "12 min"),
            (60, "1 h"),
            (192, "3 h 12 min"),
            (1440, "1 d"),
            (1445, "1 d 5 min"),
            (3000, "2 d 2 h"),
        ] {
            assert_eq!(duration(Duration::from_mins(minutes)), text);
        }
    }
}
