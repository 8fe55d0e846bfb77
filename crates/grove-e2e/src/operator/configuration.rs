//! The configuration of an operator that scenarios run.

use super::OperatorOptions;
use crate::cluster::Scheduler;

/// As in the measurement of upstream's operator: as much at a time, and hardly a limit.
pub(super) fn configuration(options: &OperatorOptions, ports: [u16; 3]) -> String {
    let [webhooks, health, metrics] = ports;
    let [lease, renew, retry] = options.lease;
    let (enabled, authorizer) = (options.leader_election, options.authorizer);
    let (topology_aware, more) = (options.topology_aware, options.more);
    let schedulers = profiles(options);
    format!(
        "\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
runtimeClientConnection: {{ qps: 1000, burst: 1200 }}
leaderElection:
  enabled: {enabled}
  resourceNamespace: kube-system
  leaseDuration: {lease}
  renewDeadline: {renew}
  retryPeriod: {retry}
server:
  webhooks: {{ bindAddress: 127.0.0.1, port: {webhooks} }}
  healthProbes: {{ bindAddress: 127.0.0.1, port: {health} }}
  metrics: {{ bindAddress: 127.0.0.1, port: {metrics} }}
controllers:
  podCliqueSet: {{ concurrentSyncs: 20 }}
  podClique: {{ concurrentSyncs: 20 }}
  podCliqueScalingGroup: {{ concurrentSyncs: 20 }}
  podGang: {{ concurrentSyncs: 20 }}
logLevel: info
logFormat: text
topologyAwareScheduling: {{ enabled: {topology_aware} }}
authorizer:
  enabled: {authorizer}
  exemptServiceAccountUserNames:
    - system:serviceaccount:kube-system:generic-garbage-collector
    - system:serviceaccount:kube-system:horizontal-pod-autoscaler
    - system:serviceaccount:kube-system:namespace-controller
    - system:kube-controller-manager
{schedulers}{more}"
    )
}

/// The scheduler profiles, with the queue that KAI has in these clusters.
fn profiles(options: &OperatorOptions) -> String {
    let Some(default) = options.schedulers.first() else { return String::new() };
    let gangs = options.gang_scheduling;
    let profile = |it: &Scheduler| match it {
        Scheduler::Kube => {
            format!("    - {{ name: default-scheduler, config: {{ gangScheduling: {gangs} }} }}\n")
        }
        Scheduler::Kai => "    - { name: kai-scheduler, config: { defaultQueue: test } }\n".to_owned(),
        Scheduler::Volcano => "    - { name: volcano }\n".to_owned(),
    };
    let all: String = options.schedulers.iter().map(profile).collect();
    format!("scheduler:\n  defaultProfileName: {}\n  profiles:\n{all}", default.pod_name())
}

#[cfg(test)]
mod tests {
    use grove_api::{config, manifest};
    use grove_scheduler::builtin::builtin;

    use super::*;

    #[test]
    fn the_first_scheduler_is_the_default() {
        let schedulers = vec![Scheduler::Volcano, Scheduler::Kube];
        let text = configuration(&OperatorOptions { schedulers, ..OperatorOptions::default() }, [1, 2, 3]);
        let value = &manifest::parse(&text).unwrap()[0].value["scheduler"];
        assert_eq!(value["defaultProfileName"], "volcano");
        assert_eq!(value["profiles"][1]["name"], "default-scheduler");
        assert_eq!(value["profiles"][1]["config"]["gangScheduling"], true);
    }

    #[test]
    fn the_configuration_is_one_that_the_operator_takes() {
        let text = configuration(&OperatorOptions::default(), [1, 2, 3]);
        let documents = manifest::parse(&text).unwrap();
        let loaded = builtin().with_known(|known| config::load(&documents[0].value, known)).unwrap();
        assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
        let value = loaded.config;
        assert_eq!(value.server.health_probes.port, 2);
        assert_eq!(value.leader_election.resource_namespace, "kube-system");
    }
}
