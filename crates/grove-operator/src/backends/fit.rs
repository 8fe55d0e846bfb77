//! What a scheduler makes of a set: what it refuses, and what it passes over.
//!
//! `gangs` plans one gang of each kind that the set would have; `fields` knows which field of the set asks for what.

mod fields;
mod gangs;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use grove_api::{
    field::{Error, Errors, Path, Warning},
    wire::PodCliqueSet,
};
use grove_plan::topology::Topology;
use grove_scheduler::{
    Feature, Scheduler,
    backend::Findings,
    judge::{Gaps, judge},
};

use self::gangs::{Planned, gangs, template_path};

/// A gang of a set, or what is wrong with it.
type Plan = Result<Planned, String>;

/// What the scheduler called `name` says of a set; in an update, what the old set did not have already.
///
/// The set keeps Grove's own rules: of one that does not, nobody knows how large its gangs are.
pub fn fit(
    set: &PodCliqueSet,
    old: Option<&PodCliqueSet>,
    topology: Option<&Topology>,
    scheduler: &dyn Scheduler,
    name: &str,
) -> Findings {
    let look = |set, old| {
        let planned = gangs(set, topology, name);
        let mut found = answered(&planned, scheduler, name);
        let own = scheduler.validate_pod_clique_set(set, old);
        found.errors.extend(own.errors);
        found.warnings.extend(own.warnings);
        (planned, found)
    };
    let (planned, mut found) = look(set, old);
    let before = old.map(|old| look(old, None));
    if let Some((_, known)) = &before {
        found.errors.retain(|it| !known.errors.contains(it));
        found.warnings.retain(|it| !known.warnings.contains(it));
    }
    // Last, so that nobody hears once more, without a field, of what was told with one. A scheduler names the first thing
    // that is wrong: of a set that could not be rendered before, nobody knows what is new.
    let was_well = before.is_none_or(|(planned, _)| not_rendered(&planned, scheduler).is_empty());
    if found.errors.is_empty() && was_well {
        found.errors = not_rendered(&planned, scheduler);
    }
    found
}

/// What the scheduler called `name` passes over of what a set asks for, a sentence for each reason.
pub(crate) fn passed_over(
    set: &PodCliqueSet,
    topology: Option<&Topology>,
    scheduler: &dyn Scheduler,
    name: &str,
) -> Vec<String> {
    let capabilities = scheduler.capabilities();
    let planned = gangs(set, topology, name);
    let gaps = planned.iter().flatten().flat_map(|it| {
        let ours = it.lacks_preference(&capabilities).map(|why| (Feature::PreferredTopology, why));
        judge(&it.asked(), &capabilities).passed.into_iter().chain(ours)
    });
    let gaps: BTreeMap<Feature, &str> = gaps.collect();
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (feature, why) in gaps {
        match by_reason.iter_mut().find(|it| it.0 == why) {
            Some((_, features)) => features.push(feature.name()),
            None => by_reason.push((why, vec![feature.name()])),
        }
    }
    let sentence =
        |(why, features): (&str, Vec<&str>)| format!("{name} ignores {}: {why}.", features.join(", "));
    by_reason.into_iter().map(sentence).collect()
}

/// What the scheduler's answers mean for the gangs, at the fields that ask.
fn answered(planned: &[Plan], scheduler: &dyn Scheduler, name: &str) -> Findings {
    let capabilities = scheduler.capabilities();
    let (mut refused, mut passed) = (Asked::default(), Asked::default());
    for gang in planned.iter().flatten() {
        let gaps: Gaps = judge(&gang.asked(), &capabilities);
        gaps.refused.iter().for_each(|(feature, why)| refused.add(gang, *feature, why));
        gaps.passed.iter().for_each(|(feature, why)| passed.add(gang, *feature, why));
        if let Some(why) = gang.lacks_preference(&capabilities) {
            passed.add_at(gang.whole.clone(), Feature::PreferredTopology, why);
        }
    }
    let refused = refused.texts(name, "does not support").map(|(path, text)| Error::forbidden(path, text));
    let passed = passed.texts(name, "ignores").map(|(path, text)| Warning { path, text });
    Findings { errors: refused.collect(), warnings: passed.collect() }
}

/// What cannot be had, by field and reason: a field is told each reason once, however many gangs it is in.
#[derive(Default)]
struct Asked(Vec<(Path, &'static str, Vec<Feature>)>);

impl Asked {
    fn add(&mut self, gang: &Planned, feature: Feature, why: &'static str) {
        for path in gang.fields(feature) {
            self.add_at(path, feature, why);
        }
    }

    fn add_at(&mut self, path: Path, feature: Feature, why: &'static str) {
        match self.0.iter_mut().find(|it| it.0 == path && it.1 == why) {
            Some((.., features)) if features.contains(&feature) => {}
            Some((.., features)) => features.push(feature),
            None => self.0.push((path, why, vec![feature])),
        }
    }

    /// `default-scheduler ignores MultiGroupGang (several groups, …): why`
    fn texts(self, name: &str, verb: &str) -> impl Iterator<Item = (Path, String)> {
        self.0.into_iter().map(move |(path, why, features)| {
            let about = |it: Feature| format!("{} ({})", it.name(), in_a_sentence(it));
            let what: Vec<String> = features.into_iter().map(about).collect();
            (path, format!("{name} {verb} {}: {why}", what.join(", ")))
        })
    }
}

/// What a feature is, as it stands inside of a sentence.
fn in_a_sentence(feature: Feature) -> String {
    let about = feature.about().trim_end_matches('.');
    let mut letters = about.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// What keeps the objects of the gangs from being made, each once.
fn not_rendered(planned: &[Plan], scheduler: &dyn Scheduler) -> Errors {
    let mut errors = Errors::new();
    for gang in planned {
        let rendered = match gang {
            Ok(gang) => scheduler.render(&gang.tree, &[]).map_err(|it| it.to_string()),
            Err(wrong) => Err(wrong.clone()),
        };
        let error = rendered.err().map(|text| Error::forbidden(template_path(), text));
        errors.extend(error.filter(|it| !errors.contains(it)));
    }
    errors
}
