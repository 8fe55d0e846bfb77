//! Which fields of a set ask for what a gang asks for.

use grove_api::field::Path;
use grove_scheduler::{Content, Feature, Node, Pack};

use super::gangs::{Part, Planned, template_path};

/// A part of a gang, or all of it, with its placement.
struct Spot<'a> {
    path: Path,
    /// The field by which it is placed.
    placed: Path,
    part: Kind,
    pack: &'a Pack,
    /// Whether what it is in requires a level.
    inside: bool,
    /// Whether it may have pods above its minimum.
    above: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Bundle,
    Group,
}

impl Planned {
    /// The fields that ask for a feature; the template where no single one does.
    pub(super) fn fields(&self, feature: Feature) -> Vec<Path> {
        let requires = |it: &Spot<'_>| it.pack.required.is_some();
        let prefers = |it: &Spot<'_>| it.pack.preferred.is_some();
        let mut fields = match feature {
            Feature::RequiredTopologyGang => self.placed(|it| it.part == Kind::Whole && requires(it)),
            Feature::RequiredTopologyBundle => self.placed(|it| it.part == Kind::Bundle && requires(it)),
            Feature::RequiredTopologyGroup => self.placed(|it| it.part == Kind::Group && requires(it)),
            Feature::NestedRequiredTopology => self.placed(|it| it.inside && requires(it)),
            Feature::PreferredTopology => self.placed(prefers),
            Feature::RequiredAndPreferredTopology => self.placed(|it| requires(it) && prefers(it)),
            Feature::HierarchicalGang => self.placed(|it| it.part == Kind::Bundle),
            Feature::BestEffortAboveMinimum => {
                let above = self.spots().into_iter().filter(|it| it.above);
                above.map(|it| it.path.child("spec").child("replicas")).collect()
            }
            Feature::PriorityClass | Feature::GangPreemptor | Feature::GangVictim => {
                vec![template_path().child("priorityClassName")]
            }
            Feature::Queue => self.queues.clone(),
            Feature::ScaledAfterBase => self.scaled.iter().cloned().collect(),
            _ => Vec::new(),
        };
        if fields.is_empty() {
            fields.push(template_path());
        }
        fields
    }

    fn placed(&self, wanted: impl Fn(&Spot<'_>) -> bool) -> Vec<Path> {
        let spots = self.spots().into_iter().filter(|it| wanted(it));
        spots.map(|it| it.placed).collect()
    }

    fn spots(&self) -> Vec<Spot<'_>> {
        let (pack, placed) = (&self.asked.pack, self.whole.clone());
        let whole =
            Spot { path: template_path(), placed, part: Kind::Whole, pack, inside: false, above: false };
        let mut spots = vec![whole];
        self.collect(&self.asked.children, pack.required.is_some(), &mut spots);
        spots
    }

    fn collect<'a>(&'a self, nodes: &'a [Node], inside: bool, spots: &mut Vec<Spot<'a>>) {
        for node in nodes {
            let Some(Part { path, placed }) = self.parts.get(&node.name).cloned() else { continue };
            let pack = &node.pack;
            match &node.content {
                Content::Group { min, pods } => {
                    let above = pods.len() > *min as usize;
                    spots.push(Spot { path, placed, part: Kind::Group, pack, inside, above });
                }
                Content::Bundle(children) => {
                    spots.push(Spot { path, placed, part: Kind::Bundle, pack, inside, above: false });
                    self.collect(children, inside || pack.required.is_some(), spots);
                }
            }
        }
    }
}
