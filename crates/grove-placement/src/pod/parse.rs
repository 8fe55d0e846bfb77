//! From a pod of the API to what placement knows of it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1 as core;

use super::{
    HostPort, NodeRequirement, NodeTerm, Operator, PodRequirements, PodTerm, Selector, Spread, Toleration,
    requests::requests,
};
use crate::resources::QuantityError;

/// A pod that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PodError {
    /// An amount that is none.
    #[error("{0}")]
    Quantity(#[from] QuantityError),
    /// An operator that does not exist.
    #[error("{field}: unknown operator in a selector: use In, NotIn, Exists or DoesNotExist")]
    Operator {
        /// Where it stands.
        field: &'static str,
    },
}

/// What a pod asks for.
pub fn requirements(pod: &core::Pod) -> Result<PodRequirements, PodError> {
    let empty = core::PodSpec::default();
    let spec = pod.spec.as_ref().unwrap_or(&empty);
    let labels = pod.metadata.labels.clone().unwrap_or_default();
    let namespace = pod.metadata.namespace.clone().unwrap_or_default();
    let mut it = PodRequirements {
        requests: requests(spec)?,
        node_selector: spec.node_selector.clone().unwrap_or_default(),
        tolerations: spec.tolerations.iter().flatten().filter_map(Toleration::parse).collect(),
        host_ports: host_ports(spec),
        unmodelled: unmodelled(spec),
        ..PodRequirements::default()
    };
    let affinity = spec.affinity.as_ref();
    if let Some(nodes) = affinity.and_then(|it| it.node_affinity.as_ref()) {
        let required = nodes.required_during_scheduling_ignored_during_execution.as_ref();
        let terms = required.map(|it| it.node_selector_terms.iter().map(node_term).collect());
        it.node_affinity = terms.transpose()?;
        for wish in nodes.preferred_during_scheduling_ignored_during_execution.iter().flatten() {
            it.preferred_nodes.push((wish.weight, node_term(&wish.preference)?));
        }
    }
    let own = (namespace.as_str(), &labels);
    if let Some(pods) = affinity.and_then(|it| it.pod_affinity.as_ref()) {
        let terms = pods.required_during_scheduling_ignored_during_execution.iter().flatten();
        it.affinity = terms.map(|term| pod_term(term, own, &mut it.unmodelled)).collect::<Result<_, _>>()?;
    }
    if let Some(pods) = affinity.and_then(|it| it.pod_anti_affinity.as_ref()) {
        let terms = pods.required_during_scheduling_ignored_during_execution.iter().flatten();
        it.anti_affinity =
            terms.map(|term| pod_term(term, own, &mut it.unmodelled)).collect::<Result<_, _>>()?;
    }
    let hard = spec.topology_spread_constraints.iter().flatten();
    let hard = hard.filter(|it| it.when_unsatisfiable == "DoNotSchedule");
    it.spread = hard.map(|constraint| spread(constraint, &labels)).collect::<Result<_, _>>()?;
    (it.namespace, it.labels) = (namespace, labels);
    Ok(it)
}

fn node_term(term: &core::NodeSelectorTerm) -> Result<NodeTerm, PodError> {
    let field = "spec.affinity.nodeAffinity";
    let read = |it: &core::NodeSelectorRequirement, key: Option<String>| {
        let operator = Operator::parse(&it.operator).ok_or(PodError::Operator { field })?;
        let values = it.values.iter().flatten().cloned().collect();
        Ok::<_, PodError>(NodeRequirement { key, operator, values })
    };
    let labels = term.match_expressions.iter().flatten().map(|it| read(it, Some(it.key.clone())));
    let names = term.match_fields.iter().flatten().map(|it| read(it, None));
    Ok(NodeTerm(labels.chain(names).collect::<Result<_, _>>()?))
}

fn pod_term(
    term: &core::PodAffinityTerm,
    (namespace, labels): (&str, &BTreeMap<String, String>),
    unmodelled: &mut BTreeSet<String>,
) -> Result<PodTerm, PodError> {
    let error = PodError::Operator { field: "spec.affinity" };
    let mut selector = Selector::parse(term.label_selector.as_ref()).ok_or(error)?;
    selector.restrict(term.match_label_keys.as_deref().unwrap_or_default(), Operator::In, labels);
    selector.restrict(term.mismatch_label_keys.as_deref().unwrap_or_default(), Operator::NotIn, labels);
    let listed: BTreeSet<String> = term.namespaces.iter().flatten().cloned().collect();
    let namespaces = match &term.namespace_selector {
        None if listed.is_empty() => Some([namespace.to_owned()].into()),
        None => Some(listed),
        Some(all) => {
            if all.match_labels.iter().flatten().count() + all.match_expressions.iter().flatten().count() > 0
            {
                unmodelled.insert("namespaceSelector of pod affinity (every namespace counts)".to_owned());
            }
            None
        }
    };
    Ok(PodTerm { topology_key: term.topology_key.clone(), namespaces, selector })
}

