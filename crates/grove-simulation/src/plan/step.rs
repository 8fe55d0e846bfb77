//! What users, nodes and fate do.

use std::time::Duration;

use super::{LONGEST_STALL, MOST_REPLICAS, shape::Shape};
use crate::random::Random;

/// Something that happens.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its place in the whole plan.
    pub number: usize,
    /// How long after the step before it.
    pub after: Duration,
    /// What.
    pub(crate) deed: Deed,
}

/// What happens. Objects that only exist by then are chosen by a number: the one of those that there are then.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// A user makes a set, if it is not there.
    Create { set: usize },
    /// A user deletes it.
    Delete { set: usize },
    /// A user or autoscaler wants so many replicas of a set.
    ScaleSet { set: usize, replicas: u32 },
    /// Likewise of a scaling group, and at least its minimum.
    ScaleGroup { pick: u64, replicas: u32 },
    /// Likewise of a clique that is in no group.
    ScaleClique { pick: u64, replicas: u32 },
    /// A user changes the images of some cliques, by the bits of a number. Zero is the first image; the last one never gets ready.
    Image { set: usize, cliques: u64, image: u32 },
    /// A user changes the strategy of updates.
    Strategy { set: usize, on_delete: bool },
    /// A user stops an update or lets it go on.
    Pause { set: usize, paused: bool },
    /// Somebody deletes a pod.
    DeletePod { pick: u64 },
    /// Somebody deletes a PodGang.
    DeleteGang { pick: u64 },
    /// Somebody deletes a PodClique.
    DeleteClique { pick: u64 },
    /// A pod ends for good.
    FailPod { pick: u64 },
    /// A container crashes, and comes back later.
    CrashPod { pick: u64, back: Duration },
    /// A container runs on and is not ready for a while.
    FailProbe { pick: u64, back: Duration },
    /// A node dies. Its pods are told to go or are not, and stay for as long as nobody confirms that they have ended.
    LoseNode { pick: u64, back: Duration, evicts: bool },
    /// The operator dies.
    Kill { down: Duration },
    /// The operator dies with one of its next writes, which it may or may not hear of.
    KillAtWrite { write: u64, down: Duration },
    /// The watches of some kinds, by the bits of a number, show nothing for a while.
    Stall { kinds: u64, time: Duration },
    /// All watches end.
    CutWatches,
    /// The server forgets the past, so that watches cannot go on where they ended.
    Forget,
    /// A long time without troubles.
    Wait,
    /// A tenant of another namespace forges objects.
    Forge { pick: u64 },
    /// Another operator is started while the one that runs goes on for a while, with watches that show it nothing or with good ones.
    Overlap { time: Duration, stale: bool },
    /// The watch of a kind shows nothing for long, or listing and watching it is forbidden.
    Silence { kind: &'static str, forbidden: bool },
    /// The API server is down, and operators are restarted.
    Outage,
    /// The last changes are taken back.
    Restore { changes: u64, noticed: bool },
    /// The operator's clock is wrong by so many seconds from now on.
    SetClock { wrong: i64 },
    /// A user deletes a scheduler's object of a gang.
    DeleteBackendObject { pick: u64 },
}

/// Images that users choose from.
pub(crate) const IMAGES: [&str; 4] = [super::shape::IMAGE, "engine:2", "engine:3", BAD_IMAGE];
/// The one that never gets ready.
pub(crate) const BAD_IMAGE: &str = "engine:broken";

pub(super) fn random(sets: &[Shape], random: &mut Random) -> Vec<Step> {
    let mut deeds: Vec<Deed> = (0..sets.len()).map(|set| Deed::Create { set }).collect();
    for _ in 0..random.between(2, 14) {
        let set = usize::try_from(random.below(sets.len() as u64)).unwrap_or(0);
        deeds.push(deed(set, random));
    }
    let steps = deeds.into_iter().enumerate().map(|(number, deed)| {
        let longest = if random.chance(200) { Duration::from_mins(3) } else { Duration::from_secs(8) };
        Step { number, after: random.time(longest), deed }
    });
    steps.collect()
}

/// Adds nodes that stay dead for so long that they count as lost.
pub(super) fn add_losses(steps: &mut Vec<Step>, sets: usize, random: &mut Random) {
    for _ in 0..random.between(1, 3) {
        let (pick, back) = (random.next(), random.time(Duration::from_mins(8)));
        add(steps, sets, Deed::LoseNode { pick, back, evicts: random.chance(500) }, random);
    }
}

/// Adds containers that are not ready for a while.
pub(super) fn add_probes(steps: &mut Vec<Step>, sets: usize, random: &mut Random) {
    for _ in 0..random.between(1, 3) {
        let (pick, back) = (random.next(), random.time(Duration::from_mins(4)));
        add(steps, sets, Deed::FailProbe { pick, back }, random);
    }
}

/// Adds something somewhere, and half of the time nothing else happens for long.
pub(super) fn add(steps: &mut Vec<Step>, sets: usize, deed: Deed, random: &mut Random) {
    // There is nothing before the sets are there.
    let places = steps.len().saturating_sub(sets) as u64 + 1;
    let at = sets + usize::try_from(random.below(places)).unwrap_or(0);
    let after = random.time(Duration::from_secs(30));
    steps.insert(at.min(steps.len()), Step { number: 0, after, deed });
    if random.chance(500) {
        let wait = Step { number: 0, after: Duration::ZERO, deed: Deed::Wait };
        steps.insert((at + 1).min(steps.len()), wait);
    }
    steps.iter_mut().enumerate().for_each(|(number, step)| step.number = number);
}

fn deed(set: usize, random: &mut Random) -> Deed {
    let pick = random.next();
    let back = random.time(Duration::from_mins(2));
    let down = random.time(Duration::from_secs(20));
    match random.below(130) {
        0..=9 => Deed::ScaleSet { set, replicas: random.between(0, MOST_REPLICAS) },
        10..=22 => Deed::ScaleGroup { pick, replicas: random.between(1, MOST_REPLICAS) },
        23..=35 => Deed::ScaleClique { pick, replicas: random.between(1, MOST_REPLICAS + 1) },
        36..=39 => Deed::Delete { set },
        40..=42 => Deed::Create { set },
        43..=49 => Deed::DeletePod { pick },
        50..=53 => Deed::DeleteGang { pick },
        54..=57 => Deed::DeleteClique { pick },
        58..=62 => Deed::FailPod { pick },
        63..=68 => Deed::CrashPod { pick, back },
        69..=73 => Deed::LoseNode { pick, back, evicts: true },
        74..=79 => Deed::Kill { down },
        80..=86 => Deed::KillAtWrite { write: 1 + random.below(25), down },
        87..=92 => Deed::Stall { kinds: random.next(), time: random.time(LONGEST_STALL) },
        93..=94 => Deed::CutWatches,
        95..=96 => Deed::Forget,
        97..=99 => Deed::Wait,
        100..=119 => {
            // Broken images are rare: nothing moves until they are taken back.
            let image = if random.chance(150) { 3 } else { random.between(0, 2) };
            Deed::Image { set, cliques: random.next(), image }
        }
        120..=123 => Deed::Strategy { set, on_delete: random.chance(500) },
        _ => Deed::Pause { set, paused: random.chance(500) },
    }
}
