//! The crate table of `docs/architecture.md`: which workspace crate may depend on which.
//!
//! This is the only place to edit when a crate is added. The check is in `deps.rs`.

/// The workspace crates that one crate may depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Allowed {
    /// These and no others.
    Only(&'static [&'static str]),
    /// Every workspace crate.
    All,
}

impl Allowed {
    pub(crate) fn permits(self, name: &str) -> bool {
        match self {
            Self::Only(names) => names.contains(&name),
            Self::All => true,
        }
    }
}

/// Crate and its allowed dependencies, lowest layer first.
pub(crate) type Table = &'static [(&'static str, Allowed)];

/// The table in force. Dev-dependencies are not subject to it.
pub(crate) const TABLE: Table = &[
    ("grove-api", Allowed::Only(&[])),
    ("grove-ownership", Allowed::Only(&[])),
    ("grove-plan", Allowed::Only(&["grove-api", "grove-ownership"])),
    ("grove-scheduler", Allowed::Only(&["grove-api"])),
    ("grove-placement", Allowed::Only(&["grove-api", "grove-scheduler"])),
    ("grove-runtime", Allowed::Only(&["grove-ownership"])),
    ("grove-probe", Allowed::Only(&["grove-scheduler", "grove-runtime"])),
    (
        "grove-operator",
        Allowed::Only(&[
            "grove-api",
            "grove-ownership",
            "grove-plan",
            "grove-scheduler",
            "grove-runtime",
            "grove-probe",
        ]),
    ),
    ("grove-podgrouper", Allowed::Only(&["grove-api", "grove-scheduler", "grove-runtime", "grove-probe"])),
    ("grove-initc", Allowed::Only(&[])),
    ("grove-apiserver", Allowed::Only(&[])),
    (
        "grove-sandbox",
        Allowed::Only(&[
            "grove-api",
            "grove-apiserver",
            "grove-initc",
            "grove-placement",
            "grove-runtime",
            "grove-scheduler",
        ]),
    ),
    ("grove", Allowed::All),
    // Scenarios also run against a real cluster, so they see what a client sees and nothing of the operator.
    ("grove-e2e", Allowed::Only(&["grove-api", "grove-apiserver", "grove-runtime", "grove-sandbox"])),
    // The operator as it is, in a cluster in memory.
    (
        "grove-simulation",
        Allowed::Only(&[
            "grove-api",
            "grove-scheduler",
            "grove-runtime",
            "grove-operator",
            "grove-apiserver",
            "grove-sandbox",
        ]),
    ),
    // What a third party writes: a backend sees the framework and the wire, and nothing of the operator.
    ("example-backend", Allowed::Only(&["grove-api", "grove-scheduler"])),
    // Likewise a plugin of the pod grouper.
    ("example-plugin", Allowed::Only(&["grove-podgrouper"])),
    // And the program that has it, where Grove is a library like any other.
    ("example-binary", Allowed::Only(&["grove-scheduler", "grove", "example-backend"])),
    // Makes images and releases out of programs, and knows nothing of what is in them.
    ("grove-release", Allowed::Only(&[])),
    // Selects the features of all of them, for development builds.
    ("grove-dev", Allowed::All),
    ("xtask", Allowed::Only(&[])),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_allowed_name_stands_higher_in_the_table() {
        for (at, (name, allowed)) in TABLE.iter().enumerate() {
            let Allowed::Only(deps) = allowed else { continue };
            for dep in *deps {
                let found = TABLE.iter().position(|(row, _)| row == dep);
                assert!(
                    found.is_some_and(|row| row < at),
                    "{name} -> {dep}: misspelt, or the table is not in layer order"
                );
            }
        }
    }

    #[test]
    fn every_crate_has_one_row() {
        for (name, _) in TABLE {
            assert_eq!(TABLE.iter().filter(|(row, _)| row == name).count(), 1, "{name}");
        }
    }
}
