//! A set on its stage: it is changed and scaled, and all that happens in between is looked at.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet},
};
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kube::ResourceExt;
use serde_json::Value;

use super::{
    picture::Picture,
    progress::{self, SetState},
    rules::{self, Replaced, Rules},
    workload,
};
use crate::{
    cluster::Tail,
    operator::of_operator,
    scenario::{Context, DEADLINE, PodState, WatchLog, Watched, eventually},
    scenarios::{
        command::grove,
        operator::{
            stage::{Child, api, defaulted, scale},
            wanted::Wanted,
            world::{World, label},
        },
    },
};

/// The name of the set.
pub(super) const SET: &str = "set";

/// The set, and what happened to it since it was at rest.
pub(super) struct Play {
    /// As the user wants it.
    pub(super) set: Value,
    /// How often pods of changed roles may be replaced.
    pub(super) replaced: Replaced,
    pub(super) picture: Picture,
    /// What it says of itself.
    pub(super) sets: WatchLog<SetState>,
    /// The number of its newest image.
    image: u32,
    /// Whether its template was ever changed.
    is_changed: bool,
    /// Cliques and groups that were scaled.
    scaled: BTreeMap<String, i32>,
    /// What was wanted since it was at rest.
    sizes: Vec<Wanted>,
    /// Roles that were changed since then.
    changed: Vec<String>,
    before: SetState,
    marks: (usize, usize),
    tail: Tail,
}

impl Play {
    /// Creates the set, and waits until it is as it should be.
    pub(super) async fn begin(context: &Context, set: Value) -> Result<Self> {
        let sets = WatchLog::<SetState>::open(context.client()).await;
        context.apply(&set.to_string()).await?;
        let mut play = Self {
            set,
            replaced: Replaced::Once,
            picture: Picture::default(),
            sets,
            image: 1,
            is_changed: false,
            scaled: BTreeMap::new(),
            sizes: Vec::new(),
            changed: Vec::new(),
            before: SetState::default(),
            marks: (context.log.mark(), 0),
            tail: context.cluster.tail()?,
        };
        let world = play.settled(context).await?;
        play.anew(context, &world)?;
        Ok(play)
    }

    fn replaces_nothing(&self) -> bool {
        self.set["spec"]["updateStrategy"]["type"] == "OnDelete"
    }

    fn wanted(&self) -> Result<Wanted> {
        let scaled: Vec<(&str, i32)> = self.scaled.iter().map(|(name, it)| (name.as_str(), *it)).collect();
        let wanted = Wanted::scaled(&defaulted(self.set.clone())?, &scaled);
        Ok(if self.replaces_nothing() { wanted.with_old_pods() } else { wanted })
    }

    /// Looks at what happened until now.
    pub(super) fn look(&mut self, context: &Context) -> Result<()> {
        let all = self.changed.iter().filter(|_| !self.replaces_nothing());
        let changed: Vec<&str> = all.map(String::as_str).collect();
        let rules = Rules::new(&self.sizes, &changed, self.replaced);
        self.picture.go_on(&context.log.since(self.marks.0, &context.namespace), &rules)
    }

    /// Gives roles another image.
    pub(super) async fn change(&mut self, context: &Context, roles: &[&str]) -> Result<()> {
        let (mut set, number) = (self.set.clone(), self.image + 1);
        workload::change(&mut set, roles, number);
        self.image = number;
        self.put(context, set, roles).await
    }

    /// Changes the set as a user would, which replaces the pods of `roles`.
    pub(super) async fn put(&mut self, context: &Context, set: Value, roles: &[&str]) -> Result<()> {
        self.begin_update(context, roles)?;
        self.set = set;
        context.apply(&self.set.to_string()).await
    }

    /// Replaces all pods by `grove rollout restart`: the template stays, but for a note of the time.
    pub(super) async fn restart(&mut self, context: &Context) -> Result<()> {
        let set = self.set.clone();
        let cliques = set["spec"]["template"]["cliques"].as_array();
        let roles: Vec<&str> = cliques.into_iter().flatten().filter_map(|it| it["name"].as_str()).collect();
        self.begin_update(context, &roles)?;
        grove(context, &["rollout", "restart", SET]).await?;
        Ok(())
    }

    /// From here on, the pods of `roles` are replaced.
    fn begin_update(&mut self, context: &Context, roles: &[&str]) -> Result<()> {
        self.look(context)?;
        self.picture.begin();
        self.is_changed = true;
        self.changed.extend(roles.iter().map(|it| (*it).to_owned()));
        Ok(())
    }

