//! What is changed on a child, and above all what is not.

mod autoscalers;
mod upstream;

use grove_api::wire::PodCliqueSet;
use serde::de::DeserializeOwned;

use super::*;
use crate::{
    fixture::set,
    layout::{self, Place},
    objects::{self, Context},
};

const HASH: &str = labels::POD_TEMPLATE_HASH;

fn context(set: &PodCliqueSet) -> Context<'_> {
    Context {
        set,
        default_scheduler: "default-scheduler",
        form: "",
        gang_names: &crate::gang_names::OurNames,
    }
}

/// The clique `fe` as the template wants it.
fn wanted(set: &PodCliqueSet) -> PodClique {
    let clique = layout::standalone(set, 0).next().unwrap();
    objects::clique(context(set), &clique, None)
}

fn with<T: Serialize + DeserializeOwned>(object: &T, change: &Value) -> T {
    let mut object = value(object);
    json_patch::merge(&mut object, change);
    serde_json::from_value(object).unwrap()
}

/// The set with a label and an annotation in the template of `fe`.
fn labelled() -> PodCliqueSet {
    let mut set = set("fe=2/1");
    let clique = &mut set.spec.template.cliques[0];
    clique.labels = [("team".to_owned(), "a".to_owned())].into();
    clique.annotations = [("note".to_owned(), "n".to_owned())].into();
    set
}

/// The clique as upstream Grove makes it: another hash, no note of what is mirrored, `resources` always there.
fn upstream(set: &PodCliqueSet) -> PodClique {
    let change = json!({
        "metadata": { "labels": { HASH: "5d8c4f" }, "annotations": { MIRRORED: null } },
        "spec": { "podSpec": { "containers": [{ "name": "main", "image": "model:1", "resources": {} }] } },
    });
    with(&wanted(set), &change)
}

#[test]
fn who_scales_keeps_the_replicas() {
    let before = set("fe=2/1 x=1/1 | g=2/1:x");
    let after = set("fe=5/1 x=1/1 | g=4/1:x");
    assert_eq!(clique_patch(&wanted(&before), &wanted(&after)), None);
    let scaled = with(&wanted(&before), &json!({ "spec": { "replicas": 7 } }));
    assert_eq!(clique_patch(&scaled, &wanted(&before)), None);
    let edited = with(&scaled, &json!({ "spec": { "podSpec": { "hostNetwork": true } } }));
    assert_eq!(
        clique_patch(&edited, &wanted(&before)),
        Some(json!({ "spec": { "podSpec": { "hostNetwork": null } } }))
    );

    let group_of = |set: &PodCliqueSet| objects::group(context(set), 0, &set.spec.template.scaling_groups[0]);
    assert_eq!(group(&group_of(&before), &group_of(&after)), None);
    let drifted = with(&group_of(&before), &json!({ "spec": { "replicas": 9, "minAvailable": 3 } }));
    assert_eq!(group(&drifted, &group_of(&before)), Some(json!({ "spec": { "minAvailable": 1 } })));
}

