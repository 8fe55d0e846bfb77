//! Node objects of a described topology.

use std::collections::BTreeMap;

use grove_placement::{
    Cluster,
    resources::{CPU, MEMORY},
};
use grove_runtime::{WriteError, Writer};
use k8s_openapi::{
    api::core::v1::{Node, NodeSpec, NodeStatus, Taint},
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{Client, core::ObjectMeta};
use serde_json::json;

/// Creates the nodes that do not exist.
pub(crate) async fn create_nodes(client: Client, cluster: &Cluster) -> Result<(), WriteError> {
    let writer = Writer::new(client, "kubelet");
    for node in cluster.nodes() {
        let object = to_object(node);
        let created: Node = match writer.create("", &object).await {
            Ok(created) => created,
            Err(error) if error.is_already_exists() => continue,
            Err(error) => return Err(error),
        };
        // Some servers take the status of a new node as it is, others have it written apart.
        if created.status.as_ref().is_none_or(|it| it.capacity.is_none()) {
            let status = json!({ "status": object.status });
            let name = created.metadata.name.unwrap_or_default();
            writer.patch_status::<Node>("", &name, &status).await?;
        }
    }
    Ok(())
}

fn to_object(node: &grove_placement::Node) -> Node {
    let amounts: BTreeMap<String, Quantity> =
        node.allocatable.iter().map(|(name, amount)| (name.to_owned(), quantity(name, amount))).collect();
    let taints = node.taints.iter().map(|it| Taint {
        key: it.key.clone(),
        value: Some(it.value.clone()).filter(|it| !it.is_empty()),
        effect: it.effect.clone(),
        time_added: None,
    });
    let taints: Vec<Taint> = taints.collect();
    Node {
        metadata: ObjectMeta {
            name: Some(node.name.clone()),
            labels: Some(node.labels.clone()).filter(|it| !it.is_empty()),
            ..ObjectMeta::default()
        },
        spec: Some(NodeSpec {
            unschedulable: node.unschedulable.then_some(true),
            taints: Some(taints).filter(|it| !it.is_empty()),
            provider_id: Some(format!("sandbox://{}", node.name)),
            ..NodeSpec::default()
        }),
        status: Some(NodeStatus {
            allocatable: Some(amounts.clone()),
            capacity: Some(amounts),
            ..NodeStatus::default()
        }),
    }
}

/// An amount as Kubernetes writes it, exactly.
fn quantity(resource: &str, amount: i64) -> Quantity {
    let with = |unit: i64, suffix: &str| (amount % unit == 0).then(|| format!("{}{suffix}", amount / unit));
    let text = match resource {
        CPU => with(1_000, "").unwrap_or_else(|| format!("{amount}m")),
        MEMORY => with(1 << 40, "Ti")
            .or_else(|| with(1 << 30, "Gi"))
            .or_else(|| with(1 << 20, "Mi"))
            .or_else(|| with(1 << 10, "Ki"))
            .unwrap_or_else(|| amount.to_string()),
        _ => amount.to_string(),
    };
    Quantity(text)
}

#[cfg(test)]
mod tests {
    use grove_placement::topology::parse;

    use super::*;

    #[test]
    fn nodes_as_the_scenarios_know_them() {
        let cluster = parse("zones=1,blocks=1,racks=2,hosts=1,gpus=8").unwrap();
        let node = serde_json::to_value(to_object(&cluster.nodes()[1])).unwrap();
        assert_eq!(node["metadata"]["name"], "rack-1-node-0");
        assert_eq!(
            node["metadata"]["labels"],
            json!({
                "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": "rack-1-node-0", "kubernetes.io/os": "linux",
                "topology.kubernetes.io/block": "block-0", "topology.kubernetes.io/rack": "rack-1",
                "topology.kubernetes.io/zone": "zone-0",
            })
        );
        let amounts = json!({ "cpu": "128", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110" });
        assert_eq!(node["status"]["allocatable"], amounts);
        assert_eq!(node["status"]["capacity"], amounts);
    }

    #[test]
    fn amounts_are_exact() {
        let rows = [
            (CPU, 1_500, "1500m"),
            (CPU, 2_000, "2"),
            (MEMORY, 3 << 29, "1536Mi"),
            (MEMORY, 1_025, "1025"),
            ("nvidia.com/gpu", 1_024, "1024"),
        ];
        for (resource, amount, want) in rows {
            assert_eq!(quantity(resource, amount).0, want);
        }
    }
}
