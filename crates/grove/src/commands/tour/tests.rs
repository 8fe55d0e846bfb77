//! The tour where no operator is at work, and what its texts and delays take.

use std::time::Duration;

use clap::Parser;
use grove_api::schema::CRDS;
use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::jiff::Timestamp;

use super::*;

fn client(resources: Resources) -> Client {
    let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1);
    Client::new(server.service(), "default")
}

fn short_steps() -> Vec<Step> {
    steps().into_iter().map(|it| Step { timeout: Duration::from_millis(10), ..it }).collect()
}

#[tokio::test]
async fn a_step_that_takes_too_long_says_what_was_awaited() {
    let mut resources = Resources::cluster();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    let output = Output::new(CancellationToken::new());
    let shown = show(client(resources), short_steps(), Duration::ZERO, &output).await;
    let want = "the tour took too long to wait until 5 pods of gang training-0 are ready";
    assert_eq!(shown, Err(want.to_owned()));
}

#[tokio::test]
async fn an_action_that_fails_ends_the_tour() {
    let output = Output::new(CancellationToken::new());
    let shown = show(client(Resources::cluster()), short_steps(), Duration::ZERO, &output).await;
    let why = shown.unwrap_err();
    assert!(why.starts_with("the tour failed: PodCliqueSet training: "), "{why}");
}

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    tour: TourCommand,
}

/// What does not depend on the machine; the rest of the minute is for what does.
#[test]
fn texts_and_simulated_delays_leave_ten_seconds_of_a_minute() {
    let steps = steps();
    let texts = 2 * u32::try_from(steps.len()).unwrap();
    let reading = texts * Command::parse_from(["tour"]).tour.pause;
    // In a step pods start once; where a node fails they start again, and an update replaces the two replicas one after the other.
    let starts = 2 + u32::try_from(steps.len()).unwrap();
    // An image is pulled, and the container becomes ready.
    let starting = starts * 2 * START_DELAY;
    // Until the node is NotReady, and then until its pods are replaced.
    let silence = 2 * NODE_GRACE;
    let all = reading + starting + silence;
    assert!(all <= Duration::from_secs(50), "{all:?}");
}
