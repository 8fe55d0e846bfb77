//! Versions whose stored objects are adopted, and how they differ.

use std::path::PathBuf;

use serde_json::Value;

/// Where the files are.
pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/stored")
}

/// A version of Grove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// This one.
    Current,
    /// Upstream Grove v0.1.0-alpha.11: gangs are named by their place.
    Alpha11,
    /// v0.1.0-alpha.12: gangs are named by epochs, and PodGangMaps say what is in them.
    Alpha12,
    /// v0.1.0-alpha.13. Which of alpha.12 and alpha.13 brought what differs between them here is not known; together they have
    /// every form.
    Alpha13,
}

impl Version {
    pub(crate) const ALL: [Self; 4] = [Self::Current, Self::Alpha11, Self::Alpha12, Self::Alpha13];

    /// Name of the file in `testdata/stored`.
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Current => "grove-0.1.0.json",
            Self::Alpha11 => "upstream-0.1.0-alpha.11.json",
            Self::Alpha12 => "upstream-0.1.0-alpha.12.json",
            Self::Alpha13 => "upstream-0.1.0-alpha.13.json",
        }
    }

    /// Its objects.
    pub(crate) fn stored(self) -> Vec<Value> {
        let text = std::fs::read_to_string(folder().join(self.file())).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn is_ours(self) -> bool {
        self == Self::Current
    }

    /// Whether gangs are named by epochs.
    pub(crate) fn has_epochs(self) -> bool {
        matches!(self, Self::Alpha12 | Self::Alpha13)
    }

    /// Whether PodCliques in no scaling group say in which gang they are. Upstream took that label away when a PodClique could be
    /// in several gangs.
    pub(crate) fn labels_standalone(self) -> bool {
        self != Self::Alpha13
    }

    /// Whether pods know their index in the whole replica of their scaling group.
    pub(crate) fn counts_group_pods(self) -> bool {
        self == Self::Alpha13
    }
}
