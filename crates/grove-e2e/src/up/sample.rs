//! What is shown: a set from a file.

use std::path::Path;

use anyhow::{Context, Result};
use grove_api::{defaulting::default_pod_clique_set, names, wire::PodCliqueSet};
use kube::ResourceExt;

use crate::objects;

/// A set, and what the front says of it.
pub(super) struct Sample {
    pub(super) text: String,
    pub(super) name: String,
    /// Pods that it will have.
    pub(super) pods: usize,
    /// Its first scaling group, and twice as many replicas as that has.
    pub(super) group: Option<(String, usize)>,
}

impl Sample {
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let value = objects::parse(&text)?.into_iter().find(|it| it["kind"] == "PodCliqueSet");
        let value = value.with_context(|| format!("no PodCliqueSet in {}", file.display()))?;
        let mut set: PodCliqueSet = serde_json::from_value(value)?;
        default_pod_clique_set(&mut set, None);
        let template = &set.spec.template;
        let name = set.name_any();
        let count = |it: Option<i32>| it.and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
        let copies = |clique: &str| template.group_of(clique).map_or(1, |it| count(it.replicas));
        let each: usize = template.cliques.iter().map(|it| count(it.spec.replicas) * copies(&it.name)).sum();
        let group = template.scaling_groups.first();
        Ok(Self {
            pods: each * count(Some(set.spec.replicas)),
            group: group.map(|it| (names::scaling_group(&name, 0, &it.name), count(it.replicas) * 2)),
            name,
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::repository;

    #[test]
    fn pods_are_counted_with_groups() {
        let sample = Sample::read(&repository().join("samples/03-multi-node.yaml")).unwrap();
        assert_eq!((sample.name.as_str(), sample.pods), ("multinode", 8));
        assert_eq!(sample.group, Some(("multinode-0-instance".to_owned(), 4)));
        assert_eq!(Sample::read(&repository().join("samples/01-single-role.yaml")).unwrap().group, None);
    }
}
