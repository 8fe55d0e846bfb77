//! Pods that failed and are kept.

use super::*;

/// A failed pod that is kept holds a place, maybe for good: others of its clique do not wait for it.
#[test]
fn one_that_failed_and_is_kept_holds_up_nobody() {
    let mut scene = running("fe=3/1", &[("fe", "0r 1r 2r")]);
    scene.pods(&[("fe", "0F 1r 2r")]);
    assert_eq!((scene.step(20).as_str(), scene.listed().as_str()), ("rest", "fe:0r fe:1r fe:2r"));
    scene.pods(&[("fe", "0F 1g@7 2r")]);
    assert_eq!(scene.step(21), "list fe:1g@7 fe:2r");
    assert_eq!(scene.step(22), "ungate fe:1g@7");
    assert_eq!(scene.step(23), "rest");
    // Scaled out: once all of them are there.
    scene.scale("fe", 5);
    scene.pods(&[("fe", "0F 1r@7 2r 3g")]);
    assert_eq!(scene.step(24), "rest");
    scene.pods(&[("fe", "0F 1r@7 2r 3g 4g")]);
    assert_eq!(scene.step(25), "list fe:1r@7 fe:2r fe:3g fe:4g");
    assert_eq!(scene.step(26), "ungate fe:3g fe:4g");
    // Scaled in with two that failed: they are more than the places that are left for them.
    scene.scale("fe", 3);
    scene.pods(&[("fe", "0F 1F 2r 3g@9")]);
    assert_eq!(scene.step(27), "list fe:2r fe:3g@9");
    assert_eq!(scene.step(28), "ungate fe:3g@9");
    // One that is on its way out holds no place.
    scene.pods(&[("fe", "0F! 2r 3g@10")]);
    assert_eq!(scene.step(29), "rest");
    // A gang that was deleted and made anew finds it as it is.
    let mut anew = Scene::base("fe=3/2");
    anew.pods(&[("fe", "0F 1r")]);
    assert_eq!(anew.step(1), "rest");
    anew.pods(&[("fe", "0F 1r 2g")]);
    assert_eq!(anew.step(2), "list fe:1r fe:2g");
    assert_eq!(anew.step(3), "initialize");
    assert_eq!(anew.step(4), "ungate fe:2g");
    // Below the minimum, what is left would be placed without the others.
    let mut few = running("fe=3/3", &[("fe", "0r 1r 2r")]);
    few.pods(&[("fe", "0F 1g@7 2r")]);
    assert_eq!((few.step(20).as_str(), few.listed().as_str()), ("rest", "fe:0r fe:1r fe:2r"));
}
