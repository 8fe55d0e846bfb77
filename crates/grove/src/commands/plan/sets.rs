//! The sets of an input, validated and with every default filled in.

use grove_api::{
    defaulting::{default_pod_clique_set, default_topology},
    field::{Error, Path},
    manifest::{self, Document, without_nulls},
    validation::Environment,
    wire::PodCliqueSet,
};
use grove_operator::fit;
use grove_plan::{
    objects::{Context, scheduler_of},
    topology::{Topology, topology_name},
};
use serde::Deserialize;

use super::{
    room::Room,
    schedulers::{Ready, Schedulers},
};
use crate::{
    commands::validate,
    findings::{Report, Severity},
    input::Source,
};

/// UID of every object of a plan: none exists. Some names of schedulers' objects have one in them.
pub(super) const UID: &str = "00000000-0000-0000-0000-000000000000";

/// Where a set names its scheduler.
const SCHEDULER_NAME: &str = "spec.template.cliques[0].spec.podSpec.schedulerName";

/// A set to plan.
pub(super) struct Set {
    /// With namespace, UID and every default.
    pub(super) object: PodCliqueSet,
    /// The topology that it names, where that is known.
    pub(super) topology: Option<Topology>,
    pub(super) scheduler: Ready,
}

/// All of them.
pub(super) struct Sets {
    pub(super) sets: Vec<Set>,
    /// What validation warns of.
    pub(super) warnings: Report,
}

impl Sets {
    /// What is wrong with the input where it cannot be planned.
    pub(super) fn read(
        sources: &[Source],
        mut environment: Environment,
        room: Option<&Room>,
        schedulers: &mut Schedulers<'_>,
        namespace: &str,
    ) -> Result<Self, Report> {
        let mut documents: Vec<(&Source, Document)> = Vec::new();
        for source in sources {
            // What is no YAML, validation says.
            let parsed = manifest::parse(&source.text).unwrap_or_default();
            documents.extend(parsed.into_iter().flat_map(Document::flatten).map(|it| (source, it)));
        }
        for (_, document) in &documents {
            validate::add_topology(&document.value, &mut environment);
        }
        let mut sets = Vec::new();
        for (source, document) in &documents {
            // What is wrong with it, validation says.
            let Some(mut set) = read(document, schedulers.default_topology(), namespace) else { continue };
            set.metadata.uid = Some(UID.to_owned());
            if let (Some(name), Some(room)) = (topology_name(&set), room)
                && environment.topology(name).is_none()
            {
                // A described cluster has the levels that it is described with, whatever they are called elsewhere.
                environment.topologies.insert(name.to_owned(), room.levels());
            }
            sets.push((*source, document, set));
        }
        let mut report = validate::validate(sources, schedulers.registry(), environment.clone());
        if report.findings.iter().any(|it| it.severity == Severity::Error) || report.unusable {
            return Err(report);
        }
        let mut planned = Vec::new();
        for (source, document, set) in sets {
            match with_scheduler(set, &environment, schedulers) {
                Err(why) => {
                    report.errors(source, document, vec![Error::forbidden(Path::parse(SCHEDULER_NAME), why)]);
                }
                Ok(it) => {
                    let found = fit(
                        &it.object,
                        None,
                        it.topology.as_ref(),
                        it.scheduler.scheduler.as_ref(),
                        &it.scheduler.name,
                    );
                    report.errors(source, document, found.errors);
                    report.warnings(source, document, found.warnings);
                    planned.push(it);
                }
            }
        }
        if report.findings.iter().any(|it| it.severity == Severity::Error) {
            return Err(report);
        }
        Ok(Self { sets: planned, warnings: report })
    }
}

fn read(document: &Document, default: Option<&str>, namespace: &str) -> Option<PodCliqueSet> {
    if document.value.get("kind")? != "PodCliqueSet" {
        return None;
    }
    let mut set = PodCliqueSet::deserialize(without_nulls(&document.value)).ok()?;
    default_topology(&mut set, None, default);
    default_pod_clique_set(&mut set, None);
    set.metadata.namespace.get_or_insert_with(|| namespace.to_owned());
    // The server would make it.
    let prefix = set.metadata.generate_name.clone().unwrap_or_default();
    set.metadata.name.get_or_insert_with(|| format!("{prefix}00000"));
    Some(set)
}

fn with_scheduler(
    set: PodCliqueSet,
    environment: &Environment,
    schedulers: &mut Schedulers<'_>,
) -> Result<Set, String> {
    let context = Context {
        set: &set,
        default_scheduler: schedulers.default(),
        form: "",
        gang_names: &grove_plan::gang_names::OurNames,
    };
    let name = scheduler_of(context).to_owned();
    let scheduler = schedulers.get(&name)?;
    let topology = topology_name(&set).filter(|_| environment.topology_aware != Some(false));
    let topology = topology.and_then(|name| {
        Some(Topology { name: name.to_owned(), levels: environment.topology(name)?.to_vec() })
    });
    Ok(Set { object: set, topology, scheduler })
}
