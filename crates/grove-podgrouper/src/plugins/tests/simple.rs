//! Kinds that differ from the default in little.

use serde_json::{Value, json};

use crate::{
    fixture::{Case, annotated, classes, labelled, object, pod, with_spec},
    group::Topology,
    plugin::Refused,
};

const QUEUE: &str = "kai.scheduler/queue";

#[test]
fn a_pod_without_owner_is_its_own() {
    let group = Case::new(pod("pod-job", ""), vec![]).group().unwrap();
    assert_eq!(group.name, "pg-pod-job-");
    assert_eq!((group.queue.as_str(), group.priority_class.as_str()), ("default-queue", "train"));
    assert_eq!((group.min_members, group.owner.kind.as_str()), (1, "Pod"));
    let top = "name: pod-job\nuid: \"\"\ngroup: \"\"\nversion: v1\nkind: Pod\n";
    assert_eq!(group.annotations["kai.scheduler/top-owner-metadata"], top);
}

#[test]
fn owners_without_a_plugin_are_one_group() {
    for (api_version, kind) in [
        ("kubeflow.org/v1alpha1", "ScheduledWorkflow"),
        ("tekton.dev/v1", "TaskRun"),
        ("tekton.dev/v1", "PipelineRun"),
        ("apps/v1", "ReplicaSet"),
        ("kubevirt.io/v1", "VirtualMachine"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
    ] {
        let group = Case::new(pod("p", "1"), vec![object(api_version, kind, "o", "2")]).group().unwrap();
        assert_eq!((group.name.as_str(), group.min_members), ("pg-o-2", 1), "{kind}");
        assert_eq!((group.owner.kind.as_str(), group.priority_class.as_str()), (kind, "train"));
        assert_eq!((group.sub_groups.len(), group.min_sub_groups), (0, None));
    }
}

#[test]
fn users_of_unknown_kinds_may_say_how_many() {
    const KEY: &str = "kai.scheduler/batch-min-member";
    for (api_version, kind) in
        [("apps/v1", "StatefulSet"), ("apps/v1", "ReplicaSet"), ("example.com/v1", "Unknown")]
    {
        let of = |text: &str| {
            let owner = annotated(object(api_version, kind, "o", "2"), &[(KEY, text)]);
            Case::new(pod("p", "1"), vec![owner]).group().map(|it| it.min_members)
        };
        assert_eq!(of("4"), Ok(4), "{kind}");
        for wrong in ["", "0", "-1", "many", "1.5"] {
            let Refused(why) = of(wrong).unwrap_err();
            assert!(why.starts_with("annotation kai.scheduler/batch-min-member: "), "{kind} {wrong}: {why}");
        }
    }
}

#[test]
fn each_pod_of_a_deployment_is_a_group() {
    let set = object("apps/v1", "ReplicaSet", "web-1", "1");
    let topology = [("kai.scheduler/topology", "t"), ("kai.scheduler/topology-required-placement", "zone")];
    let deployment = annotated(object("apps/v1", "Deployment", "web", "2"), &topology);
    for (name, uid, expected) in [("pod-1", "3", "pg-pod-1-3"), ("pod-2", "4", "pg-pod-2-4")] {
        let pod = labelled(pod(name, uid), &[(QUEUE, "q")]);
        let group = Case::new(pod, vec![set.clone(), deployment.clone()]).group().unwrap();
        assert_eq!(group.name, expected);
        assert_eq!((group.owner.kind.as_str(), group.owner.name.as_str()), ("Pod", name));
        assert_eq!((group.queue.as_str(), group.priority_class.as_str()), ("q", "inference"));
        assert_eq!(group.min_members, 1);
        let required = Some("zone".to_owned());
        assert_eq!(group.topology, Some(Topology { name: "t".to_owned(), required, preferred: None }));
    }
}

fn spark(labels: &[(&str, &str)]) -> Case {
    let driver = labelled(pod("driver", "1"), &[(QUEUE, "q"), ("of", "driver")]);
    let driver = annotated(
        driver,
        &[("kai.scheduler/topology", "t"), ("kai.scheduler/topology-preferred-placement", "rack")],
    );
    Case::new(labelled(pod("executor", "2"), labels), vec![driver])
}

#[test]
fn driver_and_executors_of_spark_are_one_group() {
    let both = [("spark-app-name", "app"), ("spark-app-selector", "spark-0123")];
    let group = spark(&both).group().unwrap();
    assert_eq!((group.name.as_str(), group.min_members), ("spark-0123", 1));
    assert_eq!((group.owner.name.as_str(), group.queue.as_str()), ("driver", "q"));
    assert_eq!((group.labels["of"].as_str(), group.priority_class.as_str()), ("driver", "train"));
    assert!(group.annotations.contains_key("kai.scheduler/topology"));
    assert_eq!(group.topology.unwrap().preferred.as_deref(), Some("rack"));
    let driver = Case::new(labelled(pod("driver", "1"), &both), vec![]).group().unwrap();
    assert_eq!(driver.name, "spark-0123");
    for one in both {
        assert_eq!(spark(&[one]).group().unwrap().name, "pg-driver-1", "{one:?}");
    }
    assert_eq!(spark(&[]).group().unwrap().name, "pg-driver-1");
}

#[test]
fn a_selector_of_spark_that_is_no_name_is_refused() {
    let named = |selector: &'static str| {
        spark(&[("spark-app-name", "app"), ("spark-app-selector", selector)]).group()
    };
    for right in ["a", "spark-1.x", "0"] {
        assert_eq!(named(right).unwrap().name, right);
    }
    for wrong in ["", "Spark", "a_b", "a..b", "a-", "-a", "a.-b"] {
        let Refused(why) = named(wrong).unwrap_err();
        assert!(why.starts_with("label spark-app-selector: "), "{why}");
    }
}

