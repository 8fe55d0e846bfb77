//! The search: a node for every pod of a gang's minimum, or for none.

mod bounds;
mod candidates;
mod class;
mod engine;
mod extras;
mod frame;
mod interpod;
mod keys;
mod mixer;
mod more;
mod problem;
mod sets;
mod state;
mod steps;
mod symmetry;

use crate::{
    cluster::Cluster,
    gang::Group,
    reason::{Reason, explain},
};

pub(crate) use bounds::{Demand, slack, total};
pub(crate) use engine::{Engine, Verdict};
pub(crate) use problem::Problem;
pub(crate) use state::State;
pub(crate) use steps::minimum;

/// Alternatives that a search tries at most by default.
pub const DEFAULT_BUDGET: u64 = 100_000;

/// What became of a gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All minima are placed.
    Placed(Placement),
    /// They cannot be placed: every possibility was considered.
    DoesNotFit(Reason),
    /// The budget was used up before that was known.
    GaveUp {
        /// Alternatives that were tried.
        tried: u64,
    },
}

/// A node for each pod that is placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Pods with their nodes, in the order of the tree. Bound pods are not among them.
    pub pods: Vec<Assignment>,
    /// Pods above the minima for which there is no room.
    pub unplaced: Vec<String>,
    /// For each group that asks for a domain: the narrowest one that it asks for and that has all of its pods.
    pub domains: Vec<GroupDomain>,
    /// Alternatives that were tried.
    pub tried: u64,
}

/// A pod and its node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The group that it is in.
    pub group: String,
    /// The pod.
    pub pod: String,
    /// The node.
    pub node: String,
}

/// The domain of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDomain {
    /// The group.
    pub group: String,
    /// Node label.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// Finds nodes for a gang, trying [`DEFAULT_BUDGET`] alternatives at most. Equal input gives equal output.
///
/// ```
/// use grove_placement::{Outcome, gang::{GangPod, Group}, place, topology};
///
/// let cluster = topology::parse("racks=2,hosts=2,gpus=8").unwrap();
/// let pod = |index: u32| {
///     let mut pod = GangPod { name: format!("w-{index}"), ..GangPod::default() };
///     pod.requirements.requests.set("nvidia.com/gpu", 8);
///     pod.requirements.requests.set("pods", 1);
///     pod
/// };
/// let mut gang = Group::of_pods("w", 2, vec![pod(0), pod(1)]);
/// gang.required = Some("topology.kubernetes.io/rack".to_owned());
/// let Outcome::Placed(placement) = place(&cluster, &gang) else { panic!("fits") };
/// assert_eq!(placement.domains[0].value, "rack-0");
/// ```
pub fn place(cluster: &Cluster, gang: &Group) -> Outcome {
    place_within(cluster, gang, DEFAULT_BUDGET)
}

/// Likewise, with another budget for each of the search for a place and that for a preferred one.
pub fn place_within(cluster: &Cluster, gang: &Group, budget: u64) -> Outcome {
    let problem = Problem::new(cluster, gang);
    if !problem.groups[0].is_possible {
        return Outcome::DoesNotFit(explain(&problem));
    }
    match search(&problem, budget) {
        Err((Verdict::OutOfSteps, tried)) => Outcome::GaveUp { tried },
        Err(_) => Outcome::DoesNotFit(explain(&problem)),
        Ok(engine) => {
            let first = placement(&problem, &engine);
            let is_all = first.unplaced.is_empty();
            Outcome::Placed(if is_all { first } else { more::room_for_more(cluster, gang, first, budget) })
        }
    }
}

/// All minima, and of the rest what has room beside them; else why not, and how many alternatives were tried.
fn search<'a>(problem: &'a Problem<'a>, budget: u64) -> Result<Engine<'a>, (Verdict, u64)> {
    // Whether the gang fits does not depend on what it prefers.
    let mut engine = Engine::new(problem, false, budget);
    let verdict = engine.run(&minimum(problem, 0, false));
    if verdict != Verdict::Found {
        return Err((verdict, engine.tried));
    }
    if problem.groups.iter().any(|it| !it.preferred.is_empty()) {
        let mut better = Engine::new(problem, true, budget);
        if better.run(&minimum(problem, 0, true)) == Verdict::Found {
            engine = better;
        }
    }
    extras::place(&mut engine);
    Ok(engine)
}

fn placement(problem: &Problem<'_>, engine: &Engine<'_>) -> Placement {
    let mut result = Placement { tried: engine.tried, ..Placement::default() };
    let name = |node: usize| problem.cluster.nodes()[node].name.clone();
    for (number, group) in problem.groups.iter().enumerate() {
        for (at, slot) in group.slots.iter().enumerate() {
            let placed = engine.state.placed.iter().filter(|it| (it.group, it.slot) == (number, at));
            let mut nodes = placed.flat_map(|it| (0..it.count).map(|_| it.node));
            for pod in &slot.pods {
                match nodes.next() {
                    None => result.unplaced.push((*pod).to_owned()),
                    Some(node) => result.pods.push(Assignment {
                        group: group.name.to_owned(),
                        pod: (*pod).to_owned(),
                        node: name(node),
                    }),
                }
            }
        }
        result.domains.extend(domain(problem, engine, number));
    }
    result
}

/// The narrowest domain that a group asks for and that has all of its pods.
fn domain(problem: &Problem<'_>, engine: &Engine<'_>, number: usize) -> Option<GroupDomain> {
    let group = &problem.groups[number];
    let placed = engine.state.placed.iter().filter(|it| problem.path(it.group).contains(&number));
    let mut nodes: Vec<usize> = placed.map(|it| it.node).chain(group.pinned.iter().copied()).collect();
    nodes.dedup();
    let first = *nodes.first()?;
    let keys = group.preferred.iter().copied().chain(group.required);
    let shared = |key: usize| {
        let value = problem.keys.value(key, first)?;
        let is_shared = nodes.iter().all(|it| problem.keys.value(key, *it) == Some(value));
        is_shared.then_some((key, value))
    };
    let (key, value) = keys.filter_map(shared).max_by_key(|it| problem.keys.count(it.0))?;
    Some(GroupDomain {
        group: group.name.to_owned(),
        key: problem.keys.name(key).to_owned(),
        value: problem.keys.text(key, value).to_owned(),
    })
}
