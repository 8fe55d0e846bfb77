//! The steps of a gang: pods exist, then they are listed, then it is initialised, then all gates go at once.

mod kept;
mod zero;

use proptest::{prelude::*, sample::select};

use super::*;
use crate::fixture::{FOREIGN_GATE, Scene};

const PAIR: &str = "fe=2/1 dec=2/2";

/// A gang whose pods are all there, listed, and let go.
fn running(text: &str, pods: &[(&str, &str)]) -> Scene {
    let mut scene = Scene::base(text);
    scene.pods(pods);
    for _ in 0..3 {
        scene.step(10);
    }
    assert_eq!(scene.step(10), "rest", "all is done");
    scene
}

#[test]
fn a_new_gang_goes_step_by_step() {
    let mut scene = Scene::base(PAIR);
    for (fe, dec) in
        [("", ""), ("0g", ""), ("0g 1g", ""), ("0g 1g", "0g"), ("0g 1g", "0g 1g!"), ("0g 1g", "0g 1F")]
    {
        scene.pods(&[("fe", fe), ("dec", dec)]);
        assert_eq!(scene.step(1), "rest", "{fe} / {dec}");
        assert_eq!(scene.listed(), "", "{fe} / {dec}");
    }
    // The lists are sorted by name, whatever the order in which pods are seen.
    scene.pods(&[("fe", "1g 0g"), ("dec", "0g 1g 0g!@7")]);
    assert_eq!(scene.step(2), "list fe:0g fe:1g dec:0g dec:1g");
    assert_eq!(scene.step(3), "initialize");
    assert_eq!(scene.step(4), "ungate fe:1g fe:0g dec:0g dec:1g");
    assert_eq!(scene.step(5), "rest");
}

#[test]
fn a_clique_that_is_missing_or_leaving_holds_the_gang() {
    let mut scene = Scene::base(PAIR);
    scene.pods(&[("fe", "0g 1g"), ("dec", "0g 1g")]);
    let clique = scene.role("dec").clique.take().unwrap();
    assert_eq!(scene.step(1), "rest");
    let mut leaving = clique.clone();
    leaving.metadata.deletion_timestamp = Some(grove_api::wire::Time(crate::fixture::at(1)));
    scene.role("dec").clique = Some(leaving);
    assert_eq!(scene.step(1), "rest");
    scene.role("dec").clique = Some(clique);
    assert_eq!(scene.step(1), "list fe:0g fe:1g dec:0g dec:1g");
}

/// Their scheduler would look for them in the group of the PodGang that was there before.
#[test]
fn pods_that_name_another_group_are_given_the_gangs_before_their_gates_are_lifted() {
    let mut scene = Scene::base("fe=4/1");
    scene.pods(&[("fe", "0g 1b 2g 3g!")]);
    for (pod, group) in scene.role("fe").pods.iter_mut().zip([Some("old"), Some("old"), None, Some("old")]) {
        pod.pod_group = group.map(str::to_owned);
    }
    scene.role("fe").clique.as_mut().unwrap().spec.replicas = Some(3);
    scene.pod_group = Some("new".to_owned());
    assert_eq!(scene.step(1), "list fe:0g fe:1b fe:2g");
    scene.told = Told::Failed("BackendFailed", "no");
    assert_eq!(scene.step(2), "initialize", "the scheduler's group may not exist");
    scene.told = Told::Yes;
    assert_eq!(scene.step(3), "regroup fe:0g fe:1b", "not one without a group, nor one that goes");
    assert_eq!(scene.step(4), "ungate fe:0g fe:2g");
    scene.pod_group = None;
    assert_eq!(scene.step(5), "rest");
}

/// Between listing and initialising a pod may go.
#[test]
fn a_gang_that_lost_a_pod_is_not_initialised() {
    let mut scene = Scene::base("fe=2/2");
    scene.pods(&[("fe", "0g 1g")]);
    assert_eq!(scene.step(1), "list fe:0g fe:1g");
    scene.pods(&[("fe", "0g")]);
    assert_eq!((scene.step(2).as_str(), scene.listed().as_str()), ("rest", "fe:0g fe:1g"));
    scene.pods(&[("fe", "0g 1g@7")]);
    assert_eq!(scene.step(3), "list fe:0g fe:1g@7");
    assert_eq!(scene.step(4), "initialize");
}

