//! What happens in a run: the sets, the weather and a list of steps, all made up front from the seed, so that parts can be
//! left out to find out which of them matter.

mod backend;
mod fault;
mod policy;
mod shape;
mod step;
mod trial;
mod weather;

use std::{collections::BTreeSet, time::Duration};

use crate::random::Random;

pub use self::backend::Backend;
pub use self::fault::{Fault, NOT_BY_DEFAULT};
pub(crate) use self::policy::Policy;
pub use self::shape::Shape;
pub(crate) use self::step::Deed;
pub use self::step::Step;
pub(crate) use self::step::{BAD_IMAGE, IMAGES};
pub(crate) use self::trial::{OUTAGE, OVERLAP, SILENCE};
pub use self::weather::Weather;
pub(crate) use self::weather::{DIALS, LONGEST_STALL, SLOW};

/// As far as anything is scaled out.
pub(crate) const MOST_REPLICAS: u32 = 4;

/// What happens in a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where it comes from.
    pub seed: u64,
    /// The sets that users make.
    pub sets: Vec<Shape>,
    /// Nodes of the cluster.
    pub(crate) nodes: usize,
    /// Pods that fit on each.
    pub(crate) slots: usize,
    /// Dials of the connection.
    pub weather: Weather,
    /// One after another.
    pub steps: Vec<Step>,
    /// Whether autoscalers do anything.
    pub(crate) autoscales: bool,
    /// How long a node may be silent before the operator takes its pods for gone, if it ever does.
    pub(crate) lost_after: Option<Duration>,
    /// Pods that a ResourceQuota admits until the end, if there is one.
    pub(crate) quota: Option<u32>,
    /// Faults beyond the usual troubles.
    pub faults: BTreeSet<Fault>,
    /// The scheduler of gangs, where it has objects of its own for them.
    pub(crate) backend: Option<Backend>,
}

/// What is left of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Only these steps, by number; all if there is no list.
    pub steps: Option<BTreeSet<usize>>,
    /// Without these troubles and faults.
    pub without: BTreeSet<String>,
}

impl Plan {
    /// The plan of a seed, with the faults that it has by itself: mostly none.
    pub fn new(seed: u64) -> Self {
        Self::with(seed, &Fault::of_seed(seed))
    }

    /// The plan of a seed with exactly these faults.
    pub fn with(seed: u64, faults: &BTreeSet<Fault>) -> Self {
        let mut plan = Self::without_faults(seed);
        for fault in faults {
            let mut trial = trial::Trial {
                steps: &mut plan.steps,
                sets: plan.sets.len(),
                lost_after: &mut plan.lost_after,
                backend: &mut plan.backend,
            };
            trial.add(*fault, &mut fault.random(seed));
        }
        plan.faults.clone_from(faults);
        plan
    }

    fn without_faults(seed: u64) -> Self {
        let mut random = Random::new(seed, 1);
        let random = &mut random;
        let sets = match random.below(20) {
            0..=14 => 1,
            15..=18 => 2,
            _ => 3,
        };
        let sets: Vec<Shape> = (0..sets).map(|number| Shape::random(number, random)).collect();
        let weather = Weather::random(random);
        let nodes = random.between(2, 5) as usize;
        let pods: u32 = sets.iter().map(Shape::pods).sum();
        // Sometimes there is too little room, and mostly some to spare.
        let slots = (pods * random.between(8, 30) / 10) as usize / nodes + 1;
        let mut steps = step::random(&sets, random);
        // By chance of their own, so that plans without them stay what they were.
        let mut random = Random::new(seed, 4);
        let autoscales = random.chance(300);
        let mut sets = sets;
        if autoscales {
            for set in &mut sets {
                set.add_autoscalers(&mut random);
            }
        }
        let mut random = Random::new(seed, 6);
        let lost_after = random.chance(300).then(|| Duration::from_secs(u64::from(random.between(20, 120))));
        if lost_after.is_some() {
            step::add_losses(&mut steps, sets.len(), &mut random);
        }
        let mut random = Random::new(seed, 7);
        if random.chance(400) {
            step::add_probes(&mut steps, sets.len(), &mut random);
        }
        let mut random = Random::new(seed, 8);
        if random.chance(250) {
            for set in &mut sets {
                set.restart_policy = random.chance(700).then(|| Policy::random(&mut random));
            }
        }
        let mut random = Random::new(seed, 9);
        let quota = random.chance(250).then(|| (pods * random.between(2, 13) / 10).max(1));
        let (faults, backend) = (BTreeSet::new(), None);
        Self { seed, sets, nodes, slots, weather, steps, autoscales, lost_after, quota, faults, backend }
    }

