//! Containers that crash and are restarted.

use super::*;

#[test]
fn crashes_of_scenarios_come_back_after_a_second() {
    let mut pod = Played::annotated(json!({ "e2e.grove.io/crash-after": "2s" }));
    pod.until(6_500);
    let want = [
        (0, "Running c=running ready"),
        (2_000, "Running c=CrashLoopBackOff"),
        (3_000, "Running c=running#1 ready"),
        (5_000, "Running c=CrashLoopBackOff#1"),
        (6_000, "Running c=running#2 ready"),
    ];
    assert_eq!(pod.history(), want);
    assert_eq!(pod.container().last_state.as_ref().unwrap().terminated.as_ref().unwrap().exit_code, 1);
    assert_eq!(pod.events, ["Normal Pulled", "Normal Started", "Warning BackOff", "Warning BackOff"]);
}

#[test]
fn the_back_off_doubles_up_to_five_minutes() {
    let mut pod = Played::annotated(json!({ "sandbox.grove.io/crash-after": "1s" }));
    pod.until(2_000_000);
    let crashes: Vec<i64> =
        pod.writes.iter().filter(|it| it.1.contains("CrashLoop")).map(|it| it.0).collect();
    let gaps: Vec<i64> = crashes.windows(2).map(|it| (it[1] - it[0]) / 1_000).collect();
    assert_eq!(gaps, [11, 21, 41, 81, 161, 301, 301, 301, 301, 301]);
}

#[test]
fn the_back_off_begins_again_for_containers_that_ran_well() {
    let mut pod = Played::annotated(json!({ "sandbox.grove.io/crash-after": "10m" }));
    pod.until(1_900_000);
    let want = [
        (0, "Running c=running ready"),
        (600_000, "Running c=CrashLoopBackOff"),
        (610_000, "Running c=running#1 ready"),
        (1_210_000, "Running c=CrashLoopBackOff#1"),
        (1_220_000, "Running c=running#2 ready"),
        (1_820_000, "Running c=CrashLoopBackOff#2"),
        (1_830_000, "Running c=running#3 ready"),
    ];
    assert_eq!(pod.history(), want);
}

#[test]
fn a_restarted_kubelet_knows_the_back_off_by_the_restarts() {
    let mut pod = Played::annotated(json!({ "sandbox.grove.io/crash-after": "1s" }));
    // Crashes at 1, 12 and 33 seconds; the third back-off is 40 seconds.
    pod.until(34_000).restart_kubelet().until(200_000);
    let restart = pod.writes.iter().find(|it| it.1.starts_with("Running c=running#3")).unwrap().0;
    assert!((72_000..=73_000).contains(&restart), "{restart}");
}

#[test]
fn the_restart_policy_decides() {
    let rows = [
        ("Never", "1", "Failed c=exit-1"),
        ("Never", "0", "Succeeded c=exit-0"),
        ("OnFailure", "0", "Succeeded c=exit-0"),
        ("OnFailure", "2", "Running c=CrashLoopBackOff"),
        ("Always", "0", "Running c=CrashLoopBackOff"),
    ];
    for (policy, code, want) in rows {
        let annotations = json!({ "e2e.grove.io/crash-after": "1s", "e2e.grove.io/exit-code": code });
        let mut pod = Played::new(annotations, json!({ "restartPolicy": policy }));
        pod.until(1_500);
        assert_eq!(pod.history()[1..], [(1_000, want)], "{policy} {code}");
    }
}

#[test]
fn one_crash_by_annotation() {
    let mut pod = Played::annotated(json!({}));
    pod.until(5_000).annotate("sandbox.grove.io/crash", Some("true")).until(100_000);
    let want = [(5_000, "Running c=CrashLoopBackOff"), (15_000, "Running c=running#1 ready")];
    assert_eq!(pod.history()[1..], want);
    assert!(!pod.pod.metadata.annotations.as_ref().unwrap().contains_key("sandbox.grove.io/crash"));
    // The next time it is set, they crash again, and wait for longer.
    pod.annotate("sandbox.grove.io/crash", Some("true")).until(200_000);
    let want = [(100_000, "Running c=CrashLoopBackOff#1"), (120_000, "Running c=running#2 ready")];
    assert_eq!(pod.history()[3..], want);
}

#[test]
fn crashes_without_any_delay_still_take_time() {
    let annotations = json!({ "sandbox.grove.io/crash-after": "0s", "sandbox.grove.io/restart-after": "0s" });
    let mut pod = Played::annotated(annotations);
    pod.until(1_000);
    assert_eq!(pod.writes.len(), 11, "one write in a tenth of a second: {:?}", pod.writes);
    assert!(matches!(pod.next, Next::Wait(_)));
}

#[test]
fn all_containers_crash_together() {
    let spec = json!({ "containers": [{ "name": "a" }, { "name": "b" }] });
    let mut pod = Played::new(json!({ "e2e.grove.io/crash-after": "1s" }), spec);
    pod.until(2_500);
    let want = [
        (0, "Running a=running b=running ready"),
        (1_000, "Running a=CrashLoopBackOff b=CrashLoopBackOff"),
        (2_000, "Running a=running#1 b=running#1 ready"),
    ];
    assert_eq!(pod.history(), want);
}
