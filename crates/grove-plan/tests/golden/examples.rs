//! The worked examples, as far as they differ.

use crate::expected::{Clique, Example, Gang};

/// Name, role, pods, minimum, gang, base gang of a scaled one, copy of the group.
const fn clique(
    name: &'static str,
    role: &'static str,
    pods: u32,
    minimum: u32,
    gang: &'static str,
    base: Option<&'static str>,
    copy: Option<u32>,
) -> Clique {
    Clique { name, role, pods, minimum, gang, base, copy }
}

/// A front end, and a group of prefill and decode; one of three copies is in the base gang.
pub(crate) const SERVING: Example = Example {
    text: "fe=2/1 pre=1/1 dec=2/2 | pd=3/1:pre,dec",
    group: "pd",
    members: &["pre", "dec"],
    copies: 3,
    minimum: 1,
    // Pods of one copy: 1 + 2.
    pods_of_a_copy: "3",
    cliques: &[
        clique("inf-0-fe", "fe", 2, 1, "inf-0", None, None),
        clique("inf-0-pd-0-pre", "pre", 1, 1, "inf-0", None, Some(0)),
        clique("inf-0-pd-0-dec", "dec", 2, 2, "inf-0", None, Some(0)),
        clique("inf-0-pd-1-pre", "pre", 1, 1, "inf-0-pd-0", Some("inf-0"), Some(1)),
        clique("inf-0-pd-1-dec", "dec", 2, 2, "inf-0-pd-0", Some("inf-0"), Some(1)),
        clique("inf-0-pd-2-pre", "pre", 1, 1, "inf-0-pd-1", Some("inf-0"), Some(2)),
        clique("inf-0-pd-2-dec", "dec", 2, 2, "inf-0-pd-1", Some("inf-0"), Some(2)),
    ],
    gangs: &[
        Gang { name: "inf-0", cliques: &["inf-0-fe", "inf-0-pd-0-pre", "inf-0-pd-0-dec"] },
        Gang { name: "inf-0-pd-0", cliques: &["inf-0-pd-1-pre", "inf-0-pd-1-dec"] },
        Gang { name: "inf-0-pd-1", cliques: &["inf-0-pd-2-pre", "inf-0-pd-2-dec"] },
    ],
};

/// A front end, and a group of leader and workers; two of three copies are in the base gang.
pub(crate) const LEADERS: Example = Example {
    text: "front=2/2 lead=1/1 work=3/3 | pre=3/2:lead,work",
    group: "pre",
    members: &["lead", "work"],
    copies: 3,
    minimum: 2,
    // Pods of one copy: 1 + 3.
    pods_of_a_copy: "4",
    cliques: &[
        clique("inf-0-front", "front", 2, 2, "inf-0", None, None),
        clique("inf-0-pre-0-lead", "lead", 1, 1, "inf-0", None, Some(0)),
        clique("inf-0-pre-0-work", "work", 3, 3, "inf-0", None, Some(0)),
        clique("inf-0-pre-1-lead", "lead", 1, 1, "inf-0", None, Some(1)),
        clique("inf-0-pre-1-work", "work", 3, 3, "inf-0", None, Some(1)),
        clique("inf-0-pre-2-lead", "lead", 1, 1, "inf-0-pre-0", Some("inf-0"), Some(2)),
        clique("inf-0-pre-2-work", "work", 3, 3, "inf-0-pre-0", Some("inf-0"), Some(2)),
    ],
    gangs: &[
        Gang {
            name: "inf-0",
            cliques: &[
                "inf-0-front",
                "inf-0-pre-0-lead",
                "inf-0-pre-0-work",
                "inf-0-pre-1-lead",
                "inf-0-pre-1-work",
            ],
        },
        Gang { name: "inf-0-pre-0", cliques: &["inf-0-pre-2-lead", "inf-0-pre-2-work"] },
    ],
};