fn spread(
    constraint: &core::TopologySpreadConstraint,
    labels: &BTreeMap<String, String>,
) -> Result<Spread, PodError> {
    let error = PodError::Operator { field: "spec.topologySpreadConstraints" };
    let mut selector = Selector::parse(constraint.label_selector.as_ref()).ok_or(error)?;
    selector.restrict(constraint.match_label_keys.as_deref().unwrap_or_default(), Operator::In, labels);
    Ok(Spread {
        max_skew: constraint.max_skew,
        topology_key: constraint.topology_key.clone(),
        selector,
        min_domains: constraint.min_domains.unwrap_or(1),
        honors_affinity: constraint.node_affinity_policy.as_deref() != Some("Ignore"),
        honors_taints: constraint.node_taints_policy.as_deref() == Some("Honor"),
    })
}

fn host_ports(spec: &core::PodSpec) -> Vec<HostPort> {
    let sidecars = spec.init_containers.iter().flatten();
    let sidecars = sidecars.filter(|it| it.restart_policy.as_deref() == Some("Always"));
    let ports = spec.containers.iter().chain(sidecars).flat_map(|it| it.ports.iter().flatten());
    let host_network = spec.host_network.unwrap_or_default();
    let port = |it: &core::ContainerPort| {
        let own = it.host_port.or(host_network.then_some(it.container_port)).filter(|it| *it > 0)?;
        let protocol = it.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
        Some(HostPort { ip: it.host_ip.clone().unwrap_or_default(), protocol, port: own })
    };
    let ports: BTreeSet<HostPort> = ports.filter_map(port).collect();
    ports.into_iter().collect()
}

/// What else of a pod may keep it from a node.
fn unmodelled(spec: &core::PodSpec) -> BTreeSet<String> {
    let volumes = spec.volumes.iter().flatten();
    let has_claim = volumes.clone().any(|it| it.persistent_volume_claim.is_some() || it.ephemeral.is_some());
    let devices = spec.resource_claims.as_ref().is_some_and(|it| !it.is_empty());
    let rows =
        [(has_claim, "node affinity of persistent volumes"), (devices, "devices of resource claims (DRA)")];
    rows.into_iter().filter(|it| it.0).map(|it| it.1.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(pod: Value) -> Result<PodRequirements, PodError> {
        requirements(&serde_json::from_value(pod).unwrap())
    }

    #[test]
    fn affinity_terms_and_spread() {
        let term = json!({ "topologyKey": "zone", "labelSelector": { "matchLabels": { "app": "a" } } });
        let mut elsewhere = term.clone();
        elsewhere["namespaceSelector"] = json!({ "matchLabels": { "x": "y" } });
        let pod = read(json!({
            "metadata": { "namespace": "ns", "labels": { "app": "a", "rev": "1" } },
            "spec": {
                "containers": [],
                "affinity": {
                    "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [term] },
                    "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [elsewhere] },
                },
                "topologySpreadConstraints": [
                    { "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway" },
                    { "maxSkew": 2, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {},
                      "matchLabelKeys": ["rev"] },
                ],
                "resourceClaims": [{ "name": "gpu" }],
            },
        }))
        .unwrap();
        assert!(pod.affinity[0].matches("ns", &pod.labels));
        assert!(!pod.affinity[0].matches("other", &pod.labels));
        assert!(pod.anti_affinity[0].matches("other", &pod.labels));
        assert_eq!(pod.spread.len(), 1);
        assert_eq!((pod.spread[0].max_skew, pod.spread[0].min_domains), (2, 1));
        assert!(pod.spread[0].honors_affinity && !pod.spread[0].honors_taints);
        assert!(!pod.spread[0].selector.matches(&BTreeMap::from([("rev".to_owned(), "2".to_owned())])));
        assert_eq!(pod.unmodelled.len(), 2, "{:?}", pod.unmodelled);
    }

    #[test]
    fn host_ports_conflict_by_address_protocol_and_number() {
        let pod = read(json!({ "spec": { "hostNetwork": true, "containers": [{ "name": "c", "ports": [
            { "containerPort": 80 }, { "containerPort": 81, "hostPort": 8081, "protocol": "UDP", "hostIP": "10.0.0.1" } ] }] } }))
        .unwrap();
        let port =
            |ip: &str, protocol: &str, port: i32| HostPort { ip: ip.into(), protocol: protocol.into(), port };
        assert_eq!(pod.host_ports, [port("", "TCP", 80), port("10.0.0.1", "UDP", 8081)]);
        let conflicts = |it: &HostPort| pod.host_ports.iter().any(|own| own.conflicts_with(it));
        assert!(conflicts(&port("10.0.0.9", "TCP", 80)) && conflicts(&port("0.0.0.0", "UDP", 8081)));
        assert!(!conflicts(&port("10.0.0.2", "UDP", 8081)) && !conflicts(&port("", "UDP", 80)));
        assert!(pod.depends_on_pods());
    }

    #[test]
    fn unknown_operators_are_errors() {
        let term = json!([{ "matchExpressions": [{ "key": "a", "operator": "Like" }] }]);
        let pod = json!({ "spec": { "containers": [], "affinity": { "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": term } } } } });
        assert_eq!(read(pod), Err(PodError::Operator { field: "spec.affinity.nodeAffinity" }));
    }
}
