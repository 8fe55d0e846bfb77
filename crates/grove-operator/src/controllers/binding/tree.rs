//! Schedulers with one topology object for each domain: the objects follow the labels of nodes, or, where somebody else
//! has made some, are compared.

use std::sync::Arc;

use grove_api::wire::ClusterTopologyBinding;
use grove_ownership::OwnerKey;
use grove_plan::status::{Compared, Found};
use grove_runtime::{ApplyError, Cache, Rendered};
use grove_scheduler::{Domains, TopologyTree};
use kube::api::DynamicObject;
use serde_json::Value;

use super::{bound, different, owner, reference, unknown};
use crate::{
    backends::{OwnTopology, Ready},
    controllers::{Grove, scheduling::rendered, uid},
    error::Error,
    seen::controller_name_of,
};

impl Grove {
    /// `None` while something of their names is going away.
    pub(super) async fn sync_tree(
        &self,
        binding: &ClusterTopologyBinding,
        scheduler: &str,
        tree: &dyn TopologyTree,
        domains: Option<&Domains>,
        ready: &Ready,
    ) -> Result<Option<Compared>, Error> {
        let resource = tree.resource();
        let name = reference(binding, scheduler, &OwnTopology::Tree(tree));
        let (Some(cache), None) = (ready.applier.cache(&resource), ready.scheduler.lacks_tree()) else {
            let missing = || format!("{}.{} is not installed", resource.plural, resource.group);
            let why = ready.scheduler.lacks_tree().map_or_else(missing, str::to_owned);
            return Ok(Some(unknown(scheduler, &name, why)));
        };
        let Some(domains) = domains else {
            let why = if self.seen.nodes.is_denied() {
                "the operator may not list nodes"
            } else {
                "nodes are not read: set topologyAwareScheduling.enabled in the operator's configuration"
            };
            return Ok(Some(unknown(scheduler, &name, why.to_owned())));
        };
        let others = self.of_others(binding, cache);
        // There is one tree: beside that of somebody else none of ours is wanted, also not one that was made before.
        let is_ours = bound(binding, scheduler).is_none() && others.is_empty();
        let wanted = if is_ours { tree.render(binding, domains) } else { Ok(Vec::new()) };
        let wanted: Vec<Rendered> = match wanted {
            Ok(objects) => objects.into_iter().map(rendered).collect(),
            Err(why) => return Ok(Some(different(scheduler, &name, None, why))),
        };
        match ready.applier.apply(&owner(binding), &wanted).await {
            Ok(applied) if applied.waiting => return Ok(None),
            Ok(_) => {}
            Err(ApplyError::Write(error)) => return Err(error.into()),
            Err(ApplyError::Refused(refused)) => {
                return Ok(Some(different(scheduler, &name, None, refused.to_string())));
            }
        }
        let there = cache.list().into_iter().filter(|it| {
            let is_own = OwnerKey::of(binding).controls(&it.metadata);
            it.metadata.deletion_timestamp.is_none() && is_own == is_ours
        });
        let there: Vec<Value> = there.filter_map(|it| serde_json::to_value(it.as_ref()).ok()).collect();
        let found = match (tree.drift(binding, &there), others.first()) {
            (None, _) => Found::Same,
            (Some(_), _) if is_ours && domains.paths().is_empty() => {
                Found::Different("no node has the labels of all levels".to_owned())
            }
            (Some(how), Some(other)) if bound(binding, scheduler).is_none() => Found::Different(format!(
                "{how}; {} {:?} does not belong to this binding, so none are created",
                resource.kind,
                other.metadata.name.as_deref().unwrap_or_default()
            )),
            (Some(how), _) => Found::Different(how),
        };
        Ok(Some(Compared { scheduler: scheduler.to_owned(), reference: name, generation: None, found }))
    }

    /// Objects that are not of this binding. Of two bindings the older one goes first: those of a younger one do not
    /// count, and go when it is looked at.
    fn of_others(
        &self,
        binding: &ClusterTopologyBinding,
        cache: &Cache<DynamicObject>,
    ) -> Vec<Arc<DynamicObject>> {
        let age = |it: &ClusterTopologyBinding| {
            let made = it.metadata.creation_timestamp.as_ref().map(|it| it.0);
            (made, it.metadata.name.clone())
        };
        let is_of_others = |object: &Arc<DynamicObject>| match controller_name_of::<ClusterTopologyBinding>(
            &object.metadata,
        ) {
            Some(name) => {
                // What is left of one that is gone goes, too.
                let other = self.seen.topologies.get("", name);
                let other = other.filter(|it| OwnerKey::of(it.as_ref()).controls(&object.metadata));
                let other = other.filter(|it| it.metadata.deletion_timestamp.is_none());
                other.is_some_and(|it| uid(it.as_ref()) != uid(binding) && age(&it) < age(binding))
            }
            None => true,
        };
        let mut others: Vec<_> = cache.list().into_iter().filter(is_of_others).collect();
        others.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        others
    }
}
