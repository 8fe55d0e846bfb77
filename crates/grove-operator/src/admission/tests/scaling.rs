//! What users are told who scale a clique or a group.

use grove_api::constants::webhooks;
use serde_json::{Value, json};

use super::{judge, message, request};
use crate::admission::{Request, Scaled, ScaledSet, Snapshot, Verdict};

/// A change of replicas of the clique `web-0-pd-0-work`, by its spec or by `/scale`.
fn change(from: u32, to: u32, by_scale: bool) -> Request {
    let (version, kind) =
        if by_scale { ("autoscaling/v1", "Scale") } else { ("grove.io/v1alpha1", "PodClique") };
    let object = |replicas: u32| {
        // As the API server writes it.
        let spec = if by_scale && replicas == 0 { json!({}) } else { json!({ "replicas": replicas }) };
        json!({ "apiVersion": version, "kind": kind, "metadata": { "name": "web-0-pd-0-work" }, "spec": spec })
    };
    let mut request = request("UPDATE", &object(to), &object(from));
    "web-0-pd-0-work".clone_into(&mut request.name);
    if by_scale {
        "scale".clone_into(&mut request.sub_resource);
    }
    request
}

fn judged(request: &Request, scaled: Scaled) -> Verdict {
    let snapshot = Snapshot { scaled, ..Snapshot::default() };
    judge(webhooks::CLIQUE_VALIDATING.path, request, &snapshot)
}

fn member(siblings: &[(&str, i32)]) -> Scaled {
    Scaled {
        group: Some("web-0-pd".to_owned()),
        siblings: siblings.iter().map(|(name, pods)| ((*name).to_owned(), *pods)).collect(),
        ..Scaled::default()
    }
}

#[test]
fn a_member_that_becomes_unlike_its_siblings_is_told() {
    for by_scale in [true, false] {
        let verdict =
            judged(&change(2, 3, by_scale), member(&[("web-0-pd-1-work", 3), ("web-0-pd-2-work", 2)]));
        assert_eq!(verdict.denial, None);
        assert_eq!(
            verdict.warnings,
            [
                "spec.replicas: only this replica of scaling group web-0-pd changes, web-0-pd-2-work keeps 2 pods. For more \
              replicas of the group: kubectl scale pcsg/web-0-pd --replicas=N"
            ]
        );
        assert!(verdict.warnings[0].len() < 256, "the API server may cut it");
        let alike = judged(&change(2, 3, by_scale), member(&[("web-0-pd-1-work", 3)]));
        assert_eq!(alike, Verdict::allowed(), "with the last of them all are alike again");
    }
}

/// Also where it is the only one: replicas that come later are made by the template.
#[test]
fn a_member_that_becomes_unlike_its_template_is_told() {
    for by_scale in [true, false] {
        let judged = |to, siblings| {
            let scaled = Scaled { template: Some(2), ..member(siblings) };
            judged(&change(1, to, by_scale), scaled)
        };
        let verdict = judged(3, &[]);
        assert_eq!(verdict.denial, None);
        assert_eq!(
            verdict.warnings,
            [
                "spec.replicas: the template of the set has 2, and further replicas of scaling group web-0-pd get as many. To change \
              it for all, change the template and scale each replica"
            ]
        );
        assert!(verdict.warnings[0].len() < 256, "the API server may cut it");
        assert_eq!(judged(2, &[]), Verdict::allowed());
        assert_eq!(
            judged(3, &[("web-0-pd-1-work", 3)]).warnings,
            verdict.warnings,
            "all are alike, but not what comes"
        );
        assert_eq!(judged(3, &[("web-0-pd-1-work", 2)]).warnings.len(), 1, "one warning is enough");
    }
}

#[test]
fn a_member_cannot_be_scaled_to_zero_alone() {
    for by_scale in [true, false] {
        let verdict = judged(&change(2, 0, by_scale), member(&[]));
        assert!(message(&verdict).ends_with("kubectl scale pcsg/web-0-pd --replicas=0"), "{verdict:?}");
        assert_eq!(judged(&change(2, 0, by_scale), Scaled::default()), Verdict::allowed());
    }
}

