//! Rows of sets with scaling groups that have more copies than they need: gangs of their own.

use crate::nodes::{BLOCK, HOST, RACK};

use super::{
    cliques::NO_HYPER_NODES,
    row::{
        Row,
        Told::{LeftOut, LikeGangs, Objects, Refused},
    },
    shape::{
        Group,
        Level::{Free, Requires},
        SHAPE, Shape,
    },
};

const FIRST_GROUP: &str = "spec.template.podCliqueScalingGroups[0].topologyConstraint";
const SECOND_GROUP: &str = "spec.template.podCliqueScalingGroups[1].topologyConstraint";

const DECODE: Group =
    Group { name: "d", roles: &["dw", "dl"], replicas: 2, minimum: 1, level: Requires("rack") };
const PREFILL: Group =
    Group { name: "p", roles: &["pw", "pl"], replicas: 2, minimum: 1, level: Requires("rack") };

pub(super) const ROWS: &[Row] = &[
    // A group of three copies, one of them needed; set and group in one rack, so that all copies are.
    Row {
        name: "tas10",
        shape: Shape {
            whole: Requires("rack"),
            roles: &[("w", 2, Free)],
            groups: &[Group { name: "x", roles: &["w"], replicas: 3, minimum: 1, level: Requires("rack") }],
            ..SHAPE
        },
        pods: 6,
        fits: true,
        gangs: "0!rack: [0-x-0!rack: 0-x-0-w] in floor
                0-x-0!rack: 0-x-1-w in floor
                0-x-1!rack: 0-x-2-w in floor",
        kube: Objects(
            "0!rack: [0.0-x-0!rack: 0-x-0-w]
             0-x-1-w!rack
             0-x-2-w!rack",
        ),
        flat: Refused(&[FIRST_GROUP]),
        kai: LikeGangs,
        volcano: Objects(
            "0!rack: 0-x-0-w
             0-x-0!rack: 0-x-1-w
             0-x-1!rack: 0-x-2-w",
        ),
        together: &[("0-", RACK)],
    },
    // Ten copies, three of them needed, the pods of each on one host.
    Row {
        name: "tas12",
        shape: Shape {
            roles: &[("w", 2, Requires("host"))],
            groups: &[Group { name: "x", roles: &["w"], replicas: 10, minimum: 3, level: Free }],
            ..SHAPE
        },
        pods: 20,
        fits: true,
        gangs: "0: 0-x-0-w!host 0-x-1-w!host 0-x-2-w!host in floor
                0-x-0: 0-x-3-w!host in floor
                0-x-1: 0-x-4-w!host in floor
                0-x-2: 0-x-5-w!host in floor
                0-x-3: 0-x-6-w!host in floor
                0-x-4: 0-x-7-w!host in floor
                0-x-5: 0-x-8-w!host in floor
                0-x-6: 0-x-9-w!host in floor",
        kube: Objects(
            "0: 0-x-0-w!host 0-x-1-w!host 0-x-2-w!host
             0-x-3-w!host
             0-x-4-w!host
             0-x-5-w!host
             0-x-6-w!host
             0-x-7-w!host
             0-x-8-w!host
             0-x-9-w!host",
        ),
        flat: Refused(&["spec.template.cliques[0].topologyConstraint"]),
        kai: LikeGangs,
        volcano: LeftOut(NO_HYPER_NODES),
        together: &[
            ("0-x-0-", HOST),
            ("0-x-1-", HOST),
            ("0-x-2-", HOST),
            ("0-x-3-", HOST),
            ("0-x-4-", HOST),
            ("0-x-5-", HOST),
            ("0-x-6-", HOST),
            ("0-x-7-", HOST),
            ("0-x-8-", HOST),
            ("0-x-9-", HOST),
        ],
    },
    // Two groups and a role beside them in one block, each copy in a rack.
    Row {
        name: "tas15",
        shape: Shape {
            whole: Requires("block"),
            roles: &[("dw", 1, Free), ("dl", 1, Free), ("pw", 1, Free), ("pl", 1, Free), ("r", 2, Free)],
            groups: &[DECODE, PREFILL],
            ..SHAPE
        },
        pods: 10,
        fits: true,
        gangs: "0!block: [0-d-0!rack: 0-d-0-dl 0-d-0-dw] [0-p-0!rack: 0-p-0-pl 0-p-0-pw] 0-r in floor
                0-d-0!rack: 0-d-1-dl 0-d-1-dw in floor
                0-p-0!rack: 0-p-1-pl 0-p-1-pw in floor",
        kube: Objects(
            "0!block: 0-r [0.0-d-0!rack: 0-d-0-dl 0-d-0-dw] [0.0-p-0!rack: 0-p-0-pl 0-p-0-pw]
             0-d-0!rack: 0-d-1-dl 0-d-1-dw
             0-p-0!rack: 0-p-1-pl 0-p-1-pw",
        ),
        flat: Refused(&[FIRST_GROUP, SECOND_GROUP]),
        kai: Objects(
            "0!block: [0-d-0!rack: 0-d-0-dl 0-d-0-dw] [0-p-0!rack: 0-p-0-pl 0-p-0-pw] [alone-0: 0-r] in floor
             0-d-0!rack: 0-d-1-dl 0-d-1-dw in floor
             0-p-0!rack: 0-p-1-pl 0-p-1-pw in floor",
        ),
        volcano: Objects(
            "0!block: 0-d-0!rack 0-p-0!rack 0-r
             0-d-0!rack: 0-d-1-dl 0-d-1-dw
             0-p-0!rack: 0-p-1-pl 0-p-1-pw",
        ),
        together: &[("0-", BLOCK), ("0-d-0-", RACK), ("0-d-1-", RACK), ("0-p-0-", RACK), ("0-p-1-", RACK)],
    },
    // Two replicas of that, and in it a role on one host: three levels. A block has room for all of both replicas, because
    // what follows a base gang has to go where it is.
    Row {
        name: "tas16",
        shape: Shape {
            replicas: 2,
            whole: Requires("block"),
            roles: &[
                ("dw", 1, Free),
                ("dl", 1, Free),
                ("pw", 2, Requires("host")),
                ("pl", 1, Free),
                ("r", 2, Free),
            ],
            groups: &[DECODE, PREFILL],
            ..SHAPE
        },
        pods: 24,
        fits: true,
        gangs: "0!block: [0-d-0!rack: 0-d-0-dl 0-d-0-dw] [0-p-0!rack: 0-p-0-pl 0-p-0-pw!host] 0-r in floor
                0-d-0!rack: 0-d-1-dl 0-d-1-dw in floor
                0-p-0!rack: 0-p-1-pl 0-p-1-pw!host in floor
                1!block: [1-d-0!rack: 1-d-0-dl 1-d-0-dw] [1-p-0!rack: 1-p-0-pl 1-p-0-pw!host] 1-r in floor
                1-d-0!rack: 1-d-1-dl 1-d-1-dw in floor
                1-p-0!rack: 1-p-1-pl 1-p-1-pw!host in floor",
        kube: Objects(
            "0!block: 0-r [0.0-d-0!rack: 0-d-0-dl 0-d-0-dw] [0.0-p-0!rack: 0-p-0-pl 0-p-0-pw!host]
             0-d-0!rack: 0-d-1-dl 0-d-1-dw
             0-p-0!rack: 0-p-1-pl 0-p-1-pw!host
             1!block: 1-r [1.1-d-0!rack: 1-d-0-dl 1-d-0-dw] [1.1-p-0!rack: 1-p-0-pl 1-p-0-pw!host]
             1-d-0!rack: 1-d-1-dl 1-d-1-dw
             1-p-0!rack: 1-p-1-pl 1-p-1-pw!host",
        ),
        flat: Refused(&[FIRST_GROUP, SECOND_GROUP, "spec.template.cliques[2].topologyConstraint"]),
        kai: Objects(
            "0!block: [0-d-0!rack: 0-d-0-dl 0-d-0-dw] [0-p-0!rack: 0-p-0-pl 0-p-0-pw!host] [alone-0: 0-r] in floor
             0-d-0!rack: 0-d-1-dl 0-d-1-dw in floor
             0-p-0!rack: 0-p-1-pl 0-p-1-pw!host in floor
             1!block: [1-d-0!rack: 1-d-0-dl 1-d-0-dw] [1-p-0!rack: 1-p-0-pl 1-p-0-pw!host] [alone-0: 1-r] in floor
             1-d-0!rack: 1-d-1-dl 1-d-1-dw in floor
             1-p-0!rack: 1-p-1-pl 1-p-1-pw!host in floor",
        ),
        volcano: Refused(&["spec.template.cliques[2].topologyConstraint"]),
        together: &[
            ("0-", BLOCK),
            ("0-d-0-", RACK),
            ("0-d-1-", RACK),
            ("0-p-0-", RACK),
            ("0-p-1-", RACK),
            ("0-p-0-pw-", HOST),
            ("0-p-1-pw-", HOST),
            ("1-", BLOCK),
            ("1-d-0-", RACK),
            ("1-d-1-", RACK),
            ("1-p-0-", RACK),
            ("1-p-1-", RACK),
            ("1-p-0-pw-", HOST),
            ("1-p-1-pw-", HOST),
        ],
    },
];
