//! What the scheduler of a set has to say.

use std::sync::Arc;

use grove_api::{
    defaulting::default_pod_clique_set,
    field::{Error, Path},
    manifest::without_nulls,
    validation::{Environment, Verdict as Findings, in_field_order},
    wire::PodCliqueSet,
};
use grove_plan::topology::{Topology, topology_name};
use grove_scheduler::Scheduler;
use serde_json::Value;

use super::{
    knowledge::Snapshot,
    review::{Operation, Request},
};
use crate::backends::{Readiness, fit};

/// The scheduler of the set that a request is about.
#[derive(Clone, Debug, Default)]
pub enum Scheduling {
    /// Nothing is known of it, or nothing that matters to the request.
    #[default]
    NotKnown,
    /// The set cannot have it, for this reason.
    Refused(String),
    /// It is there.
    Ready {
        /// What pods carry as `schedulerName`.
        name: String,
        /// As this cluster has it.
        scheduler: Arc<dyn Scheduler>,
    },
}

/// What becomes of a set whose scheduler is called `name`, and was called `before` where it is changed. A set that has
/// its scheduler already may be changed whatever has become of that.
pub(super) fn scheduling(name: &str, before: Option<&str>, readiness: &Readiness) -> Scheduling {
    match readiness {
        Readiness::Ready(ready) => {
            Scheduling::Ready { name: name.to_owned(), scheduler: Arc::clone(&ready.scheduler) }
        }
        // Grove's own rules say so, and which ones there are.
        Readiness::NotConfigured => Scheduling::NotKnown,
        _ if before == Some(name) => Scheduling::NotKnown,
        _ => readiness.reason(name).map_or(Scheduling::NotKnown, Scheduling::Refused),
    }
}

/// The scheduler that a set names: the first that a clique names.
pub(super) fn named(set: &Value) -> Option<&str> {
    let cliques = set.pointer("/spec/template/cliques")?.as_array()?;
    let mut names = cliques.iter().filter_map(|it| it.pointer("/spec/podSpec/schedulerName")?.as_str());
    names.find(|it| !it.is_empty())
}

/// Adds what the scheduler says to what Grove's own rules found.
pub(super) fn add(request: &Request, snapshot: &Snapshot, mut found: Findings) -> Findings {
    match &snapshot.scheduling {
        Scheduling::NotKnown => return found,
        // Of a set that is wrong by itself, nobody knows which scheduler it is meant for.
        Scheduling::Refused(_) if !found.errors.is_empty() => return found,
        Scheduling::Refused(why) => {
            let path = Path::parse("spec.template.cliques[0].spec.podSpec.schedulerName");
            found.errors.push(Error::forbidden(path, why.clone()));
        }
        Scheduling::Ready { name, scheduler } => {
            let old = (request.operation == Operation::Update).then(|| read(&request.old_object, None));
            let old = old.flatten();
            let Some(set) = read(&request.object, old.as_ref()) else { return found };
            let more = if found.errors.is_empty() {
                let topology = topology(&set, &snapshot.environment);
                fit(&set, old.as_ref(), topology.as_ref(), scheduler.as_ref(), name)
            } else {
                // Its gangs may be of any size.
                scheduler.validate_pod_clique_set(&set, old.as_ref())
            };
            found.errors.extend(more.errors);
            found.warnings.extend(more.warnings);
        }
    }
    in_field_order(found)
}

fn read(object: &Value, old: Option<&PodCliqueSet>) -> Option<PodCliqueSet> {
    let mut set = serde_json::from_value(without_nulls(object)).ok()?;
    default_pod_clique_set(&mut set, old);
    Some(set)
}

/// The topology that the set names, as far as it is known.
fn topology(set: &PodCliqueSet, environment: &Environment) -> Option<Topology> {
    let name = topology_name(set).filter(|_| environment.topology_aware != Some(false))?;
    let levels = environment.topology(name)?.to_vec();
    Some(Topology { name: name.to_owned(), levels })
}
