//! The laws that hold for any pods of any clique: with a minimum, a core, an old template, lost nodes, a restart.

use proptest::prelude::*;

use super::{laws::any_pods, *};

/// A clique, and which of its pods are on lost nodes.
fn any_clique() -> impl Strategy<Value = (Want<'static>, Vec<bool>)> {
    let outdated = prop_oneof![
        Just(Outdated::Stay),
        Just(Outdated::Unbound),
        (0..7_u32).prop_map(|ready_at_start| Outdated::Replaced { ready_at_start }),
    ];
    let ended = prop_oneof![3 => Just(Ended::Replaced), 1 => Just(Ended::FailedStay), 1 => Just(Ended::Stay)];
    let at_most = prop_oneof![2 => Just(u32::MAX), 1 => 0..9_u32];
    let restart = prop_oneof![4 => Just(None), 1 => (0..3_i64).prop_map(|it| Some(at(it)))];
    let lost = prop::collection::vec(prop::bool::weighted(0.2), 9);
    let sizes = (0..7_u32, 0..7_u32, 0..5_u32);
    (sizes, outdated, ended, at_most, restart, any::<bool>(), lost).prop_map(
        |((replicas, minimum, core), outdated, ended, at_most, restart_before, may_complete, lost)| {
            let want = Want {
                replicas,
                minimum,
                core,
                outdated,
                may_complete,
                ended,
                at_most,
                restart_before,
                ..want(replicas)
            };
            (want, lost)
        },
    )
}

fn uids(pods: &[PodFact], lost: &[bool]) -> Vec<String> {
    pods.iter().zip(lost).filter(|it| *it.1).map(|it| it.0.uid.clone()).collect()
}

fn planned(want: Want<'_>, pods: &[PodFact]) -> PodPlan {
    plan(want, &pods.iter().collect::<Vec<_>>())
}

fn why(plan: &PodPlan, pod: &PodFact) -> Option<Why> {
    plan.delete.iter().find(|it| it.uid == pod.uid).map(|it| it.why)
}

/// Pods that are not deleted, and were not on their way out.
fn staying<'a>(plan: &PodPlan, pods: &'a [PodFact]) -> Vec<&'a PodFact> {
    pods.iter().filter(|it| !it.terminating && why(plan, it).is_none()).collect()
}

/// Whether a pod is gone whatever is decided: it is on its way out, its node is lost, it ended, or its unit is restarted.
fn is_gone(want: Want<'_>, pod: &PodFact) -> bool {
    pod.terminating
        || want.lost.contains(&pod.uid)
        || want.restart_before.is_some_and(|it| pod.created < it)
        || pod.phase == Phase::Failed
        || (pod.phase == Phase::Succeeded && !want.may_complete)
}

fn ready<'a>(pods: impl IntoIterator<Item = &'a PodFact>) -> u32 {
    // Two of one index serve as one.
    let ready: Vec<&PodFact> = pods.into_iter().filter(|it| it.ready).collect();
    let indices: BTreeSet<u32> = ready.iter().filter_map(|it| it.index).collect();
    u32::try_from(indices.len() + ready.iter().filter(|it| it.index.is_none()).count()).unwrap()
}

