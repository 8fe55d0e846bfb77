//! Rows of sets without scaling groups.

use crate::nodes::{BLOCK, HOST, RACK, ZONE};

use super::{
    GB200, H100,
    row::{
        Row,
        Told::{LeftOut, LikeGangs, Objects, Refused},
    },
    shape::{
        Level::{Free, Requires},
        SHAPE, Shape,
    },
};

/// Of the levels of the simulated nodes, Volcano knows racks and blocks.
pub(super) const NO_HYPER_NODES: &str = "the simulated HyperNodes are racks and blocks";

pub(super) const ROWS: &[Row] = &[
    // Two roles, each with a level of its own.
    Row {
        name: "tas2",
        shape: Shape { roles: &[("a", 3, Requires("rack")), ("b", 4, Requires("block"))], ..SHAPE },
        pods: 7,
        fits: true,
        gangs: "0: 0-a!rack 0-b!block in floor",
        kube: Objects("0: 0-a!rack 0-b!block"),
        flat: Refused(&[
            "spec.template.cliques[0].topologyConstraint",
            "spec.template.cliques[1].topologyConstraint",
        ]),
        kai: LikeGangs,
        volcano: Objects("0: 0-a!rack 0-b!block"),
        together: &[("0-a-", RACK), ("0-b-", BLOCK)],
    },
    // A role on one host.
    Row {
        name: "tas5",
        shape: Shape { roles: &[("w", 2, Requires("host"))], ..SHAPE },
        pods: 2,
        fits: true,
        gangs: "0: 0-w!host in floor",
        kube: Objects("0-w!host"),
        flat: Objects("0!host"),
        kai: LikeGangs,
        volcano: LeftOut(NO_HYPER_NODES),
        together: &[("0-", HOST)],
    },
    // The set in one zone, with one role.
    Row {
        name: "tas6",
        shape: Shape { whole: Requires("zone"), roles: &[("w", 4, Free)], ..SHAPE },
        pods: 4,
        fits: true,
        gangs: "0!zone: 0-w in floor",
        kube: Objects("0-w!zone"),
        flat: Objects("0!zone"),
        kai: LikeGangs,
        volcano: LeftOut(NO_HYPER_NODES),
        together: &[("0-", ZONE)],
    },
    // The set in one block, and its role on one host.
    Row {
        name: "tas9",
        shape: Shape { whole: Requires("block"), roles: &[("w", 2, Requires("host"))], ..SHAPE },
        pods: 2,
        fits: true,
        gangs: "0!block: 0-w!host in floor",
        kube: Objects("0!block: 0-w!host"),
        flat: Refused(&["spec.template.cliques[0].topologyConstraint"]),
        kai: LikeGangs,
        volcano: LeftOut(NO_HYPER_NODES),
        together: &[("0-", HOST)],
    },
    // Ten pods of two GPUs, and no rack has more than sixteen.
    Row {
        name: "tas13",
        shape: Shape { whole: Requires("rack"), gpus: 2, roles: &[("w", 10, Free)], ..SHAPE },
        pods: 10,
        fits: false,
        gangs: "0!rack: 0-w in floor",
        kube: Objects("0-w!rack"),
        flat: Objects("0!rack"),
        kai: LikeGangs,
        volcano: Objects("0!rack: 0-w"),
        together: &[],
    },
    // Two replicas of the set, each in a rack.
    Row {
        name: "tas14",
        shape: Shape { replicas: 2, whole: Requires("rack"), roles: &[("w", 2, Free)], ..SHAPE },
        pods: 4,
        fits: true,
        gangs: "0!rack: 0-w in floor
                1!rack: 1-w in floor",
        kube: Objects(
            "0-w!rack
             1-w!rack",
        ),
        flat: Objects(
            "0!rack
             1!rack",
        ),
        kai: LikeGangs,
        volcano: Objects(
            "0!rack: 0-w
             1!rack: 1-w",
        ),
        together: &[("0-", RACK), ("1-", RACK)],
    },
    // Two bindings call different labels a block, and each set means that of its own.
    Row {
        name: "tas17-h100",
        shape: Shape { topology: "h100", whole: Requires("block"), roles: &[("w", 4, Free)], ..SHAPE },
        pods: 4,
        fits: true,
        gangs: "0!h100: 0-w in h100",
        kube: Objects("0-w!h100"),
        flat: Objects("0!h100"),
        kai: LikeGangs,
        volcano: LeftOut(NO_HYPER_NODES),
        together: &[("0-", H100)],
    },
    Row {
        name: "tas17-gb200",
        shape: Shape { topology: "gb200", whole: Requires("block"), roles: &[("w", 4, Free)], ..SHAPE },
        pods: 4,
        fits: true,
        gangs: "0!gb200: 0-w in gb200",
        kube: Objects("0-w!gb200"),
        flat: Objects("0!gb200"),
        kai: LikeGangs,
        volcano: LeftOut(NO_HYPER_NODES),
        together: &[("0-", GB200)],
    },
];
