//! The simulator's faults have the requested effects.

use github_simulator::Clock as _;
use std::time::Duration;

use github_simulator::{Fault, FaultKind, RandomFaults};
use http::{Method, StatusCode};
use serde_json::json;

use crate::simulator_support::{REPO, World};

const CREATE: &str = "/repos/*/*/issues";

async fn create(world: &World) -> Option<StatusCode> {
    let body = json!({"title": "t"});
    world
        .try_call(Method::POST, "/repos/acme/widgets/issues", Some(&body))
        .await
        .map(|got| got.status)
}

fn issues(world: &World) -> usize {
    world.simulator.issues(REPO).unwrap().len()
}

#[tokio::test]
async fn bad_gateway_before_and_after_the_write() {
    let world = World::new().await;
    let faults = world.simulator.faults();
    faults.push(Fault::on("POST", CREATE, FaultKind::BadGatewayBefore));
    faults.push(Fault::on("POST", CREATE, FaultKind::BadGatewayAfter));
    assert_eq!(create(&world).await, Some(StatusCode::BAD_GATEWAY));
    assert_eq!(issues(&world), 0);
    assert_eq!(create(&world).await, Some(StatusCode::BAD_GATEWAY));
    assert_eq!(issues(&world), 1);
    assert_eq!(create(&world).await, Some(StatusCode::CREATED));
    assert_eq!(issues(&world), 2);
    assert_eq!(world.simulator.writes(), 2);
}

#[tokio::test]
async fn a_lost_answer_leaves_the_write() {
    let world = World::new().await;
    world
        .simulator
        .faults()
        .push(Fault::on("POST", CREATE, FaultKind::LostResponse));
    assert_eq!(create(&world).await, None);
    assert_eq!(issues(&world), 1);
    let requests = world.simulator.requests();
    let last = requests.last().unwrap();
    assert_eq!((last.status, last.changed), (None, true));
    assert_eq!(create(&world).await, Some(StatusCode::CREATED));
}

#[tokio::test]
async fn limits_and_refusals() {
    let world = World::new().await;
    let faults = world.simulator.faults();
    let path = format!("/repos/{REPO}");
    let retry_after = Some(60);
    faults.push(Fault::on(
        "*",
        "/repos/*/*",
        FaultKind::SecondaryLimit { retry_after },
    ));
    let got = world.get(&path).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(got.header("retry-after"), Some("60"));
    assert!(got.text().contains("secondary rate limit"));
    let retry_after = None;
    faults.push(Fault::on(
        "*",
        "/repos/*/*",
        FaultKind::SecondaryLimit { retry_after },
    ));
    assert_eq!(world.get(&path).await.header("retry-after"), None);
    let reset = world.clock.now() + Duration::from_secs(90);
    faults.push(Fault::on(
        "*",
        "/repos/*/*",
        FaultKind::PrimaryLimit { reset },
    ));
    let got = world.get(&path).await;
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert_eq!(
        got.headers.get_all("x-ratelimit-remaining").iter().count(),
        1
    );
    assert_eq!(got.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(
        got.header("x-ratelimit-reset"),
        Some(reset.timestamp().to_string().as_str())
    );
    faults.push(Fault::on("GET", "/**", FaultKind::BadCredentials));
    assert_eq!(world.get(&path).await.status, StatusCode::UNAUTHORIZED);
    faults.push(Fault::on("GET", "/**", FaultKind::Unavailable));
    assert_eq!(
        world.get(&path).await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    assert_eq!(world.get(&path).await.status, StatusCode::OK);
}

#[tokio::test]
async fn requests_beyond_the_hourly_limit_are_refused_and_not_counted() {
    let mut world = World::new().await;
    let path = format!("/repos/{REPO}");
    let mut got = world.get(&path).await;
    while got.status == StatusCode::OK {
        got = world.get(&path).await;
    }
    assert_eq!(got.status, StatusCode::FORBIDDEN);
    assert!(got.text().contains("API rate limit exceeded"));
    assert_eq!(got.header("x-ratelimit-remaining"), Some("0"));
    let answered = world.simulator.requests();
    let answered = answered.iter().filter(|request| request.path == path);
    assert_eq!(
        answered
            .filter(|request| request.status == Some(200))
            .count(),
        5_000
    );
    // Refused requests do not count against the limit.
    let refused = world.get(&path).await;
    assert_eq!(refused.header("x-ratelimit-used"), Some("5000"));
    let limit = world.get("/rate_limit").await;
    assert_eq!(limit.status, StatusCode::OK);
    assert_eq!(limit.json()["rate"]["used"], 5_000);
    assert_eq!(limit.json()["rate"]["remaining"], 0);
    world.clock.advance(Duration::from_hours(1));
    world.token = world.mint().await;
    assert_eq!(world.get(&path).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_delay_goes_by_the_clock() {
    let world = World::new().await;
    let before = world.clock.now();
    let delay = Duration::from_secs(7);
    world
        .simulator
        .faults()
        .push(Fault::on("GET", "/repos/*/*", FaultKind::Delay(delay)));
    assert_eq!(
        world.get("/repos/acme/widgets").await.status,
        StatusCode::OK
    );
    assert_eq!(world.clock.now(), before + delay);
}

#[tokio::test]
async fn faults_see_one_form_of_a_path() {
    let world = World::new().await;
    let id = world.get("/repos/acme/widgets").await.json()["id"].clone();
    for path in [
        format!("/repositories/{id}"),
        "/api/v3/repos/acme/widgets".to_owned(),
    ] {
        let fault = Fault::on("GET", "/repos/acme/widgets", FaultKind::BadGatewayBefore);
        world.simulator.faults().push(fault);
        assert_eq!(
            world.get(&path).await.status,
            StatusCode::BAD_GATEWAY,
            "{path}"
        );
    }
}

#[tokio::test]
async fn random_faults_affect_writes_until_their_end() {
    let world = World::new().await;
    world.simulator.faults().set_random(Some(RandomFaults {
        seed: 3,
        probability: 1.0,
        kinds: vec![FaultKind::BadGatewayAfter],
        writes_only: true,
        until: Some(world.clock.now() + Duration::from_secs(10)),
    }));
    assert_eq!(
        world.get("/repos/acme/widgets").await.status,
        StatusCode::OK
    );
    assert_eq!(create(&world).await, Some(StatusCode::BAD_GATEWAY));
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(create(&world).await, Some(StatusCode::CREATED));
    assert_eq!(world.simulator.faults().injected(), 1);
}
