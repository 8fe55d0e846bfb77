//! Scaling of sets and groups, and who keeps the numbers.

use grove_api::wire::Time;
use grove_plan::children::{Action, Child, Kind};
use k8s_openapi::jiff::Timestamp;

use crate::{
    INF, assert_lines,
    common::{World, lines, metadata_mut, name_of},
    settled,
};

#[test]
fn a_set_scales_by_whole_replicas_from_the_end() {
    let mut world = settled(INF);
    world.set.spec.replicas = 2;
    let created = lines(&world.plan_set());
    let second = [
        "PodGang inf-1",
        "PodGang inf-1-pd-0",
        "PodGang inf-1-pd-1",
        "Service inf-1",
        "PodClique inf-1-fe",
        "PodCliqueScalingGroup inf-1-pd",
    ];
    let all = |verb: &str| second.map(|it| format!("{verb} {it}"));
    assert_lines(created, &all("create").each_ref().map(String::as_str));
    world.settle();
    world.set.spec.replicas = 1;
    let plan = world.plan_set();
    // The Service too, which upstream forgets; members go with their group.
    assert_lines(lines(&plan), &all("delete").each_ref().map(String::as_str));
    for action in &plan.actions {
        let Action::Delete { name, uid, .. } = action else { panic!("{action:?}") };
        assert_eq!(*uid, format!("uid-{name}"), "the very object that was seen");
    }
    world.settle();
    assert!(world.objects.iter().all(|it| !name_of(it.metadata()).starts_with("inf-1")));
    world.set.spec.replicas = 0;
    world.settle();
    assert_eq!(world.objects, []);
}

#[test]
fn excess_of_somebody_else_and_excess_on_its_way_out_are_left_alone() {
    let mut world = settled(INF);
    world.set.spec.replicas = 0;
    metadata_mut(world.get_mut(Kind::Clique, "inf-0-fe").unwrap()).owner_references = None;
    let metadata = metadata_mut(world.get_mut(Kind::Service, "inf-0").unwrap());
    metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    let got = lines(&world.plan_set());
    assert_lines(
        got,
        &[
            "delete PodGang inf-0",
            "delete PodGang inf-0-pd-0",
            "delete PodGang inf-0-pd-1",
            "delete PodCliqueScalingGroup inf-0-pd",
        ],
    );
}

fn scale_group(world: &mut World, replicas: i32) {
    let Some(Child::Group(group)) = world.get_mut(Kind::Group, "inf-0-pd") else { panic!("no group") };
    group.spec.replicas = replicas;
}

/// The number of scaled gangs is that of the live group, not of the template.
#[test]
fn a_group_scales_by_whole_copies_from_the_end() {
    let mut world = settled(INF);
    scale_group(&mut world, 2);
    assert_lines(
        lines(&world.plan_group("inf-0-pd")),
        &["delete PodClique inf-0-pd-2-pre", "delete PodClique inf-0-pd-2-dec"],
    );
    assert_eq!(lines(&world.plan_set()), ["delete PodGang inf-0-pd-1"]);
    world.settle();
    scale_group(&mut world, 4);
    let want = ["2-pre", "2-dec", "3-pre", "3-dec"].map(|it| format!("create PodClique inf-0-pd-{it}"));
    assert_lines(lines(&world.plan_group("inf-0-pd")), &want.each_ref().map(String::as_str));
    assert_lines(lines(&world.plan_set()), &["create PodGang inf-0-pd-1", "create PodGang inf-0-pd-2"]);
    world.settle();
    scale_group(&mut world, 0);
    world.settle();
    assert_eq!(world.cliques().map(|it| name_of(&it.metadata)).collect::<Vec<_>>(), ["inf-0-fe"]);
    assert_eq!(world.places().iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["inf-0"]);
}

/// What is too much is told by its index, and not by counting: a copy that somebody deleted leaves a gap.
#[test]
fn a_gap_in_a_group_costs_no_other_replica() {
    let mut world = settled(INF);
    world.remove(Kind::Clique, "inf-0-pd-0-pre");
    world.remove(Kind::Clique, "inf-0-pd-0-dec");
    scale_group(&mut world, 2);
    let want = [
        "create PodClique inf-0-pd-0-pre",
        "create PodClique inf-0-pd-0-dec",
        "delete PodClique inf-0-pd-2-pre",
        "delete PodClique inf-0-pd-2-dec",
    ];
    assert_lines(lines(&world.plan_group("inf-0-pd")), &want);
}

/// After creation the numbers belong to whoever scales: `/scale`, an autoscaler, Dynamo.
#[test]
fn numbers_of_pods_and_copies_are_never_written_again() {
    let mut world = settled(INF);
    scale_group(&mut world, 5);
    world.settle();
    let Some(Child::Clique(clique)) = world.get_mut(Kind::Clique, "inf-0-fe") else { panic!("no clique") };
    clique.spec.replicas = Some(7);
    world.set.spec.template.cliques[0].spec.replicas = Some(4);
    world.set.spec.template.scaling_groups[0].replicas = Some(2);
    world.settle();
    let Some(Child::Clique(clique)) = world.get(Kind::Clique, "inf-0-fe") else { panic!("no clique") };
    assert_eq!(clique.spec.replicas, Some(7));
    assert_eq!(world.groups().next().unwrap().spec.replicas, 5);
    // Neither by an edit of the template that has to be written.
    world.set.spec.template.cliques[0].spec.pod_spec.containers[0].image = Some("model:2".to_owned());
    assert_eq!(lines(&world.plan_set()), ["patch PodClique inf-0-fe"]);
    world.settle();
    let Some(Child::Clique(clique)) = world.get(Kind::Clique, "inf-0-fe") else { panic!("no clique") };
    assert_eq!(clique.spec.replicas, Some(7));
    assert_eq!(clique.spec.pod_spec.containers[0].image.as_deref(), Some("model:2"));
}

/// Of a replica that is scaled to zero nothing is to be scheduled; it gets a new gang when it is scaled up.
#[test]
fn a_gang_goes_with_the_last_of_its_cliques() {
    let mut world = settled(INF);
    let scale_clique = |world: &mut World, replicas| match world.get_mut(Kind::Clique, "inf-0-fe") {
        Some(Child::Clique(it)) => it.spec.replicas = Some(replicas),
        other => panic!("{other:?}"),
    };
    let scale_group = |world: &mut World, replicas| match world.get_mut(Kind::Group, "inf-0-pd") {
        Some(Child::Group(it)) => it.spec.replicas = replicas,
        other => panic!("{other:?}"),
    };
    scale_clique(&mut world, 0);
    assert_lines(lines(&world.plan_set()), &[]);
    scale_group(&mut world, 0);
    assert_lines(
        lines(&world.plan_set()),
        &["delete PodGang inf-0", "delete PodGang inf-0-pd-0", "delete PodGang inf-0-pd-1"],
    );
    world.settle();
    assert_lines(lines(&world.plan_set()), &[]);
    scale_clique(&mut world, 2);
    let plan = world.plan_set();
    assert_lines(lines(&plan), &["create PodGang inf-0"]);
    let groups = plan.actions.iter().find_map(|it| match it {
        Action::Create(Child::Gang(gang)) => Some(gang.spec.pod_groups.iter().map(|it| it.name.clone())),
        _ => None,
    });
    assert_eq!(groups.unwrap().collect::<Vec<_>>(), ["inf-0-fe"], "the group has no part in it");
}
