//! The sets of upstream's tests of updates and gang termination: a role of two pods beside two copies of a group of one and three
//! pods. Every pod takes a node.

use serde_json::{Value, json};

use crate::scenarios::backends::stage::{self, Role};

/// Which pods are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scenarios) enum Workload {
    /// All (upstream's workload 1).
    Full,
    /// One of each role, and one copy of the group (workload 2).
    Minimum,
    /// One of the first role; copies of the group are whole, and all needed (workload-ondelete).
    WholeGroup,
    /// One of the first role; copies of the group are whole, and one is enough (workload 5).
    WholeCopies,
}

impl Workload {
    /// The set, with so many replicas.
    pub(in crate::scenarios) fn set(self, name: &str, replicas: i32) -> Value {
        let (a, c, x) = match self {
            Self::Full => (2, 3, 2),
            Self::Minimum => (1, 1, 1),
            Self::WholeGroup => (1, 3, 2),
            Self::WholeCopies => (1, 3, 1),
        };
        let mut set = stage::set(name, &[Role::new("a", 2, a), Role::new("b", 1, 1), Role::new("c", 3, c)]);
        stage::group(&mut set, "x", &["b", "c"], 2, x);
        set["spec"]["replicas"] = replicas.into();
        set
    }
}

/// The template of a role of a set.
pub(in crate::scenarios) fn role<'a>(set: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let cliques = set["spec"]["template"]["cliques"].as_array_mut()?;
    cliques.iter_mut().find(|it| it["name"] == name)
}

/// An image by its number.
pub(in crate::scenarios) fn image(number: u32) -> String {
    format!("registry.example.com/app:{number}.0")
}

/// Gives roles of a set another image.
pub(in crate::scenarios) fn change(set: &mut Value, roles: &[&str], number: u32) {
    for name in roles {
        if let Some(role) = role(set, name) {
            role["spec"]["podSpec"]["containers"][0]["image"] = image(number).into();
        }
    }
}

/// Gives the pods of all roles an annotation of the simulated kubelets.
pub(in crate::scenarios) fn annotate(set: &mut Value, key: &str, value: &str) {
    for role in set["spec"]["template"]["cliques"].as_array_mut().into_iter().flatten() {
        role["annotations"][format!("e2e.grove.io/{key}")] = json!(value);
    }
}
