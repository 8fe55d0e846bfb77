use grove_api::{constants::labels, wire::PodGang};
use serde_json::{Value, json};

use super::*;
use crate::{
    children::{Action, Child, Kind, SetChildren, plan_set},
    fixture::set,
    objects,
};

const EPOCH: &str = "1758000000000000000";
const TEXT: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=3/1:pre,dec";

/// Gangs as upstream Grove names them, by the cliques that they list.
#[derive(Debug)]
struct Named(Vec<PodGang>);

impl GangNames for Named {
    fn other_name(&self, _: &PodCliqueSet, _: &str, cliques: &dyn Fn() -> Vec<String>) -> Option<String> {
        let cliques = cliques();
        let lists = |it: &&PodGang| it.spec.pod_groups.iter().any(|it| cliques.contains(&it.name));
        first_name(self.0.iter().filter(lists))
    }
}

fn named(name: &str, epoch: &str, role: &str, cliques: &[&str]) -> PodGang {
    let groups: Vec<Value> =
        cliques.iter().map(|it| json!({ "name": it, "podReferences": [], "minReplicas": 1 })).collect();
    serde_json::from_value(json!({
        "metadata": {
            "name": name, "namespace": "ml", "uid": format!("uid-{name}"),
            "labels": { "grove.io/epoch": epoch, "grove.io/podgang-role": role },
            "ownerReferences": [{
                "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "inf", "uid": "uid-inf", "controller": true,
            }],
        },
        "spec": { "podgroups": groups },
    }))
    .unwrap()
}

/// The base gang, and that of replica 1 of the group.
fn upstream() -> Named {
    let base = ["inf-0-fe", "inf-0-pd-0-pre", "inf-0-pd-0-dec"];
    Named(vec![
        named(&format!("inf-0-{EPOCH}"), EPOCH, "Anchor", &base),
        named(
            "inf-0-1758000000000000001-pd-1",
            "1758000000000000001",
            "Tail",
            &["inf-0-pd-1-pre", "inf-0-pd-1-dec"],
        ),
    ])
}

fn context<'a>(set: &'a PodCliqueSet, gang_names: &'a dyn GangNames) -> Context<'a> {
    Context { set, default_scheduler: "default-scheduler", form: "", gang_names }
}

fn scaled(group_replica: u32) -> Place<'static> {
    Place::Scaled { replica: 0, group: "pd", group_replica }
}

#[test]
fn existing_gangs_keep_their_names_and_new_ones_follow_them() {
    let (set, names) = (set(TEXT), upstream());
    let context = context(&set, &names);
    let gang = |place| context.gang_at(place).unwrap();
    let base = format!("inf-0-{EPOCH}");
    assert_eq!(gang(Place::Base { replica: 0 }), Gang { name: base.clone(), base: None });
    let first = "inf-0-1758000000000000001-pd-1".to_owned();
    assert_eq!(gang(scaled(1)), Gang { name: first, base: Some(base.clone()) });
    assert_eq!(gang(scaled(2)), Gang { name: "inf-0-pd-1".to_owned(), base: Some(base) });
    assert_eq!(gang(Place::Base { replica: 1 }), Gang { name: "inf-1".to_owned(), base: None });
    assert_eq!(context.gang_at(Place::Scaled { replica: 0, group: "other", group_replica: 1 }), None);
}

