//! Pods whose nodes are lost.

use super::*;

#[test]
fn a_pod_on_a_lost_node_is_replaced_at_once_whatever_it_was() {
    let lost = ["uid-1r".to_owned(), "uid-2b".to_owned(), "uid-3r!".to_owned()];
    let want = Want { lost: &lost, minimum: 3, ..want(3) };
    let plan = planned(want, "0r 1r 2b 3r!");
    assert_eq!((created(&plan).as_str(), deleted(&plan).as_str()), ("1 2", "1r 2b"));
    assert!(plan.delete.iter().all(|it| it.why == Why::NodeLost));
    // It is no capacity that others could be spared for: the one that is too many and ready stays.
    let plan = planned(Want { minimum: 2, replicas: 2, ..want }, "0r 1r 4r");
    assert_eq!((created(&plan).as_str(), deleted(&plan).as_str()), ("", "1r"));
    // Its replacement waits like any other.
    let plan = planned(Want { at_most: 0, ..want }, "0r 1r");
    assert_eq!((created(&plan).as_str(), deleted(&plan).as_str()), ("", "1r"));
}
