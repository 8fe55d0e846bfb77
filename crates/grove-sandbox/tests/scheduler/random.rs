//! Random gangs on small clusters that change: after every change no gang is bound in part, and every gang that waits has no place.
//!
//! Whether there is a place is decided by enumeration, which shares no code with the scheduler.

use std::collections::{BTreeMap, BTreeSet};

use grove_apiserver::ApiServer;
use serde_json::json;

use crate::world::{RACK, World};

const SEEDS: u64 = 40;
const STEPS: usize = 14;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// A group of the gang: its minimum, its pods, what each of these wants, and whether it keeps to a rack.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) min: usize,
    count: usize,
    gpus: i64,
    in_rack: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Gang {
    pub(crate) name: String,
    pub(crate) leaves: Vec<Leaf>,
    in_rack: bool,
}

pub(crate) fn random_gang(random: &mut Random, number: usize) -> Gang {
    let name = format!("g{number}");
    let is_nested = random.below(2) == 0;
    let leaves = if is_nested { 2 } else { 1 };
    let leaf = |random: &mut Random, at: u64| {
        let min = 1 + usize::try_from(random.below(2)).unwrap();
        Leaf {
            name: if is_nested { format!("{name}-{at}") } else { name.clone() },
            min,
            count: min + usize::try_from(random.below(2)).unwrap(),
            gpus: 1 + i64::try_from(random.below(4)).unwrap(),
            in_rack: random.below(2) == 0,
        }
    };
    let leaves = (0..leaves).map(|at| leaf(random, at)).collect();
    Gang { leaves, in_rack: is_nested && random.below(2) == 0, name }
}

pub(crate) fn create(world: &World, gang: &Gang) {
    let level = |in_rack: bool| {
        if in_rack {
            json!({ "schedulingConstraints": { "topology": [{ "key": RACK }] } })
        } else {
            json!({})
        }
    };
    let is_nested = gang.leaves.len() > 1;
    if is_nested {
        world.composite(&gang.name, u32::try_from(gang.leaves.len()).unwrap(), level(gang.in_rack));
    }
    for leaf in &gang.leaves {
        let mut spec = level(leaf.in_rack);
        if is_nested {
            spec["parentCompositePodGroupName"] = json!(gang.name);
        }
        world.group(&leaf.name, u32::try_from(leaf.min).unwrap(), spec);
        let count = u32::try_from(leaf.count).unwrap();
        for number in 0..count {
            world.member(&leaf.name, &format!("{}-p{number}", leaf.name), u32::try_from(leaf.gpus).unwrap());
        }
    }
}

pub(crate) fn remove(world: &World, gang: &Gang) {
    for leaf in &gang.leaves {
        for number in 0..leaf.count {
            let name = format!("{}-p{number}", leaf.name);
            if world.server.store().get("pods", "ns", &name).is_some() {
                world.delete("pods", &name);
            }
        }
        world.delete("podgroups.scheduling.k8s.io", &leaf.name);
    }
    if gang.leaves.len() > 1 {
        world.delete("compositepodgroups.scheduling.k8s.io", &gang.name);
    }
}

/// Free GPUs and rack of each node, by its name, as the API shows them.
pub(crate) fn free(server: &ApiServer) -> BTreeMap<String, (i64, String)> {
    let mut nodes = BTreeMap::new();
    for node in server.store().list("nodes", None) {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let gpus: i64 = text(&node.value()["status"]["allocatable"]["nvidia.com/gpu"]).parse().unwrap();
        nodes.insert(node.name().to_owned(), (gpus, text(&node.value()["metadata"]["labels"][RACK])));
    }
    for pod in server.store().list("pods", Some("ns")) {
        let gpus = &pod.value()["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"];
        let gpus: i64 = gpus.as_str().unwrap().parse().unwrap();
        if let Some(node) = pod.field("/spec/nodeName").and_then(|it| it.as_str()) {
            let node = nodes.get_mut(node).expect("pods are on nodes that exist");
            node.0 -= gpus;
            assert!(node.0 >= 0, "a node has more pods than it holds");
        }
    }
    nodes
}

/// A pod that its gang needs: its GPUs, and which of the shared racks it keeps to.
#[derive(Clone, Debug)]
struct Slot {
    gpus: i64,
    racks: Vec<usize>,
}

