use grove_api::wire::{Condition, Time};
use grove_scheduler::{Probed, builtin::builtin};
use serde_json::json;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// What every feature gets but those that are named.
fn capabilities() -> Capabilities {
    let kube = builtin().get("default-scheduler").unwrap().init(&json!({}), &Probed::default()).unwrap();
    Capabilities {
        single_group_gang: Answer::Native,
        multi_group_gang: Answer::Emulated("by counting"),
        required_topology_gang: Answer::Reject("it has no levels"),
        queue: Answer::Pass("it has no queues"),
        ..kube.capabilities()
    }
}

fn is_ready(version: &str) -> Known {
    let version = Some(version.to_owned());
    Known::Ready { version, form: "tree", capabilities: Box::new(capabilities()) }
}

fn failed() -> Known {
    Known::Failed("there is no CRD podgroups.example.com".to_owned())
}

/// The object of a backend that was told `known` before.
fn written(known: &Known, default: bool) -> SchedulerBackend {
    let mut object = object("kai-scheduler");
    object.metadata.generation = Some(3);
    object.status = Some(status(&object, known, default, at(1)));
    object
}

/// The page shows a list as `grove backends` prints it: reason and message of each.
#[test]
fn the_documentation_shows_what_is_really_said() {
    const PAGE: &str = include_str!("../../../../../docs/backends/README.md");
    let kai = builtin().get("kai-scheduler").unwrap().init(&json!({}), &Probed::default());
    let flat = Known::Ready { version: None, form: "flat", capabilities: Box::new(capabilities()) };
    for known in [flat, Known::NotConfigured, Known::Failed(kai.unwrap_err())] {
        let said = known.condition();
        let line = format!(" {}: {}\n", said.reason, said.message);
        assert!(PAGE.contains(&line), "docs/backends/README.md does not show{line}");
    }
}

#[test]
fn what_a_status_says_of_each_state() {
    let cases = [
        (Known::Absent, "Unknown", "BackendNotConfigured", "built without a backend of this name"),
        (Known::NotConfigured, "Unknown", "BackendNotConfigured", "no profile"),
        (failed(), "False", "BackendInitializationFailed", "there is no CRD podgroups.example.com"),
        (is_ready("1"), "True", "BackendInitialized", "the form \"tree\""),
    ];
    for (known, want, reason, words) in cases {
        let status = written(&known, false).status.unwrap();
        let condition = &status.conditions[0];
        assert_eq!((condition.type_.as_str(), condition.status.as_str()), ("SchedulerBackendReady", want));
        assert_eq!(condition.reason, reason, "{known:?}");
        assert!(condition.message.contains(words), "{}", condition.message);
        assert_eq!((condition.observed_generation, status.observed_generation), (Some(3), Some(3)));
        assert_eq!(status.scheduler_name.as_deref(), Some("kai-scheduler"));
        // What is not known is not said.
        let ready = want == "True";
        assert_eq!(status.scheduler_version.is_some(), ready, "{known:?}");
        assert_eq!(status.capabilities.len(), if ready { Feature::ALL.len() } else { 0 }, "{known:?}");
    }
}

#[test]
fn a_scheduler_with_one_form_is_not_said_to_have_one() {
    let known = Known::Ready { version: None, form: "", capabilities: Box::new(capabilities()) };
    let status = written(&known, true).status.unwrap();
    assert_eq!(verdict(&status), Some(("True", "gangs are scheduled as a unit")));
    assert!(status.default && status.scheduler_version.is_none());
}

#[test]
fn a_scheduler_that_places_pods_alone_is_said_to() {
    let alone = Capabilities { single_group_gang: Answer::Pass("it is switched off"), ..capabilities() };
    let known = Known::Ready { version: None, form: "plain", capabilities: Box::new(alone) };
    let status = written(&known, true).status.unwrap();
    assert_eq!(verdict(&status), Some(("True", "gangs are not passed to the scheduler: it is switched off")));
}

#[test]
fn capabilities_are_in_the_order_of_features_with_their_notes() {
    let status = written(&is_ready("1"), false).status.unwrap();
    let names: Vec<&str> = status.capabilities.iter().map(|it| it.feature.as_str()).collect();
    let wanted: Vec<&str> = Feature::ALL.iter().map(|it| it.name()).collect();
    assert_eq!(names, wanted);
    let of = |name: &str| {
        let it = status.capabilities.iter().find(|it| it.feature == name).unwrap();
        (it.support, it.note.as_deref())
    };
    assert_eq!(of("SingleGroupGang"), (CapabilitySupport::Native, None));
    assert_eq!(of("MultiGroupGang"), (CapabilitySupport::Emulated, Some("by counting")));
    assert_eq!(of("RequiredTopologyGang"), (CapabilitySupport::Reject, Some("it has no levels")));
    assert_eq!(of("Queue"), (CapabilitySupport::Pass, Some("it has no queues")));
}

