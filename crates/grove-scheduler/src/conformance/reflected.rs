//! Whether a scheduler is told what the backend answers: two gangs that differ in one thing only must come out
//! differently where it counts, and must not where it is rejected.

use super::{
    Rule, Violation,
    outcome::{Expected, Run},
    shapes::{bundle, gang, group, prefer, preferred, require, required},
};
use crate::{
    capability::{Answer, Feature},
    tree::Gang,
};

/// Two gangs that differ in one thing.
struct Contrast {
    feature: Feature,
    what: &'static str,
    this: Gang,
    that: Gang,
}

pub(super) fn check(run: &Run<'_>, found: &mut Vec<Violation>) {
    for contrast in contrasts(run) {
        if let Some(what) = wrong(run, &contrast) {
            found.push(Violation { rule: Rule::Reflected, shape: Some(contrast.what), what });
        }
    }
}

fn wrong(run: &Run<'_>, contrast: &Contrast) -> Option<String> {
    let name = contrast.feature.name();
    let (this, that) = (run.outcome(&contrast.this), run.outcome(&contrast.that));
    match run.scheduler.capabilities().of(contrast.feature) {
        Answer::Pass(_) => None,
        Answer::Reject(_) => {
            let is_told = this.is_ok() && that.is_ok() && this != that;
            is_told.then(|| format!("{name} is rejected, and the scheduler is told of it all the same"))
        }
        Answer::Native | Answer::Emulated(_) => {
            let is_refused = |gang| run.expected(gang) == Expected::Refused;
            if is_refused(&contrast.this) || is_refused(&contrast.that) {
                return None;
            }
            match (this, that) {
                (Err(why), _) | (_, Err(why)) => Some(format!("{name} is answered as possible, but {why}")),
                (Ok(this), Ok(that)) if this == that => {
                    Some(format!("{name} is answered as possible, and neither objects nor pods show it"))
                }
                _ => None,
            }
        }
    }
}

fn contrasts(run: &Run<'_>) -> Vec<Contrast> {
    let kit = run.kit;
    let [wide, narrow, narrowest] = kit.levels;
    let of = |children| gang(kit, "set-0", children);
    let one = |min| of(vec![group("set-0-a", min, 4)]);
    let two = |a, b| of(vec![group("set-0-a", a, 3), group("set-0-b", b, 3)]);
    let around = |level| {
        let inside = vec![group("set-0-g-0-p", 1, 1), group("set-0-g-0-d", 1, 1)];
        of(vec![group("set-0-fe", 1, 1), require(level, bundle("set-0-g-0", inside))])
    };
    let alone = |level| of(vec![require(level, group("set-0-a", 2, 2))]);
    let nested = |level| {
        let inside = vec![require(level, group("set-0-g-0-p", 1, 1)), group("set-0-g-0-d", 1, 1)];
        required(wide, of(vec![bundle("set-0-g-0", inside), group("set-0-fe", 1, 1)]))
    };
    let class = |name: &str| Gang { priority_class: name.to_owned(), ..two(1, 1) };
    let contrast = |feature, what, this, that| Contrast { feature, what, this, that };
    vec![
        contrast(Feature::SingleGroupGang, "2 or 3 pods needed", one(2), one(3)),
        // The sum is the same: pods of one group must not stand for those of another.
        contrast(Feature::MultiGroupGang, "2 and 1 pods needed, or 1 and 2", two(2, 1), two(1, 2)),
        contrast(
            Feature::RequiredTopologyGang,
            "a required level or another",
            required(wide, two(1, 1)),
            required(narrow, two(1, 1)),
        ),
        contrast(
            Feature::RequiredTopologyGang,
            "a required level or none",
            required(wide, two(1, 1)),
            two(1, 1),
        ),
        contrast(
            Feature::RequiredTopologyBundle,
            "a bundle's required level or another",
            around(narrow),
            around(narrowest),
        ),
        contrast(
            Feature::RequiredTopologyGroup,
            "a group's required level or another",
            alone(narrow),
            alone(narrowest),
        ),
        contrast(
            Feature::NestedRequiredTopology,
            "an inner required level or another",
            nested(narrow),
            nested(narrowest),
        ),
        contrast(
            Feature::PreferredTopology,
            "a preferred level or none",
            preferred(narrow, two(1, 1)),
            two(1, 1),
        ),
        contrast(
            Feature::PreferredTopology,
            "a group's preferred level or none",
            of(vec![prefer(narrow, group("set-0-a", 1, 3)), group("set-0-b", 1, 3)]),
            two(1, 1),
        ),
        contrast(
            Feature::RequiredAndPreferredTopology,
            "a required and a preferred level or none",
            preferred(narrow, required(wide, two(1, 1))),
            two(1, 1),
        ),
        contrast(Feature::PriorityClass, "a priority or another", class("high"), class("low")),
    ]
}