/// A hash that somebody else computed comes back with its template, whatever came in between: standalone or in a group, with
/// and without a note of what is mirrored.
#[test]
fn an_adopted_hash_comes_back_with_its_template() {
    // Standalone, or the first member of the group.
    let wanted = |set: &PodCliqueSet| match set.spec.template.scaling_groups.first() {
        None => wanted(set),
        Some(config) => {
            objects::clique(context(set), &layout::members(set, 0, config, 0).next().unwrap(), None)
        }
    };
    let mut grouped = set("fe=2/1 | g=2/1:fe");
    grouped.spec.template.cliques[0].labels = [("team".to_owned(), "a".to_owned())].into();
    let foreign = with(&wanted(&grouped), &json!({ "metadata": { "labels": { HASH: "5d8c4f" } } }));
    for (set, mut clique) in [(labelled(), upstream(&labelled())), (grouped, foreign)] {
        clique.metadata.uid = Some("uid".to_owned());
        let start = objects::Start { image: "", parents: &[], may_start: true };
        for image in ["model:2", "model:3"] {
            let mut changed = set.clone();
            changed.spec.template.cliques[0].spec.pod_spec.containers[0].image = Some(image.to_owned());
            changed.spec.template.cliques[0].labels.insert("tier".to_owned(), image.replace(':', "-"));
            let want = wanted(&changed);
            let patch = clique_patch(&clique, &want).unwrap();
            assert!(changes_template(&patch));
            clique = with(&clique, &patch);
            assert_eq!(template_hash(&clique.metadata), template_hash(&want.metadata), "{image}");
            assert_eq!(clique_patch(&clique, &want), None, "the note stays");
            let pod = objects::pod("inf", &clique, 0, start, None).unwrap();
            assert!(!pod.metadata.annotations.unwrap_or_default().contains_key(ADOPTED));
        }
        clique = with(&clique, &clique_patch(&clique, &wanted(&set)).unwrap());
        assert_eq!(template_hash(&clique.metadata), "5d8c4f");
        assert_eq!(label(clique.metadata.annotations.as_ref(), ADOPTED), None, "it is used once");
        assert_eq!(clique_patch(&clique, &wanted(&set)), None);
    }
    // Ours needs no note.
    let mut changed = labelled();
    changed.spec.template.cliques[0].spec.pod_spec.host_network = Some(true);
    let patch = clique_patch(&wanted(&labelled()), &wanted(&changed)).unwrap();
    assert_eq!(patch["metadata"].get("annotations"), None);
}

#[test]
fn keys_of_others_survive_and_ours_are_restored() {
    let want = wanted(&labelled());
    let theirs = json!({ "metadata": { "labels": { "kueue": "q" }, "annotations": { "seen-by": "x" } } });
    assert_eq!(clique_patch(&with(&want, &theirs), &want), None);
    let lost = json!({ "metadata": { "labels": { "kueue": "q", "team": "b", labels::POD_GANG: null } } });
    let restored = json!({ "metadata": { "labels": { "team": "a", labels::POD_GANG: "inf-0" } } });
    assert_eq!(clique_patch(&with(&want, &lost), &want), Some(restored));
}

#[test]
fn what_leaves_the_template_leaves_the_clique() {
    let (old, new) = (labelled(), set("fe=2/1"));
    let theirs = json!({ "metadata": { "labels": { "kueue": "q" }, "annotations": { "seen-by": "x" } } });
    let current = with(&wanted(&old), &theirs);
    let hash = wanted(&new).metadata.labels.unwrap()[HASH].clone();
    let patch = clique_patch(&current, &wanted(&new)).unwrap();
    assert_eq!(
        patch,
        json!({ "metadata": {
            "labels": { "team": null, HASH: hash },
            "annotations": { "note": null, MIRRORED: null },
        } })
    );
    let after = with(&current, &patch);
    assert_eq!(after.metadata.labels.as_ref().unwrap().get("kueue"), Some(&"q".to_owned()));
    assert_eq!(after.metadata.annotations, Some([("seen-by".to_owned(), "x".to_owned())].into()));
    assert_eq!(clique_patch(&after, &wanted(&new)), None, "and then there is rest");
}

/// Of several keys, one goes: the note follows.
#[test]
fn the_note_of_mirrored_keys_follows() {
    let mut old = labelled();
    old.spec.template.cliques[0].labels.insert("tier".to_owned(), "gold".to_owned());
    let want = wanted(&labelled());
    let patch = clique_patch(&wanted(&old), &want).unwrap();
    let hash = &want.metadata.labels.as_ref().unwrap()[HASH];
    assert_eq!(patch["metadata"]["labels"], json!({ "tier": null, HASH: hash }), "it is another template");
    assert_eq!(patch["metadata"]["annotations"], json!({ MIRRORED: "team;note" }));
}

