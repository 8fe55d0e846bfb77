//! What must hold under a quota.

use super::*;
use crate::{
    cluster::{QUOTAS, User},
    rules::quota::{few_pods_are_made, nobody_waits_in_vain},
};

/// A pod that never ran, of a gang that lacks its minimum, may go; none else, and without a quota not even that.
#[tokio::test(start_paused = true)]
async fn only_pods_that_wait_for_quota_are_given_back() {
    for (limited, left, gated, expected) in [
        (true, 1, true, None),
        (false, 1, true, Some(Rule::Wanted)),
        (true, 1, false, Some(Rule::Wanted)),
        (true, 3, true, Some(Rule::Wanted)),
    ] {
        let bench = Bench::under_quota(limited);
        for index in left..3 {
            bench.cluster.delete("user", PODS, &format!("p{index}"), Some(0));
        }
        if !gated {
            let lift = json!({ "spec": { "schedulingGates": null } });
            bench.cluster.patch("user", PODS, "p0", lift);
        }
        bench.referee.look();
        sleep(LONG).await;
        bench.delete(PODS, "p0");
        assert_eq!(bench.verdict(), expected, "limited: {limited}, {left} left, gated: {gated}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_quota_refuses_is_not_lacking() {
    let bench = Bench::under_quota(true);
    sleep(LONG).await;
    bench.cluster.delete("user", PODS, "p2", Some(0));
    bench.referee.look();
    sleep(Duration::from_mins(5)).await;
    bench.referee.overdue();
    assert_eq!(bench.referee.broken(), None);
}

/// The gang needs two pods.
#[tokio::test(start_paused = true)]
async fn a_gang_that_fits_does_not_wait() {
    let rule = |bench: &Bench| nobody_waits_in_vain(&bench.cluster).err().map(|it| it.rule);
    for (quota, expected) in [(2, Some(Rule::Quota)), (1, None)] {
        let bench = Bench::under_quota(true);
        let user = User { cluster: bench.cluster.clone() };
        user.limit(quota);
        assert_eq!(rule(&bench), None, "all pods are there");
        for pod in ["p1", "p2"] {
            bench.cluster.delete("user", PODS, pod, Some(0));
        }
        assert_eq!(rule(&bench), expected, "a quota of {quota}");
        assert!(bench.cluster.get(QUOTAS, "pods").is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn pods_are_not_made_without_end() {
    let bench = Bench::under_quota(true);
    let since = bench.cluster.server.store().write_count();
    assert_eq!(few_pods_are_made(&bench.cluster, since), Ok(()));
    for number in 0..60 {
        bench.pod(OPERATOR, "again", number);
        bench.cluster.delete(OPERATOR, PODS, "again", Some(0));
    }
    assert_eq!(few_pods_are_made(&bench.cluster, since).err().map(|it| it.rule), Some(Rule::Quota));
}
