//! Children of a set: for every replica its gangs, Service, standalone cliques, scaling groups and autoscalers.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    names,
    wire::{PodClique, PodCliqueScalingGroup, PodGang},
};
use k8s_openapi::{
    api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{Child, ChildPlan, Kind, delete, name_of, update};
use crate::{
    layout::{self, Place, count, set_name},
    objects::{self, Context},
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
}

/// What to do about the children of a set. `topology` is that of the set, where it has one that exists.
pub fn plan_set(context: Context<'_>, topology: Option<&Topology>, children: &SetChildren<'_>) -> ChildPlan {
    let mut planner = Planner {
        context,
        uid: context.set.metadata.uid.as_deref().unwrap_or_default(),
        children,
        wanted: Wanted::default(),
        plan: ChildPlan::default(),
    };
    for replica in 0..count(context.set.spec.replicas) {
        planner.replica(replica, topology);
    }
    planner.excess();
    planner.plan
}

#[derive(Default)]
struct Wanted {
    services: BTreeSet<String>,
    autoscalers: BTreeSet<String>,
    cliques: BTreeSet<String>,
    groups: BTreeSet<String>,
    gangs: BTreeSet<String>,
}

struct Planner<'a> {
    context: Context<'a>,
    uid: &'a str,
    children: &'a SetChildren<'a>,
    wanted: Wanted,
    plan: ChildPlan,
}

impl Planner<'_> {
    /// The gangs come first: a clique makes no pod before its gang is there.
    fn replica(&mut self, replica: u32, topology: Option<&Topology>) {
        let (context, set, children) = (self.context, self.context.set, self.children);
        let base = names::base_gang(set_name(set), replica);
        // A replica keeps what held when it was made.
        let spread = match children.gangs.get(base.as_str()) {
            Some(base) => Spread::noted(base),
            None => Spread::asked(set, topology),
        };
        // Of a replica that is scaled to zero nothing is to be scheduled. When it is scaled up again its gang is new.
        let zero = self.scaled_to_zero(Place::Base { replica });
        if layout::cliques_of(set, Place::Base { replica }).is_some_and(|it| it.len() > zero.len()) {
            self.gang(Place::Base { replica }, base, topology, spread);
        }
        for config in &set.spec.template.scaling_groups {
            let group = names::scaling_group(set_name(set), replica, &config.name);
            let live = children.groups.get(group.as_str());
            let replicas = live.map_or_else(|| layout::group_replicas(config), |it| count(it.spec.replicas));
            for group_replica in layout::group_minimum(config)..replicas {
                let place = Place::Scaled { replica, group: &config.name, group_replica };
                let name = layout::gang_of_member(set, replica, config, group_replica).name;
                self.gang(place, name, topology, spread);
            }
        }

        let name = names::headless_service(set_name(set), replica);
        let existing = children.services.get(name.as_str()).copied();
        self.child(Kind::Service, &name, existing.map(|it| &it.metadata), || {
            let wanted = objects::service(context, replica);
            match existing {
                None => Err(Child::Service(Box::new(wanted))),
                Some(existing) => Ok(update::service(existing, &wanted)),
            }
        });
        self.wanted.services.insert(name);

        let is_paused = rollout::pace(set) == Pace::Paused;
        for clique in layout::standalone(set, replica) {
            let existing = children.cliques.get(clique.name.as_str()).copied();
            let is_unknown = children.unknown.contains(clique.template.name.as_str());
            self.child(Kind::Clique, &clique.name, existing.map(|it| &it.metadata), || {
                let wanted = objects::clique(context, &clique, None);
                match existing {
                    None if is_unknown => Ok(None),
                    None => Err(Child::Clique(Box::new(wanted))),
                    Some(existing) => Ok(update::clique_patch(existing, &wanted)
                        .filter(|it| !is_paused || !update::changes_template(it))),
                }
            });
            self.autoscaler(&clique.name, objects::clique_autoscaler(context, &clique));
            self.wanted.cliques.insert(clique.name);
        }
        for config in &set.spec.template.scaling_groups {
            let name = names::scaling_group(set_name(set), replica, &config.name);
            let existing = children.groups.get(name.as_str()).copied();
            self.child(Kind::Group, &name, existing.map(|it| &it.metadata), || {
                let wanted = objects::group(context, replica, config);
                match existing {
                    None => Err(Child::Group(Box::new(wanted))),
                    Some(existing) => Ok(update::group(existing, &wanted)),
                }
            });
            self.autoscaler(&name, objects::group_autoscaler(context, config.scale_config.as_ref(), &name));
            self.wanted.groups.insert(name);
        }
    }

    /// Cliques of the gang at `place` that are scaled to zero.
    fn scaled_to_zero(&self, place: Place<'_>) -> BTreeSet<String> {
        let children = self.children;
        layout::scaled_to_zero(
            self.context.set,
            place,
            |name| children.cliques.get(name)?.spec.replicas,
            |name| Some(children.groups.get(name)?.spec.replicas),
        )
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
        let zero = self.scaled_to_zero(place);
        let references = |clique: &str| (!zero.contains(clique)).then(Vec::new);
        self.child(Kind::Gang, &name, existing.map(|it| &it.metadata), || {
            match existing.map_or_else(|| objects::gang(context, place, topology, references), |_| None) {
                Some(mut gang) => {
                    if let Some(spread) = spread {
                        spread.note_on(&mut gang);
                    }
                    Err(Child::Gang(Box::new(gang)))
                }
                None => Ok(None),
            }
        });
        self.wanted.gangs.insert(name);
    }

    fn autoscaler(&mut self, name: &str, wanted: Option<HorizontalPodAutoscaler>) {
        let Some(wanted) = wanted else { return };
        let existing = self.children.autoscalers.get(name).copied();
        self.child(Kind::Autoscaler, name, existing.map(|it| &it.metadata), || match existing {
            None => Err(Child::Autoscaler(Box::new(wanted))),
            Some(existing) => Ok(update::autoscaler(existing, &wanted)),
        });
        self.wanted.autoscalers.insert(name.to_owned());
    }

    /// `make` says what to create, or how to change what is there.
    fn child(
        &mut self,
        kind: Kind,
        name: &str,
        existing: Option<&ObjectMeta>,
        make: impl FnOnce() -> Result<Option<serde_json::Value>, Child>,
    ) {
        super::decide(&mut self.plan, self.uid, kind, name, existing, make);
    }

    /// What the set owns and no longer wants. Cliques and groups go before what they refer to.
    fn excess(&mut self) {
        let uid = self.uid;
        let owned = |it: &&ObjectMeta| super::is_controlled_by(it, uid);
        let (children, wanted) = (self.children, &self.wanted);
        let cliques = children.cliques.values().map(|it| (Kind::Clique, &it.metadata, &wanted.cliques));
        let groups = children.groups.values().map(|it| (Kind::Group, &it.metadata, &wanted.groups));
        let gangs = children.gangs.values().map(|it| (Kind::Gang, &it.metadata, &wanted.gangs));
        let services = children.services.values().map(|it| (Kind::Service, &it.metadata, &wanted.services));
        let scalers =
            children.autoscalers.values().map(|it| (Kind::Autoscaler, &it.metadata, &wanted.autoscalers));
        let all = scalers.chain(cliques).chain(groups).chain(gangs).chain(services);
        let excess = all
            .filter(|(_, metadata, wanted)| owned(metadata) && !wanted.contains(name_of(metadata)))
            .filter_map(|(kind, metadata, _)| delete(kind, metadata));
        self.plan.actions.extend(excess);
    }
}
