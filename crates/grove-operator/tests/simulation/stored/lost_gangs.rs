//! A gang that somebody deletes comes back under the name that its pods carry.

use serde_json::json;

use super::{
    adoption::gang_names,
    cluster::{
        CLIQUES, GANGS, PODS, adopted, assert_gangs_list_their_pods, cliques, not_running, pods, writes_since,
    },
    version::Version,
};
use crate::workload::an_hour_without_writes;

#[tokio::test(start_paused = true)]
async fn deleted_gang_comes_back_under_its_name() {
    for version in Version::ALL {
        for gang in gang_names(version) {
            let world = adopted(version, 21).await;
            let (before, said) = (pods(&world), cliques(&world));
            let count = world.server.store().write_count();
            world.delete(GANGS, gang);
            world.settle().await;
            assert_eq!(world.names(GANGS), gang_names(version), "{version:?}");
            assert_eq!(cliques(&world), said);
            assert!(writes_since(&world, count, PODS).is_empty(), "{version:?}: a pod was written");
            assert_eq!(pods(&world), before);
            assert_gangs_list_their_pods(&world);
            // And it is known again: what comes later joins it.
            world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "replicas": 3 } }));
            world.settle().await;
            assert_eq!(world.names(GANGS), gang_names(version), "{version:?}");
            assert_eq!(not_running(&world), Vec::<String>::new());
            an_hour_without_writes(&world).await;
        }
    }
}

/// Also where nobody saw that it went.
#[tokio::test(start_paused = true)]
async fn gang_that_was_deleted_without_an_operator_comes_back_under_its_name() {
    for version in Version::ALL {
        let mut world = adopted(version, 22).await;
        world.kill();
        let before = pods(&world);
        gang_names(version).iter().for_each(|it| world.delete(GANGS, it));
        world.start();
        world.settle().await;
        assert_eq!(world.names(GANGS), gang_names(version), "{version:?}");
        assert_eq!(pods(&world), before);
        assert_gangs_list_their_pods(&world);
    }
}

/// A label alone names no gang: it is mended, as it is where no other version was.
#[tokio::test(start_paused = true)]
async fn label_that_somebody_wrote_is_mended() {
    for version in Version::ALL {
        let world = adopted(version, 23).await;
        let said = cliques(&world);
        let label = json!({ "metadata": { "labels": { "grove.io/podgang": "other", "grove.io/base-podgang": null } } });
        for clique in ["inf-0-fe", "inf-0-pd-0-dec", "inf-0-pd-1-pre"] {
            world.patch(CLIQUES, clique, label.clone());
        }
        world.settle().await;
        assert_eq!(cliques(&world), said, "{version:?}");
        assert_eq!(world.names(GANGS), gang_names(version), "{version:?}");
    }
}
