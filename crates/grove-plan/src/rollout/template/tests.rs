//! What is in force, by what is noted, paused, kept and there.

use grove_api::wire::{PodCliqueSetStatus, PodCliqueStatus, UpdateStrategy};

use super::*;
use crate::{fixture::set, layout};

/// A hash that we did not compute.
const THEIRS: &str = "theirs";

fn context(set: &PodCliqueSet) -> Context<'_> {
    Context { set, default_scheduler: "", form: "", gang_names: &crate::gang_names::OurNames }
}

/// A frontend, and a group of which one replica is there.
fn used() -> PodCliqueSet {
    let mut used = set("fe=2/1 dec=2/2 | pd=1/1:dec");
    for template in &mut used.spec.template.cliques {
        template.labels = [("team".to_owned(), "a".to_owned())].into();
    }
    used
}

/// Gives clique templates another image, label and annotation.
fn changed(set: &PodCliqueSet, names: &[&str]) -> PodCliqueSet {
    let mut set = set.clone();
    for template in set.spec.template.cliques.iter_mut().filter(|it| names.contains(&it.name.as_str())) {
        template.spec.pod_spec.containers[0].image = Some("held".to_owned());
        template.labels = [("team".to_owned(), "b".to_owned())].into();
        template.annotations = [("note".to_owned(), "new".to_owned())].into();
    }
    set
}

/// The PodCliques that `set` makes, which say that they are of the template `noted`.
fn made(set: &PodCliqueSet, noted: &str) -> Vec<PodClique> {
    let members = set.spec.template.scaling_groups.iter().flat_map(|it| layout::members(set, 0, it, 0));
    let all = layout::standalone(set, 0).chain(members);
    let noted_on = |mut clique: PodClique| {
        clique.status = Some(PodCliqueStatus {
            current_pod_clique_set_generation_hash: Some(noted.to_owned()),
            current_pod_template_hash: Some(template_hash(&clique.metadata).to_owned()),
            ..PodCliqueStatus::default()
        });
        clique
    };
    all.map(|it| noted_on(objects::clique(context(set), &it, None))).collect()
}

fn noting(mut set: PodCliqueSet, noted: Option<&str>, paused: bool) -> PodCliqueSet {
    set.status = noted.map(|it| PodCliqueSetStatus {
        current_generation_hash: Some(it.to_owned()),
        ..PodCliqueSetStatus::default()
    });
    set.spec.update_strategy = Some(UpdateStrategy { paused, ..UpdateStrategy::default() });
    set
}

fn state(set: &PodCliqueSet, kept: KeptTemplate<'_>, cliques: &[&PodClique]) -> TemplateState {
    let (hash, noted) = (hash::generation(set), noted_hash(set).unwrap_or_default());
    let seen = TemplateSeen { set, hash: &hash, kept, cliques };
    template_state(&seen, || cliques_show(context(set), noted, cliques))
}

/// `Current`, `Unobserved`, or `Held` with what is in force of each clique template: `old`, `new` (a leak) or `?`.
fn words(state: &TemplateState) -> String {
    let held = match state {
        TemplateState::Current => return "Current".to_owned(),
        TemplateState::Unobserved => return "Unobserved".to_owned(),
        TemplateState::Held(held) => held,
    };
    let of = |it: &CliqueTemplate| match it.spec.pod_spec.containers[0].image.as_deref() {
        _ if held.unknown.contains(&it.name) => "?",
        Some("held") => "new",
        _ => "old",
    };
    let all: Vec<&str> = held.set.spec.template.cliques.iter().map(of).collect();
    format!("Held {}", all.join(" "))
}

/// What is kept: nothing (`-`), something unread (`?`), the template in force (`+`).
fn kept<'a>(text: &str, used: &'a PodCliqueSet) -> KeptTemplate<'a> {
    match text {
        "-" => KeptTemplate::Missing,
        "?" => KeptTemplate::Unread,
        _ => KeptTemplate::Read(&used.spec.template),
    }
}

const BOTH: &[&str] = &["fe", "dec"];
const RUNS: bool = false;
const PAUSED: bool = true;

/// Paused or not, whose hash is noted, what changed since, what is kept, which PodCliques are there; what is in force.
type Row<'a> = (bool, Option<&'a str>, &'a [&'a str], &'a str, &'a [&'a str], &'a str);

