//! The schedulers that Grove brings along, on every cluster that they tell apart.

use grove_scheduler::{
    Probe, Probed, SchedulerBackend,
    conformance::{Conformance, assert_conforms},
    kai::KaiBackend,
    kube::KubeBackend,
    volcano::VolcanoBackend,
};
use serde_json::json;

use crate::{kai, volcano};

#[test]
fn the_stock_scheduler_conforms_on_every_cluster() {
    let on = json!({});
    let probed = |groups: bool, composites: bool, topology: bool| {
        KubeBackend.probes(&on).into_iter().fold(Probed::default(), |probed, it| match it {
            Probe::Served(resource) if resource.resource == "podgroups" => {
                probed.with_served(&resource, groups)
            }
            Probe::Served(resource) => probed.with_served(&resource, composites),
            Probe::DryRun { name, mut object, .. } => {
                if !topology {
                    object["spec"]["schedulingConstraints"] = json!(null);
                }
                probed.with_dry_run(name, Ok(object))
            }
            other => panic!("not asked before: {other:?}"),
        })
    };
    let clusters = [
        probed(true, true, true),
        probed(true, false, true),
        probed(true, false, false),
        probed(false, false, false),
    ];
    for cluster in clusters {
        assert_conforms(&KubeBackend, &on, &cluster);
        assert_conforms(&KubeBackend, &json!({ "gangScheduling": false }), &cluster);
    }
}

/// The tables of the documentation are made of these.
#[test]
fn the_examples_are_what_their_titles_say() {
    let found = |backend: &dyn SchedulerBackend| -> Vec<(&'static str, String)> {
        let examples = backend.examples().into_iter();
        let what = |cluster| {
            let scheduler = backend.init(&json!({}), &cluster).unwrap();
            [scheduler.form().to_owned(), scheduler.version().unwrap_or_default()].join(" ").trim().to_owned()
        };
        examples.map(|it| (it.title, what(it.cluster))).collect()
    };
    let owned = |rows: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
        rows.iter().map(|it| (it.0, it.1.to_owned())).collect()
    };
    let kube = [
        ("tree", "tree scheduling.k8s.io v1beta1 PodGroup, v1alpha3 CompositePodGroup"),
        ("flat with topology", "flat scheduling.k8s.io v1beta1 PodGroup with topology"),
        ("flat", "flat scheduling.k8s.io v1beta1 PodGroup"),
        ("plain", "plain"),
    ];
    assert_eq!(found(&KubeBackend), owned(&kube));
    let kai = [
        ("0.12 to 0.14", "0.12 to 0.14"),
        ("0.15 or 0.16", "0.15 or 0.16"),
        ("0.17 or newer", "0.17 or newer"),
        ("0.17 or newer, without Topologies", "0.17 or newer"),
    ];
    assert_eq!(found(&KaiBackend), owned(&kai));
    let volcano = [
        ("1.14 or newer, with HyperNodes", "1.14 or newer"),
        ("1.14 or newer, without HyperNodes", "1.14 or newer"),
        ("1.12 or 1.13, with HyperNodes", "1.12 or 1.13"),
        ("before 1.12", "before 1.12"),
    ];
    assert_eq!(found(&VolcanoBackend), owned(&volcano));
}

#[test]
fn kai_conforms_in_every_release() {
    for release in [kai::Kai::V12, kai::Kai::V15, kai::Kai::V17] {
        for cluster in [kai::cluster(release), kai::without_topologies(release)] {
            let config = json!({});
            let kit = Conformance::new(&KaiBackend, &config, &cluster);
            kit.with_label("kai.scheduler/queue", "team-a").assert();
        }
    }
}

#[test]
fn volcano_conforms_in_every_release() {
    for release in [volcano::Volcano::V11, volcano::Volcano::V12, volcano::Volcano::V14] {
        for cluster in [volcano::cluster(release), volcano::bare(release)] {
            // A release that is too old is told so.
            if VolcanoBackend.init(&json!({}), &cluster).is_ok() {
                let config = json!({});
                let kit = Conformance::new(&VolcanoBackend, &config, &cluster);
                kit.with_levels(["zone", "block", "rack"]).assert();
            }
        }
    }
}
