//! The gangs that are planned, and the fields that ask for what they ask for.

use grove_plan::{
    layout::Place,
    objects::{Context, gang},
};
use grove_scheduler::{Answer, Capabilities, Content, Gang, Node, Object, PrepareError, RenderError};
use k8s_openapi::api::core::v1::Pod;

use super::*;
use crate::backends::tree::tree_of;

/// A scheduler with these answers, which renders nothing.
#[derive(Debug)]
struct Answers(Capabilities);

impl Scheduler for Answers {
    fn capabilities(&self) -> Capabilities {
        self.0
    }

    fn render(&self, _: &Gang, _: &[Value]) -> Result<Vec<Object>, RenderError> {
        Ok(Vec::new())
    }

    fn prepare_pod(&self, _: &mut Pod, _: &Gang) -> Result<(), PrepareError> {
        Ok(())
    }
}

/// Fields that are refused where a scheduler rejects one feature.
fn refused(set: &PodCliqueSet, reject: impl FnOnce(&mut Capabilities, Answer)) -> Vec<String> {
    let mut answers = kai().capabilities();
    reject(&mut answers, Answer::Reject("no"));
    let found = created(set, &Answers(answers), "it");
    found.errors.iter().map(|it| it.path.to_string()).collect()
}

#[test]
fn every_feature_is_found_at_its_fields() {
    let mut set = queued(packed("required zone preferred rack", "required rack", "preferred rack"));
    set.spec.template.priority_class_name = "high".to_owned();
    set.spec.template.cliques[2].spec.replicas = Some(3);
    let (whole, group) = ("spec.template.topologyConstraint", "spec.template.podCliqueScalingGroups[0]");
    let group_level = format!("{group}.topologyConstraint");
    let fe = "spec.template.cliques[0].topologyConstraint";
    let refused = |reject: fn(&mut Capabilities, Answer)| refused(&set, reject);
    assert_eq!(refused(|it, no| it.required_topology_gang = no), [whole, &group_level]);
    assert_eq!(refused(|it, no| it.required_topology_bundle = no), [group_level.as_str()]);
    assert_eq!(refused(|it, no| it.required_topology_group = no), Vec::<String>::new());
    assert_eq!(refused(|it, no| it.nested_required_topology = no), [group_level.as_str()]);
    assert_eq!(refused(|it, no| it.preferred_topology = no), [whole, fe]);
    assert_eq!(refused(|it, no| it.required_and_preferred_topology = no), [whole]);
    assert_eq!(refused(|it, no| it.hierarchical_gang = no), [group_level.as_str()]);
    for reject in [
        |it: &mut Capabilities, no| it.priority_class = no,
        |it: &mut Capabilities, no| it.gang_preemptor = no,
        |it: &mut Capabilities, no| it.gang_victim = no,
    ] {
        assert_eq!(refused(reject), ["spec.template.priorityClassName"]);
    }
    assert_eq!(
        refused(|it, no| it.best_effort_above_minimum = no),
        ["spec.template.cliques[2].spec.replicas"]
    );
    assert_eq!(refused(|it, no| it.scaled_after_base = no), [group]);
    assert_eq!(refused(|it, no| it.multi_group_gang = no), ["spec.template"]);
    assert_eq!(refused(|it, no| it.single_group_gang = no), Vec::<String>::new());
    assert_eq!(refused(|it, no| it.queue = no), ["metadata.labels[kai.scheduler/queue]"]);
    assert_eq!(refused(|it, no| it.group_status = no), Vec::<String>::new(), "nobody asks for it");
}

/// `packed` with a policy instead: the set in a zone, `fe` in a rack, `pre` and `dec` as near as can be.
fn with_policy() -> PodCliqueSet {
    let mut set = queued(packed("", "", ""));
    let required = |key: &str| json!({ "required": { "topologyKey": key } });
    let policy = json!({
        "topologyName": "dc",
        "groupingConstraints": required("example.com/zone"),
        "networkPackGroupConfigs": [
            { "cliqueNames": ["fe"], "topologyConstraint": required("example.com/rack") },
            { "cliqueNames": ["pre", "dec"] },
        ],
    });
    set.spec.template.scheduling_policy_config = serde_json::from_value(policy).unwrap();
    set
}

#[test]
fn a_policy_is_found_at_its_fields() {
    let set = with_policy();
    let policy = "spec.template.schedulingPolicyConfig";
    let (whole, packs) =
        (format!("{policy}.groupingConstraints"), format!("{policy}.networkPackGroupConfigs"));
    let (rack, near) = (format!("{packs}[0].topologyConstraint"), format!("{packs}[1]"));
    let refused = |reject: fn(&mut Capabilities, Answer)| refused(&set, reject);
    assert_eq!(refused(|it, no| it.required_topology_gang = no), [whole]);
    assert_eq!(refused(|it, no| it.required_topology_bundle = no), [rack.as_str()]);
    assert_eq!(refused(|it, no| it.nested_required_topology = no), [rack.as_str()]);
    assert_eq!(refused(|it, no| it.preferred_topology = no), [near.as_str()]);
    let mut bundles = refused(|it, no| it.hierarchical_gang = no);
    bundles.sort();
    assert_eq!(bundles, [rack, near]);
}

