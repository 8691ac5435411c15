//! Medians, percentiles, processor time, and the bars that they are compared with.

use std::fmt::{Display, Formatter};

use rustix::time::{ClockId, clock_gettime};

use crate::Outcome;

/// Returns the median.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Returns a quantile: the smallest value that is not less than the given portion of the values.
pub(crate) fn quantile(values: &[f64], portion: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a position in a list"
    )]
    let position = (sorted.len() as f64 * portion).ceil() as usize;
    let value = sorted.get(position.saturating_sub(1));
    value.copied().unwrap_or(f64::NAN)
}

/// Returns the processor time of this process so far, in milliseconds.
pub(crate) fn own_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns the processor time that the threads of a process have used so far, in milliseconds.
pub(crate) fn time_of(process: u32) -> Outcome<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        // A thread may have ended meanwhile.
        if let Ok(text) = std::fs::read_to_string(thread?.path().join("schedstat")) {
            let first = text.split_whitespace().next().unwrap_or_default();
            nanoseconds += first.parse::<f64>()?;
        }
    }
    Ok(nanoseconds / 1e6)
}

/// The required values and what was measured.
#[derive(Debug, Default)]
pub(crate) struct Bars(Vec<(String, f64, f64)>);

impl Bars {
    /// Adds a value that must be at most `bar`.
    pub(crate) fn at_most(&mut self, what: impl Into<String>, value: f64, bar: f64) {
        self.0.push((what.into(), value, bar));
    }

    /// Whether a value is larger than its bar.
    pub(crate) fn missed(&self) -> bool {
        self.0.iter().any(|(_, value, bar)| !holds(*value, *bar))
    }
}

/// A value that could not be measured does not hold a bar.
fn holds(value: f64, bar: f64) -> bool {
    value <= bar
}

impl Display for Bars {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "\nbars")?;
        for (what, value, bar) in &self.0 {
            let verdict = if holds(*value, *bar) {
                "held"
            } else {
                "MISSED"
            };
            writeln!(
                f,
                "  {what:<68} {value:>9.2}  at most {bar:>7.2}  {verdict}"
            )?;
        }
        Ok(())
    }
}