#[test]
fn nothing_differs_when_nothing_changed_and_conditions_of_others_stay() {
    let mut object = written(&is_ready("1"), true);
    let foreign = Condition {
        type_: "Audited".to_owned(),
        status: "True".to_owned(),
        reason: "ByHand".to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: Time(at(0)),
    };
    object.status.as_mut().unwrap().conditions.push(foreign.clone());
    let again = status(&object, &is_ready("1"), true, at(9));
    assert_eq!(Some(&again), object.status.as_ref());

    let broken = status(&object, &failed(), true, at(9));
    assert_eq!(broken.conditions[1], foreign);
    assert_eq!(broken.conditions[0].last_transition_time.0, at(9));
}

/// Reasons of what is told when a backend goes from one state to another.
fn told(before: Option<(&Known, bool)>, after: &Known) -> Vec<&'static str> {
    let object = before.map_or_else(|| object("kai-scheduler"), |(known, default)| written(known, default));
    let new = status(&object, after, false, at(2));
    news("kai-scheduler", object.status.as_ref(), &new, None).iter().map(|it| it.reason).collect()
}

#[test]
fn becoming_ready_is_told_once_for_each_version() {
    let (one, two) = (is_ready("1"), is_ready("2"));
    assert_eq!(told(None, &one), ["BackendInitialized"]);
    assert_eq!(told(Some((&failed(), false)), &one), ["BackendInitialized"]);
    assert_eq!(told(Some((&Known::NotConfigured, false)), &one), ["BackendInitialized"]);
    assert_eq!(told(Some((&one, false)), &two), ["BackendInitialized"]);
    assert_eq!(told(Some((&one, true)), &one), Vec::<&str>::new());
}

#[test]
fn a_failure_is_told_once_for_each_reason() {
    let other = Known::Failed("something else".to_owned());
    assert_eq!(told(None, &failed()), ["BackendInitializationFailed"]);
    assert_eq!(told(Some((&is_ready("1"), false)), &failed()), ["BackendInitializationFailed"]);
    assert_eq!(told(Some((&other, false)), &failed()), ["BackendInitializationFailed"]);
    assert_eq!(told(Some((&failed(), true)), &failed()), Vec::<&str>::new());
}

#[test]
fn what_is_not_used_is_no_news() {
    assert_eq!(told(None, &Known::NotConfigured), Vec::<&str>::new());
    assert_eq!(told(Some((&is_ready("1"), true)), &Known::Absent), Vec::<&str>::new());
}

#[test]
fn events_have_the_words_of_the_contract() {
    let object = object("kai-scheduler");
    let told = |known: &Known, default: bool, former: Option<&str>| {
        news("kai-scheduler", None, &status(&object, known, default, at(0)), former)
    };
    let all = told(&is_ready("1"), true, Some("volcano"));
    assert_eq!(all[0].note, "Scheduler backend 'kai-scheduler' initialized successfully");
    assert_eq!(all[1].note, "Switched from backend 'volcano' to 'kai-scheduler'");
    assert_eq!((all[1].kind, all[1].reason), (EventKind::Normal, "BackendSwitched"));
    let all = told(&failed(), false, None);
    assert_eq!(
        all,
        [News {
            kind: EventKind::Warning,
            reason: "BackendInitializationFailed",
            action: "Initialize",
            note: "Failed to initialize scheduler backend 'kai-scheduler': there is no CRD podgroups.example.com"
                .to_owned(),
        }]
    );
}

#[test]
fn only_the_new_default_tells_of_a_switch() {
    let object = object("kai-scheduler");
    let reasons = |default: bool, former: Option<&str>| -> Vec<&'static str> {
        let new = status(&object, &Known::NotConfigured, default, at(0));
        news("kai-scheduler", None, &new, former).iter().map(|it| it.reason).collect()
    };
    assert_eq!(reasons(true, Some("volcano")), ["BackendSwitched"]);
    assert_eq!(reasons(true, None), Vec::<&str>::new());
    assert_eq!(reasons(false, Some("volcano")), Vec::<&str>::new());
}
