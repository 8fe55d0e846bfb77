//! The laws that hold for any pods of a clique that only has replicas.

use proptest::{prelude::*, sample::select};

use super::*;

fn any_pod() -> impl Strategy<Value = String> {
    let index = select(vec!["-", "0", "1", "2", "3", "4", "5", "6"]);
    let state = select(vec!["g", "p", "b", "n", "r", "r", "r", "u", "F", "S"]);
    (index, state, select(vec!["", "", "", "!", "o", "o!"]), 0..3_u8)
        .prop_map(|(index, state, marks, created)| format!("{index}{state}{marks}@{created}"))
}

/// Pods with unique names, so that a victim is one pod.
pub(super) fn any_pods() -> impl Strategy<Value = Vec<PodFact>> {
    prop::collection::vec(any_pod(), 0..9).prop_map(|texts| {
        let unique = |(at, text): (usize, &String)| {
            let fact = pod(text);
            PodFact { name: format!("{text}#{at}"), uid: format!("uid-{at}"), ..fact }
        };
        texts.iter().enumerate().map(unique).collect()
    })
}

fn any_want() -> impl Strategy<Value = Want<'static>> {
    (0..7_u32, 0..9_u32, any::<bool>()).prop_map(|(replicas, at_most, may_complete)| Want {
        core: 0,
        replicas,
        minimum: 0,
        hash: HASH,
        outdated: Outdated::Stay,
        may_complete,
        ended: Ended::Replaced,
        at_most,
        restart_before: None,
        lost: &[],
    })
}

/// Pods that count as wanted, one for each index.
fn counted(want: Want<'_>, pods: &[PodFact]) -> usize {
    let counts = |it: &&PodFact| it.is_live() && (want.may_complete || it.phase != Phase::Succeeded);
    let live: Vec<&PodFact> = pods.iter().filter(counts).collect();
    let held: BTreeSet<u32> = live.iter().filter_map(|it| it.index).collect();
    held.len() + live.iter().filter(|it| it.index.is_none()).count()
}

fn survivors(plan: &PodPlan, pods: &[PodFact]) -> Vec<PodFact> {
    pods.iter().filter(|pod| plan.delete.iter().all(|it| it.uid != pod.uid)).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_leads_to_what_is_wanted_and_then_to_rest(want in any_want(), before in any_pods()) {
        let first = plan(want, &before.iter().collect::<Vec<_>>());
        let mut after = survivors(&first, &before);
        after.extend(first.create.iter().map(|index| pod(&format!("{index}g@500"))));

        let wanted = want.replicas as usize;
        let expected = counted(want, &before).max(wanted.min(want.at_most as usize)).min(wanted);
        let live: Vec<&PodFact> = after.iter().filter(|it| it.is_live()).collect();
        prop_assert_eq!(live.len(), expected);
        let mut indices: Vec<u32> = live.iter().filter_map(|it| it.index).collect();
        indices.sort_unstable();
        let all = indices.len();
        indices.dedup();
        prop_assert_eq!(indices.len(), all, "an index twice");
        prop_assert_eq!(plan(want, &after.iter().collect::<Vec<_>>()), PodPlan::default());
    }

    #[test]
    fn no_pod_that_is_wanted_is_deleted(want in any_want(), before in any_pods()) {
        let plan = plan(want, &before.iter().collect::<Vec<_>>());
        let after = survivors(&plan, &before);
        prop_assert!(counted(want, &after) >= counted(want, &before).min(want.replicas as usize));
        // Each victim once, and none that is leaving anyway.
        prop_assert_eq!(after.len() + plan.delete.len(), before.len());
        prop_assert!(before.iter().filter(|it| it.terminating).all(|it| after.contains(it)));
    }

    #[test]
    fn the_order_of_pods_does_not_matter(want in any_want(), pods in any_pods(), turn in 0..9_usize) {
        let mut turned: Vec<&PodFact> = pods.iter().collect();
        turned.rotate_left(turn % pods.len().max(1));
        let names = |plan: &PodPlan| plan.delete.iter().map(|it| it.name.clone()).collect::<BTreeSet<_>>();
        let (one, other) = (plan(want, &pods.iter().collect::<Vec<_>>()), plan(want, &turned));
        prop_assert_eq!(&one.create, &other.create);
        prop_assert_eq!(names(&one), names(&other));
    }
}