#[test]
fn an_aml_job_needs_all_its_nodes() {
    let of = |nodes: Value| {
        let spec = json!({ "job": { "options": { "envs": { "AZUREML_NODE_COUNT": nodes } } } });
        let job = with_spec(object("amlarc.azureml.com/v1alpha1", "AmlJob", "aml", "1"), spec);
        Case::new(pod("p", "2"), vec![job]).group().map(|it| it.min_members)
    };
    assert_eq!(of(json!(3)), Ok(3));
    for (nodes, what) in [
        (json!(null), "missing: set it to a whole number of at least 1"),
        (json!(0), "0: set it to a whole number from 1 to 2147483647"),
        (json!("3"), "\"3\": set it to a whole number from 1 to 2147483647"),
        (json!(2.5), "2.5: set it to a whole number from 1 to 2147483647"),
        (json!(-1), "-1: set it to a whole number from 1 to 2147483647"),
    ] {
        let path = "spec.job.options.envs.AZUREML_NODE_COUNT";
        assert_eq!(of(nodes), Err(Refused(format!("{path} is {what}"))));
    }
    let bare = Case::new(pod("p", "2"), vec![object("amlarc.azureml.com/v1alpha1", "AmlJob", "aml", "1")]);
    assert!(bare.group().is_err());
}

#[test]
fn some_kinds_have_another_priority() {
    for (api_version, kind, fallback) in
        [("kubeflow.org/v1beta1", "Notebook", "build"), ("egx.nvidia.io/v1", "SPOTRequest", "inference")]
    {
        let class = |label: Option<&str>| {
            let owner = object(api_version, kind, "o", "1");
            let owner = label.map_or(owner.clone(), |it| labelled(owner, &[("priorityClassName", it)]));
            let group = Case::new(pod("p", "2"), vec![owner]).set(classes(&["high"])).group().unwrap();
            assert_eq!((group.name.as_str(), group.min_members), ("pg-o-1", 1));
            group.priority_class
        };
        assert_eq!(class(None), fallback);
        assert_eq!(class(Some("nobody")), fallback);
        assert_eq!(class(Some("high")), "high");
    }
}