/// Whether all minima of these gangs find nodes at the same time, those pods staying that are bound: the nodes of the bound pods of each
/// group, by its name.
pub(crate) fn completes(
    gangs: &[&Gang],
    bound: &BTreeMap<String, Vec<String>>,
    nodes: &BTreeMap<String, (i64, String)>,
) -> bool {
    let (mut slots, mut racks) = (Vec::new(), Vec::new());
    for gang in gangs {
        let of_gang = racks.len();
        racks.push(None);
        for leaf in &gang.leaves {
            let of_leaf = racks.len();
            racks.push(None);
            let held = [(gang.in_rack, of_gang), (leaf.in_rack, of_leaf)];
            let held: Vec<usize> = held.into_iter().filter(|it| it.0).map(|it| it.1).collect();
            let there = bound.get(&leaf.name).map(Vec::as_slice).unwrap_or_default();
            for rack in there.iter().map(|it| &nodes[it].1) {
                for at in &held {
                    racks[*at] = Some(rack.clone());
                }
            }
            let missing = leaf.min.saturating_sub(there.len());
            slots.extend((0..missing).map(|_| Slot { gpus: leaf.gpus, racks: held.clone() }));
        }
    }
    fits(&slots, &mut nodes.values().cloned().collect::<Vec<_>>(), &racks)
}

/// By enumeration.
fn fits(slots: &[Slot], free: &mut [(i64, String)], racks: &[Option<String>]) -> bool {
    let Some((slot, others)) = slots.split_first() else { return true };
    for node in 0..free.len() {
        let rack = free[node].1.clone();
        let is_other = |at: &usize| racks[*at].as_ref().is_some_and(|it| *it != rack);
        if free[node].0 < slot.gpus || slot.racks.iter().any(is_other) {
            continue;
        }
        let mut racks = racks.to_vec();
        for at in &slot.racks {
            racks[*at] = Some(rack.clone());
        }
        free[node].0 -= slot.gpus;
        let found = fits(others, free, &racks);
        free[node].0 += slot.gpus;
        if found {
            return true;
        }
    }
    false
}

pub(crate) fn check(world: &World, gangs: &[Gang], what: &str) {
    let free = free(&world.server);
    for gang in gangs {
        let bound: Vec<usize> = gang.leaves.iter().map(|it| world.bound(&it.name).len()).collect();
        let (all, none) = (
            gang.leaves.iter().zip(&bound).all(|(it, bound)| *bound >= it.min),
            bound.iter().all(|it| *it == 0),
        );
        assert!(all || none, "{what}: {} is bound in part: {bound:?}", gang.name);
        for leaf in gang.leaves.iter().filter(|it| it.in_rack) {
            assert!(world.domains(&leaf.name, RACK).len() <= 1, "{what}: {} is in several racks", leaf.name);
        }
        if gang.in_rack {
            let racks: BTreeSet<String> =
                gang.leaves.iter().flat_map(|it| world.domains(&it.name, RACK)).collect();
            assert!(racks.len() <= 1, "{what}: {} is in {racks:?}", gang.name);
        }
        if none {
            let fits = completes(&[gang], &BTreeMap::new(), &free);
            assert!(!fits, "{what}: {} waits, and fits", gang.name);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn gangs_run_if_and_only_if_they_fit_and_never_in_part() {
    let (mut waited, mut ran) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let (racks, hosts, gpus) = (1 + random.below(3), 1 + random.below(3), 2 + random.below(4));
        let world = World::new(&format!("racks={racks},hosts={hosts},gpus={gpus}"));
        let mut gangs: Vec<Gang> = Vec::new();
        let mut nodes = 0;
        for step in 0..STEPS {
            match random.below(5) {
                0 if !gangs.is_empty() => {
                    let at = usize::try_from(random.below(gangs.len() as u64)).unwrap();
                    remove(&world, &gangs.remove(at));
                }
                1 => {
                    nodes += 1;
                    let rack = format!("rack-{}", random.below(racks));
                    let labels = BTreeMap::from([(RACK.to_owned(), rack)]);
                    world.node(&format!("extra-{nodes}"), &labels, i64::try_from(gpus).unwrap());
                }
                _ => {
                    let gang = random_gang(&mut random, step);
                    create(&world, &gang);
                    gangs.push(gang);
                }
            }
            // Sometimes several things change at once.
            if random.below(3) > 0 {
                world.settle().await;
                check(&world, &gangs, &format!("seed {seed}, step {step}"));
            }
        }
        world.settle().await;
        check(&world, &gangs, &format!("seed {seed}, at last"));
        let running = gangs.iter().filter(|it| !world.bound(&it.leaves[0].name).is_empty()).count();
        (ran, waited) = (ran + running, waited + gangs.len() - running);
    }
    assert!(ran > 20 && waited > 20, "{ran} ran and {waited} waited: the cases say little");
}