/// It was complete once, and is not any more: what is left would be placed without the others.
#[test]
fn a_gang_that_lost_its_minimum_lets_nobody_go() {
    for (fe, dec, want) in [
        ("0g 1g", "0g", "rest"),
        ("0g 1g", "0g 1g!", "rest"),
        ("0g 1g", "0g 1F", "rest"),
        ("", "0g 1g", "rest"),
        // One that it can do without.
        ("0g", "0g 1g", "ungate fe:0g dec:0g dec:1g"),
    ] {
        let mut scene = Scene::base(PAIR);
        scene.pods(&[("fe", "0g 1g"), ("dec", "0g 1g")]);
        assert_eq!(
            (scene.step(1).as_str(), scene.step(2).as_str()),
            ("list fe:0g fe:1g dec:0g dec:1g", "initialize")
        );
        scene.pods(&[("fe", fe), ("dec", dec)]);
        assert_eq!(scene.step(3), want, "{fe} / {dec}");
    }
}

/// Pods that say they belong to another gang are not this gang's.
#[test]
fn pods_of_another_gang_do_not_complete_it() {
    let mut scene = Scene::base("fe=2/1");
    scene.pods(&[("fe", "0g 1g")]);
    scene.role("fe").pods[1].gang = "other".to_owned();
    assert_eq!(scene.step(1), "rest");
    assert_eq!(scene.listed(), "");
}

#[test]
fn a_scaled_gang_waits_for_the_base_gang() {
    let mut scene = Scene::new("a=1/1 | g=2/1:a", Place::Scaled { replica: 0, group: "g", group_replica: 1 });
    scene.may_go = false;
    scene.pods(&[("a", "0g")]);
    assert_eq!(scene.step(1), "list a:0g");
    assert_eq!(scene.step(2), "initialize");
    assert_eq!(scene.step(3), "rest");
    scene.may_go = true;
    assert_eq!(scene.step(4), "ungate a:0g");
}

/// The scheduler knows the gang before its pods can be placed.
#[test]
fn gates_are_lifted_when_the_scheduler_was_told() {
    let mut scene = Scene::base("fe=1/1");
    scene.told = Told::No;
    assert_eq!(scene.step(1), "tell");
    scene.told = Told::Failed("SchedulerBackendFailed", "quota");
    scene.pods(&[("fe", "0g")]);
    assert_eq!(scene.step(2), "list fe:0g");
    assert_eq!(scene.step(3), "initialize");
    assert_eq!(scene.step(4), "rest");
    // What the gang lists has changed meanwhile.
    scene.told = Told::No;
    assert_eq!(scene.step(5), "tell");
    assert_eq!(scene.step(6), "ungate fe:0g");
}

/// A scheduler that takes pods as they come must not see those above the minimum before the minima are placed.
#[test]
fn pods_above_the_minimum_wait_for_the_minima() {
    let mut scene = Scene::base(PAIR);
    scene.growth = Growth::AllHeld;
    scene.pods(&[("fe", "0g 1g"), ("dec", "0g 1g")]);
    scene.step(1);
    scene.step(2);
    assert_eq!(scene.step(3), "rest", "base gangs go first");
    scene.growth = Growth::Held;
    assert_eq!(scene.step(3), "ungate fe:0g dec:0g dec:1g");
    assert_eq!(scene.step(4), "rest");
    assert!(is_growing(&scene.seen()));
    scene.growth = Growth::AfterMinimum;
    assert_eq!(scene.step(5), "rest", "nothing is bound");
    scene.role("fe").pods[0].bound = true;
    scene.role("dec").pods[0].bound = true;
    assert_eq!(scene.step(6), "rest", "not all of the minimum");
    scene.role("dec").pods[1].bound = true;
    scene.growth = Growth::Held;
    assert_eq!(scene.step(7), "rest", "another gang has no place");
    scene.growth = Growth::AfterMinimum;
    assert_eq!(scene.step(8), "ungate fe:1g");
    assert!(!is_growing(&scene.seen()));
}

