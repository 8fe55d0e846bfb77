//! The gangs that are planned, and the fields that ask for what they ask for.

use grove_plan::{
    layout::Place,
    objects::{Context, GangTopology, gang},
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
    let mut set = packed("required zone", "required rack preferred rack", "preferred rack");
    set.spec.template.priority_class_name = "high".to_owned();
    set.spec.template.cliques[1].annotations.insert("example.com/a".to_owned(), "b".to_owned());
    set.spec.template.cliques[1].labels.insert("example.com/c".to_owned(), "d".to_owned());
    set.metadata.annotations = Some([("example.com/e".to_owned(), "f".to_owned())].into());
    let binding = binding();
    let places = [Place::Base { replica: 0 }, Place::Scaled { replica: 0, group: "pd", group_replica: 2 }];
    let context = Context { set: &set, default_scheduler: "it", form: "" };
    let want = places.map(|place| {
        let topology = Some(GangTopology { binding: &binding });
        tree_of(&set, &gang(context, place, topology, |_| Vec::new()).unwrap(), place).unwrap()
    });
    let got = gangs(&set, Some(&binding), "it").into_iter().map(|it| without_pods(it.unwrap().tree));
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