#[test]
fn an_autoscaler_is_named_where_it_would_change_it_again() {
    let scaled = Scaled { autoscaler: Some((2, 5)), ..Scaled::default() };
    let verdict = judged(&change(2, 3, true), scaled.clone());
    assert!(verdict.warnings[0].contains("between 2 and 5"), "{verdict:?}");
    assert_eq!(judged(&change(2, 0, true), scaled), Verdict::allowed(), "it leaves alone what is at zero");
}

#[test]
fn what_does_not_scale_passes() {
    let mut other = change(2, 2, false);
    other.object["metadata"]["labels"] = json!({ "a": "b" });
    assert_eq!(judged(&other, member(&[("web-0-pd-1-work", 9)])), Verdict::allowed());
    let path = webhooks::GROUP_VALIDATING.path;
    let group = json!({ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueScalingGroup", "metadata": { "name": "g" } });
    assert_eq!(judge(path, &request("UPDATE", &group, &group), &Snapshot::default()), Verdict::allowed());
    // A Scale is judged only where it is the Scale of such an object.
    let mut forged = change(2, 3, true);
    forged.sub_resource.clear();
    assert_ne!(message(&judge(path, &forged, &Snapshot::default())), "allowed");
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" } });
    assert_ne!(
        message(&judge(path, &request("UPDATE", &pod, &Value::Null), &Snapshot::default())),
        "allowed"
    );
}

/// The cap holds for the whole set, and only for what grows.
#[test]
fn a_group_cannot_be_scaled_beyond_what_its_set_may_have() {
    let set = ScaledSet {
        name: "web".to_owned(),
        others: 9_000,
        other_bytes: 0,
        minimum: 1,
        members: 2,
        member_bytes: 1,
    };
    let judged_in = |set: &ScaledSet, from, to| {
        let mut request = change(from, to, true);
        "web-0-pd".clone_into(&mut request.name);
        let scaled = Scaled { set: Some(set.clone()), ..Scaled::default() };
        judge(webhooks::GROUP_VALIDATING.path, &request, &Snapshot { scaled, ..Snapshot::default() })
    };
    let judged = |from, to| judged_in(&set, from, to);
    assert_eq!(judged(2, 501), Verdict::allowed());
    let verdict = judged(2, 502);
    assert!(
        message(&verdict).contains(
            "spec.replicas: Invalid value: 502: set web would have 10002 PodCliques, and may have 10000"
        ),
        "{verdict:?}"
    );
    assert_eq!(judged(700, 600), Verdict::allowed(), "it may become smaller");
    assert!(judged(2, u32::MAX).denial.is_some());
    // Bytes have a cap of their own.
    let large = ScaledSet { others: 1, other_bytes: 62 << 20, member_bytes: 1 << 20, ..set.clone() };
    assert_eq!(judged_in(&large, 2, 3), Verdict::allowed());
    let verdict = judged_in(&large, 2, 4);
    let words = "set web would have PodCliques of 68157440 bytes, and may have 67108864: scale";
    assert!(message(&verdict).contains(words), "{verdict:?}");
    assert_eq!(judged_in(&large, 9, 8), Verdict::allowed(), "it may become smaller");
}

/// The API server asks with a Scale, which has no template: that is known.
#[test]
fn a_set_cannot_be_scaled_beyond_the_bytes_that_it_may_have() {
    let judged = |from, to| {
        let scaled = Scaled { replica_bytes: Some(1 << 20), ..Scaled::default() };
        let snapshot = Snapshot { scaled, ..Snapshot::default() };
        judge(webhooks::SET_SCALE.path, &change(from, to, true), &snapshot)
    };
    assert_eq!(judged(10, 64), Verdict::allowed());
    let words =
        "spec.replicas: Invalid value: 10000: the PodCliques of a set may have at most 67108864 bytes";
    assert!(message(&judged(10, 10_000)).contains(words), "{:?}", judged(10, 10_000));
    assert_eq!(judged(100, 99), Verdict::allowed(), "it may become smaller");
    // A Scale is judged there and not where whole sets are.
    let verdict = judge(webhooks::SET_VALIDATING.path, &change(1, 2, true), &Snapshot::default());
    assert_ne!(message(&verdict), "allowed");
}