/// Creates what is planned, and all that is there becomes ready.
fn carried_out(plan: &PodPlan, pods: &[PodFact], step: usize) -> Vec<PodFact> {
    let mut after: Vec<PodFact> = staying(plan, pods).into_iter().cloned().collect();
    after.extend(plan.create.iter().map(|it| {
        let name = format!("{it}r@500");
        PodFact { uid: format!("uid-{name}-{step}"), ..pod(&name) }
    }));
    for pod in after.iter_mut().filter(|it| !matches!(it.phase, Phase::Failed | Phase::Succeeded)) {
        (pod.phase, pod.bound, pod.ready) = (Phase::Running, true, true);
    }
    after
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// By our hand, ready pods never fall below the minimum. A clique that needs all of its pods misses one in an update.
    #[test]
    fn what_is_ready_stays_above_the_minimum((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        let before = ready(pods.iter().filter(|it| !is_gone(want, it)));
        let after = ready(staying(&plan, &pods).into_iter().filter(|it| !is_gone(want, it)));
        let replaced = pods.iter().filter(|it| it.ready && why(&plan, it) == Some(Why::Outdated)).count();
        let needs_all = want.replicas <= want.minimum && before == want.replicas;
        let least = want.minimum.min(want.replicas);
        prop_assert!(
            after >= before.min(least) || (replaced == 1 && needs_all && after + 1 == before),
            "{before} were ready, {after} are, {least} are needed"
        );
    }

    /// No index is given to two pods, and pods that share one are made fewer.
    #[test]
    fn an_index_has_one_pod((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        let staying = staying(&plan, &pods);
        let held: BTreeSet<u32> = staying.iter().filter_map(|it| it.index).collect();
        let created: BTreeSet<u32> = plan.create.iter().copied().collect();
        prop_assert_eq!(created.len(), plan.create.len());
        prop_assert!(created.is_disjoint(&held), "created {created:?}, there are {held:?}");
        let live: Vec<u32> = staying.iter().filter(|it| !is_gone(want, it)).filter_map(|it| it.index).collect();
        prop_assert_eq!(live.iter().collect::<BTreeSet<_>>().len(), live.len());
    }

    /// Lost pods go at once, whatever the budget, and others come where they may.
    #[test]
    fn lost_pods_are_replaced((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        for pod in pods.iter().filter(|it| !it.terminating) {
            prop_assert_eq!(why(&plan, pod) == Some(Why::NodeLost), lost.contains(&pod.uid), "{}", pod.name);
        }
        let there = staying(&plan, &pods).len() + plan.create.len();
        prop_assert!(there >= want.replicas.min(want.at_most) as usize, "{there} pods are there");
    }

    /// Nothing is created beyond what is wanted and allowed, but for holes in the core.
    #[test]
    fn no_pod_is_too_many((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        let staying = staying(&plan, &pods);
        let may_fill = want.at_most >= want.replicas;
        let taken = |index: u32| staying.iter().any(|it| it.index == Some(index));
        let holes = (0..want.core.min(want.replicas)).filter(|it| may_fill && !taken(*it)).count();
        let missing = (want.replicas.min(want.at_most) as usize).saturating_sub(staying.len());
        prop_assert!(plan.create.len() <= missing.max(holes));
    }

    /// Of the core there is every pod, and none goes in the place of one above it that is of no use.
    #[test]
    fn the_core_is_complete((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        let staying = staying(&plan, &pods);
        let is_core = |it: &PodFact| it.index.is_some_and(|it| it < want.core.min(want.replicas));
        if want.at_most >= want.replicas {
            for index in 0..want.core.min(want.replicas) {
                let there = staying.iter().any(|it| it.index == Some(index)) || plan.create.contains(&index);
                prop_assert!(there, "{index} is missing");
            }
        }
        if pods.iter().any(|it| is_core(it) && why(&plan, it) == Some(Why::Excess)) {
            let others = staying.iter().filter(|it| !is_gone(want, it) && !is_core(it));
            prop_assert!(others.clone().all(|it| it.ready), "{:?}", others.collect::<Vec<_>>());
        }
    }

    /// Pods of an old template go as the update says: one that is ready at a time, and never beside another deletion.
    #[test]
    fn outdated_pods_go_within_the_budget((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        let gone: Vec<&PodFact> = pods.iter().filter(|it| why(&plan, it) == Some(Why::Outdated)).collect();
        prop_assert!(gone.iter().all(|it| it.hash != want.hash), "of the wanted template");
        prop_assert!(gone.is_empty() || gone.len() == plan.delete.len(), "beside another deletion");
        prop_assert!(gone.iter().all(|it| it.phase != Phase::Succeeded || !want.may_complete), "its work was done");
        let ready = gone.iter().filter(|it| it.ready).count();
        match want.outdated {
            Outdated::Stay => prop_assert!(gone.is_empty()),
            Outdated::Unbound => prop_assert!(gone.iter().all(|it| !it.bound)),
            Outdated::Replaced { ready_at_start } => {
                prop_assert!(ready == 0 || gone.len() == 1, "one that is ready goes alone");
                let serving = self::ready(pods.iter().filter(|it| !is_gone(want, it)));
                let is_done = |it: &&PodFact| !is_gone(want, it) && it.phase == Phase::Succeeded;
                let done = u32::try_from(pods.iter().filter(is_done).count()).unwrap();
                let awaited = ready_at_start.min(want.replicas.saturating_sub(done));
                prop_assert!(ready == 0 || serving >= awaited, "{serving} serve, {awaited} are waited for");
            }
        }
    }

    /// A unit is restarted as a whole.
    #[test]
    fn a_restart_takes_all_that_is_older((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        let want = Want { lost: &lost, ..want };
        let plan = planned(want, &pods);
        for pod in pods.iter().filter(|it| !it.terminating && !lost.contains(&it.uid)) {
            let is_older = want.restart_before.is_some_and(|it| pod.created < it);
            prop_assert_eq!(why(&plan, pod) == Some(Why::Restarted), is_older, "{}", pod.name);
        }
    }

    /// Where pods become ready it comes to rest, with what is wanted.
    #[test]
    fn it_comes_to_rest((want, lost) in any_clique(), pods in any_pods()) {
        let lost = uids(&pods, &lost);
        // What may not be created again is not replaced: that is decided before.
        let outdated = if want.at_most < want.replicas { Outdated::Stay } else { want.outdated };
        let want = Want { lost: &lost, outdated, ..want };
        let (mut now, mut steps) = (pods, 0);
        loop {
            let plan = planned(want, &now);
            // Terminating pods are gone after the first step, and all others ready.
            if steps > 0 && plan == PodPlan::default() {
                break;
            }
            now = carried_out(&plan, &now, steps);
            steps += 1;
            prop_assert!(steps < 40, "no end: {plan:?}");
        }
        let live: Vec<&PodFact> = now.iter().filter(|it| !it.terminating).collect();
        let wanted = want.replicas as usize;
        prop_assert!(live.len() >= wanted.min(want.at_most as usize));
        // One whose work is done serves no more: another that is too many may have to stay for it.
        let all_serve = want.ended == Ended::Replaced && !want.may_complete;
        if all_serve {
            prop_assert!(live.len() <= wanted, "{} pods", live.len());
        }
        let is_old = |it: &&&PodFact| it.hash != HASH && it.phase != Phase::Succeeded;
        if matches!(want.outdated, Outdated::Replaced { .. }) && all_serve {
            prop_assert_eq!(live.iter().filter(is_old).count(), 0, "of an old template");
        }
    }
}
