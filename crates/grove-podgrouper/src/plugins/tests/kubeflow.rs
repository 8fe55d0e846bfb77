//! Jobs of Kubeflow.

use serde_json::{Value, json};

use crate::{
    fixture::{Case, labelled, object, pod, with_spec},
    plugin::Refused,
};

fn job(api_version: &str, kind: &str, spec: Value) -> Value {
    with_spec(object(api_version, kind, "train", "1"), spec)
}

fn min_of(api_version: &str, kind: &str, spec: Value) -> Result<u32, String> {
    let case = Case::new(pod("p", "2"), vec![job(api_version, kind, spec)]);
    case.group().map(|it| it.min_members).map_err(|Refused(why)| why)
}

/// Roles and their replicas.
fn roles(all: &[(&str, u32)]) -> Value {
    all.iter().map(|(role, replicas)| ((*role).to_owned(), json!({ "replicas": replicas }))).collect()
}

#[test]
fn all_pods_are_placed_together() {
    type Roles = &'static [(&'static str, u32)];
    let cases: &[(&str, &str, Roles, Result<u32, &str>)] = &[
        ("TFJob", "tf", &[("PS", 2), ("Worker", 4)], Ok(6)),
        ("TFJob", "tf", &[("Worker", 2)], Ok(2)),
        ("TFJob", "tf", &[("Chief", 1), ("PS", 2), ("Worker", 3), ("Evaluator", 1)], Ok(7)),
        (
            "TFJob",
            "tf",
            &[("Worker", 0)],
            Err("spec.tfReplicaSpecs.Worker.replicas is 0: set it to a whole number from 1 to 2147483647"),
        ),
        (
            "TFJob",
            "tf",
            &[("PS", 1), ("Worker", 0)],
            Err("spec.tfReplicaSpecs.Worker.replicas is 0: set it to a whole number from 1 to 2147483647"),
        ),
        ("XGBoostJob", "xgb", &[("Master", 1), ("Worker", 2)], Ok(3)),
        (
            "XGBoostJob",
            "xgb",
            &[("Worker", 2)],
            Err("spec.xgbReplicaSpecs.Master is missing: the job cannot do without it"),
        ),
        (
            "XGBoostJob",
            "xgb",
            &[("Master", 1)],
            Err("spec.xgbReplicaSpecs.Worker is missing: the job cannot do without it"),
        ),
        ("JAXJob", "jax", &[("Worker", 4)], Ok(4)),
        (
            "JAXJob",
            "jax",
            &[("Master", 1)],
            Err("spec.jaxReplicaSpecs.Worker is missing: the job cannot do without it"),
        ),
        ("MPIJob", "mpi", &[("Launcher", 1), ("Worker", 2)], Ok(3)),
        (
            "MPIJob",
            "mpi",
            &[("Worker", 2)],
            Err("spec.mpiReplicaSpecs.Launcher is missing: the job cannot do without it"),
        ),
        (
            "MPIJob",
            "mpi",
            &[("Launcher", 1)],
            Err("spec.mpiReplicaSpecs.Worker is missing: the job cannot do without it"),
        ),
        (
            "MPIJob",
            "mpi",
            &[("Launcher", 0), ("Worker", 2)],
            Err("spec.mpiReplicaSpecs.Launcher.replicas is 0: set it to a whole number from 1 to 2147483647"),
        ),
        (
            "TFJob",
            "tf",
            &[("PS", 2_000_000_000), ("Worker", 147_483_648)],
            Err("the replicas of spec.tfReplicaSpecs ask for more than 2147483647 pods: lower them"),
        ),
    ];
    for (kind, prefix, all, expected) in cases {
        let spec = json!({ format!("{prefix}ReplicaSpecs"): roles(all) });
        let expected = expected.map_err(str::to_owned);
        assert_eq!(min_of("kubeflow.org/v1", kind, spec.clone()), expected, "{kind} {all:?}");
        if *kind == "MPIJob" {
            assert_eq!(min_of("kubeflow.org/v2beta1", kind, spec), expected, "{all:?}");
        }
    }
}

#[test]
fn replicas_have_to_be_said() {
    for (spec, why) in [
        (json!({}), "spec.tfReplicaSpecs is missing: say there how many replicas each role has"),
        (json!({ "tfReplicaSpecs": [] }), "spec.tfReplicaSpecs is a list: make it a map"),
        (
            json!({ "tfReplicaSpecs": { "Worker": {} } }),
            "spec.tfReplicaSpecs.Worker.replicas is missing: set it to a whole number of at least 1",
        ),
        (
            json!({ "tfReplicaSpecs": { "Worker": { "replicas": "2" } } }),
            "spec.tfReplicaSpecs.Worker.replicas is \"2\": set it to a whole number from 1 to 2147483647",
        ),
    ] {
        assert_eq!(min_of("kubeflow.org/v1", "TFJob", spec), Err(why.to_owned()));
    }
    for (kind, prefix) in [("XGBoostJob", "xgb"), ("JAXJob", "jax"), ("MPIJob", "mpi")] {
        let field = format!("spec.{prefix}ReplicaSpecs");
        let missing = format!("{field} is missing: say there how many replicas each role has");
        assert_eq!(min_of("kubeflow.org/v1", kind, json!({})), Err(missing));
        let one = || json!({ "replicas": 1 });
        for (worker, is) in [
            (json!({}), "missing: set it to a whole number of at least 1"),
            (json!({ "replicas": 0 }), "0: set it to a whole number from 1 to 2147483647"),
        ] {
            let roles = json!({ "Launcher": one(), "Master": one(), "Worker": worker });
            let why = format!("{field}.Worker.replicas is {is}");
            let spec = json!({ format!("{prefix}ReplicaSpecs"): roles });
            assert_eq!(min_of("kubeflow.org/v1", kind, spec), Err(why));
        }
    }
}