#[test]
fn a_hash_of_another_implementation_stays_while_the_content_is_equal() {
    let set = labelled();
    assert_eq!(clique_patch(&upstream(&set), &wanted(&set)), None);

    let lost = with(&upstream(&set), &json!({ "metadata": { "labels": { labels::POD_GANG: null } } }));
    let patch = clique_patch(&lost, &wanted(&set)).unwrap();
    assert_eq!(patch["metadata"]["labels"], json!({ labels::POD_GANG: "inf-0" }), "only what was lost");
}

#[test]
fn a_hash_of_another_implementation_goes_when_the_content_differs() {
    let current = upstream(&labelled());
    let edit = |change: &dyn Fn(&mut grove_api::wire::CliqueTemplate)| {
        let mut set = labelled();
        change(&mut set.spec.template.cliques[0]);
        wanted(&set)
    };
    let rows = [
        ("image", edit(&|it| it.spec.pod_spec.containers[0].image = Some("model:2".to_owned()))),
        ("pod", edit(&|it| it.spec.pod_spec.host_network = Some(true))),
        ("label", edit(&|it| it.labels = [("team".to_owned(), "b".to_owned())].into())),
        ("annotation", edit(&|it| it.annotations = [("note".to_owned(), "m".to_owned())].into())),
        ("more labels", edit(&|it| _ = it.labels.insert("tier".to_owned(), "gold".to_owned()))),
    ];
    for (what, want) in rows {
        let hash = &want.metadata.labels.as_ref().unwrap()[HASH];
        let patch = clique_patch(&current, &want).unwrap();
        assert_eq!(patch["metadata"]["labels"][HASH], **hash, "{what}: {patch}");
        assert_eq!(clique_patch(&with(&current, &patch), &want), None, "{what}: and then there is rest");
    }
}

/// Env and volumes of the clique `fe` in this order, and its image.
fn listed(order: [usize; 2], image: &str) -> PodCliqueSet {
    let mut set = labelled();
    let env = [json!({ "name": "A", "value": "1" }), json!({ "name": "B", "value": "2" })];
    let volumes =
        [json!({ "name": "v", "emptyDir": {} }), json!({ "name": "w", "configMap": { "name": "c" } })];
    let pod = json!({
        "containers": [{ "name": "main", "image": image, "env": order.map(|it| env[it].clone()) }],
        "volumes": order.map(|it| volumes[it].clone()),
    });
    set.spec.template.cliques[0].spec.pod_spec = serde_json::from_value(pod).unwrap();
    set
}

/// Whoever made the clique: lists in another order are the same lists, and nothing is written.
#[test]
fn reordered_lists_write_nothing() {
    let current = wanted(&listed([0, 1], "model:1"));
    let reordered = wanted(&listed([1, 0], "model:1"));
    let with_hash = |hash: &str| with(&current, &json!({ "metadata": { "labels": { HASH: hash } } }));
    let ours = current.metadata.labels.as_ref().unwrap()[HASH].clone();
    // Our own, one of the form before this one, one of upstream Grove.
    for hash in [ours.as_str(), "45db8fbd7449b7c6f5b4", "5d8c4f"] {
        assert_eq!(clique_patch(&with_hash(hash), &reordered), None, "{hash}");
        assert!(same_template(&with_hash(hash), &reordered), "{hash}");

        let changed = wanted(&listed([1, 0], "model:2"));
        let patch = clique_patch(&with_hash(hash), &changed).unwrap();
        let new = &changed.metadata.labels.as_ref().unwrap()[HASH];
        assert_eq!(patch["metadata"]["labels"], json!({ HASH: new }), "{hash}");
        assert!(!same_template(&with_hash(hash), &changed), "{hash}");
        assert_eq!(
            clique_patch(&with(&with_hash(hash), &patch), &changed),
            None,
            "{hash}: and then there is rest"
        );
    }
}

