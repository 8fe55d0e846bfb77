//! The set, its children and its pods.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use grove_plan::{
    allotment::{Allotment, Caps, Existing},
    children::{Action, Batch, Child, ChildPlan, GroupChildren, Kind, SetChildren, plan_group, plan_set},
    facts::{PodFact, index_label, label},
    gang::{self, CliqueSeen, GangPlan, Growth, Seen, Told},
    layout::{self, Parent, Place},
    objects::{self, Context, Start},
    pods, status,
};
use k8s_openapi::{api::core::v1::Pod, apimachinery::pkg::apis::meta::v1::ObjectMeta, jiff::Timestamp};

use super::{fact, merge, metadata_mut, name_of, owner};

/// A set and everything that was made for it.
pub(crate) struct World {
    pub(crate) set: PodCliqueSet,
    pub(crate) objects: Vec<Child>,
    pub(crate) pods: Vec<Pod>,
    /// Replicas of groups whose pods cannot be made.
    pub(crate) held: BTreeSet<u32>,
    /// Clique templates of which nobody knows what is in force.
    pub(crate) unknown: BTreeSet<&'static str>,
    /// How much the set may have.
    pub(crate) caps: Caps,
    /// How much is planned at a time.
    pub(crate) batch: Batch,
}

impl World {
    pub(crate) fn new(set: PodCliqueSet) -> Self {
        Self {
            set,
            objects: Vec::new(),
            pods: Vec::new(),
            held: BTreeSet::new(),
            unknown: BTreeSet::new(),
            caps: Caps::default(),
            batch: Batch::default(),
        }
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            set: &self.set,
            default_scheduler: "default-scheduler",
            form: "",
            gang_names: &grove_plan::gang_names::OurNames,
        }
    }

    /// What may be created.
    pub(crate) fn allotment(&self) -> Allotment {
        let groups = self.groups().map(|it| (name_of(&it.metadata), it)).collect();
        let existing = || Existing::of(self.cliques(), self.groups());
        Allotment::within(self.caps, &self.set, &groups, existing)
    }

    /// What the set's controller would do.
    pub(crate) fn plan_set(&self) -> ChildPlan {
        let mut all = SetChildren {
            unknown: self.unknown.clone(),
            allotment: self.allotment(),
            batch: self.batch,
            ..SetChildren::default()
        };
        for child in &self.objects {
            let name = name_of(child.metadata());
            match child {
                Child::Service(it) => _ = all.services.insert(name, it),
                Child::Autoscaler(it) => _ = all.autoscalers.insert(name, it),
                Child::Clique(it) => _ = all.cliques.insert(name, it),
                Child::Group(it) => _ = all.groups.insert(name, it),
                Child::Gang(it) => _ = all.gangs.insert(name, it),
            }
        }
        plan_set(self.context(), None, &all)
    }

    /// What the group's controller would do.
    pub(crate) fn plan_group(&self, name: &str) -> ChildPlan {
        let group = self.groups().find(|it| name_of(&it.metadata) == name).unwrap();
        let replica = index_label(group.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX).unwrap();
        let groups = &self.set.spec.template.scaling_groups;
        let named =
            |it: &str| grove_api::names::scaling_group(layout::set_name(&self.set), replica, it) == name;
        let config = groups.iter().find(|it| named(&it.name)).unwrap();
        let cliques = self.cliques().map(|it| (name_of(&it.metadata), it)).collect();
        let facts: BTreeMap<&str, Vec<PodFact>> =
            self.cliques().map(|it| (name_of(&it.metadata), self.facts_of(it))).collect();
        let pods = facts.iter().map(|(name, facts)| (*name, facts.iter().collect())).collect();
        let held = self.held.clone();
        let unknown = self.unknown.clone();
        let children = GroupChildren {
            group,
            config,
            replica,
            cliques,
            pods,
            held,
            unknown,
            allotment: self.allotment(),
            batch: self.batch,
        };
        plan_group(self.context(), &children)
    }

    /// Does what a plan says.
    pub(crate) fn apply(&mut self, plan: ChildPlan) {
        for action in plan.actions {
            match action {
                action @ (Action::Create(_) | Action::CreateClique(_)) => {
                    let mut child = match action {
                        Action::Create(child) => child,
                        Action::CreateClique(draft) => Child::Clique(Box::new(draft.into_object())),
                        _ => unreachable!(),
                    };
                    let (kind, name) = (child.kind(), name_of(child.metadata()).to_owned());
                    assert!(self.get(kind, &name).is_none(), "{kind:?} {name} exists");
                    let metadata = metadata_mut(&mut child);
                    metadata.uid = Some(format!("uid-{name}"));
                    metadata.generation = Some(1);
                    self.objects.push(child);
                }
                Action::Patch { kind, name, patch } => match self.get_mut(kind, &name).unwrap() {
                    Child::Service(it) => merge(it.as_mut(), &patch),
                    Child::Autoscaler(it) => merge(it.as_mut(), &patch),
                    Child::Clique(it) => merge(it.as_mut(), &patch),
                    Child::Group(it) => merge(it.as_mut(), &patch),
                    Child::Gang(it) => merge(it.as_mut(), &patch),
                },
                Action::Delete { kind, name, uid } => {
                    let found = self.get(kind, &name).unwrap();
                    assert_eq!(found.metadata().uid.as_deref(), Some(uid.as_str()));
                    self.remove(kind, &name);
                }
            }
        }
    }

    /// Does what the set's and all groups' controllers say, until nothing is left to do.
    pub(crate) fn settle(&mut self) {
        for _ in 0..5 {
            let mut plans = vec![self.plan_set()];
            plans.extend(self.group_names().iter().map(|it| self.plan_group(it)));
            if plans.iter().all(|it| *it == ChildPlan::default()) {
                return;
            }
            let plan = self.plan_set();
            self.apply(plan);
            for name in self.group_names() {
                let plan = self.plan_group(&name);
                self.apply(plan);
            }
        }
        panic!("it does not come to rest");
    }

    /// Makes the pods of every clique. Where a server would add five random characters, the index is added.
    pub(crate) fn make_pods(&mut self) {
        let mut made = Vec::new();
        for clique in self.cliques() {
            let facts: Vec<PodFact> = self.facts_of(clique);
            let hash = label(clique.metadata.labels.as_ref(), labels::POD_TEMPLATE_HASH).unwrap();
            let replicas = layout::count(clique.spec.replicas.unwrap());
            let want = pods::Want {
                replicas,
                minimum: 0,
                core: 0,
                hash,
                outdated: pods::Outdated::Stay,
                may_complete: false,
                ended: pods::Ended::Replaced,
                at_most: u32::MAX,
                restart_before: None,
                lost: &[],
            };
            let plan = pods::plan(want, &facts.iter().collect::<Vec<_>>());
            assert_eq!(plan.delete, [], "{}", name_of(&clique.metadata));
            let parents = self.parents_of(name_of(&clique.metadata));
            let start = Start { image: "grove-initc:1", parents: &parents, may_start: false };
            for index in plan.create {
                let mut pod = objects::pod(layout::set_name(&self.set), clique, index, start, None).unwrap();
                // As the scheduler's backend does.
                pod.spec.as_mut().unwrap().scheduler_name = Some("default-scheduler".to_owned());
                let prefix = pod.metadata.generate_name.clone().unwrap();
                pod.metadata.name = Some(format!("{prefix}{index}"));
                pod.metadata.uid = Some(format!("uid-{prefix}{index}"));
                made.push(pod);
            }
        }
        self.pods.extend(made);
    }

    /// The cliques that the one called `name` starts after.
    pub(crate) fn parents_of(&self, name: &str) -> Vec<Parent> {
        let places = self.places().into_iter().filter_map(|it| layout::cliques_of(&self.set, it.1)).flatten();
        let clique = places.into_iter().find(|it| it.name == name).unwrap();
        layout::parents(&self.set, &clique)
    }

    /// Does one step of every gang; says whether there was one. `may_go` is said to scaled gangs.
    pub(crate) fn step_gangs(&mut self, may_go: bool) -> bool {
        let plans: Vec<(String, GangPlan, Option<_>)> = self
            .places()
            .into_iter()
            .map(|(name, place)| {
                let seen = self.seen(&name, place, may_go);
                let plan = gang::plan(&seen);
                let status = plan.initialize.then(|| status::gang(&seen, true, Timestamp::UNIX_EPOCH));
                (name, plan, status)
            })
            .collect();
        let busy = plans.iter().any(|it| it.1 != GangPlan::default());
        for (name, plan, status) in plans {
            let Some(Child::Gang(gang)) = self.get_mut(Kind::Gang, &name) else { panic!("{name}") };
            if let Some(patch) = &plan.patch {
                merge(gang.as_mut(), patch);
            }
            gang.status = status.or(gang.status.take());
            for ungate in plan.ungate {
                let pod = self.pods.iter_mut().find(|it| name_of(&it.metadata) == ungate.name).unwrap();
                let gates = pod.spec.as_mut().unwrap().scheduling_gates.as_mut().unwrap();
                gates.retain(|it| ungate.remaining.contains(&it.name));
            }
        }
        busy
    }

    /// A gang as its controller sees it.
    pub(crate) fn seen<'a>(&'a self, name: &str, place: Place<'a>, may_go: bool) -> Seen<'a> {
        let Some(Child::Gang(gang)) = self.get(Kind::Gang, name) else { panic!("there is no gang {name}") };
        let wanted = layout::cliques_of(&self.set, place).unwrap().into_iter();
        let cliques = wanted.map(|it| {
            let clique = self.cliques().find(|clique| name_of(&clique.metadata) == it.name);
            let facts = clique.map(|it| self.facts_of(it)).unwrap_or_default();
            // Tests are short: what they see may live on.
            let facts: &'static [PodFact] = facts.leak();
            (it.name, CliqueSeen { clique, pods: facts.iter().collect(), refusal: None })
        });
        let may_go = may_go || matches!(place, Place::Base { .. });
        Seen {
            context: self.context(),
            place,
            gang,
            cliques: cliques.collect(),
            topology: None,
            topology_missing: false,
            places: BTreeMap::new(),
            home: None,
            may_go,
            growth: Growth::Free,
            told: Told::Yes,
            pod_group: None,
            words: None,
        }
    }

    /// Every gang that the set wants.
    pub(crate) fn places(&self) -> Vec<(String, Place<'_>)> {
        let mut places = Vec::new();
        let name = layout::set_name(&self.set);
        for replica in 0..layout::count(self.set.spec.replicas) {
            places.push((grove_api::names::base_gang(name, replica), Place::Base { replica }));
            for config in &self.set.spec.template.scaling_groups {
                let group = grove_api::names::scaling_group(name, replica, &config.name);
                let live = self.groups().find(|it| name_of(&it.metadata) == group).unwrap();
                for group_replica in layout::group_minimum(config)..layout::count(live.spec.replicas) {
                    let gang = layout::gang_of_member(&self.set, replica, config, group_replica);
                    places.push((gang.name, Place::Scaled { replica, group: &config.name, group_replica }));
                }
            }
        }
        places
    }

    pub(crate) fn facts_of(&self, clique: &PodClique) -> Vec<PodFact> {
        let uid = clique.metadata.uid.as_deref().unwrap();
        self.pods.iter().filter(|it| owner(&it.metadata).uid == uid).map(fact).collect()
    }

    /// Changes what is written of a group.
    pub(crate) fn note_group(&mut self, name: &str, patch: &serde_json::Value) {
        match self.get_mut(Kind::Group, name).unwrap() {
            Child::Group(it) => merge(it.as_mut(), patch),
            _ => unreachable!(),
        }
    }

    pub(crate) fn cliques(&self) -> impl Iterator<Item = &PodClique> {
        self.objects.iter().filter_map(|it| if let Child::Clique(it) = it { Some(it.as_ref()) } else { None })
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &PodCliqueScalingGroup> {
        self.objects.iter().filter_map(|it| if let Child::Group(it) = it { Some(it.as_ref()) } else { None })
    }

    pub(crate) fn group_names(&self) -> Vec<String> {
        self.groups().map(|it| name_of(&it.metadata).to_owned()).collect()
    }

    pub(crate) fn gang(&self, name: &str) -> &PodGang {
        let Some(Child::Gang(gang)) = self.get(Kind::Gang, name) else { panic!("there is no gang {name}") };
        gang
    }

    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Child> {
        self.objects.iter().find(|it| it.kind() == kind && name_of(it.metadata()) == name)
    }

    pub(crate) fn get_mut(&mut self, kind: Kind, name: &str) -> Option<&mut Child> {
        self.objects.iter_mut().find(|it| it.kind() == kind && name_of(it.metadata()) == name)
    }

    /// Removes an object and what it owns.
    pub(crate) fn remove(&mut self, kind: Kind, name: &str) {
        let at =
            self.objects.iter().position(|it| it.kind() == kind && name_of(it.metadata()) == name).unwrap();
        let gone = self.objects.remove(at);
        let uid = gone.metadata().uid.clone().unwrap();
        let owned = |it: &ObjectMeta| owner(it).uid == uid;
        let children: Vec<(Kind, String)> = self
            .objects
            .iter()
            .filter(|it| owned(it.metadata()))
            .map(|it| (it.kind(), name_of(it.metadata()).to_owned()))
            .collect();
        self.pods.retain(|it| !owned(&it.metadata));
        for (kind, name) in children {
            self.remove(kind, &name);
        }
    }
}
