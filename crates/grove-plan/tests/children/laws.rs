//! Whatever is changed, deleted and scaled: it comes to rest, and then there is what there should be.

use std::collections::BTreeSet;

use grove_api::wire::PodClique;
use grove_plan::children::{Child, Kind};
use proptest::{prelude::*, sample::Index};

use crate::common::{World, name_of, set};

#[derive(Clone, Debug)]
enum Change {
    ScaleSet(i32),
    Scale(Index, i32),
    Delete(Index),
    Image(Index, u8),
    Label(Index, u8),
    Autoscaler(Index, bool),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        (0..3_i32).prop_map(Change::ScaleSet),
        (at(), 0..5_i32).prop_map(|(at, to)| Change::Scale(at, to)),
        at().prop_map(Change::Delete),
        (at(), 0..3_u8).prop_map(|(at, to)| Change::Image(at, to)),
        (at(), 0..3_u8).prop_map(|(at, to)| Change::Label(at, to)),
        (at(), any::<bool>()).prop_map(|(at, on)| Change::Autoscaler(at, on)),
    ]
}

fn make(world: &mut World, change: &Change) {
    let template = &mut world.set.spec.template;
    match change {
        Change::ScaleSet(to) => world.set.spec.replicas = *to,
        Change::Scale(at, to) => {
            let scaled = |it: &&mut Child| matches!(it.kind(), Kind::Clique | Kind::Group);
            let mut all: Vec<&mut Child> = world.objects.iter_mut().filter(scaled).collect();
            let count = all.len();
            match all.get_mut(at.index(count.max(1))) {
                Some(Child::Clique(it)) => it.spec.replicas = Some(*to),
                Some(Child::Group(it)) => it.spec.replicas = *to,
                _ => {}
            }
        }
        Change::Delete(at) => {
            if !world.objects.is_empty() {
                let victim = at.get(&world.objects);
                let (kind, name) = (victim.kind(), name_of(victim.metadata()).to_owned());
                world.remove(kind, &name);
            }
        }
        Change::Image(at, to) => {
            let clique = &mut template.cliques[at.index(3)];
            clique.spec.pod_spec.containers[0].image = Some(format!("model:{to}"));
        }
        Change::Label(at, to) => {
            let labels = &mut template.cliques[at.index(3)].labels;
            labels.clear();
            labels.extend((0..*to).map(|it| (format!("key-{it}"), to.to_string())));
        }
        Change::Autoscaler(at, on) => {
            let config = serde_json::json!({ "minReplicas": 1, "maxReplicas": 3 });
            let config = on.then(|| serde_json::from_value(config).unwrap());
            match at.index(2) {
                0 => template.cliques[0].spec.auto_scaling_config = config,
                _ => template.scaling_groups[0].scale_config = config,
            }
        }
    }
}

fn names(world: &World) -> BTreeSet<String> {
    world.objects.iter().map(|it| format!("{} {}", it.kind().as_str(), name_of(it.metadata()))).collect()
}

/// The same set in an empty cluster, its groups and cliques scaled alike.
fn fresh(world: &World) -> World {
    let mut fresh = World::new(world.set.clone());
    fresh.settle();
    for group in world.groups() {
        let of_fresh = fresh.get_mut(Kind::Group, name_of(&group.metadata));
        let Some(Child::Group(of_fresh)) = of_fresh else { panic!("{:?}", group.metadata.name) };
        of_fresh.spec.replicas = group.spec.replicas;
    }
    fresh.settle();
    for clique in world.cliques() {
        let of_fresh = fresh.get_mut(Kind::Clique, name_of(&clique.metadata));
        if let Some(Child::Clique(of_fresh)) = of_fresh {
            of_fresh.spec.replicas = clique.spec.replicas;
        }
    }
    fresh.settle();
    fresh
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_comes_to_rest(changes in prop::collection::vec((change(), any::<bool>()), 0..8)) {
        let mut world = World::new(set("fe=2/1 pre=1/1 dec=2/2 | pd=2/1:pre,dec"));
        for (change, then_settle) in changes {
            make(&mut world, &change);
            if then_settle {
                world.settle();
            }
        }
        world.settle();
        let fresh = fresh(&world);
        prop_assert_eq!(names(&world), names(&fresh));
        // What a clique became by changes is what it would be if made anew; only the numbers are not ours.
        let notes = |it: &PodClique| it.metadata.annotations.clone().unwrap_or_default();
        for clique in world.cliques() {
            let anew = fresh.cliques().find(|it| it.metadata.name == clique.metadata.name).unwrap();
            prop_assert_eq!(&clique.metadata.labels, &anew.metadata.labels);
            prop_assert_eq!(&clique.spec.pod_spec, &anew.spec.pod_spec);
            prop_assert_eq!(notes(clique), notes(anew));
        }
    }
}
