//! What a PodGroup cannot say, and what it needs: levels and queues.

use crate::{
    cluster::{Volcano, bare, cluster, hard, hyper_node, hyper_nodes, rendered, volcano},
    common::{gang, group, map, placed, preferred, required},
    wanted::{bundled, placed_gang},
};
use grove_scheduler::Gang;
use serde_json::{Value, json};

#[test]
fn a_level_that_volcano_cannot_keep_is_never_dropped() {
    let of_gang = placed_gang(required("rack"));
    let of_group = gang(json!({ "podgroups": [placed(group("a", 1, 1), required("rack"))] }));
    let of_bundle = bundled(json!({}), required("rack"), json!({}), json!({}));
    let v14 = |nodes: Vec<Value>| bare(Volcano::V14).with_objects(&hyper_nodes(), nodes);
    let unnamed = json!({ "spec": { "tier": 1 } });
    let lacks = "the cluster has no HyperNodes, from which Volcano knows its topology, so that \"rack\" cannot be required";
    for (what, cluster, wanted) in [
        ("no HyperNodes are served", bare(Volcano::V14), lacks),
        ("there are none", v14(vec![]), lacks),
        (
            "of other names",
            v14(vec![hyper_node(1, "host"), hyper_node(2, "zone")]),
            "no HyperNode has the tierName \"rack\"; there are: host, zone",
        ),
        (
            "of no names",
            v14(vec![unnamed, hyper_node(2, "")]),
            "no HyperNode has the tierName \"rack\"; there are: none",
        ),
        (
            "of two tiers",
            v14(vec![hyper_node(1, "rack"), hyper_node(2, "rack")]),
            "HyperNodes of different tiers have the tierName \"rack\", so that it means no level",
        ),
    ] {
        for gang in [&of_gang, &of_group, &of_bundle] {
            assert_eq!(volcano(&cluster).render(gang, &[]).unwrap_err().to_string(), wanted, "{what}");
        }
        // A wish is let go.
        let packed = volcano(&cluster).render(&placed_gang(preferred("rack")), &[]).unwrap();
        assert_eq!(packed[0].value["spec"].get("networkTopology").is_some(), wanted != lacks, "{what}");
    }
    // Who cannot be read is believed.
    let unread = bare(Volcano::V14).with_served(&hyper_nodes(), true);
    assert_eq!(
        volcano(&unread).render(&of_gang, &[]).unwrap()[0].value["spec"]["networkTopology"],
        hard("rack")
    );
    let old = |gang: &Gang| volcano(&cluster(Volcano::V12)).render(gang, &[]).unwrap_err().to_string();
    assert_eq!(
        old(&of_gang),
        "Volcano before 1.14 does not support topology levels, so that \"rack\" cannot be required"
    );
    let part = "Volcano before 1.14 cannot place a part of a gang on its own";
    assert_eq!(old(&of_group), format!("{part}, so that \"a\" cannot require \"rack\""));
    assert_eq!(old(&of_bundle), format!("{part}, so that \"pd\" cannot require \"rack\""));
}

#[test]
fn a_third_level_is_refused() {
    let gang = bundled(required("zone"), required("block"), required("rack"), json!({}));
    let error = volcano(&cluster(Volcano::V14)).render(&gang, &[]).unwrap_err().to_string();
    let wanted = r#"Volcano has one level of sub-groups: "pd" requires "block", so that "pre" in it cannot require another one"#;
    assert_eq!(error, wanted);
}

#[test]
fn the_queue_comes_from_the_set_or_else_from_its_cliques() {
    let plain = || gang(json!({ "podgroups": [group("a", 1, 1), group("b", 1, 1)] }));
    let of = |key: &str, queue: &str| map(&[(key, queue)]);
    let (ours, theirs) = ("scheduling.grove.io/volcano-queue", "scheduling.volcano.sh/queue-name");
    let set = |annotations: &[(&str, &str)]| {
        let mut gang = plain();
        gang.annotations.extend(map(annotations));
        gang
    };
    let mut by_clique = plain();
    by_clique.describe_group("b", map(&[]), of(ours, "q"));
    for (gang, queue) in [
        (plain(), "default"),
        (set(&[(ours, "q")]), "q"),
        (set(&[(ours, " q ")]), "q"),
        (set(&[(ours, "")]), "default"),
        (set(&[(theirs, "q")]), "q"),
        (set(&[(ours, "q"), (theirs, "other")]), "q"),
        (by_clique, "q"),
    ] {
        assert_eq!(rendered(Volcano::V14, &gang, &[]).value["spec"]["queue"], queue);
    }
    let mut conflict = set(&[(ours, "q")]);
    conflict.describe_group("b", map(&[]), of(theirs, "other"));
    assert_eq!(
        volcano(&cluster(Volcano::V14)).render(&conflict, &[]).unwrap_err().to_string(),
        r#"the queue has to be one for the whole workload, but "web-0" says "q" and "b" says "other""#
    );
}