/// A pod that failed and is kept, because its restart policy is exhausted, holds a place of the minimum: the minimum is those that live.
#[test]
fn places_of_pods_that_failed_do_not_count_for_the_minimum() {
    for (pods, listed, ungated) in [
        ("0F 1b 2g 3g", "list fe:1b fe:2g fe:3g", "ungate fe:2g"),
        // Where nothing failed, the same pod waits.
        ("0g 1b 2g 3g", "list fe:0g fe:1b fe:2g fe:3g", "ungate fe:0g"),
        // One that failed above the minimum holds no place of it.
        ("0g 1b 2F 3g", "list fe:0g fe:1b fe:3g", "ungate fe:0g"),
    ] {
        let mut scene = running("fe=4/2", &[("fe", "0b 1b 2b 3b")]);
        scene.growth = Growth::AfterMinimum;
        scene.pods(&[("fe", pods)]);
        assert_eq!(scene.step(11), listed, "{pods}");
        assert_eq!(scene.step(12), ungated, "{pods}");
        assert_eq!(scene.step(13), "rest", "{pods}");
    }
}

/// How a gang is made is decided once: what its pods were created with cannot be changed.
#[test]
fn the_form_of_a_gang_is_noted_once() {
    let noted = |form: &'static str, before: Option<&str>, pods: &str, grouped: Grouped| {
        let mut scene = Scene::base("fe=2/1");
        scene.pods(&[("fe", pods)]);
        // One above the minimum is in no group.
        if let Some(first) = scene.role("fe").pods.first_mut() {
            first.grouped = grouped;
        }
        if let Some(before) = before {
            let notes = scene.gang.metadata.annotations.get_or_insert_default();
            notes.insert(annotations::SCHEDULER_FORM.to_owned(), before.to_owned());
        }
        let mut seen = scene.seen();
        seen.context.form = form;
        let patch = plan(&seen).patch;
        patch.and_then(|it| it.pointer("/metadata/annotations/grove.io~1scheduler-form").cloned())
    };
    for (form, before, pods, grouped, want) in [
        ("tree", None, "", Grouped::Alone, Some("tree")),
        ("tree", None, "0g", Grouped::Alone, Some("adopted")),
        // The gang was deleted, and made anew for the same pods.
        ("flat", None, "0r 1r", Grouped::ByClique, Some("tree")),
        ("tree", None, "0r 1r", Grouped::ByGang, Some("flat")),
        ("tree", Some("flat"), "0g", Grouped::ByClique, None),
        ("tree", Some("flat"), "", Grouped::Alone, None),
        ("tree", Some("adopted"), "", Grouped::Alone, None),
        ("", None, "0g", Grouped::Alone, None),
        ("", Some("tree"), "", Grouped::Alone, None),
    ] {
        let want = want.map(serde_json::Value::from);
        assert_eq!(noted(form, before, pods, grouped), want, "{form:?} {before:?} {pods:?}");
    }
}

#[test]
fn pods_that_are_bound_one_by_one_are_noticed() {
    let mut scene = Scene::base(PAIR);
    let noticed = |scene: &Scene| bound_one_by_one(&scene.seen()).is_some();
    scene.pods(&[("fe", "0p 1p"), ("dec", "0p 1p")]);
    assert!(!noticed(&scene), "nothing is bound");
    scene.pods(&[("fe", "0b 1p"), ("dec", "0p 1p")]);
    assert!(noticed(&scene));
    scene.pods(&[("fe", "0b 1b"), ("dec", "0b 1b")]);
    assert!(!noticed(&scene), "all is bound");
    scene.report(true, 1);
    scene.pods(&[("fe", "0b 1b"), ("dec", "0b 1p")]);
    assert!(!noticed(&scene), "one was lost and is replaced");
}

