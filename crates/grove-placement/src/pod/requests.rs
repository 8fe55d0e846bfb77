//! What a pod takes of its node, as kube-scheduler counts it.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{PodSpec, ResourceRequirements},
    apimachinery::pkg::api::resource::Quantity,
};

use crate::resources::{PODS, QuantityError, Resources};

/// The containers together with the sidecars, or what is needed while an init container runs, whichever is more; what is asked
/// for the pod as a whole stands for that; the overhead; and one of `pods`.
pub fn requests(spec: &PodSpec) -> Result<Resources, QuantityError> {
    let mut running = Resources::default();
    for container in &spec.containers {
        running.add(&of_container(container.resources.as_ref())?);
    }
    let (mut sidecars, mut starting) = (Resources::default(), Resources::default());
    for container in spec.init_containers.iter().flatten() {
        let asked = of_container(container.resources.as_ref())?;
        // Sidecars stay beside all that starts after them; other init containers run one by one.
        let mut now = sidecars.clone();
        now.add(&asked);
        starting = starting.max(&now);
        if container.restart_policy.as_deref() == Some("Always") {
            sidecars = now;
        }
    }
    running.add(&sidecars);
    let mut all = running.max(&starting);
    for (name, amount) in of_container(spec.resources.as_ref())?.iter() {
        all.set(name, amount);
    }
    all.add(&spec.overhead.as_ref().map(Resources::parse).transpose()?.unwrap_or_default());
    all.set(PODS, 1);
    Ok(all)
}

/// A limit without a request is a request; API servers write it down.
fn of_container(resources: Option<&ResourceRequirements>) -> Result<Resources, QuantityError> {
    let Some(resources) = resources else { return Ok(Resources::default()) };
    let mut asked: BTreeMap<String, Quantity> = resources.limits.clone().unwrap_or_default();
    asked.extend(resources.requests.clone().unwrap_or_default());
    Resources::parse(&asked)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::resources::{CPU, GPU};

    fn gpus(spec: Value) -> i64 {
        requests(&serde_json::from_value(spec).unwrap()).unwrap().get(GPU)
    }

    fn container(gpus: u32) -> Value {
        json!({ "name": "c", "resources": { "requests": { "nvidia.com/gpu": gpus.to_string() } } })
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
            assert_eq!(gpus(json!({ "initContainers": init, "containers": containers })), want, "{title}");
        }
    }

    #[test]
    fn overhead_and_requests_of_the_whole_pod() {
        let whole = json!({
            "containers": [container(4)], "resources": { "requests": { "nvidia.com/gpu": "6" } },
            "overhead": { "nvidia.com/gpu": "1" },
        });
        assert_eq!(gpus(whole), 7);
        let limit =
            json!({ "containers": [{ "name": "c", "resources": { "limits": { "nvidia.com/gpu": "8" } } }] });
        assert_eq!(gpus(limit), 8);
    }

    #[test]
    fn every_pod_counts_and_wrong_quantities_are_errors() {
        let spec = json!({ "containers": [{ "name": "c", "resources": { "requests": { "cpu": "250m" } } }] });
        let all = requests(&serde_json::from_value(spec).unwrap()).unwrap();
        assert_eq!((all.get(CPU), all.get(PODS)), (250, 1));
        let wrong = json!({ "containers": [{ "name": "c", "resources": { "requests": { "cpu": "-1" } } }] });
        assert_eq!(requests(&serde_json::from_value(wrong).unwrap()).unwrap_err().resource, CPU);
    }
}
