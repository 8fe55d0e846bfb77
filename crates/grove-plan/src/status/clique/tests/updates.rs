//! The progress of an update of a clique.

use super::*;

/// Pods, whether it has its turn, and the pace; then whether the progress is open or ended, or there is none.
#[test]
fn an_update_begins_with_the_turn_and_ends_when_all_is_as_wanted() {
    let mut clique = first("fe=3/2");
    let mut step = |pods: &str, has_turn: bool, pace: Pace| {
        let got = super::super::clique(&CliqueReport { pace, has_turn, ..report(&clique, pods) });
        let said = match &got.update_progress {
            None => "none".to_owned(),
            Some(it) => {
                let current = it.ready_pods_selected_to_update.as_ref().map_or("", |it| it.current.as_str());
                format!("{} {current}", if it.update_ended_at.is_some() { "ended" } else { "open" })
            }
        };
        clique.status = Some(got);
        said.trim().to_owned()
    };
    assert_eq!(step("0r 1r 2r", true, Pace::Rolling), "none", "nothing is old");
    assert_eq!(step("0ro 1ro 2ro", false, Pace::Rolling), "none");
    assert_eq!(step("0ro 1ro 2ro", true, Pace::Paused), "none");
    assert_eq!(step("0ro 1ro 2ro", true, Pace::Rolling), "open");
    assert_eq!(step("0r 1ro 2ro", false, Pace::Paused), "open", "it goes on later");
    assert_eq!(step("0r 1r", true, Pace::Rolling), "open", "one is missing");
    assert_eq!(step("0r 1n 2n", true, Pace::Rolling), "open", "too few are ready");
    assert_eq!(step("0r 1r 2n", true, Pace::Rolling), "open", "fewer than when it began");
    assert_eq!(step("0r 1r 2r", true, Pace::Rolling), "ended");
    assert_eq!(step("0r 1n 2n", true, Pace::Rolling), "ended", "what is done is done");
    assert_eq!(step("0r 1r 2ro", true, Pace::Rolling), "open", "another one");
    assert_eq!(step("0r 1r 2ro", false, Pace::OnDelete), "ended", "from now on others delete them");
}

/// More were ready when it began than are wanted now.
#[test]
fn an_update_that_is_scaled_in_ends() {
    let mut clique = first("fe=3/1");
    let rolling = |clique: &PodClique, pods: &str| {
        super::super::clique(&CliqueReport { has_turn: true, ..report(clique, pods) })
    };
    let is_open = |it: &PodCliqueStatus| it.update_progress.as_ref().unwrap().update_ended_at.is_none();
    clique.status = Some(rolling(&clique, "0ro 1ro 2ro"));
    clique.spec.replicas = Some(2);
    assert!(is_open(&rolling(&clique, "0r 1n")));
    assert!(!is_open(&rolling(&clique, "0r 1r")));
}

/// It is for the template that is wanted now, and as many have to serve as when the first one began.
#[test]
fn a_second_change_is_taken_up_in_the_middle() {
    let mut clique = first("fe=3/1");
    let rolling = |clique: &PodClique, pods: &str| {
        super::super::clique(&CliqueReport { has_turn: true, ..report(clique, pods) })
    };
    let mut begun = rolling(&clique, "0ro 1ro 2ro");
    begun.update_progress.as_mut().unwrap().pod_template_hash = "another".to_owned();
    clique.status = Some(begun);
    let progress = rolling(&clique, "0ro 1ro 2no").update_progress.unwrap();
    assert_eq!((progress.pod_template_hash.as_str(), progress.ready_at_start), (HASH, 3));
    assert_eq!(progress.update_ended_at, None);
}

/// Pods that the API server refuses are not waited for, where as many serve as when it began.
#[test]
fn an_update_ends_without_pods_that_are_refused() {
    let mut clique = first("fe=10/2");
    let refusal = Refusal { message: "exceeded quota".to_owned(), since: at(7) };
    let eight = |state: &str| (0..8).map(|it| format!("{it}{state}")).collect::<Vec<_>>().join(" ");
    let is_open = |clique: &PodClique, pods: &str, refusal: Option<&Refusal>| {
        let got = super::super::clique(&CliqueReport { has_turn: true, refusal, ..report(clique, pods) });
        got.update_progress.unwrap().update_ended_at.is_none()
    };
    let begun = CliqueReport { has_turn: true, refusal: Some(&refusal), ..report(&clique, &eight("ro")) };
    clique.status = Some(super::super::clique(&begun));
    assert!(is_open(&clique, &eight("r"), None), "more may come");
    assert!(is_open(&clique, "0r 1r 2r 3r 4r 5r 6r", Some(&refusal)), "fewer than when it began");
    assert!(!is_open(&clique, &eight("r"), Some(&refusal)));
}

/// A pod that has done its work is not replaced, and not waited for.
#[test]
fn an_update_ends_without_pods_that_have_done_their_work() {
    let rolling = |clique: &PodClique, pods: &str| {
        let got = super::super::clique(&CliqueReport { has_turn: true, ..report(clique, pods) });
        let said = got.update_progress.as_ref().map(|it| it.update_ended_at.is_some());
        (got.current_pod_template_hash.is_some(), said)
    };
    let clique_of = |restarts: &str| {
        let mut clique = first("fe=2/1");
        clique.spec.pod_spec.restart_policy = Some(restarts.to_owned());
        clique.status =
            Some(super::super::clique(&CliqueReport { has_turn: true, ..report(&clique, "0ro 1ro") }));
        clique
    };
    for restarts in ["OnFailure", "Never"] {
        let clique = clique_of(restarts);
        assert_eq!(rolling(&clique, "0So 1ro"), (false, Some(false)), "one is still to be replaced");
        assert_eq!(rolling(&clique, "0So 1n"), (false, Some(false)), "its replacement does not serve yet");
        assert_eq!(rolling(&clique, "0So 1r"), (true, Some(true)), "two served when it began");
        let fresh = PodClique { status: None, ..clique.clone() };
        assert_eq!(rolling(&fresh, "0So 1r"), (true, None), "nothing begins for its sake");
        let state = |pods: &str| CliqueState {
            clique: &clique,
            tally: Tally::of(&self::pods(pods), HASH),
            refusal: None,
            is_behind: false,
            was_scheduled: false,
            breached_since: None,
        };
        assert!(!state("0So 1r").is_outdated("gen-2") && state("0So 1ro").is_outdated("gen-2"));
    }
    assert_eq!(rolling(&clique_of("Always"), "0So 1r"), (false, Some(false)), "it is replaced");
}

#[test]
fn an_update_names_the_pod_that_goes() {
    let clique = first("fe=2/1");
    let going = CliqueReport { has_turn: true, replacing: Some("x"), ..report(&clique, "0ro 1ro!") };
    let progress = super::super::clique(&going).update_progress.unwrap();
    assert_eq!(progress.ready_pods_selected_to_update.unwrap().current, "x");
    assert_eq!(
        (progress.pod_clique_set_generation_hash.as_str(), progress.pod_template_hash.as_str()),
        ("gen-2", HASH)
    );
}

#[test]
fn where_others_delete_pods_an_update_ends_where_it_begins() {
    let clique = first("fe=2/1");
    let waits = CliqueReport { pace: Pace::OnDelete, ..report(&clique, "0ro 1ro") };
    let progress = super::super::clique(&waits).update_progress.unwrap();
    assert_eq!(
        (progress.update_started_at, progress.update_ended_at),
        (Some(Time(at(10))), Some(Time(at(10))))
    );
}
