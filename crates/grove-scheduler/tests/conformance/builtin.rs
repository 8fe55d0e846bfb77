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

#[test]
fn kai_conforms_in_every_release() {
    for release in [kai::Kai::V12, kai::Kai::V15, kai::Kai::V17] {
        let (config, cluster) = (json!({}), kai::cluster(release));
        let kit = Conformance::new(&KaiBackend, &config, &cluster);
        kit.with_label("kai.scheduler/queue", "team-a").assert();
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
