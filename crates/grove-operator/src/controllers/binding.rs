//! ClusterTopologyBindings: schedulers with topology objects of their own are given the levels, or, where a binding names
//! an object that somebody else manages, that one is compared. Nodes that lack the label of a level are counted.

mod tree;

use grove_api::wire::ClusterTopologyBinding;
use grove_plan::status::{Compared, Coverage, Found, binding_news, binding_status, status_patch};
use grove_runtime::{ApplyError, EventKind, Lane, Outcome, Owner, Rendered};
use grove_scheduler::{Domains, TopologyPart};
use kube::{Resource, api::DynamicObject};
use tracing::info;

use super::{Grove, scheduling::rendered, uid, version};
use crate::{
    backends::{OwnTopology, Readiness, Ready},
    error::Error,
};

impl Grove {
    pub(crate) async fn reconcile_binding(&self, name: String) -> Result<Outcome, Error> {
        let Some(binding) = self.seen.topologies.get("", &name) else { return Ok(Outcome::Done) };
        // Its objects go with it.
        if binding.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        let domains = self.knows_nodes().then(|| self.domains(&binding));
        let mut compared = Vec::new();
        let mut trouble = None;
        for (scheduler, own) in self.backends.own_topologies() {
            let name = reference(&binding, scheduler, &own);
            let found = match self.backends.readiness(scheduler) {
                // All bindings are looked at again when it is.
                Readiness::NotLooked => return Ok(Outcome::Done),
                Readiness::Ready(ready) => match own {
                    OwnTopology::One(part) => self.sync_topology(&binding, scheduler, part, &ready).await,
                    OwnTopology::Tree(tree) => {
                        self.sync_tree(&binding, scheduler, tree, domains.as_ref(), &ready).await
                    }
                },
                other => {
                    let why = other.reason(scheduler).unwrap_or_default();
                    Ok(Some(unknown(scheduler, &name, why)))
                }
            };
            match found {
                Ok(Some(found)) => compared.push(found),
                // An object of its name is still going away; this is looked at again when it is gone.
                Ok(None) => return Ok(Outcome::Done),
                Err(Error::Write(error)) if error.is_conflict() => return Err(error.into()),
                Err(error) => {
                    let why = format!("it could not be written: {error}");
                    compared.push(different(scheduler, &name, None, why));
                    trouble = Some(error);
                }
            }
        }
        compared.extend(self.without_object(&binding));
        compared.sort_by(|a, b| a.scheduler.cmp(&b.scheduler));
        let coverage = match &domains {
            Some(it) => {
                let lacking = it.lacking().map(|(key, count)| (key.to_owned(), count)).collect();
                Some(Coverage::Counted { nodes: it.nodes(), lacking })
            }
            None => self.looks_at_nodes().then_some(Coverage::NotReadable),
        };
        self.report_binding(&binding, &compared, coverage.as_ref(), trouble.is_none()).await?;
        trouble.map_or(Ok(Outcome::Done), Err)
    }

    /// Where the nodes are, by the levels of a binding.
    fn domains(&self, binding: &ClusterTopologyBinding) -> Domains {
        let mut domains = Domains::new(binding.spec.levels.iter().map(|it| it.key.as_str()));
        for node in self.seen.nodes.list() {
            domains.add(|key| node.label(key));
        }
        domains
    }

    /// `None` while something of its name is going away.
    async fn sync_topology(
        &self,
        binding: &ClusterTopologyBinding,
        scheduler: &str,
        part: &dyn TopologyPart,
        ready: &Ready,
    ) -> Result<Option<Compared>, Error> {
        let resource = part.resource();
        let name = reference(binding, scheduler, &OwnTopology::One(part));
        let Some(cache) = ready.applier.cache(&resource) else {
            let why = format!("{}.{} is not installed", resource.plural, resource.group);
            return Ok(Some(unknown(scheduler, &name, why)));
        };
        // With an object of somebody else, none of ours is wanted, also not one that was made before.
        let is_ours = bound(binding, scheduler).is_none();
        let wanted: Vec<Rendered> = is_ours.then(|| rendered(part.render(binding))).into_iter().collect();
        match ready.applier.apply(&owner(binding), &wanted).await {
            Ok(applied) if applied.waiting => return Ok(None),
            Ok(_) => {}
            Err(ApplyError::Write(error)) => return Err(error.into()),
            Err(ApplyError::Refused(refused)) => {
                let why = format!("{}: name it in spec.schedulerTopologyBindings, or delete it", refused.why);
                return Ok(Some(different(scheduler, &name, cache.get("", &name).as_deref(), why)));
            }
        }
        let there = cache.get("", &name);
        let Some(object) = there.as_deref() else {
            let why = "no such object: create it, or remove it from spec.schedulerTopologyBindings";
            return Ok(Some(different(scheduler, &name, None, why.to_owned())));
        };
        let value = serde_json::to_value(object).unwrap_or_default();
        let found = part.drift(binding, &value).map_or(Found::Same, Found::Different);
        Ok(Some(Compared {
            scheduler: scheduler.to_owned(),
            reference: name,
            generation: object.metadata.generation,
            found,
        }))
    }