/// Upstream Grove writes cliques with Kubernetes' own types, which write some things otherwise than the user did.
#[test]
fn what_upstream_writes_otherwise_is_the_same() {
    let mut set = set("fe=2/1");
    let theirs = |container: Value, pod: Value| {
        let mut pod = pod;
        pod["containers"] = json!([container]);
        pod
    };
    let written = theirs(
        json!({ "name": "main", "image": "model:1", "tty": false, "workingDir": "",
                "resources": { "limits": { "cpu": "1000m", "memory": "2048Mi" } },
                "livenessProbe": { "tcpSocket": { "port": 80 }, "initialDelaySeconds": 0 },
                "env": [{ "name": "CPUS", "valueFrom": { "resourceFieldRef": { "resource": "limits.cpu" } } }] }),
        json!({ "hostNetwork": false, "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": "1024Mi" } }] }),
    );
    let stored = theirs(
        json!({ "name": "main", "image": "model:1",
                "resources": { "limits": { "cpu": "1", "memory": "2Gi" } },
                "livenessProbe": { "tcpSocket": { "port": 80 } },
                "env": [{ "name": "CPUS", "valueFrom": { "resourceFieldRef": { "resource": "limits.cpu", "divisor": "0" } } }] }),
        json!({ "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": "1Gi" } }] }),
    );
    set.spec.template.cliques[0].spec.pod_spec = serde_json::from_value(stored).unwrap();
    let current = with(&wanted(&set), &json!({ "metadata": { "labels": { HASH: "5d8c4f" } } }));
    set.spec.template.cliques[0].spec.pod_spec = serde_json::from_value(written).unwrap();
    assert_eq!(clique_patch(&current, &wanted(&set)), None);
}

/// A member is told how large its group is, which is no reason to replace pods, whoever wrote their hash.
#[test]
fn the_size_of_a_group_makes_no_new_template() {
    let member = |text: &str| {
        let set = set(text);
        let config = &set.spec.template.scaling_groups[0];
        let clique = layout::members(&set, 0, config, 0).next().unwrap();
        objects::clique(context(&set), &clique, None)
    };
    let small = member("x=1/1 y=2/1 | g=2/1:x,y");
    let old = with(&small, &json!({ "metadata": { "labels": { HASH: "5d8c4f" } } }));
    let large = member("x=1/1 y=4/1 | g=2/1:x,y");
    for current in [&small, &old] {
        let patch = clique_patch(current, &large).unwrap();
        assert_eq!(patch.get("metadata"), None, "its hash stays: {patch}");
        let env = &patch["spec"]["podSpec"]["containers"][0]["env"];
        assert_eq!(env[1], json!({ "name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": "5" }));
        assert!(same_template(current, &large));
    }
    // The same variable of a clique that is in no group is the user's.
    let named = |value: &str| {
        let mut set = set("fe=1/1");
        let env = json!([{ "name": "GROVE_PCSG_TEMPLATE_NUM_PODS", "value": value }]);
        set.spec.template.cliques[0].spec.pod_spec.containers[0].env = serde_json::from_value(env).unwrap();
        wanted(&set)
    };
    assert!(!same_template(&named("1"), &named("2")));
}

#[test]
fn a_missing_hash_is_written() {
    let want = wanted(&labelled());
    let current = with(&want, &json!({ "metadata": { "labels": { HASH: null } } }));
    let hash = &want.metadata.labels.as_ref().unwrap()[HASH];
    assert_eq!(clique_patch(&current, &want), Some(json!({ "metadata": { "labels": { HASH: hash } } })));
}