#[test]
fn template_in_force() {
    let used = used();
    let ours = hash::generation(&used);
    let rows: &[Row<'_>] = &[
        // The first template, also of a set that is paused from the beginning.
        (RUNS, None, &[], "-", &[], "Current"),
        (PAUSED, None, &[], "-", &[], "Current"),
        (PAUSED, Some(&ours), &[], "?", &[], "Current"),
        (PAUSED, Some(&ours), &[], "-", BOTH, "Current"),
        // A change is written down before anybody acts on it.
        (RUNS, Some(&ours), &["fe"], "+", BOTH, "Unobserved"),
        (RUNS, Some(&ours), &["fe"], "-", &["dec"], "Unobserved"),
        (PAUSED, Some(&ours), &["fe"], "?", BOTH, "Unobserved"),
        // Paused: what is kept is in force, whatever is left of the PodCliques.
        (PAUSED, Some(&ours), BOTH, "+", BOTH, "Held old old"),
        (PAUSED, Some(&ours), BOTH, "+", &[], "Held old old"),
        (PAUSED, Some(&ours), &["fe"], "+", &["dec"], "Held old old"),
        // Nothing is kept: PodCliques that are left show what is in force, and nothing else is made.
        (PAUSED, Some(&ours), BOTH, "-", BOTH, "Held old old"),
        (PAUSED, Some(&ours), BOTH, "-", &["fe"], "Held old ?"),
        (PAUSED, Some(&ours), &["fe"], "-", &["dec"], "Held ? old"),
        (PAUSED, Some(&ours), &["fe"], "-", &[], "Held ? ?"),
        // Hashes of upstream Grove: content counts.
        (RUNS, Some(THEIRS), &[], "-", BOTH, "Current"),
        (RUNS, Some(THEIRS), &["dec"], "-", BOTH, "Unobserved"),
        (RUNS, Some(THEIRS), &["dec"], "-", &["fe"], "Unobserved"),
        (PAUSED, Some(THEIRS), &[], "-", BOTH, "Current"),
        (PAUSED, Some(THEIRS), &[], "+", &[], "Current"),
        (PAUSED, Some(THEIRS), &[], "?", BOTH, "Unobserved"),
        (PAUSED, Some(THEIRS), &["dec"], "+", &["fe"], "Held old old"),
        (PAUSED, Some(THEIRS), &["dec"], "-", &["fe"], "Held old ?"),
    ];
    for row in rows {
        let (paused, noted, roles, text, there, expected) = *row;
        let set = noting(changed(&used, roles), noted, paused);
        let all = made(&used, noted.unwrap_or_default());
        let is_there = |it: &&PodClique| {
            there.iter().any(|name| it.metadata.name.as_deref().unwrap_or_default().ends_with(name))
        };
        let cliques: Vec<&PodClique> = all.iter().filter(is_there).collect();
        assert_eq!(words(&state(&set, kept(text, &used), &cliques)), expected, "{row:?}");
    }
}

/// The whole of what makes pods is in force, standalone or in a group, and nothing else: the set can be scaled meanwhile.
#[test]
fn only_what_makes_pods_is_held() {
    let used = used();
    let mut now = noting(changed(&used, BOTH), Some(&hash::generation(&used)), PAUSED);
    now.spec.replicas = 7;
    let all = made(&used, &hash::generation(&used));
    let cliques: Vec<&PodClique> = all.iter().collect();
    for (text, there) in [("+", &[][..]), ("-", &cliques)] {
        let TemplateState::Held(held) = state(&now, kept(text, &used), there) else {
            panic!("{text}: not held")
        };
        assert_eq!(held.set.spec.replicas, 7);
        assert_eq!(hash::generation(&held.set), hash::generation(&used), "{text}");
        assert_eq!(held.unknown, BTreeSet::new());
    }
}

/// PodCliques of an update that was paused in its middle, and one whose template changed since it noted its hash, show
/// nothing.
#[test]
fn other_podcliques_prove_nothing() {
    let used = used();
    let noted = hash::generation(&used);
    let now = noting(changed(&used, BOTH), Some(&noted), PAUSED);
    let before = made(&changed(&used, BOTH), "before");
    let mut patched = made(&used, &noted);
    for clique in &mut patched {
        clique.spec.pod_spec.containers[0].image = Some("other".to_owned());
        clique.status.as_mut().unwrap().current_pod_template_hash = Some("before".to_owned());
    }
    for cliques in [before, patched] {
        let cliques: Vec<&PodClique> = cliques.iter().collect();
        assert_eq!(words(&state(&now, KeptTemplate::Missing, &cliques)), "Held ? ?");
    }
}

/// A revision that lacks a clique template says nothing about it.
#[test]
fn what_is_not_kept_is_unknown() {
    let used = used();
    let now = noting(changed(&used, BOTH), Some(&hash::generation(&used)), PAUSED);
    let mut part = used.spec.template.clone();
    part.cliques.retain(|it| it.name == "fe");
    assert_eq!(words(&state(&now, KeptTemplate::Read(&part), &[])), "Held old ?");
}
