//! Whether a workload asks for a queue, whichever scheduler's key it uses: a set may go to a scheduler that has none.

use std::collections::BTreeMap;

use grove_api::{constants::queues, field::Path, wire::PodCliqueSet};

use crate::tree::Gang;

type Map = BTreeMap<String, String>;

/// Whether the gang names a queue, or any template of its workload does.
pub(crate) fn is_named(gang: &Gang) -> bool {
    let whole = (&gang.labels, &gang.annotations);
    let leaves = gang.leaves();
    let groups = leaves.iter().map(|it| (&it.node.labels, &it.node.annotations));
    let siblings = gang.siblings.iter().map(|it| (&it.labels, &it.annotations));
    let mut places = std::iter::once(whole).chain(groups).chain(siblings);
    places.any(|(labels, annotations)| !keys(Some(labels), Some(annotations)).is_empty())
}

/// The fields of a set that name a queue: the set's own first, then those of its cliques.
pub fn fields(set: &PodCliqueSet) -> Vec<Path> {
    let own = keys(set.metadata.labels.as_ref(), set.metadata.annotations.as_ref());
    let own = own.into_iter().map(|it| at(&Path::of(&["metadata"]), it));
    let cliques = set.spec.template.cliques.iter().enumerate().flat_map(|(number, clique)| {
        let path = Path::of(&["spec", "template", "cliques"]).index(number);
        let keys = keys(Some(&clique.labels), Some(&clique.annotations));
        keys.into_iter().map(move |it| at(&path, it))
    });
    own.chain(cliques).collect()
}

fn at(metadata: &Path, (field, key): (&str, &str)) -> Path {
    metadata.child(field).key(key)
}

/// The keys that have a value, each with the name of its map.
fn keys(labels: Option<&Map>, annotations: Option<&Map>) -> Vec<(&'static str, &'static str)> {
    let maps = [("labels", queues::LABELS, labels), ("annotations", queues::ANNOTATIONS, annotations)];
    let mut found = Vec::new();
    for (field, keys, map) in maps {
        let has = |key: &&str| map.and_then(|it| it.get(*key)).is_some_and(|it| !it.trim().is_empty());
        found.extend(keys.iter().copied().filter(has).map(|key| (field, key)));
    }
    found
}
