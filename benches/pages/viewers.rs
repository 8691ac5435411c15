//! What people who watch a run cost the receiver.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use http_body_util::BodyExt as _;
use planwright::engine::store::{ClaimLimits, Store};
use tokio::task::JoinSet;

use crate::figures::{Bars, median};
use crate::requests::Site;
use crate::shape::{Place, delivery};
use crate::{Outcome, Plan};

/// Number of requests that watch the output of a run.
const VIEWERS: usize = 50;
/// Number of deliveries that are being accepted at the same time.
const SENDERS: usize = 64;
/// Duration of a round.
const ROUND: Duration = Duration::from_secs(3);
/// Maximum loss of throughput, in percent.
const BAR: f64 = 5.0;

/// Compares the throughput of `Store::accept` with and without viewers, in rounds of both.
pub(crate) async fn run(plan: &Plan, name: &str, site: &Site, bars: &mut Bars) -> Outcome<()> {
    let now = site.clock.now();
    let watched = delivery("watched".to_owned(), place(0), now);
    site.store.accept(watched).await?;
    let limits = ClaimLimits::default();
    let lease = Duration::from_hours(1);
    let claimed = site.store.claim("w", now, lease, &limits).await?;
    let run = claimed.ok_or("there is a run")?.lease.run;
    site.store
        .append_output(&run, "reading the code\n", now)
        .await?;

    println!(
        "\n{name}: deliveries accepted in a second, {SENDERS} at a time, without and with {VIEWERS} viewers"
    );
    let mut number = 0;
    let (mut alone, mut watched, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=plan.rounds {
        // In turns, so that neither is always first.
        let mut rates = [0.0; 2];
        for viewed in [round % 2 == 1, round % 2 == 0] {
            let viewers = if viewed {
                view(site, &run.0).await?
            } else {
                JoinSet::new()
            };
            rates[usize::from(viewed)] = throughput(site, &mut number).await?;
            drop(viewers);
        }
        // The first round warms up.
        if round > 0 {
            alone.push(rates[0]);
            watched.push(rates[1]);
            losses.push((1.0 - rates[1] / rates[0]) * 100.0);
        }
    }
    let loss = median(&losses);
    println!(
        "{:>10.0} {:>10.0}, {loss:+.1} % lost",
        median(&alone),
        median(&watched)
    );
    bars.at_most(
        format!("{name}: throughput lost to {VIEWERS} viewers, %"),
        loss,
        BAR,
    );
    Ok(())
}

/// Opens requests that watch a run, and returns when each has received the first event. They end
/// when the set is dropped.
async fn view(site: &Site, run: &str) -> Outcome<JoinSet<()>> {
    let mut viewers = JoinSet::new();
    for _ in 0..VIEWERS {
        let mut body = site.get(&format!("/ui/runs/{run}/output")).await?;
        let first = body.frame().await.ok_or("an event is missing")??;
        let text = first.into_data().unwrap_or_default();
        if !text.ends_with(b"data: reading the code\ndata: \n\n") {
            return Err(format!("an unexpected event: {text:?}").into());
        }
        viewers.spawn(async move { while body.frame().await.is_some() {} });
    }
    Ok(viewers)
}

/// Returns the number of deliveries that are accepted in a second.
async fn throughput(site: &Site, number: &mut u64) -> Outcome<f64> {
    let mut accept = || {
        *number += 1;
        let new = delivery(
            format!("accepted {number}"),
            place(*number),
            site.clock.now(),
        );
        site.store.accept(new)
    };
    let mut pending: FuturesUnordered<_> = (0..SENDERS).map(|_| accept()).collect();
    let began = Instant::now();
    let mut accepted: u32 = 0;
    while began.elapsed() < ROUND {
        pending.next().await.ok_or("deliveries are pending")??;
        accepted += 1;
        pending.push(accept());
    }
    let rate = f64::from(accepted) / began.elapsed().as_secs_f64();
    while let Some(last) = pending.next().await {
        last?;
    }
    // The next round begins when everything that was accepted is stored.
    site.store.ping().await?;
    Ok(rate)
}

fn place(number: u64) -> Place {
    Place {
        installation: 1_000,
        repo: 10_000 + number % 200,
        number,
    }
}
