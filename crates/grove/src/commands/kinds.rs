//! Grove's kinds as users write them, and names that they may have meant.

use std::fmt::Debug;

use grove_api::{
    field::closest,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, Resource, api::ListParams, core::NamespaceResourceScope};
use serde::de::DeserializeOwned;

/// Names that are compared with a misspelt one.
const MAX_COMPARED: u32 = 1_000;

/// A kind that belongs to a PodCliqueSet, or the set itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Set,
    Group,
    Clique,
    Gang,
    Pod,
}

/// What users write for each: the singular first.
const NAMES: [(Kind, &[&str]); 5] = [
    (Kind::Set, &["podcliqueset", "podcliquesets", "pcs", "set"]),
    (Kind::Group, &["podcliquescalinggroup", "podcliquescalinggroups", "pcsg", "group"]),
    (Kind::Clique, &["podclique", "podcliques", "pclq", "clique"]),
    (Kind::Gang, &["podgang", "podgangs", "pg", "gang"]),
    (Kind::Pod, &["pod", "pods", "po"]),
];

impl Kind {
    /// By any of its names; with its group too, as in `podgangs.scheduler.grove.io`.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let name = match text.split_once('.') {
            Some((name, "grove.io" | "scheduler.grove.io")) => name,
            Some(_) => return None,
            None => &text,
        };
        NAMES.iter().find(|it| it.1.contains(&name)).map(|it| it.0)
    }

    /// Names of all of them, to find the one that was probably meant.
    pub(crate) fn all_names() -> Vec<String> {
        NAMES.iter().flat_map(|it| it.1).map(|it| (*it).to_owned()).collect()
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Set => "PodCliqueSet",
            Self::Group => "PodCliqueScalingGroup",
            Self::Clique => "PodClique",
            Self::Gang => "PodGang",
            Self::Pod => "pod",
        }
    }

    /// The name of an object that is most like `name`; where nothing is, or may be listed, `None`.
    pub(crate) async fn similar(self, client: &Client, namespace: &str, name: &str) -> Option<String> {
        match self {
            Self::Set => similar::<PodCliqueSet>(client, namespace, name).await,
            Self::Group => similar::<PodCliqueScalingGroup>(client, namespace, name).await,
            Self::Clique => similar::<PodClique>(client, namespace, name).await,
            Self::Gang => similar::<PodGang>(client, namespace, name).await,
            Self::Pod => similar::<Pod>(client, namespace, name).await,
        }
    }
}

async fn similar<K>(client: &Client, namespace: &str, name: &str) -> Option<String>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    closest_to(&Api::<K>::namespaced(client.clone(), namespace), name).await
}

/// The name of an object of a kind that is most like `name`.
pub(crate) async fn closest_to<K>(api: &Api<K>, name: &str) -> Option<String>
where
    K: Clone + Debug + DeserializeOwned,
{
    let list = api.list_metadata(&ListParams::default().limit(MAX_COMPARED)).await.ok()?;
    let names: Vec<String> = list.items.into_iter().filter_map(|it| it.metadata.name).collect();
    closest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

/// The end of a sentence about something that is not there.
pub(crate) fn did_you_mean(name: Option<&str>) -> String {
    name.map(|it| format!("; did you mean {it:?}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_all_of_their_names() {
        let rows = [
            ("pcs", Some(Kind::Set)),
            ("PodCliqueSet", Some(Kind::Set)),
            ("pcsg", Some(Kind::Group)),
            ("podcliquescalinggroups.grove.io", Some(Kind::Group)),
            ("pclq", Some(Kind::Clique)),
            ("pg", Some(Kind::Gang)),
            ("gang", Some(Kind::Gang)),
            ("podgangs.scheduler.grove.io", Some(Kind::Gang)),
            ("po", Some(Kind::Pod)),
            ("job", None),
            ("podgroups.scheduling.k8s.io", None),
            ("pods.metrics.k8s.io", None),
        ];
        for (text, want) in rows {
            assert_eq!(Kind::of(text), want, "{text}");
        }
    }

    #[test]
    fn a_name_that_was_meant() {
        assert_eq!(did_you_mean(Some("chat")), "; did you mean \"chat\"?");
        assert_eq!(did_you_mean(None), "");
        assert_eq!(closest("gnag", Kind::all_names().iter().map(String::as_str)), Some("gang"));
    }
}