/// What the user says is not checked against the replicas.
#[test]
fn a_user_may_say_how_many() {
    let policy = |min: Value| json!({ "schedulingPolicy": { "minAvailable": min } });
    for (kind, field) in
        [("TFJob", "tfReplicaSpecs"), ("XGBoostJob", "xgbReplicaSpecs"), ("JAXJob", "jaxReplicaSpecs")]
    {
        let spec = |min: Value| json!({ "runPolicy": policy(min), field: roles(&[("Worker", 0)]) });
        assert_eq!(min_of("kubeflow.org/v1", kind, spec(json!(5))), Ok(5));
        let why = "spec.runPolicy.schedulingPolicy.minAvailable is \"5\": set it to a whole number from 0 to 2147483647";
        assert_eq!(min_of("kubeflow.org/v1", kind, spec(json!("5"))), Err(why.to_owned()));
        assert_eq!(min_of("kubeflow.org/v1", kind, json!({ "runPolicy": policy(json!(5)) })), Ok(5));
    }
}

#[test]
fn the_rest_is_the_default() {
    let spec = json!({ "tfReplicaSpecs": roles(&[("Worker", 2)]) });
    let job = labelled(job("kubeflow.org/v1", "TFJob", spec), &[("kai.scheduler/queue", "q")]);
    let group = Case::new(pod("p", "2"), vec![job]).group().unwrap();
    assert_eq!((group.name.as_str(), group.queue.as_str()), ("pg-train-1", "q"));
    assert_eq!((group.priority_class.as_str(), group.sub_groups.len()), ("train", 0));
}

fn launcher(job: &str) -> Value {
    let labels = [("training.kubeflow.org/job-name", job), ("training.kubeflow.org/job-role", "launcher")];
    labelled(pod("launcher", "9"), &labels)
}

fn terminating(mut pod: Value) -> Value {
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    pod
}

/// Waiting for a launcher that waits for the workers would never end.
#[test]
fn a_launcher_that_comes_later_is_not_waited_for() {
    let of = |all: &[(&str, u32)], policy: &str, pods: Vec<Value>| {
        let spec = json!({ "launcherCreationPolicy": policy, "mpiReplicaSpecs": roles(all) });
        let case = Case::new(pod("p", "2"), vec![job("kubeflow.org/v1", "MPIJob", spec)]).with(pods);
        case.group().unwrap().min_members
    };
    let (delayed, small, large): (_, &[_], &[_]) =
        ("WaitForWorkersReady", &[("Launcher", 1), ("Worker", 2)], &[("Launcher", 1), ("Worker", 4)]);
    assert_eq!(of(small, delayed, vec![]), 2);
    assert_eq!(of(small, delayed, vec![launcher("train")]), 3);
    assert_eq!(of(large, delayed, vec![]), 4);
    assert_eq!(of(large, delayed, vec![launcher("train")]), 5);
    assert_eq!(of(large, delayed, vec![terminating(launcher("train"))]), 4);
    assert_eq!(of(large, delayed, vec![terminating(launcher("train")), launcher("train")]), 5);
    assert_eq!(of(large, delayed, vec![launcher("other")]), 4);
    assert_eq!(of(large, "AtStartup", vec![]), 5);
    assert_eq!(of(&[("Launcher", 2), ("Worker", 4)], delayed, vec![]), 4);
}

/// What was read may be older than the launcher that is looked at.
#[test]
fn a_launcher_knows_that_it_is_there() {
    let spec = json!({
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": roles(&[("Launcher", 1), ("Worker", 2)]),
    });
    let of = |pod: Value| {
        let case = Case::new(pod, vec![job("kubeflow.org/v1", "MPIJob", spec.clone())]);
        case.group().unwrap().min_members
    };
    assert_eq!(of(launcher("train")), 3);
    assert_eq!(of(terminating(launcher("train"))), 2);
}

#[test]
fn a_launcher_that_comes_later_is_taken_from_what_the_user_said() {
    let of = |min: u32, roles: Value| {
        let spec = json!({
            "launcherCreationPolicy": "WaitForWorkersReady",
            "runPolicy": { "schedulingPolicy": { "minAvailable": min } },
            "mpiReplicaSpecs": roles,
        });
        min_of("kubeflow.org/v2beta1", "MPIJob", spec)
    };
    let both = || roles(&[("Launcher", 1), ("Worker", 4)]);
    assert_eq!(of(3, both()), Ok(2));
    // One pod has to be placed, whatever is taken away.
    assert_eq!(of(1, both()), Ok(1));
    let why = "spec.mpiReplicaSpecs.Launcher.replicas is missing: set it to a whole number of at least 1";
    assert_eq!(of(3, roles(&[("Worker", 4)])), Err(why.to_owned()));
}