    /// Schedulers that the binding names, which have no topology objects here.
    fn without_object(&self, binding: &ClusterTopologyBinding) -> Vec<Compared> {
        let named = binding.spec.scheduler_topology_bindings.iter();
        let unknown = named.filter_map(|it| {
            let name = it.scheduler_name.as_str();
            if self.backends.own_topologies().any(|(known, _)| known == name) {
                return None;
            }
            let why = match self.backends.readiness(name) {
                not @ Readiness::NotConfigured => not.reason(name).unwrap_or_default(),
                _ => "this scheduler has no topology objects".to_owned(),
            };
            Some(unknown(name, &it.topology_reference, why))
        });
        unknown.collect()
    }

    async fn report_binding(
        &self,
        binding: &ClusterTopologyBinding,
        compared: &[Compared],
        coverage: Option<&Coverage>,
        is_acted_on: bool,
    ) -> Result<(), Error> {
        let old = binding.status.as_ref();
        let new = binding_status(binding, compared, coverage, is_acted_on, self.now());
        if old == Some(&new) {
            return Ok(());
        }
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        let patch = status_patch(old, &new, version(binding));
        let written = self.writer.in_lane(Lane::Status).patch_status("", name, &patch).await?;
        self.seen.topologies.written(written);
        if let Some((is_warning, reason, note)) = binding_news(old, &new) {
            info!(binding = name, reason, note, "reported on a topology");
            let kind = if is_warning { EventKind::Warning } else { EventKind::Normal };
            self.tell(binding, kind, reason, "SyncTopology", note);
        }
        Ok(())
    }

    /// The name by which a scheduler knows a topology.
    pub(super) fn topology_reference(&self, scheduler: &str, topology: &str) -> Option<String> {
        let binding = self.seen.topologies.get("", topology)?;
        bound(&binding, scheduler).map(str::to_owned)
    }
}

/// The object of somebody else that a binding names for a scheduler.
fn bound<'a>(binding: &'a ClusterTopologyBinding, scheduler: &str) -> Option<&'a str> {
    let mut named = binding.spec.scheduler_topology_bindings.iter();
    named.find(|it| it.scheduler_name == scheduler).map(|it| it.topology_reference.as_str())
}

/// A tree has no name of its own, and goes by that of its binding.
fn reference(binding: &ClusterTopologyBinding, scheduler: &str, own: &OwnTopology<'_>) -> String {
    let own_name = || match own {
        OwnTopology::One(part) => part.name_of(binding),
        OwnTopology::Tree(_) => binding.metadata.name.clone().unwrap_or_default(),
    };
    bound(binding, scheduler).map_or_else(own_name, str::to_owned)
}

fn unknown(scheduler: &str, reference: &str, why: String) -> Compared {
    Compared {
        scheduler: scheduler.to_owned(),
        reference: reference.to_owned(),
        generation: None,
        found: Found::Unknown(why),
    }
}

fn different(scheduler: &str, reference: &str, there: Option<&DynamicObject>, why: String) -> Compared {
    Compared {
        scheduler: scheduler.to_owned(),
        reference: reference.to_owned(),
        generation: there.and_then(|it| it.metadata.generation),
        found: Found::Different(why),
    }
}

fn owner(binding: &ClusterTopologyBinding) -> Owner {
    Owner {
        api_version: ClusterTopologyBinding::api_version(&()).into_owned(),
        kind: ClusterTopologyBinding::kind(&()).into_owned(),
        namespace: String::new(),
        name: binding.metadata.name.clone().unwrap_or_default(),
        uid: uid(binding).to_owned(),
    }
}
