//! Cliques that are scaled to zero.

use super::*;

fn groups(scene: &Scene) -> String {
    let groups = scene.gang.spec.pod_groups.iter();
    groups.map(|it| format!("{}={}", it.name, it.min_replicas)).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_clique_leaves_its_gang_and_comes_back() {
    let mut scene = running("fe=2/1 be=2/2", &[("fe", "0r 1r"), ("be", "0r 1r")]);
    assert_eq!(groups(&scene), "inf-0-fe=1 inf-0-be=2");
    scene.scale("be", 0);
    // Its pods are still on their way out.
    assert_eq!(scene.step(20), "list fe:0r fe:1r");
    assert_eq!(groups(&scene), "inf-0-fe=1");
    scene.pods(&[("be", "")]);
    assert_eq!(scene.step(21), "rest");
    scene.report(false, 22);
    assert_eq!(scene.gang.status.as_ref().unwrap().phase, "Running", "nothing is missing");

    // The others grow meanwhile.
    scene.scale("fe", 3);
    scene.pods(&[("fe", "0r 1r 2g")]);
    assert_eq!(scene.step(23), "list fe:0r fe:1r fe:2g");
    assert_eq!(scene.step(24), "ungate fe:2g");

    scene.scale("be", 2);
    assert_eq!(scene.step(25), "list fe:0r fe:1r fe:2g");
    assert_eq!(groups(&scene), "inf-0-fe=1 inf-0-be=2", "it is back before its pods are");
    scene.pods(&[("be", "0g")]);
    assert_eq!(scene.step(26), "rest", "all or nothing, as for a new one");
    scene.pods(&[("be", "0g 1g")]);
    assert_eq!(scene.step(27), "list fe:0r fe:1r fe:2g be:0g be:1g");
    assert_eq!(scene.step(28), "ungate be:0g be:1g");
}

#[test]
fn a_gang_is_complete_without_it() {
    let mut scene = Scene::base("fe=1/1 be=0/2");
    assert_eq!(scene.step(1), "list ", "it was made as if the clique had pods");
    scene.pods(&[("fe", "0g")]);
    assert_eq!(scene.step(2), "list fe:0g");
    assert_eq!(scene.step(3), "initialize");
    assert_eq!(scene.step(4), "ungate fe:0g");
}