    /// Scales the set.
    pub(super) async fn scale_set(&mut self, context: &Context, replicas: i32) -> Result<()> {
        self.look(context)?;
        self.set["spec"]["replicas"] = replicas.into();
        self.resized(context)?;
        scale::<PodCliqueSet>(context, SET, replicas).await?;
        Ok(())
    }

    /// Scales the group of a set replica.
    pub(super) async fn scale_group(&mut self, context: &Context, replica: u32, replicas: i32) -> Result<()> {
        self.scale_child::<PodCliqueScalingGroup>(context, format!("{SET}-{replica}-x"), replicas).await
    }

    /// Scales the first role of a set replica.
    pub(super) async fn scale_clique(
        &mut self,
        context: &Context,
        replica: u32,
        replicas: i32,
    ) -> Result<()> {
        self.scale_child::<PodClique>(context, format!("{SET}-{replica}-a"), replicas).await
    }

    async fn scale_child<K: Child>(&mut self, context: &Context, name: String, replicas: i32) -> Result<()> {
        self.look(context)?;
        self.scaled.insert(name.clone(), replicas);
        self.resized(context)?;
        scale::<K>(context, &name, replicas).await?;
        Ok(())
    }

    fn resized(&mut self, context: &Context) -> Result<()> {
        self.sizes.push(self.wanted()?);
        self.look(context)
    }

    /// Deletes a pod of a clique that has the newest template, as a user would, and waits until it has a successor that is ready.
    pub(super) async fn delete(&mut self, context: &Context, clique: &str, index: u32) -> Result<()> {
        let (clique, index) = (format!("{SET}-{clique}"), index.to_string());
        let is_it = |it: &PodState| {
            it.label(labels::POD_CLIQUE) == clique && it.label(labels::POD_INDEX) == index && !it.terminating
        };
        eventually("the clique has the newest template", DEADLINE, || async {
            self.check_clique(&api::<PodClique>(context).get(&clique).await?)
        })
        .await?;
        let pods = context.log.now(&context.namespace);
        let victim = pods.into_iter().find(|it| is_it(it)).context("no such pod")?;
        self.picture.they_delete(&victim.uid);
        context.delete_pod(&victim.name).await?;
        let back = |pods: &[PodState]| pods.iter().any(|it| is_it(it) && it.ready && it.uid != victim.uid);
        context.expect(&format!("{} has a successor", victim.name), back).await?;
        Ok(())
    }

    /// Waits until a set replica has its turn and misses a pod.
    pub(super) async fn until_turn(&self, context: &Context, replica: i32) -> Result<()> {
        let what = format!("replica {replica} has its turn");
        let has_turn = |sets: &[SetState]| sets.iter().any(|it| it.turns() == [replica]);
        self.sets.until(&context.namespace, &what, DEADLINE, has_turn).await?;
        let index = replica.to_string();
        let is_old = |it: &&PodState| {
            it.label(labels::SET_REPLICA_INDEX) == index
                && self.changed.iter().any(|role| rules::role(it.label(labels::POD_CLIQUE)) == role)
                && self.picture.is_old(&it.uid)
        };
        let all = self.picture.pods().filter(is_old).count();
        let fewer = |pods: &[PodState]| pods.iter().filter(is_old).count() < all;
        context.expect(&format!("replica {replica} misses a pod"), fewer).await?;
        Ok(())
    }

    /// Fails if the update is over already, so that what was to happen in its middle did not.
    pub(super) fn still_updates(&self, context: &Context) -> Result<()> {
        let now = self.sets.now(&context.namespace);
        ensure!(now.iter().any(SetState::is_open), "the update is over too early to show this");
        Ok(())
    }

    /// Waits until as many pods are there as there should be.
    pub(super) async fn until_there(&self, context: &Context) -> Result<()> {
        let wanted: i32 = self.wanted()?.cliques.values().map(|it| it.replicas).sum();
        let wanted = usize::try_from(wanted)?;
        let what = format!("{wanted} pods are there");
        let ours = |pods: &[PodState]| pods.iter().filter(|it| it.label(labels::PART_OF) == SET).count();
        context.expect(&what, |pods| ours(pods) == wanted).await?;
        Ok(())
    }

    /// Waits until the set is at rest, and looks at all that happened.
    pub(super) async fn rest(&mut self, context: &Context) -> Result<World> {
        let world = self.settled(context).await?;
        self.look(context)?;
        let changes = self.sets.since(self.marks.1, &context.namespace);
        if self.replaces_nothing() {
            progress::check_on_delete(&self.before, &changes)?;
        } else if !self.changed.is_empty() {
            let is_strict = self.replaced == Replaced::Once;
            progress::check_rolling(&self.before, &changes, &self.picture, is_strict)?;
        }
        self.check_images(&world)?;
        self.check_deletes(context)?;
        self.anew(context, &world)?;
        Ok(world)
    }

