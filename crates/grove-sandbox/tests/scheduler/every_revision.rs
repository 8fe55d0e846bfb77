//! Between the bindings of a gang: pods are bound one by one, so that for a moment a gang is bound in part. At every revision, all gangs
//! that are can still be completed together: nothing else is bound where their other pods are to go.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use grove_apiserver::{Action, ApiServer, Fault, Subresource, WriteRequest};

use crate::{
    random::{Gang, Random, check, completes, create, free, random_gang, remove},
    world::{NS, RACK, World},
};

const SEEDS: u64 = 40;
const STEPS: usize = 14;
/// Milliseconds between two changes, at most: the first retries of bindings take as long.
const PAUSE: u64 = 40;

/// What is there, and what was seen of it when pods were bound.
#[derive(Default)]
struct Seen {
    gangs: Vec<Gang>,
    /// Revisions at which a gang was bound in part.
    partial: usize,
    /// Revisions at which several were.
    several: usize,
    violations: Vec<String>,
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Seen>>);

impl Shared {
    fn get(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The nodes of the bound pods of each group, one more binding included.
fn bound(server: &ApiServer, pod: &str, node: &str) -> BTreeMap<String, Vec<String>> {
    let mut bound: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for it in server.store().list("pods", Some(NS)) {
        let on = it.field("/spec/nodeName").and_then(|it| it.as_str());
        let on = if it.name() == pod { Some(node) } else { on };
        let group = it.field("/spec/schedulingGroup/podGroupName").and_then(|it| it.as_str());
        if let (Some(on), Some(group)) = (on, group) {
            bound.entry(group.to_owned()).or_default().push(on.to_owned());
        }
    }
    bound
}

impl Seen {
    /// Looks at the cluster as it will be with this binding.
    fn look(&mut self, server: &ApiServer, pod: &str, node: &str) {
        let stored = server.store().get("pods", NS, pod).filter(|it| it.field("/spec/nodeName").is_none());
        // A binding that is repeated, or is of a pod that is gone, changes nothing.
        let Some(stored) = stored else { return };
        let mut nodes = free(server);
        let gpus = &stored.value()["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"];
        nodes.get_mut(node).unwrap().0 -= gpus.as_str().unwrap().parse::<i64>().unwrap();
        let bound = bound(server, pod, node);
        let count = |leaf: &str| bound.get(leaf).map_or(0, Vec::len);
        let is_partial = |gang: &&Gang| {
            let is_begun = gang.leaves.iter().any(|it| count(&it.name) > 0);
            is_begun && gang.leaves.iter().any(|it| count(&it.name) < it.min)
        };
        let begun: Vec<&Gang> = self.gangs.iter().filter(is_partial).collect();
        self.partial += usize::from(!begun.is_empty());
        self.several += usize::from(begun.len() > 1);
        if nodes[node].0 < 0 || !completes(&begun, &bound, &nodes) {
            let names: Vec<&str> = begun.iter().map(|it| it.name.as_str()).collect();
            self.violations.push(format!("{pod} is bound to {node}; begun: {names:?}; {bound:?}; {nodes:?}"));
        }
    }
}

/// Looks at every binding before it is made, and lets one in three fail in some way, for as long as `fails` says so.
fn watch(world: &World, shared: &Shared, mut random: Random, fails: bool) {
    let (server, shared) = (world.server.clone(), shared.clone());
    world.server.before_write(move |request: &WriteRequest| {
        let Action::Create(binding) = &request.action else { return Fault::None };
        if request.subresource != Some(Subresource::Binding) {
            return Fault::None;
        }
        let node = binding["target"]["name"].as_str().unwrap_or_default();
        shared.get().look(&server, &request.name, node);
        match random.below(12) {
            0 if fails => Fault::Cut,
            1 if fails => Fault::Lose,
            2 if fails => Fault::refuse(500, "InternalError", "etcd is away"),
            3 if fails => Fault::refuse(429, "TooManyRequests", "slow down"),
            _ => Fault::None,
        }
    });
}

#[tokio::test(start_paused = true)]
async fn gangs_that_are_bound_in_part_can_be_completed_at_every_revision() {
    let (mut partial, mut several) = (0, 0);
    for seed in 0..SEEDS {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xB1D);
        let (racks, hosts, gpus) = (1 + random.below(3), 1 + random.below(3), 2 + random.below(4));
        let world = World::new(&format!("racks={racks},hosts={hosts},gpus={gpus}"));
        let shared = Shared::default();
        watch(&world, &shared, Random(seed), true);
        for step in 0..STEPS {
            match random.below(6) {
                // Also one that is bound in part: what it leaves is for others.
                0 if !shared.get().gangs.is_empty() => {
                    let at = usize::try_from(random.below(shared.get().gangs.len() as u64)).unwrap();
                    let gang = shared.get().gangs.remove(at);
                    remove(&world, &gang);
                }
                1 => {
                    let rack = format!("rack-{}", random.below(racks));
                    let labels = BTreeMap::from([(RACK.to_owned(), rack)]);
                    world.node(&format!("extra-{step}"), &labels, i64::try_from(gpus).unwrap());
                }
                _ => {
                    let gang = random_gang(&mut random, step);
                    create(&world, &gang);
                    shared.get().gangs.push(gang);
                }
            }
            // Into the middle of what is under way.
            tokio::time::sleep(Duration::from_millis(random.below(PAUSE))).await;
        }
        watch(&world, &shared, Random(seed), false);
        world.settle().await;
        let seen = shared.get();
        assert!(seen.violations.is_empty(), "seed {seed}: {:#?}", seen.violations);
        check(&world, &seen.gangs, &format!("seed {seed}"));
        (partial, several) = (partial + seen.partial, several + seen.several);
    }
    assert!(partial > 100 && several > 0, "{partial} and {several} revisions: the cases say little");
}
