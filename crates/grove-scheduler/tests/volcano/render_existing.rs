//! What is kept of a PodGroup that is there.

use crate::{
    cluster::{Volcano, bare, hyper_nodes, pod_group, policy, rendered, soft, volcano},
    common::{gang, group, placed, preferred, required},
    wanted::{bundled, placed_gang, spec},
};
use grove_scheduler::{Content, Gang, Node};
use serde_json::{Value, json};

#[test]
fn lifted_minima_keep_what_the_scheduler_has() {
    let none = || json!({});
    let minima = |mut gang: Gang, minima: [u32; 3]| {
        fn set(node: &mut Node, minima: &mut impl Iterator<Item = u32>) {
            match &mut node.content {
                Content::Group { min, .. } => *min = minima.next().unwrap(),
                Content::Bundle(children) => children.iter_mut().for_each(|it| set(it, minima)),
            }
        }
        let mut minima = minima.into_iter();
        gang.children.iter_mut().for_each(|it| set(it, &mut minima));
        gang
    };
    let flat = || bundled(none(), none(), none(), none());
    let merged = || bundled(none(), required("rack"), none(), none());
    for gang in [&flat as &dyn Fn() -> Gang, &merged] {
        let before = rendered(Volcano::V14, &gang(), &[]).value;
        let render =
            |it: [u32; 3]| rendered(Volcano::V14, &minima(gang(), it), std::slice::from_ref(&before)).value;
        assert_eq!(render([0, 0, 0]), before);
        assert_eq!(render([1, 0, 3]), before);
        assert_eq!(render([0, 2, 4]), rendered(Volcano::V14, &minima(gang(), [1, 2, 4]), &[]).value);
    }
    // What is new has no value yet.
    let wider = json!({ "podgroups": [group("front", 0, 1), group("new", 0, 1)] });
    let before = rendered(Volcano::V14, &flat(), &[]).value;
    let object = rendered(Volcano::V14, &gang(wider), &[before]).value;
    assert_eq!(object["spec"], spec(2, vec![policy("front", 1), policy("new", 1)]));
    // An object of another name or API is not it.
    let mut other = rendered(Volcano::V14, &flat(), &[]).value;
    other["metadata"]["name"] = json!("other");
    let lifted = minima(flat(), [0, 0, 0]);
    let from_nothing = rendered(Volcano::V14, &lifted, &[]).value;
    assert_eq!(rendered(Volcano::V14, &lifted, &[other.clone()]).value, from_nothing);
    other["metadata"]["name"] = json!("web-0");
    other["apiVersion"] = json!("scheduling.run.ai/v2alpha2");
    assert_eq!(rendered(Volcano::V14, &lifted, &[other]).value, from_nothing);
}

#[test]
fn before_1_14_minima_are_kept_by_task() {
    let spec = |gang: &Gang, existing: &[Value]| rendered(Volcano::V12, gang, existing).value;
    let one = gang(json!({ "podgroups": [group("a", 2, 2)] }));
    assert_eq!(spec(&one, &[]), pod_group(json!({ "minMember": 2, "queue": "default" })));
    let lifted = gang(json!({ "podgroups": [group("a", 0, 2)] }));
    assert_eq!(spec(&lifted, &[spec(&one, &[])]), spec(&one, &[]));
    let two = gang(json!({ "podgroups": [group("a", 2, 2), group("b", 1, 1)] }));
    let wanted = json!({ "minMember": 3, "queue": "default", "minTaskMember": { "a": 2, "b": 1 } });
    assert_eq!(spec(&two, &[]), pod_group(wanted));
    let lifted = gang(json!({ "podgroups": [group("a", 0, 2), group("b", 0, 1)] }));
    assert_eq!(spec(&lifted, &[spec(&two, &[])]), spec(&two, &[]));
    // A wish is what 1.12 can do, and 1.11 cannot.
    let packed = placed_gang(preferred("rack"));
    assert_eq!(rendered(Volcano::V12, &packed, &[]).value["spec"]["networkTopology"], soft());
    assert_eq!(rendered(Volcano::V11, &packed, &[]).value["spec"].get("networkTopology"), None);
    let of_group = gang(json!({ "podgroups": [placed(group("a", 1, 1), preferred("rack"))] }));
    assert_eq!(rendered(Volcano::V12, &of_group, &[]).value["spec"]["networkTopology"], soft());
}

#[test]
fn the_number_that_volcano_writes_for_a_level_is_not_fought_over() {
    let numbered = |mut object: Value, of_gang: i64, of_group: i64| {
        let hard = |tier: i64| json!({ "mode": "hard", "highestTierAllowed": tier });
        object["spec"]["networkTopology"] = hard(of_gang);
        object["spec"]["subGroupPolicy"][1]["networkTopology"] = hard(of_group);
        object
    };
    let gang = gang(json!({
        "podgroups": [group("a", 1, 1), placed(group("b", 2, 2), required("rack"))],
        "topologyConstraint": required("zone"),
    }));
    let named = rendered(Volcano::V14, &gang, &[]).value;
    assert_eq!(rendered(Volcano::V14, &gang, std::slice::from_ref(&named)).value, named);
    let there = numbered(named.clone(), 3, 1);
    assert_eq!(rendered(Volcano::V14, &gang, std::slice::from_ref(&there)).value, there);
    // The tiers of the levels have changed since.
    let outdated = numbered(named.clone(), 9, 8);
    assert_eq!(rendered(Volcano::V14, &gang, std::slice::from_ref(&outdated)).value, there);
    // Nobody could read which ones they are.
    let unread = bare(Volcano::V14).with_served(&hyper_nodes(), true);
    let objects = volcano(&unread).render(&gang, std::slice::from_ref(&outdated)).unwrap();
    assert_eq!(objects[0].value, outdated);
}
