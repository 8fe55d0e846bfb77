use serde_json::{Value, json};

use super::*;
use crate::plugins::shapes::{group_of, object, parts, pod, refusal, with};

/// A job of one master and so many workers.
fn job(workers: u32) -> Value {
    let roles = json!({ "Master": { "replicas": 1 }, "Worker": { "replicas": workers } });
    object("kubeflow.org/v1", "PyTorchJob", "job", json!({ "pytorchReplicaSpecs": roles }))
}

fn worker(index: &str) -> Value {
    pod("w", json!({ ROLE_LABEL: "worker", INDEX_LABEL: index }))
}

fn master() -> Value {
    pod("m", json!({ ROLE_LABEL: "master", INDEX_LABEL: "0" }))
}

fn sized(pod: Value, size: &str) -> Value {
    with(pod, "annotations", json!({ "kai.scheduler/segment-size": size }))
}

#[test]
fn the_user_then_elasticity_then_the_sum_decide() {
    let table: [(_, _, _, _, &[&str]); 13] = [
        (json!({ "Master": 1, "Worker": 4 }), None, None, 5, &["master 1", "worker 4"]),
        (json!({ "Master": 1, "Worker": 4 }), Some(3), None, 3, &["master 1", "worker 2"]),
        (json!({ "Master": 1, "Worker": 4 }), None, Some(4), 4, &["master 1", "worker 3"]),
        (json!({ "Master": 1, "Worker": 4 }), Some(2), Some(4), 4, &["master 1", "worker 3"]),
        (json!({ "Master": 2 }), None, None, 2, &["master 2"]),
        (json!({ "Worker": 3 }), None, None, 3, &["worker 3"]),
        (json!({ "Worker": 3 }), Some(1), None, 1, &["worker 1"]),
        (json!({ "Worker": 3 }), None, Some(2), 2, &["worker 2"]),
        (json!({ "Worker": 3 }), Some(1), Some(2), 2, &["worker 2"]),
        (json!({ "Master": 2 }), Some(1), None, 1, &["master 2"]),
        (json!({ "Master": 2 }), None, Some(1), 1, &["master 2"]),
        // With a minimum of the user's nobody looks at the replicas.
        (json!({ "Master": 0, "Worker": 0 }), None, Some(3), 3, &["worker 3"]),
        (json!({ "Master": 2, "Worker": 1 }), None, Some(1), 1, &["master 2", "worker 0"]),
    ];
    for (roles, elastic, available, min_members, expected) in table {
        let specs = roles.as_object().unwrap().iter();
        let specs: Map<String, Value> =
            specs.map(|(role, it)| (role.clone(), json!({ "replicas": it }))).collect();
        let mut job = object("kubeflow.org/v1", "PyTorchJob", "job", json!({ "pytorchReplicaSpecs": specs }));
        if let Some(least) = elastic {
            job["spec"]["elasticPolicy"]["minReplicas"] = json!(least);
        }
        if let Some(least) = available {
            job["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"] = json!(least);
        }
        let group = group_of(&PyTorchJob, &job, &pod("p", json!({}))).unwrap();
        assert_eq!((group.min_members, parts(&group)), (min_members, strings(expected)), "{roles}");
        assert_eq!((group.name.as_str(), group.priority_class.as_str()), ("pg-job-uid-job", "train"));
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn a_pod_is_in_the_part_of_its_role() {
    let table: [(Value, &[&str]); 4] = [
        (master(), &["master 1 * m", "worker 2"]),
        (worker("1"), &["master 1", "worker 2 * w"]),
        (pod("p", json!({})), &["master 1", "worker 2"]),
        (pod("p", json!({ ROLE_LABEL: "Master" })), &["master 1", "worker 2"]),
    ];
    for (pod, expected) in table {
        assert_eq!(parts(&group_of(&PyTorchJob, &job(2), &pod).unwrap()), strings(expected));
    }
}

#[test]
fn workers_are_cut_into_segments() {
    let of_four = |zero: &str, one: &str| {
        vec![
            "master 1".to_owned(),
            "worker [2]".to_owned(),
            format!("worker-0 2 in worker{zero}"),
            format!("worker-1 2 in worker{one}"),
        ]
    };
    let group = |workers: u32, pod: Value| group_of(&PyTorchJob, &job(workers), &sized(pod, "2")).unwrap();
    assert_eq!(parts(&group(4, worker("0"))), of_four(" * w", ""));
    assert_eq!(parts(&group(4, worker("2"))), of_four("", " * w"));
    assert_eq!(parts(&group(4, worker("3"))), of_four("", " * w"));
    assert_eq!(parts(&group(4, master()))[0], "master 1 * m");
    // It was scaled down; the pod is about to go.
    assert_eq!(parts(&group(4, worker("4"))), of_four("", ""));
    let five = group(5, worker("4"));
    assert_eq!(five.min_members, 6);
    assert_eq!(
        parts(&five)[1..],
        ["worker [3]", "worker-0 2 in worker", "worker-1 2 in worker", "worker-2 1 in worker * w"]
    );
}

#[test]
fn segments_that_an_elastic_job_can_begin_without_need_no_pods() {
    let mut job = job(8);
    job["spec"]["elasticPolicy"]["minReplicas"] = json!(5);
    let group = group_of(&PyTorchJob, &job, &sized(worker("7"), "2")).unwrap();
    assert_eq!(group.min_members, 5);
    assert_eq!(
        parts(&group),
        [
            "master 1",
            "worker [4]",
            "worker-0 2 in worker",
            "worker-1 2 in worker",
            "worker-2 0 in worker",
            "worker-3 0 in worker * w"
        ]
    );
}

#[test]
fn no_workers_are_no_segments() {
    let mut job = job(0);
    job["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"] = json!(1);
    let group = group_of(&PyTorchJob, &job, &sized(master(), "2")).unwrap();
    assert_eq!(parts(&group), ["master 1 * m", "worker 0"]);
}

#[test]
fn the_template_of_the_workers_may_give_the_size() {
    let with_template = |size: &str| {
        let mut job = job(4);
        job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"] =
            json!({ "kai.scheduler/segment-size": size });
        job
    };
    let group = group_of(&PyTorchJob, &with_template("2"), &worker("0")).unwrap();
    assert_eq!(parts(&group).len(), 4);
    let group = group_of(&PyTorchJob, &with_template("2"), &sized(worker("0"), "4")).unwrap();
    assert_eq!(parts(&group)[1..], ["worker [1]", "worker-0 4 in worker * w"]);
    for size in ["abc", "0", "-1", "1.5", ""] {
        let refused = refusal(group_of(&PyTorchJob, &with_template(size), &worker("0")));
        let field =
            "spec.pytorchReplicaSpecs.Worker.template.metadata.annotations[kai.scheduler/segment-size]";
        assert!(refused.starts_with(&format!("{field} is {size:?}: ")), "{refused}");
        let refused = refusal(group_of(&PyTorchJob, &job(4), &sized(worker("0"), size)));
        let field = "annotation kai.scheduler/segment-size of the pod";
        assert!(refused.starts_with(&format!("{field} is {size:?}: ")), "{refused}");
    }
}

#[test]
fn segments_are_placed_by_annotations() {
    const NAME: &str = "kai.scheduler/topology";
    const REQUIRED: &str = "kai.scheduler/segment-topology-required-placement";
    const PREFERRED: &str = "kai.scheduler/segment-topology-preferred-placement";
    let none = json!({});
    // On the pod, on the template of the workers, on the job.
    let table = [
        (
            json!({ NAME: "dc", REQUIRED: "rack", PREFERRED: "host" }),
            none.clone(),
            none.clone(),
            "dc/rack/host",
        ),
        (json!({ NAME: "dc", REQUIRED: "rack" }), none.clone(), none.clone(), "dc/rack/"),
        (json!({ NAME: "dc", PREFERRED: "host" }), none.clone(), none.clone(), "dc//host"),
        (json!({ REQUIRED: "rack" }), none.clone(), json!({ NAME: "dc" }), "dc/rack/"),
        (none.clone(), json!({ NAME: "dc", REQUIRED: "rack" }), none.clone(), "dc/rack/"),
        (json!({ NAME: "a" }), json!({ NAME: "b", PREFERRED: "host" }), json!({ NAME: "c" }), "a//host"),
        (none.clone(), json!({ PREFERRED: "host" }), json!({ NAME: "c" }), "c//host"),
        (json!({ NAME: "dc" }), none.clone(), none.clone(), ""),
        (json!({ REQUIRED: "rack" }), none.clone(), none.clone(), ""),
        // Levels of the job are for all of it.
        (none.clone(), none.clone(), json!({ NAME: "c", REQUIRED: "rack" }), ""),
    ];
    for (mut on_pod, on_template, on_job, expected) in table {
        on_pod["kai.scheduler/segment-size"] = json!("2");
        let mut job = with(job(4), "annotations", on_job);
        job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["metadata"]["annotations"] = on_template;
        let group = group_of(&PyTorchJob, &job, &with(worker("0"), "annotations", on_pod.clone())).unwrap();
        let at = if expected.is_empty() { String::new() } else { format!(" @ {expected}") };
        let expected = [
            "master 1".to_owned(),
            "worker [2]".to_owned(),
            format!("worker-0 2 in worker * w{at}"),
            format!("worker-1 2 in worker{at}"),
        ];
        assert_eq!(parts(&group), expected, "{on_pod}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let mut no_roles = job(1);
    no_roles["spec"] = json!({ "runPolicy": { "schedulingPolicy": { "minAvailable": 1 } } });
    let mut list = job(1);
    list["spec"]["pytorchReplicaSpecs"] = json!([]);
    let mut elastic = job(1);
    elastic["spec"]["elasticPolicy"]["minReplicas"] = json!("2");
    let mut none = job(0);
    let table = [
        (&no_roles, worker("0"), "spec.pytorchReplicaSpecs is missing: "),
        (&list, worker("0"), "spec.pytorchReplicaSpecs is a list: "),
        (&elastic, worker("0"), "spec.elasticPolicy.minReplicas is \"2\": "),
        (&none.clone(), worker("0"), "spec.pytorchReplicaSpecs.Worker.replicas"),
        (
            &job(4),
            sized(worker("-1"), "2"),
            "label training.kubeflow.org/replica-index of the pod is \"-1\": ",
        ),
        (&job(4), sized(worker("x"), "2"), "label training.kubeflow.org/replica-index of the pod is \"x\": "),
        (
            &job(4),
            sized(pod("w", json!({ ROLE_LABEL: "worker" })), "2"),
            "label training.kubeflow.org/replica-index of the pod is missing: ",
        ),
        (&job(10_001), sized(worker("0"), "1"), "a segment size of 1 cuts 10001 pods into 10001 segments"),
    ];
    for (job, pod, expected) in table {
        let refused = refusal(group_of(&PyTorchJob, job, &pod));
        assert!(refused.starts_with(expected), "{refused}");
    }
    none["spec"]["pytorchReplicaSpecs"]["Worker"] = json!({});
    assert!(refusal(group_of(&PyTorchJob, &none, &worker("0"))).contains("Worker.replicas"));
}
