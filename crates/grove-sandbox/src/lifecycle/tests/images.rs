//! Images that cannot be pulled.

use super::*;

#[test]
fn a_pull_that_always_fails_becomes_quiet() {
    let mut pod = Played::annotated(json!({
        "sandbox.grove.io/pull-fails": "true", "sandbox.grove.io/pull-after": "1s",
    }));
    pod.until(3_600_000);
    let want = [
        (0, "Pending c=ContainerCreating"),
        (1_000, "Pending c=ErrImagePull"),
        (3_000, "Pending c=ImagePullBackOff"),
    ];
    assert_eq!(pod.history(), want);
    assert_eq!(pod.events, ["Warning Failed", "Warning BackOff"]);
    assert_eq!(pod.next, Next::Rest);
    let waiting = pod.container().state.as_ref().unwrap().waiting.as_ref().unwrap();
    assert_eq!(waiting.message.as_deref(), Some("Back-off pulling image \"i\""));
}

#[test]
fn an_image_that_appears_is_pulled() {
    let mut pod = Played::annotated(json!({ "sandbox.grove.io/pull-fails": "true" }));
    pod.until(60_000).annotate("sandbox.grove.io/pull-fails", None).until(61_000);
    assert_eq!(pod.history()[2..], [(60_000, "Running c=running ready")]);
}

#[test]
fn some_attempts_fail() {
    let mut pod = Played::annotated(json!({ "sandbox.grove.io/pull-fails": "2" }));
    pod.until(600_000);
    // The second attempt after 10 seconds fails, too; the third one comes 20 seconds later.
    let want = [
        (0, "Pending c=ErrImagePull"),
        (2_000, "Pending c=ImagePullBackOff"),
        (30_000, "Running c=running ready"),
    ];
    assert_eq!(pod.history(), want);
}

#[test]
fn a_restarted_kubelet_tries_again() {
    let mut pod = Played::annotated(json!({ "sandbox.grove.io/pull-fails": "1" }));
    pod.until(5_000).restart_kubelet().until(600_000);
    assert_eq!(pod.history()[2..], [(15_000, "Running c=running ready")]);
}