    /// What is left after a cut.
    #[must_use]
    pub fn cut(&self, cut: &Cut) -> Self {
        let mut plan = self.clone();
        if let Some(kept) = &cut.steps {
            plan.steps.retain(|it| kept.contains(&it.number));
        }
        cut.without.iter().for_each(|dial| plan.weather.without(dial));
        plan.autoscales &= !cut.without.contains("autoscalers");
        if cut.without.contains("policies") {
            plan.sets.iter_mut().for_each(|it| it.restart_policy = None);
        }
        plan.faults.retain(|it| !cut.without.contains(it.name()));
        plan.steps.retain(|it| it.deed.fault().is_none_or(|it| plan.faults.contains(&it)));
        plan.backend = plan.backend.filter(|_| !cut.without.contains(Fault::Backends.name()));
        plan.quota = plan.quota.filter(|_| !cut.without.contains("quota"));
        plan.lost_after = plan.lost_after.filter(|_| !cut.without.contains("losses"));
        plan
    }

    /// What to run to see it again: the seed and its faults.
    pub fn command(&self) -> String {
        let faults: Vec<&str> = self.faults.iter().map(|it| it.name()).collect();
        let faults = if faults.is_empty() { "none".to_owned() } else { faults.join(",") };
        format!("grove-simulation --seed {} --faults {faults}", self.seed)
    }

    /// Whether watches are ever held up.
    pub(crate) fn has_stalls(&self) -> bool {
        self.steps.iter().any(|it| matches!(it.deed, Deed::Stall { .. }))
    }

    /// Whether a fault is a part of it.
    pub(crate) fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    /// How far apart the times are that the operator's clock shows for one moment.
    pub(crate) fn skew(&self) -> Duration {
        let wrong = self.steps.iter().filter_map(|it| match it.deed {
            Deed::SetClock { wrong } => Some(wrong),
            _ => None,
        });
        let (low, high) = wrong.fold((0, 0), |(low, high): (i64, i64), it| (low.min(it), high.max(it)));
        Duration::from_secs(high.abs_diff(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_has_the_same_plan() {
        let words = |seed| format!("{:?}", Plan::new(seed));
        assert_eq!(words(5), words(5));
        assert_ne!(words(5), words(6));
    }

    #[test]
    fn a_fault_adds_steps_and_changes_no_other_decision() {
        for fault in Fault::ALL {
            for seed in 0..30 {
                let (bare, plan) = (Plan::with(seed, &BTreeSet::new()), Plan::with(seed, &[fault].into()));
                assert_eq!(format!("{:?}", bare.sets), format!("{:?}", plan.sets));
                assert_eq!((&bare.weather, bare.nodes, bare.slots), (&plan.weather, plan.nodes, plan.slots));
                let before = bare.steps.iter().map(|it| format!("{:?}", it.deed)).collect::<Vec<_>>();
                let mut after = plan.steps.iter().map(|it| format!("{:?}", it.deed));
                assert!(before.iter().all(|it| after.any(|other| other == *it)), "{fault} {seed}");
                assert!(plan.steps.iter().enumerate().all(|(number, it)| it.number == number));
                let cut = Cut { steps: None, without: [fault.name().to_owned()].into() };
                assert!(plan.cut(&cut).steps.iter().all(|it| it.deed.fault().is_none()));
            }
        }
    }

    #[test]
    fn a_cut_keeps_the_numbers_of_steps() {
        let plan = Plan::new(7);
        let cut = Cut { steps: Some([0, 2].into()), without: ["lost".to_owned()].into() };
        let numbers: Vec<usize> = plan.cut(&cut).steps.iter().map(|it| it.number).collect();
        assert_eq!(numbers, [0, 2]);
        assert_eq!(plan.cut(&cut).weather.lost, 0);
    }
}
