//! Jobs, CronJobs and RunaiJobs.

use serde_json::{Value, json};

use crate::{
    fixture::{Case, annotated, classes, labelled, object, owned, pod, pod_group, with_spec},
    plugin::Refused,
    settings::Settings,
};

fn without_legacy() -> Settings {
    Settings { searches_legacy: false, ..Settings::default() }
}

fn job(parallelism: u32) -> Value {
    with_spec(object("batch/v1", "Job", "test_name", "1234-5678"), json!({ "parallelism": parallelism }))
}

fn with_min(text: &str) -> Value {
    annotated(job(5), &[("kai.scheduler/batch-min-member", text)])
}

#[test]
fn all_pods_of_a_job_are_one_group() {
    for name in ["test_name-4kgrb", "test_name-77t4m"] {
        let group = Case::new(pod(name, "p"), vec![job(2)]).group().unwrap();
        assert_eq!((group.name.as_str(), group.min_members), ("pg-test_name-1234-5678", 1));
        assert_eq!((group.owner.kind.as_str(), group.priority_class.as_str()), ("Job", "train"));
    }
}

#[test]
fn a_pod_that_has_a_group_of_its_own_keeps_it() {
    let legacy = pod_group("pg-test_name-4kgrb-1234-5678");
    let of = |name: &str, settings: Settings| {
        let job = annotated(job(2), &[("kai.scheduler/batch-min-member", "2")]);
        let group =
            Case::new(pod(name, "p"), vec![job]).with([legacy.clone()]).set(settings).group().unwrap();
        (group.name, group.min_members)
    };
    let name = |it: &str| it.to_owned();
    assert_eq!(of("test_name-4kgrb", Settings::default()), (name("pg-test_name-4kgrb-1234-5678"), 1));
    assert_eq!(of("test_name-77t4m", Settings::default()), (name("pg-test_name-1234-5678"), 2));
    assert_eq!(of("test_name-4kgrb", without_legacy()), (name("pg-test_name-1234-5678"), 2));
}

/// The group of a Job is no older group of a pod that is called like it.
#[test]
fn the_group_of_a_job_is_not_taken_for_an_older_one() {
    let there = pod_group("pg-test_name-1234-5678");
    let group = Case::new(pod("test_name", "p"), vec![with_min("3")]).with([there]).group().unwrap();
    assert_eq!(group.min_members, 3);
}

#[test]
fn an_annotation_says_how_many_pods_belong_together() {
    for (text, expected) in [("3", 3), ("1", 1), ("2147483647", 2_147_483_647)] {
        assert_eq!(Case::new(pod("p", "p"), vec![with_min(text)]).group().unwrap().min_members, expected);
    }
    for text in ["", "abc", "3.0", " 3", "0x3", "2147483648", "0", "-1"] {
        let Refused(why) = Case::new(pod("p", "p"), vec![with_min(text)]).group().unwrap_err();
        assert!(
            why.starts_with("annotation kai.scheduler/batch-min-member: must be a whole number"),
            "{why}"
        );
    }
    // A pod does not speak for its Job.
    let pod = annotated(pod("p", "p"), &[("kai.scheduler/batch-min-member", "3")]);
    assert_eq!(Case::new(pod, vec![job(5)]).group().unwrap().min_members, 1);
}

fn cron_job() -> Value {
    let labels = [("kai.scheduler/queue", "of-cron"), ("priorityClassName", "high")];
    labelled(object("batch/v1", "CronJob", "cron", "c"), &labels)
}

#[test]
fn each_job_of_a_cron_job_is_a_group() {
    let job = object("batch/v1", "Job", "cron-1", "j");
    let case = Case::new(owned(pod("p", "p"), &job), vec![job, cron_job()]).set(classes(&["high"]));
    let group = case.group().unwrap();
    assert_eq!((group.name.as_str(), group.min_members), ("pg-cron-1-j", 1));
    assert_eq!((group.owner.kind.as_str(), group.owner.uid.as_str()), ("Job", "j"));
    // The CronJob does not speak for its Jobs.
    assert_eq!((group.queue.as_str(), group.priority_class.as_str()), ("default-queue", "train"));
    assert_eq!(group.labels.len(), 0);
}

#[test]
fn queue_and_priority_are_those_of_the_job() {
    let job = object("batch/v1", "Job", "cron-1", "j");
    let job = labelled(job, &[("kai.scheduler/queue", "of-job"), ("priorityClassName", "low")]);
    let case = Case::new(owned(pod("p", "p"), &job), vec![job, cron_job()]).set(classes(&["high", "low"]));
    let group = case.group().unwrap();
    assert_eq!((group.queue.as_str(), group.priority_class.as_str()), ("of-job", "low"));
}

#[test]
fn a_cron_job_without_a_job_is_refused() {
    let direct = owned(pod("p", "p"), &cron_job());
    let Refused(why) = Case::new(direct, vec![cron_job()]).group().unwrap_err();
    assert!(why.contains("no owner reference of type 'Job'"), "{why}");
    let Refused(why) = Case::new(pod("p", "p"), vec![cron_job()]).group().unwrap_err();
    assert!(why.contains("no owner reference of type 'Job'"), "{why}");
    let job = object("batch/v1", "Job", "cron-1", "j");
    let Refused(why) = Case::new(owned(pod("p", "p"), &job), vec![cron_job()]).group().unwrap_err();
    assert_eq!(why, "Job cron-1 owns the pod and is not there");
}

#[test]
fn pods_of_a_runai_job_are_grouped_by_their_names() {
    let job = |spec: Value| with_spec(object("run.ai/v1", "RunaiJob", "test_name", "1234-5678"), spec);
    // Pod, parallelism, the group that there is, whether it is looked for, and the outcome.
    let cases = [
        ("test_name-0-0", json!({}), None, true, "pg-test_name-0-1234-5678"),
        ("test_name-0-1", json!({}), None, true, "pg-test_name-0-1234-5678"),
        ("test_name-1-0", json!({}), None, true, "pg-test_name-1-1234-5678"),
        ("single", json!({}), None, true, "pg-single-1234-5678"),
        ("test_name-0-0", json!({}), Some("pg-test_name-1234-5678"), true, "pg-test_name-1234-5678"),
        ("test_name-0-0", json!({}), Some("pg-test_name-1234-5678"), false, "pg-test_name-0-1234-5678"),
        (
            "test_name-0-0",
            json!({ "parallelism": 1 }),
            Some("pg-test_name-1234-5678"),
            true,
            "pg-test_name-1234-5678",
        ),
        (
            "test_name-0-0",
            json!({ "parallelism": 2 }),
            Some("pg-test_name-0-0-1234-5678"),
            true,
            "pg-test_name-0-0-1234-5678",
        ),
        (
            "test_name-0-0",
            json!({ "parallelism": 2 }),
            Some("pg-test_name-1234-5678"),
            true,
            "pg-test_name-0-1234-5678",
        ),
    ];
    for (name, spec, there, searches_legacy, expected) in cases {
        let case = Case::new(pod(name, "p"), vec![job(spec.clone())]).with(there.map(pod_group));
        let group = case.set(Settings { searches_legacy, ..Settings::default() }).group().unwrap();
        assert_eq!(group.name, expected, "{name} {spec} {there:?}");
        assert_eq!((group.min_members, group.owner.name.as_str()), (1, "test_name"));
    }
    let Refused(why) =
        Case::new(pod("p", "p"), vec![job(json!({ "parallelism": "2" }))]).group().unwrap_err();
    assert_eq!(why, "spec.parallelism is \"2\": set it to a whole number from 0 to 2147483647");
}
