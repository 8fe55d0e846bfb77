//! The steps of each fault: what happens, and what makes it matter.

use std::time::Duration;

use super::{
    Fault,
    backend::Backend,
    step::{Deed, Step, add},
};
use crate::random::Random;

/// How long a watch shows nothing.
pub(crate) const SILENCE: Duration = Duration::from_mins(10);
/// How long the API server is down.
pub(crate) const OUTAGE: Duration = Duration::from_mins(30);
/// How long two operators act at most.
pub(crate) const OVERLAP: Duration = Duration::from_mins(1);
/// As far as the operator's clock is wrong at most.
const WRONG: i64 = 2 * 3600;

/// Kinds whose watch may be silent, as requests name them.
pub(crate) const SILENT: [&str; 9] = [
    "pods",
    "podcliques",
    "podcliquescalinggroups",
    "podcliquesets",
    "podgangs",
    "services",
    "horizontalpodautoscalers",
    "controllerrevisions",
    "resourcequotas",
];
/// Nodes as requests name them.
pub(crate) const NODES: &str = "nodes";

/// What a fault adds to a plan.
pub(super) struct Trial<'a> {
    pub(super) steps: &'a mut Vec<Step>,
    /// Sets are made by as many steps, which are the first.
    pub(super) sets: usize,
    pub(super) lost_after: &'a mut Option<Duration>,
    pub(super) backend: &'a mut Option<Backend>,
}

impl Trial<'_> {
    pub(super) fn add(&mut self, fault: Fault, random: &mut Random) {
        match fault {
            Fault::Tenant => self.tenant(random),
            Fault::Overlap => self.overlap(random),
            Fault::Silence => {
                for _ in 0..random.between(1, 2) {
                    let kind = *random.pick(&SILENT).unwrap_or(&"pods");
                    self.step(Deed::Silence { kind, forbidden: random.chance(400) }, random);
                }
                self.provoke(3, random);
            }
            Fault::SilentNodes => self.silent_nodes(random),
            Fault::Outage => {
                self.provoke(2, random);
                self.step(Deed::Outage, random);
                self.provoke(2, random);
            }
            Fault::Restore | Fault::RestoreUnnoticed => {
                let noticed = fault == Fault::Restore;
                self.provoke(2, random);
                for _ in 0..random.between(1, 2) {
                    let changes = 1 + random.below(200);
                    self.step(Deed::Restore { changes, noticed }, random);
                }
            }
            Fault::Clock => {
                for _ in 0..random.between(2, 4) {
                    let wrong = i64::from(random.between(0, 2 * 7200)) - WRONG;
                    self.step(Deed::SetClock { wrong }, random);
                }
                self.provoke(2, random);
            }
            Fault::Backends => {
                *self.backend = Some(Backend::random(random));
                for _ in 0..random.between(0, 3) {
                    self.step(Deed::DeleteBackendObject { pick: random.next() }, random);
                }
            }
        }
    }

    fn tenant(&mut self, random: &mut Random) {
        if random.chance(500) {
            *self.backend = Some(Backend::random(random));
        }
        for _ in 0..random.between(3, 6) {
            self.step(Deed::Forge { pick: random.next() }, random);
        }
        self.provoke(3, random);
        if random.chance(400) {
            let set = usize::try_from(random.below(self.sets as u64)).unwrap_or(0);
            self.step(Deed::Delete { set }, random);
        }
    }

    fn overlap(&mut self, random: &mut Random) {
        for _ in 0..random.between(1, 3) {
            let time = Duration::from_secs(2) + random.time(OVERLAP.saturating_sub(Duration::from_secs(2)));
            self.step(Deed::Overlap { time, stale: random.chance(500) }, random);
        }
        self.provoke(4, random);
    }

    /// A node is silent and comes back, while the operator cannot see that it does.
    fn silent_nodes(&mut self, random: &mut Random) {
        let after = self.lost_after.get_or_insert(Duration::from_secs(u64::from(random.between(20, 120))));
        let back = *after + random.time(Duration::from_mins(3));
        let at = self.steps.len();
        let mut then = |after: Duration, deed: Deed| self.steps.push(Step { number: 0, after, deed });
        then(
            Duration::from_secs(30),
            Deed::LoseNode { pick: random.next(), back, evicts: random.chance(500) },
        );
        // After the operator has heard that it is silent, or before.
        let heard = random.time(back);
        then(heard, Deed::Silence { kind: NODES, forbidden: random.chance(400) });
        then(back, Deed::Wait);
        then(Duration::ZERO, Deed::Wait);
        self.steps.iter_mut().enumerate().skip(at).for_each(|(number, step)| step.number = number);
    }

    /// Something to do for the operator, close to what was added.
    fn provoke(&mut self, most: u32, random: &mut Random) {
        for _ in 0..random.between(1, most) {
            let pick = random.next();
            let deed = match random.below(4) {
                0 | 1 => Deed::DeletePod { pick },
                2 => Deed::ScaleClique { pick, replicas: random.between(1, 4) },
                _ => Deed::FailPod { pick },
            };
            self.step(deed, random);
        }
    }

    fn step(&mut self, deed: Deed, random: &mut Random) {
        add(self.steps, self.sets, deed, random);
    }
}

impl Deed {
    /// The fault that it is a part of, and without which it does not happen.
    pub(crate) fn fault(&self) -> Option<Fault> {
        Some(match self {
            Self::Forge { .. } => Fault::Tenant,
            Self::Overlap { .. } => Fault::Overlap,
            Self::Silence { kind, .. } if *kind == NODES => Fault::SilentNodes,
            Self::Silence { .. } => Fault::Silence,
            Self::Outage => Fault::Outage,
            Self::Restore { noticed: true, .. } => Fault::Restore,
            Self::Restore { .. } => Fault::RestoreUnnoticed,
            Self::SetClock { .. } => Fault::Clock,
            Self::DeleteBackendObject { .. } => Fault::Backends,
            _ => return None,
        })
    }
}