#[test]
fn scale_out_extends_the_list_and_lifts_the_new_gates() {
    let mut scene = running(PAIR, &[("fe", "0r 1r"), ("dec", "0r 1r")]);
    scene.scale("fe", 4);
    scene.pods(&[("fe", "0r 1r 2g")]);
    assert_eq!((scene.step(20).as_str(), scene.listed().as_str()), ("rest", "fe:0r fe:1r dec:0r dec:1r"));
    scene.pods(&[("fe", "0r 1r 2g 3g")]);
    assert_eq!(scene.step(21), "list fe:0r fe:1r fe:2g fe:3g dec:0r dec:1r");
    assert_eq!(scene.step(22), "ungate fe:2g fe:3g");
    assert_eq!(scene.step(23), "rest");
}

/// One clique that changes does not keep the others from being followed; gates wait while it is below its minimum.
#[test]
fn cliques_are_followed_one_by_one() {
    let mut scene = running(PAIR, &[("fe", "0r 1r"), ("dec", "0r 1r")]);
    scene.scale("fe", 3);
    scene.pods(&[("fe", "0r 1r 2g"), ("dec", "0r")]);
    assert_eq!(scene.step(20), "list fe:0r fe:1r fe:2g dec:0r dec:1r");
    assert_eq!(scene.step(21), "rest");
    scene.pods(&[("fe", "0r 1r 2g"), ("dec", "0r 1r")]);
    assert_eq!(scene.step(22), "ungate fe:2g");
}

#[test]
fn scale_in_shrinks_the_list_when_the_pods_are_gone() {
    let mut scene = running("fe=3/1", &[("fe", "0r 1r 2r")]);
    scene.scale("fe", 1);
    assert_eq!(scene.step(20), "rest", "all are still there");
    scene.pods(&[("fe", "0r 1r! 2r")]);
    assert_eq!(scene.step(21), "rest", "one is still to go");
    scene.pods(&[("fe", "0r 1r! 2r!")]);
    assert_eq!(scene.step(22), "list fe:0r");
    assert_eq!(scene.step(23), "rest");
}

/// One that is too many serves until the one that is being replaced does: that one must not wait for it to go.
#[test]
fn one_that_is_too_many_holds_up_nobody() {
    let mut scene = running("fe=3/2", &[("fe", "0r 1r 2r")]);
    scene.scale("fe", 2);
    scene.pods(&[("fe", "0g 1r 2r")]);
    assert_eq!(scene.step(20), "list fe:0g fe:1r fe:2r");
    assert_eq!(scene.step(21), "ungate fe:0g");
}

#[test]
fn a_pod_stays_listed_until_its_replacement_is_there() {
    let mut scene = running("fe=2/2", &[("fe", "0r 1r")]);
    for pods in ["0r 1r!", "0r", "0r 1F", ""] {
        scene.pods(&[("fe", pods)]);
        assert_eq!((scene.step(20).as_str(), scene.listed().as_str()), ("rest", "fe:0r fe:1r"), "{pods}");
    }
    scene.pods(&[("fe", "0r 1r! 1g")]);
    assert_eq!(scene.step(21), "list fe:0r fe:1g");
    assert_eq!(scene.step(22), "ungate fe:1g");
}

#[test]
fn a_gang_goes_without_pods_that_are_refused_above_the_minimum() {
    let mut scene = Scene::base("fe=3/1 dec=2/2");
    scene.refuse("fe", Some("exceeded quota"));
    scene.pods(&[("fe", ""), ("dec", "0g 1g")]);
    assert_eq!(scene.step(1), "rest", "below the minimum");
    scene.pods(&[("fe", "0g")]);
    assert_eq!(scene.step(2), "list fe:0g dec:0g dec:1g");
    assert_eq!(scene.step(3), "initialize");
    assert_eq!(scene.step(4), "ungate fe:0g dec:0g dec:1g");
    // The quota is raised: the rest joins.
    scene.refuse("fe", None);
    scene.pods(&[("fe", "0r 1g")]);
    assert_eq!(scene.step(5), "rest");
    scene.pods(&[("fe", "0r 1g 2g")]);
    assert_eq!(scene.step(6), "list fe:0r fe:1g fe:2g dec:0g dec:1g");
}

