use serde_json::json;

use crate::{
    fixture::{Case, annotated, classes, kind_default, labelled, object, pod, with_spec},
    group::Preemptibility,
    hub::Hub,
    owner_object::need_of,
    plugin::Refused,
    settings::Settings,
};

use super::*;

const QUEUE: &str = "kai.scheduler/queue";

fn workflow() -> Value {
    labelled(object("argoproj.io/v1alpha1", "Workflow", "flow", "uid-flow"), &[(QUEUE, "test")])
}

fn tf_job() -> Value {
    let spec = json!({ "tfReplicaSpecs": { "Worker": { "replicas": 2 }, "PS": { "replicas": 1 } } });
    with_spec(object("kubeflow.org/v1", "TFJob", "tf", "uid-tf"), spec)
}

#[test]
fn a_pod_below_is_a_group_of_its_own() {
    let group = Case::new(pod("argo-pod", "uid-pod"), vec![workflow()]).group().unwrap();
    assert_eq!(group.name, "pg-argo-pod-uid-pod");
    assert_eq!((group.owner.kind.as_str(), group.owner.api_version.as_str()), ("Pod", "v1"));
    assert_eq!(group.labels, [(QUEUE.to_owned(), "test".to_owned())].into());
    assert_eq!(group.queue, "test");
    assert_eq!(group.min_members, 1);
    let top = "name: argo-pod\nuid: uid-pod\ngroup: \"\"\nversion: v1\nkind: Pod\n";
    assert_eq!(group.annotations["kai.scheduler/top-owner-metadata"], top);
}

#[test]
fn what_is_below_has_its_own_plugin() {
    let group = Case::new(pod("p", "1"), vec![tf_job(), workflow()]).group().unwrap();
    assert_eq!((group.name.as_str(), group.min_members), ("pg-tf-uid-tf", 3));
    assert_eq!(group.queue, "test");
    let set = object("apps/v1", "StatefulSet", "web", "2");
    let group = Case::new(pod("p", "1"), vec![set, workflow()]).group().unwrap();
    assert_eq!((group.name.as_str(), group.min_members), ("pg-web-2", 1));
    let unknown = object("example.com/v1", "Whatever", "it", "3");
    let group = Case::new(pod("p", "1"), vec![unknown, workflow()]).group().unwrap();
    assert_eq!((group.name.as_str(), group.queue.as_str()), ("pg-it-3", "test"));
}

