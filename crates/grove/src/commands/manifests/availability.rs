//! What keeps the operator there while nodes are drained and lost, and reachable where a namespace isolates its pods.

use std::{collections::BTreeMap, io, net::IpAddr};

use k8s_openapi::api::{
    core::v1::{Affinity, PodAffinityTerm, PodAntiAffinity, WeightedPodAffinityTerm},
    networking::v1::{
        IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer,
        NetworkPolicyPort, NetworkPolicySpec,
    },
    policy::v1::{PodDisruptionBudget, PodDisruptionBudgetSpec},
};
use k8s_openapi::apimachinery::pkg::{apis::meta::v1::LabelSelector, util::intstr::IntOrString};

use super::{
    installation::Installation,
    invalid,
    labels::{self, OPERATOR, labels, metadata},
};

/// A drain takes one operator at a time. One that is alone can be drained, too: `minAvailable` would block that for ever. One
/// that is not ready does not hold up a drain.
pub(super) fn disruption_budget(installation: &Installation) -> PodDisruptionBudget {
    PodDisruptionBudget {
        metadata: metadata(
            OPERATOR,
            Some(&installation.namespace),
            labels("operator-poddisruptionbudget", OPERATOR),
        ),
        spec: Some(PodDisruptionBudgetSpec {
            max_unavailable: Some(IntOrString::Int(1)),
            selector: Some(of_pods()),
            unhealthy_pod_eviction_policy: Some("AlwaysAllow".to_owned()),
            ..PodDisruptionBudgetSpec::default()
        }),
        ..PodDisruptionBudget::default()
    }
}

/// Pods with these labels avoid each other's nodes, those of one revision: during an update the old ones do not count.
pub(super) fn apart(labels: BTreeMap<String, String>) -> Affinity {
    Affinity {
        pod_anti_affinity: Some(PodAntiAffinity {
            preferred_during_scheduling_ignored_during_execution: Some(vec![WeightedPodAffinityTerm {
                weight: 100,
                pod_affinity_term: PodAffinityTerm {
                    label_selector: Some(LabelSelector {
                        match_labels: Some(labels),
                        ..LabelSelector::default()
                    }),
                    match_label_keys: Some(vec!["pod-template-hash".to_owned()]),
                    topology_key: "kubernetes.io/hostname".to_owned(),
                    ..PodAffinityTerm::default()
                },
            }]),
            ..PodAntiAffinity::default()
        }),
        ..Affinity::default()
    }
}

/// What may be reached of the operator, and what it may reach.
///
/// The API server calls webhooks, and kubelets ask for health, from addresses that no selector of pods describes: the three ports are open
/// to everybody. Where the API server is, and on which port behind its Service, depends on the cluster: unless it is given, the
/// operator may connect to anything. So nothing is cut off by default, also where a namespace denies everything else.
pub(super) fn network_policy(installation: &Installation) -> NetworkPolicy {
    let servers = &installation.config.server;
    let ports = [servers.webhooks.port, servers.health_probes.port, servers.metrics.port];
    let port = |number: u16| NetworkPolicyPort {
        port: Some(IntOrString::Int(number.into())),
        protocol: Some("TCP".to_owned()),
        ..NetworkPolicyPort::default()
    };
    let peer = |cidr: &String| NetworkPolicyPeer {
        ip_block: Some(IPBlock { cidr: cidr.clone(), except: None }),
        ..NetworkPolicyPeer::default()
    };
    let peers: Vec<_> = installation.api_server_cidrs.iter().map(peer).collect();
    let egress = NetworkPolicyEgressRule { to: (!peers.is_empty()).then_some(peers), ports: None };
    NetworkPolicy {
        metadata: metadata(
            OPERATOR,
            Some(&installation.namespace),
            labels("operator-networkpolicy", OPERATOR),
        ),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(of_pods()),
            policy_types: Some(vec!["Ingress".to_owned(), "Egress".to_owned()]),
            ingress: Some(vec![NetworkPolicyIngressRule { from: None, ports: Some(ports.map(port).into()) }]),
            egress: Some(vec![egress]),
        }),
    }
}

/// Addresses as a NetworkPolicy takes them: an address, a slash and a length.
pub(super) fn checked_cidrs(texts: &[String]) -> io::Result<Vec<String>> {
    let is_cidr = |text: &str| {
        let (address, length) = text.split_once('/')?;
        let (address, length): (IpAddr, u8) = (address.parse().ok()?, length.parse().ok()?);
        (length <= if address.is_ipv4() { 32 } else { 128 }).then_some(())
    };
    match texts.iter().find(|it| is_cidr(it).is_none()) {
        Some(wrong) => {
            Err(invalid(format!("--api-server-cidr {wrong:?}: is not a CIDR such as 192.0.2.10/32")))
        }
        None => Ok(texts.to_vec()),
    }
}

fn of_pods() -> LabelSelector {
    LabelSelector { match_labels: Some(labels::of_pods()), ..LabelSelector::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cidrs_are_addresses_with_a_length() {
        for (text, good) in [
            ("192.0.2.10/32", true),
            ("2001:db8::/64", true),
            ("0.0.0.0/0", true),
            ("192.0.2.10", false),
            ("192.0.2.10/33", false),
            ("example.com/32", false),
            ("", false),
        ] {
            assert_eq!(checked_cidrs(&[text.to_owned()]).is_ok(), good, "{text}");
        }
    }
}