#[test]
fn a_refusal_below_the_minimum_of_one_clique_holds_all() {
    let mut scene = Scene::base("fe=2/1 dec=3/2");
    scene.pods(&[("fe", "0g 1g"), ("dec", "0g")]);
    scene.refuse("dec", Some("exceeded quota"));
    assert_eq!(scene.step(1), "rest");
    scene.pods(&[("dec", "0g 1g")]);
    assert_eq!(scene.step(2), "list fe:0g fe:1g dec:0g dec:1g");
}

/// The minimum is there, and nobody said that more will not come.
#[test]
fn without_a_refusal_the_minimum_is_not_enough() {
    let mut scene = Scene::base("fe=3/1");
    scene.pods(&[("fe", "0g 1g")]);
    assert_eq!(scene.step(1), "rest");
}

#[test]
fn gates_of_others_remain() {
    let mut scene = Scene::base("fe=2/2");
    scene.pods(&[("fe", "0gh 1g")]);
    scene.step(1);
    scene.step(2);
    let plan = plan(&scene.seen());
    let remaining: Vec<_> = plan.ungate.iter().map(|it| (it.name.as_str(), it.remaining.join(" "))).collect();
    assert_eq!(remaining, [("fe:0gh", FOREIGN_GATE.to_owned()), ("fe:1g", String::new())]);
    scene.step(3);
    assert_eq!(scene.step(4), "rest", "a foreign gate is none of ours");
}

#[test]
fn initialised_stays_whatever_is_lost() {
    let mut scene = running("fe=2/2", &[("fe", "0r 1r")]);
    scene.pods(&[("fe", "")]);
    scene.role("fe").clique = None;
    scene.report(false, 30);
    assert!(is_initialized(&scene.gang));
    assert!(!is_complete(&scene.seen()));
    assert_eq!((scene.step(31).as_str(), scene.listed().as_str()), ("rest", "fe:0r fe:1r"));
}

#[test]
fn scheduled_means_the_minimum_of_every_clique_is_bound() {
    let rows = [
        ("0b", "0b 1b", true),
        ("0b 1p", "0r 1n", true),
        ("0p", "0b 1b", false),
        ("0b", "0b 1p", false),
        ("0b", "0b 1b!", false),
        ("0b", "0b 1F", false),
        ("", "", false),
    ];
    let mut scene = Scene::base(PAIR);
    for (fe, dec, want) in rows {
        scene.pods(&[("fe", fe), ("dec", dec)]);
        assert_eq!(is_scheduled(&scene.seen()), want, "{fe} / {dec}");
    }
    scene.pods(&[("fe", "0b"), ("dec", "0b 1b")]);
    scene.role("dec").clique = None;
    assert!(!is_scheduled(&scene.seen()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever pods come and go: no gate is lifted before the gang was complete, none of a pod that is not listed, and
    /// what was listed once is never emptied.
    #[test]
    fn gates_wait_for_the_list_and_the_list_stays(
        states in prop::collection::vec((select(vec!["g", "g", "r", "g!", "F", ""]), 1..4_i32, any::<bool>()), 1..12),
    ) {
        let mut scene = Scene::base("fe=2/1 dec=1/1");
        scene.pods(&[("dec", "0g")]);
        let mut was_complete = false;
        for (second, replicas, refused) in states {
            scene.scale("fe", replicas);
            scene.refuse("fe", refused.then_some("no"));
            let second = if second.is_empty() { String::new() } else { format!("1{second}") };
            scene.pods(&[("fe", &format!("0g {second}"))]);
            for _ in 0..4 {
                was_complete |= is_complete(&scene.seen());
                let (before, initialized) = (scene.listed(), is_initialized(&scene.gang));
                let step = scene.step(1);
                prop_assert!(was_complete || step == "rest", "{}", step);
                if let Some(pods) = step.strip_prefix("ungate ") {
                    prop_assert!(initialized && pods.split(' ').all(|it| before.split(' ').any(|listed| listed == it)));
                }
                prop_assert!(!initialized || is_initialized(&scene.gang));
                for role in ["fe:", "dec:"] {
                    prop_assert!(!before.contains(role) || scene.listed().contains(role), "{} was emptied", role);
                }
            }
            prop_assert_eq!(scene.step(1), "rest", "four steps are enough");
        }
    }
}
