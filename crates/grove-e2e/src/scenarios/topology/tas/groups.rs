//! Rows of sets with scaling groups, all copies of which are in the base gang.

use crate::nodes::{BLOCK, HOST, RACK};

use super::{
    row::{
        Row,
        Told::{LikeGangs, Objects, Refused},
    },
    shape::{
        Group,
        Level::{self, Free, Prefers, Requires},
        SHAPE, Shape,
    },
};

/// Two copies, both of which are needed.
const fn two(roles: &'static [&'static str], level: Level) -> Group {
    Group { name: "x", roles, replicas: 2, minimum: 2, level }
}

const GROUP: &str = "spec.template.podCliqueScalingGroups[0].topologyConstraint";
const FIRST: &str = "spec.template.cliques[0].topologyConstraint";
const SECOND: &str = "spec.template.cliques[1].topologyConstraint";

pub(super) const ROWS: &[Row] = &[
    // The set alone in one rack: its group stands for nothing.
    Row {
        name: "tas3",
        shape: Shape {
            whole: Requires("rack"),
            roles: &[("w", 1, Free), ("r", 2, Free)],
            groups: &[two(&["w"], Free)],
            ..SHAPE
        },
        pods: 4,
        fits: true,
        gangs: "0!rack: 0-r 0-x-0-w 0-x-1-w in floor",
        kube: Objects("0!rack: 0-r 0-x-0-w 0-x-1-w"),
        flat: Objects("0!rack"),
        kai: LikeGangs,
        volcano: Objects("0!rack: 0-r 0-x-0-w 0-x-1-w"),
        together: &[("0-", RACK)],
    },
    // The group alone, each copy in a rack.
    Row {
        name: "tas4",
        shape: Shape {
            roles: &[("w", 2, Free), ("r", 2, Free)],
            groups: &[two(&["w"], Requires("rack"))],
            ..SHAPE
        },
        pods: 6,
        fits: true,
        gangs: "0: 0-r [0-x-0!rack: 0-x-0-w] [0-x-1!rack: 0-x-1-w] in floor",
        kube: Objects("0: 0-r [0.0-x-0!rack: 0-x-0-w] [0.0-x-1!rack: 0-x-1-w]"),
        flat: Refused(&[GROUP]),
        kai: Objects("0: [0-x-0!rack: 0-x-0-w] [0-x-1!rack: 0-x-1-w] [alone-0: 0-r] in floor"),
        volcano: Objects("0: 0-r 0-x-0!rack 0-x-1!rack"),
        together: &[("0-x-0-", RACK), ("0-x-1-", RACK)],
    },
    // Nothing is asked for.
    Row {
        name: "tas7",
        shape: Shape { roles: &[("a", 1, Free), ("b", 1, Free)], groups: &[two(&["a", "b"], Free)], ..SHAPE },
        pods: 4,
        fits: true,
        gangs: "0: 0-x-0-a 0-x-0-b 0-x-1-a 0-x-1-b",
        kube: LikeGangs,
        flat: Objects("0"),
        kai: LikeGangs,
        volcano: LikeGangs,
        together: &[],
    },
    // Three levels, one in the other.
    Row {
        name: "tas8",
        shape: Shape {
            whole: Requires("block"),
            roles: &[("a", 2, Requires("host")), ("b", 2, Requires("host"))],
            groups: &[two(&["a", "b"], Requires("rack"))],
            ..SHAPE
        },
        pods: 8,
        fits: true,
        gangs: "0!block: [0-x-0!rack: 0-x-0-a!host 0-x-0-b!host] [0-x-1!rack: 0-x-1-a!host 0-x-1-b!host] in floor",
        kube: Objects(
            "0!block: [0.0-x-0!rack: 0-x-0-a!host 0-x-0-b!host] [0.0-x-1!rack: 0-x-1-a!host 0-x-1-b!host]",
        ),
        flat: Refused(&[GROUP, FIRST, SECOND]),
        kai: LikeGangs,
        volcano: Refused(&[FIRST, SECOND]),
        together: &[
            ("0-", BLOCK),
            ("0-x-0-", RACK),
            ("0-x-1-", RACK),
            ("0-x-0-a-", HOST),
            ("0-x-0-b-", HOST),
            ("0-x-1-a-", HOST),
            ("0-x-1-b-", HOST),
        ],
    },
    // The two levels inside of it alone.
    Row {
        name: "tas11",
        shape: Shape {
            roles: &[("a", 2, Requires("host")), ("b", 2, Requires("host"))],
            groups: &[two(&["a", "b"], Requires("rack"))],
            ..SHAPE
        },
        pods: 8,
        fits: true,
        gangs: "0: [0-x-0!rack: 0-x-0-a!host 0-x-0-b!host] [0-x-1!rack: 0-x-1-a!host 0-x-1-b!host] in floor",
        kube: Objects(
            "0: [0.0-x-0!rack: 0-x-0-a!host 0-x-0-b!host] [0.0-x-1!rack: 0-x-1-a!host 0-x-1-b!host]",
        ),
        flat: Refused(&[GROUP, FIRST, SECOND]),
        kai: LikeGangs,
        volcano: Refused(&[FIRST, SECOND]),
        together: &[
            ("0-x-0-", RACK),
            ("0-x-1-", RACK),
            ("0-x-0-a-", HOST),
            ("0-x-0-b-", HOST),
            ("0-x-1-a-", HOST),
            ("0-x-1-b-", HOST),
        ],
    },
    // Levels that are only preferred. Where they have no place in its objects, a scheduler is told by the pods.
    Row {
        name: "tas23",
        shape: Shape {
            whole: Prefers("block"),
            roles: &[("a", 1, Prefers("host")), ("b", 1, Free)],
            groups: &[two(&["a", "b"], Prefers("rack"))],
            ..SHAPE
        },
        pods: 4,
        fits: true,
        gangs: "0~block: [0-x-0~rack: 0-x-0-a~host 0-x-0-b] [0-x-1~rack: 0-x-1-a~host 0-x-1-b] in floor",
        kube: Objects("0: 0-x-0-a 0-x-0-b 0-x-1-a 0-x-1-b"),
        flat: Objects("0"),
        kai: LikeGangs,
        volcano: Objects("0~: 0-x-0-a~ 0-x-0-b 0-x-1-a~ 0-x-1-b"),
        together: &[],
    },
];
