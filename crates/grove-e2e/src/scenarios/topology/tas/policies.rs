//! Rows of sets that say where they go by `schedulingPolicyConfig`: not upstream's.

use crate::nodes::RACK;

use super::{
    row::{
        Row,
        Told::{LikeGangs, Objects, Refused},
    },
    shape::{Group, Level::Free, Pack, SHAPE, Shape},
};

const PACKS: &str = "spec.template.schedulingPolicyConfig.networkPackGroupConfigs";

pub(super) const ROWS: &[Row] = &[
    // A level of the whole replica, by its node label.
    Row {
        name: "policy-whole",
        shape: Shape {
            policy: &[Pack { roles: &[], key: RACK }],
            roles: &[("a", 2, Free), ("b", 2, Free)],
            ..SHAPE
        },
        pods: 4,
        fits: true,
        gangs: "0!rack~host: 0-a 0-b in floor",
        kube: Objects("0!rack: 0-a 0-b"),
        flat: Objects("0!rack"),
        kai: LikeGangs,
        volcano: Objects("0!rack: 0-a 0-b"),
        together: &[("0-", RACK)],
    },
    // A pack group of standalone cliques, and one of a scaling group's, in each copy of it: base gang and scaled gang.
    Row {
        name: "policy-packs",
        shape: Shape {
            policy: &[Pack { roles: &["a", "b"], key: RACK }, Pack { roles: &["c", "d"], key: RACK }],
            roles: &[("a", 2, Free), ("b", 1, Free), ("c", 1, Free), ("d", 2, Free)],
            groups: &[Group { name: "x", roles: &["c", "d"], replicas: 2, minimum: 1, level: Free }],
            ..SHAPE
        },
        pods: 9,
        fits: true,
        gangs: "0~host: [0--pack0!rack: 0-a 0-b] [0--pack1-x-0!rack: 0-x-0-c 0-x-0-d] in floor
                0-x-0~host: [0--pack1-x-1!rack: 0-x-1-c 0-x-1-d] in floor",
        kube: Objects(
            "0: [0.0--pack0!rack: 0-a 0-b] [0.0--pack1-x-0!rack: 0-x-0-c 0-x-0-d]
             0-x-0: [0-x-0.0--pack1-x-1!rack: 0-x-1-c 0-x-1-d]",
        ),
        flat: Refused(&[PACKS]),
        kai: LikeGangs,
        volcano: Objects(
            "0~: 0--pack0!rack 0--pack1-x-0!rack
             0-x-0~: 0--pack1-x-1!rack",
        ),
        together: &[("0-a-", RACK), ("0-b-", RACK), ("0-x-0-", RACK), ("0-x-1-", RACK)],
    },
];
