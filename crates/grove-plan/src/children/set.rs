//! Children of a set: for every replica its gangs, Service, standalone cliques, scaling groups and autoscalers.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    names,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use k8s_openapi::api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service};

use super::{Action, Batch, Child, ChildPlan, Draft, Kind, Wanted, name_of, update};
use crate::{
    allotment::Allotment,
    gang_names::note_role,
    layout::{self, Place, count, set_name},
    objects::{self, Context, SharedTemplates},
    rollout::{self, Pace},
    topology::{Spread, Topology},
};

/// What is there, by name: everything with a wanted name and everything that the set owns.
#[derive(Clone, Debug, Default)]
pub struct SetChildren<'a> {
    /// Headless Services.
    pub services: BTreeMap<&'a str, &'a Service>,
    /// Autoscalers.
    pub autoscalers: BTreeMap<&'a str, &'a HorizontalPodAutoscaler>,
    /// Cliques.
    pub cliques: BTreeMap<&'a str, &'a PodClique>,
    /// Scaling groups.
    pub groups: BTreeMap<&'a str, &'a PodCliqueScalingGroup>,
    /// Gangs.
    pub gangs: BTreeMap<&'a str, &'a PodGang>,
    /// Names of gangs that have pods, as far as they are not there: how they are made is for their pods to say.
    pub lost: BTreeSet<&'a str>,
    /// Names of clique templates that no clique is made from: nobody knows which version of them is in force.
    pub unknown: BTreeSet<&'a str>,
    /// What may be created of a set that is too large.
    pub allotment: Allotment,
    /// How much is planned.
    pub batch: Batch,
}

/// What to do about the children of a set. `topology` is that of the set, where it has one that exists.
pub fn plan_set(context: Context<'_>, topology: Option<&Topology>, children: &SetChildren<'_>) -> ChildPlan {
    let mut planner = Planner {
        context,
        children,
        names: Names::default(),
        templates: SharedTemplates::default(),
        draft: Draft::new(OwnerKey::of(context.set), children.batch),
    };
    for replica in 0..count(context.set.spec.replicas) {
        if children.allotment.has_base(replica) {
            planner.replica(replica, topology);
        } else {
            planner.withhold(replica);
        }
    }
    planner.excess();
    planner.draft.plan
}

/// Names of what is wanted.
#[derive(Default)]
struct Names {
    services: BTreeSet<String>,
    autoscalers: BTreeSet<String>,
    cliques: BTreeSet<String>,
    groups: BTreeSet<String>,
    gangs: BTreeSet<String>,
}

struct Planner<'a> {
    context: Context<'a>,
    children: &'a SetChildren<'a>,
    names: Names,
    templates: SharedTemplates,
    draft: Draft,
}

