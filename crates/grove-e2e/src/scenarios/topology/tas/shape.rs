//! The sets of the rows: their roles and groups, and the level that each asks for.

use serde_json::{Value, json};

use crate::scenarios::backends::stage::{self, Role};

/// What is asked of a level, by its name in the binding.
#[derive(Clone, Copy)]
pub(super) enum Level {
    Free,
    Requires(&'static str),
    Prefers(&'static str),
}

/// A scaling group.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) roles: &'static [&'static str],
    pub(super) replicas: i32,
    pub(super) minimum: i32,
    pub(super) level: Level,
}

/// A level, by its node label, that a policy requires of some roles; of none, it is that of the whole replica.
pub(super) struct Pack {
    pub(super) roles: &'static [&'static str],
    pub(super) key: &'static str,
}

/// A set. All pods of a role are needed.
pub(super) struct Shape {
    /// The binding that it names, if it asks for anything.
    pub(super) topology: &'static str,
    pub(super) replicas: i32,
    /// GPUs of each pod.
    pub(super) gpus: u32,
    pub(super) whole: Level,
    /// What is said by policy instead.
    pub(super) policy: &'static [Pack],
    /// Names, pods and levels.
    pub(super) roles: &'static [(&'static str, i32, Level)],
    pub(super) groups: &'static [Group],
}

/// One replica, by the levels of the simulated nodes.
pub(super) const SHAPE: Shape = Shape {
    topology: "floor",
    replicas: 1,
    gpus: 1,
    whole: Level::Free,
    policy: &[],
    roles: &[],
    groups: &[],
};

impl Shape {
    /// The set as a user writes it: the topology is named once, and inherited by what is inside.
    pub(super) fn set(&self, name: &str) -> Value {
        let roles: Vec<Role> = self.roles.iter().map(|it| Role::new(it.0, it.1, it.1)).collect();
        let mut set = stage::set(name, &roles);
        set["spec"]["replicas"] = self.replicas.into();
        for group in self.groups {
            stage::group(&mut set, group.name, group.roles, group.replicas, group.minimum);
        }
        let template = &mut set["spec"]["template"];
        let constrain = |place: &mut Value, level: Level, is_named_around: bool| {
            let Some(pack) = level.pack() else { return };
            place["topologyConstraint"] = json!({ "pack": pack });
            if !is_named_around {
                place["topologyConstraint"]["topologyName"] = self.topology.into();
            }
        };
        constrain(template, self.whole, false);
        for pack in self.policy {
            let policy = &mut template["schedulingPolicyConfig"];
            policy["topologyName"] = self.topology.into();
            let required = json!({ "required": { "topologyKey": pack.key } });
            if pack.roles.is_empty() {
                policy["groupingConstraints"] = required;
                continue;
            }
            let pack = json!({ "cliqueNames": pack.roles, "topologyConstraint": required });
            match &mut policy["networkPackGroupConfigs"] {
                Value::Array(packs) => packs.push(pack),
                none => *none = json!([pack]),
            }
        }
        for (number, group) in self.groups.iter().enumerate() {
            constrain(
                &mut template["podCliqueScalingGroups"][number],
                group.level,
                self.whole.pack().is_some(),
            );
        }
        for (number, (name, _, level)) in self.roles.iter().enumerate() {
            let clique = &mut template["cliques"][number];
            clique["spec"]["podSpec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] =
                self.gpus.into();
            let around = self.groups.iter().filter(|it| it.roles.contains(name)).map(|it| it.level);
            let is_named_around = around.chain([self.whole]).any(|it| it.pack().is_some());
            constrain(clique, *level, is_named_around);
        }
        set
    }
}

impl Level {
    fn pack(self) -> Option<Value> {
        match self {
            Self::Free => None,
            Self::Requires(level) => Some(json!({ "required": level })),
            Self::Prefers(level) => Some(json!({ "preferred": level })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topology_is_named_where_nothing_is_inherited() {
        let group =
            Group { name: "x", roles: &["a"], replicas: 2, minimum: 1, level: Level::Prefers("rack") };
        let groups: &'static [Group] = Box::leak(Box::new([group]));
        let roles: &'static [_] = &[("a", 2, Level::Requires("host")), ("b", 1, Level::Requires("host"))];
        let inner = Shape { roles, groups, ..SHAPE }.set("s");
        let template = &inner["spec"]["template"];
        let constraint = &template["podCliqueScalingGroups"][0]["topologyConstraint"];
        assert_eq!(constraint, &json!({ "topologyName": "floor", "pack": { "preferred": "rack" } }));
        let constraint = &template["cliques"][0]["topologyConstraint"];
        assert_eq!(constraint, &json!({ "pack": { "required": "host" } }));
        let constraint = &template["cliques"][1]["topologyConstraint"];
        assert_eq!(constraint, &json!({ "topologyName": "floor", "pack": { "required": "host" } }));

        let outer = Shape { roles, groups, whole: Level::Requires("zone"), ..SHAPE }.set("s");
        let template = &outer["spec"]["template"];
        assert_eq!(template["topologyConstraint"]["topologyName"], "floor");
        let constraint = &template["podCliqueScalingGroups"][0]["topologyConstraint"];
        assert_eq!(constraint, &json!({ "pack": { "preferred": "rack" } }));
    }
}
