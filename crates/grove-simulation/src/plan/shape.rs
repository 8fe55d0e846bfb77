//! What a PodCliqueSet looks like.

use serde_json::{Value, json};

use super::policy::Policy;
use crate::random::Random;

/// A set as a user writes it.
#[derive(Clone, Debug)]
pub struct Shape {
    pub(crate) name: String,
    pub(crate) replicas: u32,
    pub(crate) cliques: Vec<Clique>,
    pub(crate) groups: Vec<Group>,
    pub(crate) in_order: bool,
    pub(crate) on_delete: bool,
    /// Seconds after which a unit below its minimum is terminated.
    pub(crate) termination_delay: Option<u32>,
    pub(crate) restart_policy: Option<Policy>,
}

/// A role.
#[derive(Clone, Debug)]
pub(crate) struct Clique {
    pub(crate) name: String,
    pub(crate) replicas: u32,
    pub(crate) minimum: u32,
    /// As far as an autoscaler goes, where it has one.
    pub(crate) most: Option<u32>,
}

/// Roles that scale together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) members: Vec<String>,
    pub(crate) replicas: u32,
    pub(crate) minimum: u32,
    /// As far as an autoscaler goes, where it has one.
    pub(crate) most: Option<u32>,
}

/// The image that every template begins with.
pub(crate) const IMAGE: &str = "engine:1";

impl Shape {
    pub(super) fn random(number: usize, random: &mut Random) -> Self {
        let clique = |name: String, random: &mut Random, most: u32| {
            let replicas = random.few(1, most);
            Clique { name, replicas, minimum: random.between(1, replicas), most: None }
        };
        let alone = random.few(1, 3);
        let mut cliques: Vec<Clique> = (0..alone).map(|it| clique(format!("a{it}"), random, 4)).collect();
        let mut groups = Vec::new();
        for group in 0..random.few(0, 2) {
            let members: Vec<String> = (0..random.between(1, 2)).map(|it| format!("m{group}{it}")).collect();
            for name in &members {
                let at = usize::try_from(random.below(cliques.len() as u64 + 1)).unwrap_or(0);
                let member = clique(name.clone(), random, 2);
                cliques.insert(at, member);
            }
            let replicas = random.between(1, 3);
            let minimum = random.between(1, replicas);
            groups.push(Group { name: format!("g{group}"), members, replicas, minimum, most: None });
        }
        Self {
            name: format!("s{number}"),
            replicas: random.few(1, 3),
            cliques,
            groups,
            in_order: random.chance(250),
            on_delete: random.chance(200),
            termination_delay: random.chance(500).then(|| random.between(10, 120)),
            restart_policy: None,
        }
    }

    /// Gives autoscalers to some of its parts. Members of groups have none: the group has one.
    pub(super) fn add_autoscalers(&mut self, random: &mut Random) {
        let members: Vec<&String> = self.groups.iter().flat_map(|it| &it.members).collect();
        for clique in self.cliques.iter_mut().filter(|it| !members.contains(&&it.name)) {
            clique.most = random.chance(600).then(|| clique.replicas + random.between(0, 2));
        }
        for group in &mut self.groups {
            group.most = random.chance(600).then(|| group.replicas + random.between(0, 2));
        }
    }

    /// The object.
    pub(crate) fn object(&self, namespace: &str) -> Value {
        let cliques: Vec<Value> = self.cliques.iter().map(Clique::template).collect();
        let groups: Vec<Value> = self.groups.iter().map(Group::config).collect();
        let strategy = if self.on_delete { "OnDelete" } else { "RollingRecreate" };
        let order = if self.in_order { "CliqueStartupTypeInOrder" } else { "CliqueStartupTypeAnyOrder" };
        let mut template = json!({
            "cliques": cliques, "podCliqueScalingGroups": groups, "cliqueStartupType": order,
            "headlessServiceConfig": { "publishNotReadyAddresses": true },
        });
        let delay = self.termination_delay.map_or_else(|| "4h".to_owned(), |it| format!("{it}s"));
        template["terminationDelay"] = delay.into();
        if let Some(policy) = &self.restart_policy {
            template["restartPolicy"] = policy.object();
        }
        json!({
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": { "name": self.name, "namespace": namespace },
            "spec": {
                "replicas": self.replicas,
                "updateStrategy": { "type": strategy },
                "template": template,
            },
        })
    }

    /// How many pods it has at first.
    pub(super) fn pods(&self) -> u32 {
        let of = |name: &str| self.cliques.iter().find(|it| it.name == name).map_or(0, |it| it.replicas);
        let is_member = |it: &&Clique| self.groups.iter().any(|group| group.members.contains(&it.name));
        let alone: u32 = self.cliques.iter().filter(|it| !is_member(it)).map(|it| it.replicas).sum();
        let grouped: u32 =
            self.groups.iter().map(|it| it.replicas * it.members.iter().map(|it| of(it)).sum::<u32>()).sum();
        self.replicas * (alone + grouped)
    }
}

impl Clique {
    fn template(&self) -> Value {
        let mut template = json!({
            "name": self.name,
            "spec": {
                "roleName": self.name,
                "replicas": self.replicas,
                "minAvailable": self.minimum,
                "podSpec": {
                    "containers": [{ "name": "main", "image": IMAGE }],
                    "restartPolicy": "Always",
                    "terminationGracePeriodSeconds": 30,
                },
            },
        });
        if let Some(most) = self.most {
            template["spec"]["autoScalingConfig"] =
                json!({ "minReplicas": self.minimum, "maxReplicas": most });
        }
        template
    }
}

impl Group {
    fn config(&self) -> Value {
        let mut config = json!({
            "name": self.name, "cliqueNames": self.members,
            "replicas": self.replicas, "minAvailable": self.minimum,
        });
        if let Some(most) = self.most {
            config["scaleConfig"] = json!({ "minReplicas": self.minimum, "maxReplicas": most });
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use grove_api::{
        review::{Review, review},
        validation::Environment,
    };

    use super::*;

    #[test]
    fn every_shape_is_what_admission_lets_in() {
        for seed in 0..300 {
            let mut shape = Shape::random(0, &mut Random::new(seed, 1));
            if seed % 2 == 0 {
                shape.add_autoscalers(&mut Random::new(seed, 4));
            }
            shape.restart_policy = Some(Policy::random(&mut Random::new(seed, 8)));
            let Review::Checked(verdict) = review(&shape.object("ml"), &Environment::default()) else {
                panic!("seed {seed}: not one of our kinds");
            };
            assert!(verdict.errors.is_empty(), "seed {seed}: {:?}", verdict.errors);
        }
    }
}
