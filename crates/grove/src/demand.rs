//! What a pod takes of its node, as schedulers count it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{
    api::core::v1::{PodSpec, ResourceRequirements},
    apimachinery::pkg::api::resource::Quantity,
};

use crate::amount::Amount;

/// What a pod takes of each resource that it asks for.
pub(crate) fn of_all(spec: &PodSpec) -> BTreeMap<String, Amount> {
    let containers = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    let asked = containers.filter_map(|it| it.resources.as_ref()).chain(spec.resources.as_ref());
    let lists =
        asked.flat_map(|it| [it.requests.as_ref(), it.limits.as_ref()]).chain([spec.overhead.as_ref()]);
    let names: BTreeSet<&String> = lists.flatten().flat_map(BTreeMap::keys).collect();
    let amounts = names.into_iter().map(|it| (it.clone(), of_pod(spec, it)));
    amounts.filter(|it| !it.1.is_zero()).collect()
}

/// What a pod takes of `resource`: its containers together with its sidecars, or what it takes while an init container runs,
/// whichever is more; and what the pod itself costs.
pub(crate) fn of_pod(spec: &PodSpec, resource: &str) -> Amount {
    let of = |resources: Option<&ResourceRequirements>| of_container(resources, resource);
    let containers: Amount = spec.containers.iter().map(|it| of(it.resources.as_ref())).sum();
    // Sidecars stay beside all that starts after them; other init containers run one by one.
    let (mut sidecars, mut starting) = (Amount::default(), Amount::default());
    for it in spec.init_containers.iter().flatten() {
        let asked = of(it.resources.as_ref());
        let now = sidecars.plus(asked);
        if it.restart_policy.as_deref() == Some("Always") {
            sidecars = now;
        }
        starting = starting.max(now);
    }
    let own = spec.resources.as_ref().and_then(|it| it.requests.as_ref()).and_then(|it| it.get(resource));
    // What is asked for the pod as a whole stands for what its containers ask for.
    let asked = own.map_or_else(|| containers.plus(sidecars).max(starting), Amount::of);
    let overhead = spec.overhead.as_ref().and_then(|it| it.get(resource)).map(Amount::of);
    asked.plus(overhead.unwrap_or_default())
}

/// A limit alone is a request, too; API servers write it down.
fn of_container(resources: Option<&ResourceRequirements>, resource: &str) -> Amount {
    let asked =
        |all: Option<&BTreeMap<String, Quantity>>| all.and_then(|it| it.get(resource)).map(Amount::of);
    let Some(resources) = resources else { return Amount::default() };
    asked(resources.requests.as_ref()).or_else(|| asked(resources.limits.as_ref())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn demand(spec: Value) -> Amount {
        of_pod(&serde_json::from_value(spec).unwrap(), "nvidia.com/gpu")
    }

    fn container(gpus: u32) -> Value {
        json!({ "name": "c", "resources": { "requests": { "nvidia.com/gpu": gpus.to_string(), "cpu": "64" } } })
    }

    fn sidecar(gpus: u32) -> Value {
        let mut it = container(gpus);
        it["restartPolicy"] = json!("Always");
        it
    }

    #[test]
    fn containers_sidecars_and_init_containers() {
        let rows = [
            ("nothing is asked for", vec![], vec![json!({ "name": "c" })], 0),
            ("containers run together", vec![], vec![container(4), container(2)], 6),
            ("init containers run before them", vec![container(3), container(5)], vec![container(4)], 5),
            ("the containers need more", vec![container(3)], vec![container(4)], 4),
            ("a sidecar runs beside the containers", vec![sidecar(2)], vec![container(4)], 6),
            ("and beside init containers after it", vec![sidecar(2), container(7)], vec![container(4)], 9),
            ("not beside those before it", vec![container(7), sidecar(2)], vec![container(4)], 7),
            ("sidecars add up", vec![sidecar(2), sidecar(1)], vec![container(4)], 7),
        ];
        for (title, init, containers, want) in rows {
            let spec = json!({ "initContainers": init, "containers": containers });
            assert_eq!(demand(spec), Amount::whole(want), "{title}");
        }
    }

    #[test]
    fn the_pod_itself_costs_something() {
        let overhead = json!({ "containers": [container(4)], "overhead": { "nvidia.com/gpu": "1" } });
        assert_eq!(demand(overhead), Amount::whole(5));
        let whole = json!({
            "containers": [container(4)], "resources": { "requests": { "nvidia.com/gpu": "6" } },
            "overhead": { "nvidia.com/gpu": "1" },
        });
        assert_eq!(demand(whole), Amount::whole(7));
    }

    #[test]
    fn a_limit_alone_is_a_request() {
        let limit =
            json!({ "containers": [{ "name": "c", "resources": { "limits": { "nvidia.com/gpu": "8" } } }] });
        assert_eq!(demand(limit), Amount::whole(8));
        let both = json!({ "containers": [{ "name": "c", "resources": {
            "requests": { "nvidia.com/gpu": "2" }, "limits": { "nvidia.com/gpu": "8" } } }] });
        assert_eq!(demand(both), Amount::whole(2));
    }
}
