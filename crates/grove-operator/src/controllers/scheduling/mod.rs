//! Schedulers and their backends: which one a gang has (here), what it is told of gangs (`telling`) and of pods
//! (`outfitting`), what it says (`words`), and what has to be cleared away after it (`leftovers`).

mod leftovers;
mod outfitting;
mod telling;
mod words;

use grove_api::{
    constants::labels,
    wire::{PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use grove_plan::{layout::Place, objects::scheduler_of, topology::Topology};
use grove_scheduler::{
    Gang,
    tree::{FORM_ANNOTATION, Malformed},
};

pub(crate) use self::leftovers::Leftover;
pub(super) use self::{outfitting::Outfitter, telling::rendered};
use super::{Grove, uid};
use crate::{
    backends::{Readiness, Ready, passed_over, tree_of},
    seen::label,
};

impl Grove {
    /// The scheduler of pods of a set that name none: the one its gangs have, so that it stays when the default is
    /// another one after a restart.
    pub(in crate::controllers) fn default_scheduler(&self, set: &PodCliqueSet) -> &'static str {
        self.memory.scheduler(uid(set), || {
            let gangs = self.seen.gangs.of_owner(&OwnerKey::of(set));
            let noted = gangs.iter().find_map(|it| label(&it.metadata, labels::SCHEDULER_NAME));
            let known = noted.and_then(|noted| self.backends.names().find(|it| *it == noted));
            known.unwrap_or(self.backends.default_name())
        })
    }

    /// How new gangs of a set are made.
    pub(in crate::controllers) fn form(&self, set: &PodCliqueSet) -> &'static str {
        let name = scheduler_of(self.context_of_form(set, ""));
        self.backends.readiness(name).ready().map_or("", |it| it.scheduler.form())
    }

    /// What pods of a gang carry as `schedulerName`.
    fn scheduler_name<'a>(&'a self, set: &'a PodCliqueSet, gang: &'a PodGang) -> &'a str {
        let noted = label(&gang.metadata, labels::SCHEDULER_NAME);
        noted.unwrap_or_else(|| scheduler_of(self.context_of_form(set, "")))
    }

    /// The backend of a gang, for metrics. Users may name any scheduler; those that are not compiled in share one label.
    pub(in crate::controllers) fn backend_label(&self, set: &PodCliqueSet, gang: &PodGang) -> &'static str {
        let name = self.scheduler_name(set, gang);
        self.backends.names().find(|it| *it == name).unwrap_or("unknown")
    }

    /// The scheduler of a gang, and what can be done with it.
    fn backend_of(&self, set: &PodCliqueSet, gang: &PodGang) -> (String, Result<Ready, String>) {
        let name = self.scheduler_name(set, gang);
        let readiness = self.backends.readiness(name);
        let ready = match readiness.ready() {
            Some(ready) => Ok(ready.clone()),
            None => Err(readiness.reason(name).unwrap_or_default()),
        };
        (name.to_owned(), ready)
    }

    /// Whether nobody has looked yet what the cluster has of a gang's scheduler: nothing can be said of the gang then.
    pub(in crate::controllers) fn is_backend_unknown(&self, set: &PodCliqueSet, gang: &PodGang) -> bool {
        matches!(self.backends.readiness(self.scheduler_name(set, gang)), Readiness::NotLooked)
    }

    /// Why pods of a gang cannot be made; `None` where they can: its scheduler is known, and how the gang is made.
    pub(in crate::controllers) fn why_no_pods(&self, set: &PodCliqueSet, gang: &PodGang) -> Option<String> {
        let is_noted =
            || gang.metadata.annotations.as_ref().is_some_and(|it| it.contains_key(FORM_ANNOTATION));
        match self.backend_of(set, gang).1 {
            Err(why) => Some(why),
            Ok(it) if it.scheduler.form().is_empty() || is_noted() => None,
            Ok(_) => Some("its scheduler form is not recorded yet".to_owned()),
        }
    }

    /// Whether the gang's scheduler sees to it itself that minima go first.
    pub(in crate::controllers) fn places_minima_first(
        &self,
        set: &PodCliqueSet,
        gang: &PodGang,
        place: Place<'_>,
    ) -> bool {
        let (_, ready) = self.backend_of(set, gang);
        let tree = tree_of(set, gang, place);
        ready.is_ok_and(|ready| tree.is_ok_and(|tree| ready.scheduler.places_minima_first(&tree)))
    }

    /// What pods of a gang name as their group, where their scheduler finds it so.
    pub(in crate::controllers) fn pod_group_name(
        &self,
        set: &PodCliqueSet,
        gang: &PodGang,
        place: Place<'_>,
    ) -> Option<String> {
        let ready = self.backend_of(set, gang).1.ok()?;
        ready.scheduler.pod_group_name(&self.tree(&ready, set, gang, place).ok()?)
    }

    /// What the scheduler of a set passes over; `None` where its backend is not ready to say.
    pub(in crate::controllers) fn passed_over(
        &self,
        set: &PodCliqueSet,
        topology: Option<&Topology>,
    ) -> Option<Vec<String>> {
        let name = scheduler_of(self.context_of_form(set, ""));
        let readiness = self.backends.readiness(name);
        Some(passed_over(set, topology, readiness.ready()?.scheduler.as_ref(), name))
    }

    /// The tree of a gang, with the objects that it has, and its topology by the name that its scheduler knows.
    fn tree(
        &self,
        ready: &Ready,
        set: &PodCliqueSet,
        gang: &PodGang,
        place: Place<'_>,
    ) -> Result<Gang, Malformed> {
        let mut tree = tree_of(set, gang, place)?;
        let objects = ready.applier.of_owner(&OwnerKey::of(gang));
        tree.objects = objects.iter().filter_map(|it| it.metadata.name.clone()).collect();
        if let Some(name) = self.topology_reference(self.scheduler_name(set, gang), &tree.topology) {
            tree.topology = name;
        }
        Ok(tree)
    }
}