/// Nobody asked for it, so that nobody is refused for it; but it is told.
#[test]
fn what_grove_prefers_by_itself_is_told_and_not_refused() {
    let mut answers = kai().capabilities();
    answers.preferred_topology = Answer::Reject("no");
    answers.required_and_preferred_topology = Answer::Reject("no");
    let told = |set: &PodCliqueSet| {
        let found = created(set, &Answers(answers), "it");
        assert_eq!(errors(&found), Vec::<String>::new());
        found.warnings.iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
    };
    let mut named = queued(packed("", "", ""));
    let policy = json!({ "topologyName": "dc" });
    named.spec.template.scheduling_policy_config = serde_json::from_value(policy).unwrap();
    assert_eq!(told(&named), ["spec.template.schedulingPolicyConfig.topologyName"]);
    for none in [packed("required zone", "", ""), packed("", "", "required rack"), packed("", "", "")] {
        assert_eq!(told(&queued(none)), Vec::<String>::new(), "Grove adds nothing to constraints");
    }
    let said = passed_over(&named, Some(&topology()), &Answers(answers), "it");
    assert_eq!(said, ["it ignores PreferredTopology: no."]);
}

#[test]
fn an_autoscaler_makes_pods_above_the_minimum() {
    let mut set = set("a=2/2");
    let above = |set: &PodCliqueSet| refused(set, |it, no| it.best_effort_above_minimum = no);
    assert_eq!(above(&set), Vec::<String>::new());
    let scaling = serde_json::from_value(json!({ "maxReplicas": 3 })).unwrap();
    set.spec.template.cliques[0].spec.auto_scaling_config = Some(scaling);
    assert_eq!(above(&set), ["spec.template.cliques[0].spec.replicas"]);
}

fn without_pods(mut tree: Gang) -> Gang {
    fn clear(nodes: &mut [Node]) {
        for node in nodes {
            match &mut node.content {
                Content::Group { pods, .. } => pods.clear(),
                Content::Bundle(children) => clear(children),
            }
        }
    }
    clear(&mut tree.children);
    tree
}

/// What is left out of a set for the sake of speed is no part of its gangs.
#[test]
fn the_gangs_are_those_that_the_set_will_have() {
    the_gangs_are_those_of(packed("required zone", "required rack preferred rack", "preferred rack"));
    the_gangs_are_those_of(with_policy());
}

fn the_gangs_are_those_of(mut set: PodCliqueSet) {
    set.spec.template.priority_class_name = "high".to_owned();
    set.spec.template.cliques[1].annotations.insert("example.com/a".to_owned(), "b".to_owned());
    set.spec.template.cliques[1].labels.insert("example.com/c".to_owned(), "d".to_owned());
    set.metadata.annotations = Some([("example.com/e".to_owned(), "f".to_owned())].into());
    let topology = topology();
    let places = [Place::Base { replica: 0 }, Place::Scaled { replica: 0, group: "pd", group_replica: 2 }];
    let context = Context {
        set: &set,
        default_scheduler: "it",
        form: "",
        gang_names: &grove_plan::gang_names::OurNames,
    };
    let want = places.map(|place| {
        tree_of(&set, &gang(context, place, Some(&topology), |_| Some(Vec::new())).unwrap(), place).unwrap()
    });
    let got = gangs(&set, Some(&topology), "it").into_iter().map(|it| without_pods(it.unwrap().tree));
    assert_eq!(got.collect::<Vec<_>>(), want);
}

#[test]
fn a_name_that_the_server_makes_is_no_obstacle() {
    let mut set = queued(packed("", "", ""));
    set.metadata.name = None;
    set.metadata.generate_name = Some("inf-".to_owned());
    assert_eq!(errors(&created(&set, kai().as_ref(), "kai-scheduler")), Vec::<String>::new());
}

#[test]
fn many_replicas_are_judged_as_a_few() {
    let mut set = packed("", "", "");
    let group = &mut set.spec.template.scaling_groups[0];
    (group.replicas, group.min_available) = (Some(1_000), Some(1_000));
    let planned = gangs(&set, None, "it");
    let leaves: Vec<usize> = planned.iter().flatten().map(|it| it.tree.leaves().len()).collect();
    assert_eq!(leaves, [5, 2]);
}