    /// Waits until everything is as it should be, also in the histories of pods and sets.
    async fn settled(&self, context: &Context) -> Result<World> {
        let wanted = self.wanted()?;
        let world = eventually("the set is at rest", DEADLINE, || async {
            let world = World::read(context).await?;
            wanted.check(&world)?;
            check_updated(&world)?;
            // Kinds are listed one after the other: a set may say more than its cliques were when they were listed.
            world.cliques.iter().try_for_each(|it| self.check_clique(it))?;
            match (self.is_changed, self.replaces_nothing()) {
                (false, _) => {}
                (true, false) => progress::check_end(world.set(SET)?, &wanted)?,
                (true, true) => ensure!(SetState::of(world.set(SET)?).is_ended(), "the update is not over"),
            }
            Ok(world)
        })
        .await?;
        let uids = world.uids();
        let seen = |pods: &[PodState]| {
            pods.len() == uids.len() && pods.iter().all(|it| it.ready && uids.contains_key(&it.uid))
        };
        context.expect("the history of pods is complete", seen).await?;
        let set = SetState::of(world.set(SET)?);
        let seen = |sets: &[SetState]| sets.contains(&set);
        self.sets.until(&context.namespace, "the history of sets is complete", DEADLINE, seen).await?;
        Ok(world)
    }

    /// The image of a clique, as the user wants it.
    fn image(&self, clique: &str) -> Option<&str> {
        let mut cliques = self.set["spec"]["template"]["cliques"].as_array()?.iter();
        let role = cliques.find(|it| it["name"] == rules::role(clique))?;
        role["spec"]["podSpec"]["containers"][0]["image"].as_str()
    }

    fn check_clique(&self, clique: &PodClique) -> Result<()> {
        let (name, is) = (clique.name_any(), image_of(&clique.spec.pod_spec));
        ensure!(self.image(&name) == Some(is), "clique {name} has image {is}");
        Ok(())
    }

    /// Pods that are new have the template of the set, and where pods are replaced all others.
    fn check_images(&self, world: &World) -> Result<()> {
        for pod in world.pods.iter().filter(|it| label(*it, labels::PART_OF) == SET) {
            if self.replaces_nothing() && self.picture.is_old(&pod.uid().unwrap_or_default()) {
                continue;
            }
            let is = pod.spec.as_ref().map(image_of).unwrap_or_default();
            let clique = label(pod, labels::POD_CLIQUE);
            ensure!(self.image(clique) == Some(is), "{} has image {is}", pod.name_any());
        }
        Ok(())
    }

    /// No pod was deleted twice. A request that broke off together with the operator says nothing.
    fn check_deletes(&mut self, context: &Context) -> Result<()> {
        // Answers by pod.
        let mut deletes: BTreeMap<String, Vec<u16>> = BTreeMap::new();
        for write in of_operator(self.tail.more()?, &context.namespace) {
            if write.what() == "delete pods" {
                deletes.entry(write.name).or_default().push(write.code);
            }
        }
        deletes.retain(|_, answers| answers.iter().filter(|it| **it < 500).count() > 1);
        ensure!(deletes.is_empty(), "deleted more than once: {deletes:?}");
        Ok(())
    }

    fn anew(&mut self, context: &Context, world: &World) -> Result<()> {
        self.marks = (context.log.mark(), self.sets.mark());
        self.picture = Picture::new(context.log.now(&context.namespace));
        self.before = SetState::of(world.set(SET)?);
        self.sizes = vec![self.wanted()?];
        self.changed.clear();
        Ok(())
    }
}

/// Cliques say how many of their pods are of their template.
fn check_updated(world: &World) -> Result<()> {
    for clique in &world.cliques {
        let name = clique.name_any();
        let is_new = |it: &&Pod| {
            label(*it, labels::POD_CLIQUE) == name
                && it.spec.as_ref().map(image_of) == Some(image_of(&clique.spec.pod_spec))
        };
        let new = i32::try_from(world.pods.iter().filter(is_new).count())?;
        let said = clique.status.as_ref().map(|it| it.updated_replicas).unwrap_or_default();
        ensure!(said == new, "{said} pods of {name} are said to be new, not {new}");
    }
    Ok(())
}

fn image_of(spec: &PodSpec) -> &str {
    spec.containers.first().and_then(|it| it.image.as_deref()).unwrap_or_default()
}
