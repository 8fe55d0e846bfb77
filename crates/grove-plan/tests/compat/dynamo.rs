//! The objects that we make for Dynamo's set, by the rules of the facts.

use std::collections::BTreeSet;

use grove_plan::{
    children::{Child, Kind},
    facts::label,
};
use k8s_openapi::api::core::v1::Pod;

use crate::{
    common::{World, is_gated, name_of, owner, references},
    corpus, running, sets,
};

pub(crate) fn dynamo() -> World {
    let [set] = <[_; 1]>::try_from(sets(&corpus("dynamo/output.yaml"))).unwrap();
    running(set)
}

/// A clique that Dynamo's set has: name in the template, object, what owns it, the labels that follow from its place.
pub(crate) struct Row {
    template: &'static str,
    pub(crate) object: &'static str,
    owner: &'static str,
    component: &'static str,
    copy: Option<&'static str>,
}

pub(crate) const CLIQUES: [Row; 3] = [
    Row {
        template: "frontend",
        object: "grove-manifest-0-frontend",
        owner: "grove-manifest",
        component: "pcs-podclique",
        copy: None,
    },
    Row {
        template: "decode-ldr",
        object: "grove-manifest-0-decode-0-decode-ldr",
        owner: "grove-manifest-0-decode",
        component: "pcsg-podclique",
        copy: Some("0"),
    },
    Row {
        template: "decode-wkr",
        object: "grove-manifest-0-decode-0-decode-wkr",
        owner: "grove-manifest-0-decode",
        component: "pcsg-podclique",
        copy: Some("0"),
    },
];

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn dynamo_gets_these_objects() {
    let world = dynamo();
    let names = |kind| -> BTreeSet<&str> {
        world.objects.iter().filter(|it| it.kind() == kind).map(|it| name_of(it.metadata())).collect()
    };
    assert_eq!(names(Kind::Service), ["grove-manifest-0"].into());
    assert_eq!(names(Kind::Gang), ["grove-manifest-0"].into());
    assert_eq!(names(Kind::Group), ["grove-manifest-0-decode"].into());
    assert_eq!(names(Kind::Autoscaler), BTreeSet::new());
    assert_eq!(names(Kind::Clique), CLIQUES.iter().map(|it| it.object).collect());
    assert!(world.objects.iter().all(|it| it.metadata().namespace.as_deref() == Some("default")));
    for row in &CLIQUES {
        let Some(Child::Clique(clique)) = world.get(Kind::Clique, row.object) else {
            panic!("{}", row.object)
        };
        assert_eq!(owner(&clique.metadata).name, row.owner);
        assert_eq!((clique.spec.replicas, clique.spec.min_available), (Some(1), Some(1)));
        assert!(clique.spec.starts_after.is_empty(), "Dynamo asks for any order");
        assert_eq!(clique.spec.role_name.as_deref(), Some(row.template));
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn pods_of_dynamo_carry_its_labels_and_ours() {
    let world = dynamo();
    assert_eq!(world.pods.len(), CLIQUES.len());
    for (row, pod) in CLIQUES.iter().zip(&world.pods) {
        let labels = pod.metadata.labels.as_ref().unwrap();
        let template = world.set.spec.template.clique(row.template).unwrap();
        assert!(!template.labels.is_empty() && !template.annotations.is_empty());
        assert!(template.labels.iter().all(|(key, value)| labels.get(key) == Some(value)), "{}", row.object);
        assert_eq!(pod.metadata.annotations.as_ref(), Some(&template.annotations), "{}", row.object);
        let mut ours = vec![
            ("app.kubernetes.io/managed-by", "grove-operator"),
            ("app.kubernetes.io/part-of", "grove-manifest"),
            ("app.kubernetes.io/name", row.object),
            ("app.kubernetes.io/component", row.component),
            ("grove.io/podclique", row.object),
            ("grove.io/podgang", "grove-manifest-0"),
            ("grove.io/podcliqueset-replica-index", "0"),
            ("grove.io/podclique-pod-index", "0"),
        ];
        if let Some(copy) = row.copy {
            ours.push(("grove.io/podcliquescalinggroup", "grove-manifest-0-decode"));
            ours.push(("grove.io/podcliquescalinggroup-replica-index", copy));
        }
        for (key, value) in &ours {
            assert_eq!(label(Some(labels), key), Some(*value), "{}: {key}", row.object);
        }
        // Besides them only the hash, whose value is ours to choose.
        assert_eq!(labels.len(), template.labels.len() + ours.len() + 1, "{labels:?}");
        assert!(labels.contains_key("grove.io/pod-template-hash"));
        assert_eq!(owner(&pod.metadata).name, row.object);
    }
}

fn variables(pod: &Pod) -> Vec<String> {
    let container = &pod.spec.as_ref().unwrap().containers[0];
    container.env.iter().flatten().map(|it| it.name.clone()).collect()
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn pods_of_dynamo_have_its_variables_after_ours() {
    let world = dynamo();
    for (row, pod) in CLIQUES.iter().zip(&world.pods) {
        let template = &world.set.spec.template.clique(row.template).unwrap().spec.pod_spec;
        let mut want: Vec<&str> = vec![
            "GROVE_PCS_NAME",
            "GROVE_PCS_INDEX",
            "GROVE_PCLQ_NAME",
            "GROVE_HEADLESS_SERVICE",
            "GROVE_PCLQ_POD_INDEX",
        ];
        if row.copy.is_some() {
            want.extend(["GROVE_PCSG_NAME", "GROVE_PCSG_TEMPLATE_NUM_PODS", "GROVE_PCSG_INDEX"]);
        }
        let theirs = template.containers[0].env.as_deref().unwrap();
        want.extend(theirs.iter().map(|it| it.name.as_str()));
        assert_eq!(variables(pod), want, "{}", row.object);

        let spec = pod.spec.as_ref().unwrap();
        let value = |name: &str| {
            let found = spec.containers[0].env.iter().flatten().find(|it| it.name == name);
            found.and_then(|it| it.value.as_deref())
        };
        let values = [
            ("GROVE_PCS_NAME", Some("grove-manifest")),
            ("GROVE_PCS_INDEX", Some("0")),
            ("GROVE_PCLQ_NAME", Some(row.object)),
            ("GROVE_HEADLESS_SERVICE", Some("grove-manifest-0.default.svc.cluster.local")),
            // A leader and a worker.
            ("GROVE_PCSG_TEMPLATE_NUM_PODS", row.copy.map(|_| "2")),
        ];
        for (name, want) in values {
            assert_eq!(value(name), want, "{}: {name}", row.object);
        }
        assert_eq!(spec.hostname, Some(format!("{}-0", row.object)));
        assert_eq!(spec.subdomain.as_deref(), Some("grove-manifest-0"));
        // All else is as Dynamo wrote it.
        let mut rest = spec.clone();
        rest.containers[0].env.clone_from(&template.containers[0].env);
        rest.scheduling_gates.clone_from(&template.scheduling_gates);
        (rest.hostname, rest.subdomain, rest.scheduler_name) = (None, None, None);
        assert_eq!(&rest, template, "{}", row.object);
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn the_gang_of_dynamo_is_complete() {
    let world = dynamo();
    let gang = world.gang("grove-manifest-0");
    let want: Vec<(String, Vec<String>)> =
        CLIQUES.iter().map(|it| (it.object.to_owned(), vec![format!("default/{}-0", it.object)])).collect();
    let got: Vec<(String, Vec<String>)> = references(gang)
        .into_iter()
        .map(|(name, pods)| (name, pods.iter().map(|it| format!("{}/{}", it.namespace, it.name)).collect()))
        .collect();
    assert_eq!(got, want);
    assert!(gang.spec.pod_groups.iter().all(|it| it.min_replicas == 1));
    assert!(world.pods.iter().all(|it| !is_gated(it)), "all are let go");
}
