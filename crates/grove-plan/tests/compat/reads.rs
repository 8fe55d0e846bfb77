//! What Dynamo's operator reads to say that a deployment is ready, and why it is not.

use std::collections::BTreeMap;

use grove_api::wire::{Condition, PodClique, PodCliqueScalingGroup};
use grove_plan::{
    facts::{Tally, label},
    hash,
    rollout::Pace,
    status::{self, CliqueReport, CliqueState, GroupReport, SetReport, SetState, TopologySeen, UpdateSeen},
};
use k8s_openapi::jiff::Timestamp;

use crate::{
    common::{World, name_of},
    dynamo::{CLIQUES, dynamo},
};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn condition<'a>(conditions: &'a [Condition], type_: &str) -> &'a str {
    conditions.iter().find(|it| it.type_ == type_).map_or("", |it| &it.status)
}

/// Dynamo's set; with `bound`, its pods run and are ready.
fn world(bound: bool) -> World {
    let mut world = dynamo();
    for pod in world.pods.iter_mut().filter(|_| bound) {
        pod.spec.as_mut().unwrap().node_name = Some("node".to_owned());
    }
    world
}

fn tally(world: &World, clique: &PodClique) -> Tally {
    let own = label(clique.metadata.labels.as_ref(), "grove.io/pod-template-hash").unwrap();
    Tally::of(&world.facts_of(clique), own)
}

/// The cliques, with their status.
fn cliques(world: &World) -> Vec<PodClique> {
    let generation_hash = hash::generation(&world.set);
    let mut cliques: Vec<PodClique> = world.cliques().cloned().collect();
    for clique in &mut cliques {
        let report = CliqueReport {
            tally: tally(world, clique),
            clique,
            was_scheduled: false,
            refusal: None,
            set: "grove-manifest",
            generation_hash: &generation_hash,
            is_current: true,
            pace: Pace::Rolling,
            has_turn: false,
            replacing: None,
            restarts: None,
            lost: &[],
            acted: clique.metadata.generation,
            now: NOW,
        };
        clique.status = Some(status::clique(&report));
    }
    cliques
}

fn counted<'a>(world: &World, cliques: &'a [PodClique]) -> BTreeMap<&'a str, CliqueState<'a>> {
    let state = |clique: &'a PodClique| CliqueState {
        clique,
        tally: tally(world, clique),
        refusal: None,
        is_behind: false,
        was_scheduled: false,
        breached_since: None,
    };
    cliques.iter().map(|it| (name_of(&it.metadata), state(it))).collect()
}

/// The group, with its status.
fn group(world: &World, cliques: &[PodClique]) -> PodCliqueScalingGroup {
    let generation_hash = hash::generation(&world.set);
    let mut group = world.groups().next().unwrap().clone();
    let all = counted(world, cliques);
    let members = CLIQUES[1..].iter().map(|it| all.get(it.object).cloned()).collect();
    let report = GroupReport {
        group: &group,
        replicas: [(0, members)].into(),
        set: "grove-manifest",
        generation_hash: &generation_hash,
        pace: Pace::Rolling,
        has_turn: false,
        acted: group.metadata.generation,
        now: NOW,
    };
    group.status = Some(status::group(&report));
    group
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn of_cliques() {
    for bound in [false, true] {
        let world = world(bound);
        let cliques = cliques(&world);
        assert_eq!(cliques.len(), CLIQUES.len());
        for clique in &cliques {
            let status = clique.status.as_ref().unwrap();
            let bound_count = i32::from(bound);
            assert_eq!((status.replicas, status.updated_replicas, status.schedule_gated_replicas), (1, 1, 0));
            assert_eq!((status.ready_replicas, status.scheduled_replicas), (bound_count, bound_count));
            assert_eq!(status.observed_generation, Some(1));
            let generation = hash::generation(&world.set);
            assert_eq!(status.current_pod_clique_set_generation_hash, Some(generation));
            let scheduled = condition(&status.conditions, "PodCliqueScheduled");
            assert_eq!(scheduled, if bound { "True" } else { "False" });
            assert_eq!(status.update_progress, None, "no update: Dynamo looks at its end");
        }
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn of_the_group() {
    for bound in [false, true] {
        let world = world(bound);
        let group = group(&world, &cliques(&world));
        let status = group.status.unwrap();
        assert_eq!((status.replicas, status.observed_generation), (1, Some(1)));
        let counters = [status.scheduled_replicas, status.available_replicas, status.updated_replicas];
        assert_eq!(counters, [i32::from(bound); 3]);
        let breached = condition(&status.conditions, "MinAvailableBreached");
        assert_eq!(breached, if bound { "False" } else { "True" });
        assert_eq!(status.current_pod_clique_set_generation_hash, Some(hash::generation(&world.set)));
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn of_the_set() {
    for bound in [false, true] {
        let world = world(bound);
        let cliques = cliques(&world);
        let group = group(&world, &cliques);
        let report = SetReport {
            state: SetState {
                set: &world.set,
                cliques: counted(&world, &cliques),
                groups: [(name_of(&group.metadata), &group)].into(),
                topology: TopologySeen::Off,
                generation_hash: hash::generation(&world.set),
                now: NOW,
                watched_since: NOW,
                groups_changed: BTreeMap::new(),
            },
            gangs: vec![world.gang("grove-manifest-0")],
            passed_over: None,
            update: UpdateSeen::default(),
            allotment: grove_plan::allotment::Allotment::default(),
            errors: Vec::new(),
            acted: world.set.metadata.generation,
        };
        let status = status::set(&report);
        assert_eq!(status.observed_generation, Some(1));
        assert_eq!(status.current_generation_hash, Some(hash::generation(&world.set)));
        assert_eq!([status.available_replicas, status.updated_replicas], [i32::from(bound); 2]);
        let (yes, no) = if bound { ("True", "False") } else { ("False", "True") };
        assert_eq!(condition(&status.conditions, "Available"), yes);
        assert_eq!(condition(&status.conditions, "Progressing"), no);
    }
}
