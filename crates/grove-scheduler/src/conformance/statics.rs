//! What can be said of a backend without any gang.

use std::collections::BTreeSet;

use grove_api::field::Path;
use serde_json::{Value, json};

use super::{Conformance, Rule, Violation, outcome::Run};
use crate::capability::{Answer, Feature};

pub(super) fn check(kit: &Conformance<'_>, found: &mut Vec<Violation>) {
    let mut say = |rule, what: String| found.push(Violation { rule, shape: None, what });
    let backend = kit.backend;
    let mut names = BTreeSet::new();
    for name in std::iter::once(backend.name()).chain(backend.synonyms().iter().copied()) {
        if name.is_empty() || !names.insert(name) {
            say(Rule::Names, format!("its name or synonym {name:?} is empty, or is there twice"));
        }
    }
    let path = Path::of(&["config"]);
    for error in backend.check_config(kit.config, &path) {
        say(Rule::Settings, format!("the settings of this test are refused: {error}"));
    }
    for (wrong, what) in
        [(json!({ "noSuchSetting": 1 }), "an unknown setting"), (json!("text"), "a text for an object")]
    {
        if backend.check_config(&wrong, &path).is_empty() {
            say(Rule::Settings, format!("{what} is not refused"));
        }
    }
    let mut titles = BTreeSet::new();
    for example in backend.examples() {
        let title = example.title;
        if title.trim().is_empty() || !titles.insert(title) {
            say(Rule::Init, format!("its example {title:?} has no title, or one that another has"));
        }
        if let Err(why) = backend.init(kit.config, &example.cluster) {
            say(Rule::Init, format!("it cannot be initialised on its example {title:?}: {why}"));
        }
    }
    let mut kinds = BTreeSet::new();
    for it in backend.resources(kit.config) {
        let resource = &it.resource;
        if it.reason.trim().is_empty() {
            say(Rule::Resources, format!("{} is used without a reason", resource.plural));
        }
        if !kinds.insert((resource.group.clone(), resource.version.clone(), resource.plural.clone())) {
            say(Rule::Resources, format!("{} is declared twice", resource.plural));
        }
        if resource.plural.is_empty() || resource.kind.is_empty() || resource.version.is_empty() {
            say(Rule::Resources, format!("a resource is declared incompletely: {resource:?}"));
        }
    }
}

/// What a scheduler answers.
pub(super) fn answers(run: &Run<'_>, found: &mut Vec<Violation>) {
    let mut say = |rule, what: String| found.push(Violation { rule, shape: None, what });
    let capabilities = run.scheduler.capabilities();
    let again = run.kit.backend.init(run.kit.config, run.kit.cluster);
    if again.is_ok_and(|it| it.capabilities() != capabilities || it.form() != run.scheduler.form()) {
        say(Rule::Init, "the same cluster gives other capabilities the second time".to_owned());
    }
    for feature in Feature::ALL {
        let (answer, name) = (capabilities.of(*feature), feature.name());
        if answer.note().is_some_and(|it| it.trim().is_empty()) {
            say(Rule::Answers, format!("{name} is not native, and nothing says how or why"));
        }
        match answer {
            Answer::Pass(_) if REQUIRED.contains(feature) => {
                let what = format!("{name} is passed over: pods would be where they must not be. Reject it");
                say(Rule::Answers, what);
            }
            Answer::Reject(_) if HINTS.contains(feature) => {
                say(Rule::Answers, format!("{name} is rejected, though a gang can do without. Pass it"));
            }
            _ => {}
        }
    }
}

/// Whoever asks for these counts on them.
const REQUIRED: [Feature; 4] = [
    Feature::RequiredTopologyGang,
    Feature::RequiredTopologyBundle,
    Feature::RequiredTopologyGroup,
    Feature::NestedRequiredTopology,
];

/// Whoever asks for these only would like to have them.
const HINTS: [Feature; 2] = [Feature::PreferredTopology, Feature::ReservationReuse];

/// Whether the value is an object with this field set.
pub(super) fn has(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).is_some_and(|it| !it.is_null())
}
