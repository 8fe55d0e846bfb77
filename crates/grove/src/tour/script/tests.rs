//! The script against Grove's own rules, and against the placement engine on the cluster that it wants.

use grove_api::{
    manifest,
    review::{Review, review},
    validation::Environment,
};
use grove_placement::{Cluster, GangPod, Group, Outcome, place, topology};

use super::*;
use crate::tour::{Pod, Watched};

#[test]
fn what_is_applied_is_valid() {
    for text in [TRAINING, CHAT] {
        for document in manifest::parse(text).unwrap() {
            let Review::Checked(found) = review(&document.value, &Environment::default()) else {
                panic!("foreign")
            };
            assert!(found.errors.is_empty(), "{:?}", found.errors);
        }
    }
}

fn pods(name: &str, count: usize) -> Group {
    let pod = |index: usize| {
        let mut pod = GangPod { name: format!("{name}-{index}"), ..GangPod::default() };
        pod.requirements.requests.set("nvidia.com/gpu", 8);
        pod.requirements.requests.set("pods", 1);
        pod
    };
    Group::of_pods(name, u32::try_from(count).unwrap(), (0..count).map(pod).collect())
}

/// Leader and worker of one decode replica.
fn decode() -> Group {
    Group { required: Some("topology.kubernetes.io/rack".to_owned()), ..pods("decode", 2) }
}

/// Places it; the rack that it is in, or why there is none.
fn placed(cluster: &mut Cluster, group: &Group) -> Result<String, String> {
    match place(cluster, group) {
        Outcome::Placed(placement) => {
            for it in &placement.pods {
                let pods = group.pods();
                let pod = pods.iter().find(|pod| pod.name == it.pod).unwrap();
                cluster.node_mut(&it.node).unwrap().add_pod(&pod.requirements);
            }
            Ok(placement.domains.first().map(|it| it.value.clone()).unwrap_or_default())
        }
        Outcome::DoesNotFit(reason) => Err(reason.to_string()),
        Outcome::GaveUp { tried } => panic!("gave up after {tried}"),
    }
}

#[test]
fn the_gang_waits_and_fits_as_the_script_says() {
    let empty = topology::parse(TOPOLOGY).unwrap();
    let mut busy = empty.clone();
    placed(&mut busy, &pods("training", 5)).unwrap();
    let why = placed(&mut busy, &decode()).unwrap_err();
    assert!(why.contains("needs 2 pods: 1 node fits"), "the script says that there is room for one: {why}");

    // Capacity is freed; then one of its hosts is lost, and there is another one in the rack.
    let mut free = empty.clone();
    let rack = placed(&mut free, &decode()).unwrap();
    let mut wounded = empty;
    let lost = wounded
        .nodes()
        .iter()
        .find(|it| it.label("topology.kubernetes.io/rack") == Some(&rack))
        .unwrap()
        .name
        .clone();
    wounded.node_mut(&lost).unwrap().unschedulable = true;
    let first = placed(&mut wounded, &decode()).unwrap();
    // The second replica goes to the other rack.
    let second = placed(&mut wounded, &decode()).unwrap();
    assert_ne!(first, second);
}

#[test]
fn names_in_the_script_are_those_of_the_manifests() {
    let sets = |text: &str| -> Vec<String> {
        let documents = manifest::parse(text).unwrap();
        let sets = documents.iter().filter(|it| it.value["kind"] == "PodCliqueSet");
        sets.map(|it| it.value["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((sets(TRAINING), sets(CHAT)), (vec!["training".to_owned()], vec!["chat".to_owned()]));
    assert!(CHAT.contains("engine:1.0") && !CHAT.contains(NEW_IMAGE));
    for step in steps() {
        for action in step.actions {
            match action {
                Action::DeleteSet(name) => assert_eq!(name, "training"),
                Action::ScaleGroup { name, .. } => assert_eq!(name, "chat-0-decode"),
                Action::SetImage { set, .. } => assert_eq!(set, "chat"),
                Action::Apply(_) | Action::LoseNode(_) => {}
            }
        }
    }
}

/// Between the end of old pods and the creation of new ones, all that are there may be new.
#[test]
fn an_update_is_over_when_all_pods_are_there() {
    let pod = |name: &str| Pod {
        name: name.to_owned(),
        set: "s".to_owned(),
        gpus: 1,
        image: "new".to_owned(),
        ready: true,
        ..Pod::default()
    };
    let updated = Condition::Updated { set: "s", pods: 2, image: "new" };
    let mut watched = Watched { pods: vec![pod("a")], ..Watched::default() };
    assert!(!updated.is_met(&watched, None));
    watched.pods.push(pod("b"));
    assert!(updated.is_met(&watched, None));
    watched.pods[0].image = "old".to_owned();
    assert!(!updated.is_met(&watched, None));
}