#[test]
fn a_job_set_of_a_train_job_is_grouped_as_a_job_set() {
    let train = object("trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "uid-train");
    let train = labelled(train, &[(QUEUE, "team"), ("of", "train")]);
    let train = annotated(train, &[("kai.scheduler/batch-min-member", "1")]);
    let jobs = json!([{ "name": "launcher" }, { "name": "node", "replicas": 2 }]);
    let set = object("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "uid-set");
    let set = labelled(with_spec(set, json!({ "replicatedJobs": jobs })), &[("of", "set")]);
    let job = object("batch/v1", "Job", "train-node-1", "uid-job");
    let member = labelled(
        pod("p", "uid-pod"),
        &[("jobset.sigs.k8s.io/replicatedjob-name", "node"), ("jobset.sigs.k8s.io/job-index", "1")],
    );
    let group = Case::new(member, vec![job, set, train]).group().unwrap();
    assert_eq!((group.name.as_str(), group.owner.kind.as_str()), ("pg-train-uid-set", "JobSet"));
    assert_eq!((group.queue.as_str(), group.labels["of"].as_str()), ("team", "set"));
    // The annotation of the TrainJob counts as if it were the JobSet's.
    assert_eq!(group.min_sub_groups, Some(1));
    assert_eq!(group.sub_group_of("p").unwrap().name, "node-replica-1");
}

/// The owner below has more owners below it: they are still asked.
#[test]
fn the_second_to_last_is_chosen() {
    let inner = labelled(object("batch/v1", "Job", "inner", "2"), &[("priorityClassName", "high")]);
    let case = Case::new(pod("p", "1"), vec![inner, tf_job(), workflow()]).set(classes(&["high"]));
    let group = case.group().unwrap();
    assert_eq!((group.name.as_str(), group.priority_class.as_str()), ("pg-tf-uid-tf", "high"));
}

#[test]
fn what_is_below_keeps_what_it_says_itself() {
    let top = labelled(workflow(), &[("a", "flow"), ("b", "flow"), ("priorityClassName", "high")]);
    let top = annotated(top, &[("x", "flow"), ("y", "flow"), ("kai.scheduler/preemption-delay", "5m")]);
    let job = annotated(labelled(tf_job(), &[("a", "job")]), &[("x", "job")]);
    let group = Case::new(pod("p", "1"), vec![job, top]).set(classes(&["high"])).group().unwrap();
    assert_eq!((group.labels["a"].as_str(), group.labels["b"].as_str()), ("job", "flow"));
    assert_eq!((group.annotations["x"].as_str(), group.annotations["y"].as_str()), ("job", "flow"));
    // What is inherited counts as if it were its own.
    assert_eq!(group.priority_class, "high");
    assert_eq!(group.preemption_delay.as_deref(), Some("5m"));
}

#[test]
fn skipped_owners_below_each_other_hand_everything_down() {
    let outer = annotated(labelled(workflow(), &[("outer", "l")]), &[("outer", "a")]);
    let inner = object("trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "2");
    let inner = annotated(labelled(inner, &[("inner", "l"), (QUEUE, "mine")]), &[("inner", "a")]);
    let group = Case::new(pod("p", "1"), vec![tf_job(), inner.clone(), outer.clone()]).group().unwrap();
    assert_eq!(group.name, "pg-tf-uid-tf");
    for key in ["outer", "inner"] {
        assert_eq!((group.labels[key].as_str(), group.annotations[key].as_str()), ("l", "a"));
    }
    assert_eq!(group.queue, "mine");
    let group = Case::new(pod("p", "1"), vec![inner, outer]).group().unwrap();
    assert_eq!((group.name.as_str(), group.queue.as_str()), ("pg-p-1", "mine"));
    assert_eq!(group.labels["outer"], "l");
}

#[test]
fn defaults_of_the_skipped_kind_are_handed_down() {
    let with = |class: &str| Settings {
        kinds: vec![kind_default("Workflow", "argoproj.io", class, Some(Preemptibility::NonPreemptible))],
        ..classes(&["high", "low"])
    };
    // Label of what is below, that of the skipped owner, class of the skipped kind, and the outcome.
    let cases = [
        (None, None, "high", "high"),
        (Some("low"), None, "high", "low"),
        (None, Some("low"), "high", "low"),
        (None, None, "nobody", "train"),
    ];
    for (below, skipped, class, expected) in cases {
        let labels = |text: Option<&'static str>| text.map(|it| ("priorityClassName", it));
        let job = labelled(tf_job(), labels(below).as_slice());
        let top = labelled(workflow(), labels(skipped).as_slice());
        let group = Case::new(pod("p", "1"), vec![job, top]).set(with(class)).group().unwrap();
        assert_eq!(group.priority_class, expected, "{below:?} {skipped:?} {class}");
        assert_eq!(group.preemptibility, Some(Preemptibility::NonPreemptible));
    }
    // A class that is not there does not stand in the way of what the pod says.
    let named = with_spec(pod("p", "1"), json!({ "priorityClassName": "low" }));
    let group = Case::new(named, vec![tf_job(), workflow()]).set(with("nobody")).group().unwrap();
    assert_eq!((group.priority_class.as_str(), group.labels.get("priorityClassName")), ("low", None));
    let job = labelled(tf_job(), &[("kai.scheduler/preemptibility", "preemptible")]);
    let group = Case::new(pod("p", "1"), vec![job, workflow()]).set(with("high")).group().unwrap();
    assert_eq!(group.preemptibility, Some(Preemptibility::Preemptible));
}

#[test]
fn an_owner_that_is_gone_is_not_grouped() {
    let owners = [Owner::of(&tf_job()), Owner::of(&workflow())];
    let (pod, top, settings) = (pod("p", "1"), workflow(), Settings::default());
    let workload = Workload { pod: &pod, top: &top, owners: &owners };
    let hub = Hub::builtin();
    let need = need_of(&owners[0].object);
    assert_eq!(hub.needs(workload, &Found::default(), &settings), Ok(vec![need.clone()]));

    let refused = |objects: Vec<Value>| {
        let mut found = Found::default();
        found.put(need.clone(), objects);
        let Refused(needs) = hub.needs(workload, &found, &settings).unwrap_err();
        let Refused(group) = hub.group(workload, &found, &settings).unwrap_err();
        assert_eq!(needs, group);
        group
    };
    assert_eq!(refused(vec![]), "TFJob tf owns the pod and is not there");
    let mut other = tf_job();
    other["metadata"]["uid"] = "other".into();
    assert_eq!(refused(vec![other]), "TFJob tf owns the pod and is gone: there is another one of its name");
    let unread = hub.group(workload, &Found::default(), &settings);
    assert_eq!(unread, Err(Refused("TFJob tf owns the pod and was not read".to_owned())));
}