impl Planner<'_> {
    /// The gangs come first: a clique makes no pod before its gang is there.
    fn replica(&mut self, replica: u32, topology: Option<&Topology>) {
        let (context, set, children) = (self.context, self.context.set, self.children);
        let base = context.base_gang(replica);
        // A replica keeps what held when it was made.
        let spread = match children.gangs.get(base.as_str()) {
            Some(base) => Spread::noted(base),
            None => Spread::asked(set, topology),
        };
        // Of a replica that is scaled to zero nothing is to be scheduled. When it is scaled up again its gang is new.
        let zero = scaled_to_zero(set, children, Place::Base { replica });
        if layout::cliques_of(set, Place::Base { replica }).is_some_and(|it| it.len() > zero.len()) {
            self.gang(Place::Base { replica }, base, topology, spread);
        }
        for config in &set.spec.template.scaling_groups {
            let group = names::scaling_group(set_name(set), replica, &config.name);
            let live = children.groups.get(group.as_str());
            let replicas = live.map_or_else(|| layout::group_replicas(config), |it| count(it.spec.replicas));
            for group_replica in children.allotment.further_replicas(set, replica, config, replicas) {
                let place = Place::Scaled { replica, group: &config.name, group_replica };
                if let Some(gang) = context.gang_at(place) {
                    self.gang(place, gang.name, topology, spread);
                }
            }
        }

        let name = names::headless_service(set_name(set), replica);
        let existing = children.services.get(name.as_str()).copied();
        self.draft.decide(Kind::Service, &name, existing.map(|it| &it.metadata), || {
            let wanted = objects::service(context, replica);
            match existing {
                None => create(Child::Service(Box::new(wanted))),
                Some(existing) => Wanted::patch(update::service(existing, &wanted)),
            }
        });
        self.names.services.insert(name);

        let is_paused = rollout::pace(set) == Pace::Paused;
        for clique in layout::standalone(set, replica) {
            let existing = children.cliques.get(clique.name.as_str()).copied();
            let is_unknown = children.unknown.contains(clique.template.name.as_str());
            let templates = &mut self.templates;
            self.draft.decide(Kind::Clique, &clique.name, existing.map(|it| &it.metadata), || {
                if existing.is_none() && is_unknown {
                    return Wanted::Nothing;
                }
                let wanted = templates.draft(context, &clique, None);
                match existing {
                    None => Wanted::Create(Action::CreateClique(wanted)),
                    Some(existing) => {
                        let patch = update::clique_patch(existing, &wanted.into_object());
                        Wanted::patch(patch.filter(|it| !is_paused || !update::changes_template(it)))
                    }
                }
            });
            if clique.template.spec.auto_scaling_config.is_some() {
                self.autoscaler(&clique.name, || objects::clique_autoscaler(context, &clique));
            }
            self.names.cliques.insert(clique.name);
        }
        for config in &set.spec.template.scaling_groups {
            let name = names::scaling_group(set_name(set), replica, &config.name);
            let existing = children.groups.get(name.as_str()).copied();
            self.draft.decide(Kind::Group, &name, existing.map(|it| &it.metadata), || {
                let wanted = objects::group(context, replica, config);
                match existing {
                    None => create(Child::Group(Box::new(wanted))),
                    Some(existing) => Wanted::patch(update::group(existing, &wanted)),
                }
            });
            if let Some(scale) = &config.scale_config {
                self.autoscaler(&name, || objects::group_autoscaler(context, Some(scale), &name));
            }
            self.names.groups.insert(name);
        }
    }

    /// Nothing of this replica is created. What is left of it stays.
    fn withhold(&mut self, replica: u32) {
        self.names.gangs.insert(self.context.base_gang(replica));
        self.names.services.insert(names::headless_service(set_name(self.context.set), replica));
    }

    /// Only that it exists; what it says is kept right by the gang's own plan, which sees the pods.
    fn gang(
        &mut self,
        place: Place<'_>,
        name: String,
        topology: Option<&Topology>,
        spread: Option<Spread<'_>>,
    ) {
        let existing = self.children.gangs.get(name.as_str()).copied();
        let form = if self.children.lost.contains(name.as_str()) { "" } else { self.context.form };
        let context = Context { form, ..self.context };
        let (set, children) = (self.context.set, self.children);
        self.draft.decide(Kind::Gang, &name, existing.map(|it| &it.metadata), || {
            if existing.is_some() {
                return Wanted::Nothing;
            }
            let zero = scaled_to_zero(set, children, place);
            let references = |clique: &str| (!zero.contains(clique)).then(Vec::new);
            let Some(mut gang) = objects::gang(context, place, topology, references) else {
                return Wanted::Nothing;
            };
            if let Some(spread) = spread {
                spread.note_on(&mut gang);
            }
            if layout::gang_at(set, place).is_some_and(|it| it.name != name) {
                note_role(&mut gang, place);
            }
            create(Child::Gang(Box::new(gang)))
        });
        self.names.gangs.insert(name);
    }

    fn autoscaler(&mut self, name: &str, wanted: impl FnOnce() -> Option<HorizontalPodAutoscaler>) {
        let existing = self.children.autoscalers.get(name).copied();
        self.draft.decide(Kind::Autoscaler, name, existing.map(|it| &it.metadata), || {
            match (wanted(), existing) {
                (None, _) => Wanted::Nothing,
                (Some(wanted), None) => create(Child::Autoscaler(Box::new(wanted))),
                (Some(wanted), Some(existing)) => Wanted::patch(update::autoscaler(existing, &wanted)),
            }
        });
        self.names.autoscalers.insert(name.to_owned());
    }

    /// What the set owns and no longer wants. Cliques and groups go before what they refer to.
    fn excess(&mut self) {
        let owner = self.draft.owner.clone();
        let (children, wanted) = (self.children, &self.names);
        let cliques = children.cliques.values().map(|it| (Kind::Clique, &it.metadata, &wanted.cliques));
        let groups = children.groups.values().map(|it| (Kind::Group, &it.metadata, &wanted.groups));
        let gangs = children.gangs.values().map(|it| (Kind::Gang, &it.metadata, &wanted.gangs));
        let services = children.services.values().map(|it| (Kind::Service, &it.metadata, &wanted.services));
        let scalers =
            children.autoscalers.values().map(|it| (Kind::Autoscaler, &it.metadata, &wanted.autoscalers));
        let all = scalers.chain(cliques).chain(groups).chain(gangs).chain(services);
        let excess = all
            .filter(|(_, metadata, wanted)| owner.controls(metadata) && !wanted.contains(name_of(metadata)));
        self.draft.delete(excess.map(|(kind, metadata, _)| (kind, metadata)));
    }
}

fn create(child: Child) -> Wanted {
    Wanted::Create(Action::Create(child))
}

/// Cliques of the gang at `place` that are scaled to zero.
fn scaled_to_zero(set: &PodCliqueSet, children: &SetChildren<'_>, place: Place<'_>) -> BTreeSet<String> {
    layout::scaled_to_zero(
        set,
        place,
        |name| children.cliques.get(name)?.spec.replicas,
        |name| Some(children.groups.get(name)?.spec.replicas),
    )
}
