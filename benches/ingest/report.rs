//! The report: figures, ratios to the limit of the same run, and the bars.

use std::fmt;

use serde::Serialize;

use crate::loss::Loss;
use crate::rounds::{CONNECTIONS, Case, Figures, Measured, Memory};

/// One line of the table.
#[derive(Debug, Serialize)]
struct Row {
    case: Case,
    connections: usize,
    #[serde(flatten)]
    figures: Figures,
    /// Rate divided by the limit's rate for the same deliveries.
    rate_ratio: f64,
    /// The limit's processor time per answer divided by that of this case.
    cpu_ratio: f64,
}

/// A performance bar and whether it was met.
#[derive(Debug, Serialize)]
struct Bar {
    what: String,
    found: f64,
    /// The bar as text, such as `≥ 0.6`.
    wanted: String,
    met: bool,
}

/// The complete report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Whether load and server each had a core of their own.
    pinned: bool,
    rows: Vec<Row>,
    memory: Memory,
    losses: Vec<Loss>,
    bars: Vec<Bar>,
}

impl Report {
    pub(crate) fn new(pinned: bool, measured: &Measured, losses: Vec<Loss>) -> Self {
        let mut report = Self {
            pinned,
            rows: rows(measured),
            memory: measured.memory,
            losses,
            bars: Vec::new(),
        };
        report.judge();
        report
    }

    /// Returns whether acknowledged deliveries are missing from the database, or none were
    /// acknowledged.
    pub(crate) fn lost(&self) -> bool {
        self.losses
            .iter()
            .any(|loss| loss.missing > 0 || loss.acknowledged == 0)
    }

    /// Returns whether a bar was missed.
    pub(crate) fn missed(&self) -> bool {
        self.bars.iter().any(|bar| !bar.met)
    }

    fn row(&self, case: Case, connections: usize) -> Option<&Row> {
        let mut rows = self.rows.iter();
        rows.find(|row| row.case == case && row.connections == connections)
    }

    fn judge(&mut self) {
        let ratio = |case, connections| {
            self.row(case, connections)
                .map_or(0.0, |row| row.rate_ratio)
        };
        let p99 = self
            .row(Case::Durable, 64)
            .map_or(f64::MAX, |row| row.figures.p99_ms);
        let mut bars = Vec::new();
        // With one connection, the latency of a single flush and wake-up would be measured, not the
        // receiver.
        for connections in [16, 64] {
            let at = format!("at {connections} connections");
            bars.push(at_least(
                format!("durable ÷ limit {at}"),
                ratio(Case::Durable, connections),
                0.75,
            ));
            bars.push(at_least(
                format!("ignored ÷ limit {at}"),
                ratio(Case::Ignored, connections),
                0.8,
            ));
        }
        bars.push(at_least(
            "forged ÷ limit at 64 connections",
            ratio(Case::Forged, 64),
            0.9,
        ));
        let cpu = |case| {
            self.row(case, 64)
                .map_or(f64::NAN, |row| row.figures.cpu_micros)
        };
        bars.push(at_most(
            "decision of a plan ÷ parse alone, processor time",
            cpu(Case::LimitPlan) / cpu(Case::LimitParse),
            1.5,
        ));
        bars.push(below("durable p99 at 64 connections, ms", p99, 6.0));
        bars.push(below("memory idle, MiB", self.memory.idle, 12.0));
        bars.push(below("memory under load, MiB", self.memory.loaded, 24.0));
        bars.push(below(
            "memory grown by forged deliveries, MiB",
            self.memory.forged_growth,
            8.0,
        ));
        bars.push(below(
            "log lines for forged deliveries",
            self.memory.forged_lines as f64,
            3.0,
        ));
        for loss in &self.losses {
            let at = format!(
                "queue {}, {} connections",
                loss.queue_depth, loss.connections
            );
            bars.push(below(
                format!("acknowledged and lost, {at}"),
                loss.missing as f64,
                1.0,
            ));
            bars.push(below(format!("memory grown, MiB, {at}"), loss.growth, 40.0));
        }
        self.bars = bars;
    }
}

fn rows(measured: &Measured) -> Vec<Row> {
    let row = |(&(case, connections), &figures): (&(Case, usize), &Figures)| {
        let limit = match case {
            Case::LimitCommand | Case::Durable | Case::DurablePostgres | Case::Forged => {
                Case::LimitCommand
            }
            Case::LimitTalk | Case::Ignored => Case::LimitTalk,
            Case::LimitPlan | Case::DurablePlan => Case::LimitPlan,
            Case::LimitParse => Case::LimitParse,
        };
        // Every case is measured together with its limit.
        let at_limit = measured
            .figures
            .get(&(limit, connections))
            .unwrap_or(&figures);
        Row {
            case,
            connections,
            figures,
            rate_ratio: figures.rate / at_limit.rate,
            cpu_ratio: at_limit.cpu_micros / figures.cpu_micros,
        }
    };
    measured.figures.iter().map(row).collect()
}

fn at_least(what: impl Into<String>, found: f64, least: f64) -> Bar {
    Bar {
        what: what.into(),
        found,
        wanted: format!("≥ {least}"),
        met: found >= least,
    }
}

fn at_most(what: impl Into<String>, found: f64, most: f64) -> Bar {
    Bar {
        what: what.into(),
        found,
        wanted: format!("≤ {most}"),
        met: found <= most,
    }
}

fn below(what: impl Into<String>, found: f64, limit: f64) -> Bar {
    Bar {
        what: what.into(),
        found,
        wanted: format!("< {limit}"),
        met: found < limit,
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pinned {
            writeln!(
                f,
                "load and server share their cores: take nothing from these figures"
            )?;
        }
        writeln!(
            f,
            "{:<14} {:>5} {:>9} {:>8} {:>8} {:>10} {:>10} {:>9}",
            "case", "conns", "per s", "p50 ms", "p99 ms", "CPU µs/req", "rate ratio", "CPU ratio"
        )?;
        for connections in CONNECTIONS {
            for row in self
                .rows
                .iter()
                .filter(|row| row.connections == connections)
            {
                let Figures {
                    rate,
                    p50_ms,
                    p99_ms,
                    cpu_micros,
                } = row.figures;
                let case = format!("{:?}", row.case);
                writeln!(
                    f,
                    "{case:<14} {connections:>5} {rate:>9.0} {p50_ms:>8.2} {p99_ms:>8.2} {cpu_micros:>10.1} {:>10.2} {:>9.2}",
                    row.rate_ratio, row.cpu_ratio
                )?;
            }
        }
        writeln!(f)?;
        for loss in &self.losses {
            writeln!(
                f,
                "killed with queue {} under {} connections: {} acknowledged, {} missing; {} answered 503; {:+.1} MiB",
                loss.queue_depth,
                loss.connections,
                loss.acknowledged,
                loss.missing,
                loss.busy,
                loss.growth
            )?;
        }
        writeln!(f)?;
        for bar in &self.bars {
            let verdict = if bar.met { "met" } else { "MISSED" };
            writeln!(
                f,
                "{:<6} {:<55} {:>8.2} {}",
                verdict, bar.what, bar.found, bar.wanted
            )?;
        }
        Ok(())
    }
}
