//! Which features a gang asks for, and what a scheduler's answers mean for it.

use std::collections::BTreeSet;

use crate::{
    capability::{Answer, Capabilities, Feature},
    queue,
    tree::{Content, Gang, Node},
};

/// What a gang asks for.
pub fn features_of(gang: &Gang) -> BTreeSet<Feature> {
    let mut asked = BTreeSet::new();
    let shape = gang.shape();
    asked.insert(if shape.groups > 1 { Feature::MultiGroupGang } else { Feature::SingleGroupGang });
    let mut ask = |wanted: bool, feature: Feature| {
        if wanted {
            asked.insert(feature);
        }
    };
    ask(shape.bundles > 0, Feature::HierarchicalGang);
    ask(gang.pack.required.is_some(), Feature::RequiredTopologyGang);
    // Who has a priority counts on making room by it, and on giving room by it.
    for feature in [Feature::PriorityClass, Feature::GangPreemptor, Feature::GangVictim] {
        ask(!gang.priority_class.is_empty(), feature);
    }
    ask(queue::is_named(gang), Feature::Queue);
    ask(gang.reuses_reservation, Feature::ReservationReuse);
    let nodes = gang.nodes();
    for node in &nodes {
        let required = node.pack.required.is_some();
        ask(required && matches!(node.content, Content::Bundle(_)), Feature::RequiredTopologyBundle);
        ask(required && matches!(node.content, Content::Group { .. }), Feature::RequiredTopologyGroup);
    }
    let above = gang.leaves().iter().any(|it| it.pods.len() > it.min as usize);
    ask(above, Feature::BestEffortAboveMinimum);
    let mut packs = std::iter::once(&gang.pack).chain(nodes.iter().map(|it| &it.pack));
    ask(packs.clone().any(|it| it.preferred.is_some()), Feature::PreferredTopology);
    let both = packs.any(|it| it.required.is_some() && it.preferred.is_some());
    ask(both, Feature::RequiredAndPreferredTopology);
    ask(is_nested(gang), Feature::NestedRequiredTopology);
    asked
}

/// Whether a required level stands inside of another one.
fn is_nested(gang: &Gang) -> bool {
    fn below(nodes: &[Node], required: bool) -> bool {
        nodes.iter().any(|node| {
            let here = node.pack.required.is_some();
            (required && here)
                || matches!(&node.content, Content::Bundle(children) if below(children, required || here))
        })
    }
    below(&gang.children, gang.pack.required.is_some())
}

/// What a scheduler cannot do for a gang.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The gang must not be made.
    pub refused: Vec<(Feature, &'static str)>,
    /// The gang runs without.
    pub passed: Vec<(Feature, &'static str)>,
}

/// Holds what is asked for against what a scheduler answers.
pub fn judge(asked: &BTreeSet<Feature>, capabilities: &Capabilities) -> Gaps {
    let mut gaps = Gaps::default();
    for feature in asked {
        match capabilities.of(*feature) {
            Answer::Native | Answer::Emulated(_) => {}
            Answer::Reject(why) => gaps.refused.push((*feature, why)),
            Answer::Pass(why) => gaps.passed.push((*feature, why)),
        }
    }
    gaps
}
