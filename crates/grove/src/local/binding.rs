//! The ClusterTopologyBinding of the simulated nodes: PodCliqueSets can be packed by it, and `grove topology` shows its domains.

use grove_placement::{
    Cluster,
    topology::{BLOCK, HOST, RACK, ZONE},
};
use serde_json::{Value, json};

/// As `grove topology detect` proposes it for a real cluster.
const NAME: &str = "cluster";

/// `None` where the nodes are in no domains.
pub(super) fn of(cluster: &Cluster) -> Option<Value> {
    let levels = [("zone", ZONE), ("block", BLOCK), ("rack", RACK), ("host", HOST)];
    let is_level = |key: &str| cluster.nodes().iter().all(|it| it.labels.contains_key(key));
    let levels: Vec<Value> = levels
        .into_iter()
        .filter(|(_, key)| is_level(key))
        .map(|(domain, key)| json!({ "domain": domain, "key": key }))
        .collect();
    // Every node has a name.
    (levels.len() > 1).then(|| {
        json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": NAME },
            "spec": { "levels": levels },
        })
    })
}

#[cfg(test)]
mod tests {
    use grove_placement::topology::parse;

    use super::*;

    #[test]
    fn levels_are_those_of_all_nodes() {
        let domains = |line: &str| {
            let binding = of(&parse(line).unwrap())?;
            let levels = binding["spec"]["levels"].as_array().unwrap().iter();
            Some(levels.map(|it| it["domain"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(
            domains("zones=2,blocks=2,racks=2,hosts=2,gpus=8").as_deref(),
            Some("zone block rack host")
        );
        assert_eq!(domains("racks=2,hosts=2,gpus=8").as_deref(), Some("rack host"));
        assert_eq!(domains("hosts=3"), None);
    }
}