#[test]
fn cliques_say_in_which_gang_they_are() {
    let (set, names) = (set(TEXT), upstream());
    let context = context(&set, &names);
    let config = &set.spec.template.scaling_groups[0];
    let mut all: Vec<_> = layout::standalone(&set, 0).collect();
    (0..3).for_each(|it| all.extend(layout::members(&set, 0, config, it)));
    let mut said = Vec::new();
    for clique in &all {
        let made = objects::clique(context, clique, None).metadata;
        let label = |key| label(made.labels.as_ref(), key).unwrap_or("-").replace(EPOCH, "E");
        said.push(format!("{} {} {}", clique.name, label(labels::POD_GANG), label(labels::BASE_POD_GANG)));
    }
    let wanted = [
        "inf-0-fe inf-0-E -",
        "inf-0-pd-0-pre inf-0-E -",
        "inf-0-pd-0-dec inf-0-E -",
        "inf-0-pd-1-pre inf-0-1758000000000000001-pd-1 inf-0-E",
        "inf-0-pd-1-dec inf-0-1758000000000000001-pd-1 inf-0-E",
        "inf-0-pd-2-pre inf-0-pd-1 inf-0-E",
        "inf-0-pd-2-dec inf-0-pd-1 inf-0-E",
    ];
    assert_eq!(said, wanted);
}

/// What happens to gangs.
fn plan(set: &PodCliqueSet, names: &dyn GangNames, existing: &Named) -> Vec<String> {
    let gangs = existing.0.iter().map(|it| (it.metadata.name.as_deref().unwrap(), it)).collect();
    let children = SetChildren { gangs, ..SetChildren::default() };
    let actions = plan_set(context(set, names), None, &children).actions;
    let said = actions.into_iter().filter_map(|it| match it {
        Action::Create(Child::Gang(gang)) => {
            let role = label(gang.metadata.labels.as_ref(), labels::POD_GANG_ROLE).unwrap_or("-");
            Some(format!("create {} {role}", gang.metadata.name.as_ref().unwrap()))
        }
        Action::Delete { kind: Kind::Gang, name, .. } => Some(format!("delete {name}")),
        Action::Patch { kind: Kind::Gang, name, .. } => Some(format!("patch {name}")),
        _ => None,
    });
    said.map(|it| it.replace(EPOCH, "E")).collect()
}

#[test]
fn nothing_is_created_beside_an_existing_gang() {
    let (mut set, names) = (set(TEXT), upstream());
    assert_eq!(plan(&set, &names, &names), ["create inf-0-pd-1 -"]);
    set.spec.template.scaling_groups[0].replicas = Some(2);
    assert!(plan(&set, &names, &names).is_empty());
    set.spec.template.scaling_groups[0].replicas = Some(1);
    assert_eq!(plan(&set, &names, &names), ["delete inf-0-1758000000000000001-pd-1"]);
    set.spec.replicas = 0;
    assert_eq!(plan(&set, &names, &names).len(), 2);
}

/// Its pods carry its name, and say so where it is gone: it comes back under that name, and is known again.
#[test]
fn lost_gang_comes_back_under_its_name() {
    let (mut set, names) = (set(TEXT), upstream());
    set.spec.template.scaling_groups[0].replicas = Some(2);
    let wanted = ["create inf-0-E Anchor", "create inf-0-1758000000000000001-pd-1 Tail"];
    assert_eq!(plan(&set, &names, &Named(Vec::new())), wanted);
    let ours = ["create inf-0 -", "create inf-0-pd-0 -"];
    assert_eq!(plan(&set, &OurNames, &Named(Vec::new())), ours);
}

#[test]
fn of_several_gangs_the_first_one_counts() {
    let of = |epochs: &[&str]| {
        let gangs: Vec<_> = epochs.iter().map(|it| named(&format!("gang-{it}"), it, "Anchor", &[])).collect();
        first_name(&gangs)
    };
    assert_eq!(of(&[]), None);
    assert_eq!(of(&["10", "9", "11"]).unwrap(), "gang-9", "epochs are numbers");
}

#[test]
fn role_tells_gangs_of_other_versions_from_ours() {
    let set = set(TEXT);
    let ours = context(&set, &OurNames);
    let mut gang = objects::gang(ours, scaled(1), None, |_| Some(Vec::new())).unwrap();
    assert!(!has_role(&gang));
    note_role(&mut gang, scaled(1));
    assert!(has_role(&gang));
    assert_eq!(label(gang.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX), Some("0"));
    assert!(upstream().0.iter().all(has_role));
}