#[test]
fn services_follow_the_template() {
    let mut set = set("fe=1/1");
    let before = objects::service(context(&set), 0);
    // What a server adds is not ours.
    let served = with(
        &before,
        &json!({ "spec": { "clusterIPs": ["None"], "type": "ClusterIP", "ipFamilies": ["IPv4"] } }),
    );
    assert_eq!(service(&served, &before), None);
    set.spec.template.headless_service_config.as_mut().unwrap().publish_not_ready_addresses = false;
    let patch = service(&served, &objects::service(context(&set), 0)).unwrap();
    assert_eq!(patch, json!({ "spec": { "publishNotReadyAddresses": false } }));
    // A server leaves `false` out.
    let after = with(&served, &json!({ "spec": { "publishNotReadyAddresses": null } }));
    assert_eq!(service(&after, &objects::service(context(&set), 0)), None);
}

fn gang(set: &PodCliqueSet) -> PodGang {
    objects::gang(context(set), Place::Base { replica: 0 }, None, |_| Some(Vec::new())).unwrap()
}

fn keyed(labels: &Value, annotations: &Value) -> PodCliqueSet {
    with(&set("fe=2/1"), &json!({ "metadata": { "labels": labels, "annotations": annotations } }))
}

#[test]
fn gangs_mirror_the_keys_of_the_set() {
    let set = keyed(
        &json!({ "team": "a", "grove.io/x": "1", "app.kubernetes.io/part-of": "elsewhere" }),
        &json!({ "note": "n", "grove.io/reconcile-trigger": "1", "scheduling.grove.io/volcano-queue": "q",
                 "kubectl.kubernetes.io/last-applied-configuration": "{}" }),
    );
    let got = gang(&set).metadata;
    let labels = json!({ "team": "a", "app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "inf",
        "app.kubernetes.io/component": "podgang", "grove.io/scheduler-name": "default-scheduler" });
    assert_eq!(value(&got.labels.unwrap()), labels);
    let mirrored = "app.kubernetes.io/part-of,team;note,scheduling.grove.io/volcano-queue";
    let notes = json!({ "note": "n", "scheduling.grove.io/volcano-queue": "q", MIRRORED: mirrored });
    assert_eq!(value(&got.annotations.unwrap()), notes);
}

#[test]
fn what_leaves_the_set_leaves_its_gangs_and_nothing_else_does() {
    let (old, new) = (
        keyed(&json!({ "team": "a", "tier": "x" }), &json!({ "note": "n" })),
        keyed(&json!({ "tier": "y" }), &json!({})),
    );
    let theirs = json!({ "metadata": {
        "labels": { "kueue": "q", "grove.io/by-hand": "1" },
        "annotations": { "kai.scheduler/skip-podgrouper": "true" },
    } });
    let current = with(&gang(&old), &theirs);
    assert_eq!(gang_patch(&current, &gang(&old)), None);
    let patch = gang_patch(&current, &gang(&new)).unwrap();
    assert_eq!(
        patch,
        json!({ "metadata": {
            "labels": { "tier": "y", "team": null },
            "annotations": { MIRRORED: "tier;", "note": null },
        } })
    );
    assert_eq!(gang_patch(&with(&current, &patch), &gang(&new)), None, "and then there is rest");
}

#[test]
fn the_name_of_a_topology_goes_with_its_last_constraint() {
    let want = gang(&set("fe=2/1"));
    let note = json!({ "metadata": { "annotations": { annotations::TOPOLOGY_NAME: "dc" } } });
    let removal = json!({ "metadata": { "annotations": { annotations::TOPOLOGY_NAME: null } } });
    assert_eq!(gang_patch(&with(&want, &note), &want), Some(removal));
}

#[test]
fn a_specification_is_changed_as_a_whole() {
    let (two, three) = (gang(&set("fe=2/1")), gang(&set("fe=2/2")));
    let constrained = with(
        &two,
        &json!({ "spec": { "priorityClassName": "high", "reuseReservationRef": { "namespace": "n", "name": "m" } } }),
    );
    let patch = gang_patch(&constrained, &three).unwrap();
    assert_eq!(patch["spec"]["priorityClassName"], Value::Null);
    assert_eq!(patch["spec"]["podgroups"][0]["minReplicas"], 2);
    assert_eq!(with(&constrained, &patch).spec, three.spec);
}
