//! Rules for topology constraints and scheduling policies. A level or scheduler that a ClusterTopologyBinding lists twice is
//! left to admission: CEL cannot say which item of a list it is.

use super::rule::{Rule, rule};
use crate::messages as say;

pub(super) fn constraint() -> Vec<Rule> {
    vec![
        rule(".pack", "has(self.pack) || has(self.packDomain)", say::PACK_MISSING)
            .reason("FieldValueRequired"),
        rule(
            ".pack.required",
            "!(has(self.packDomain) && has(self.pack) && has(self.pack.required))",
            say::PACK_BOTH,
        ),
    ]
}

pub(super) fn pack() -> Vec<Rule> {
    vec![rule("", "has(self.required) || has(self.preferred)", say::PACK_EMPTY).reason("FieldValueRequired")]
}

pub(super) fn policy() -> Vec<Rule> {
    vec![
        rule(
            ".topologyName",
            "(has(self.topologyName) && self.topologyName != '') || (!(has(self.groupingConstraints) \
             && has(self.groupingConstraints.required)) && !(has(self.networkPackGroupConfigs) && \
             self.networkPackGroupConfigs.exists(p, has(p.topologyConstraint) && has(p.topologyConstraint.required))))",
            say::POLICY_NAME_MISSING,
        )
        .reason("FieldValueRequired"),
        rule(
            ".networkPackGroupConfigs",
            "!has(self.networkPackGroupConfigs) || self.networkPackGroupConfigs.all(p, p.cliqueNames.size() > 0)",
            say::PACK_GROUP_EMPTY,
        )
        .reason("FieldValueRequired"),
        rule(
            ".networkPackGroupConfigs",
            "!has(self.networkPackGroupConfigs) || self.networkPackGroupConfigs.all(p, \
             p.cliqueNames.all(n, p.cliqueNames.exists_one(m, m == n)))",
            say::PACK_GROUP_TWICE,
        ),
    ]
}

/// How a scheduling policy fits the rest of the template.
pub(super) fn set() -> Vec<Rule> {
    vec![
        rule(
            ".schedulingPolicyConfig",
            "!has(self.schedulingPolicyConfig) || !(has(self.topologyConstraint) \
             || self.cliques.exists(c, has(c.topologyConstraint)) || (has(self.podCliqueScalingGroups) \
             && self.podCliqueScalingGroups.exists(g, has(g.topologyConstraint))))",
            say::TWO_TOPOLOGY_APIS,
        )
        .reason("FieldValueForbidden"),
        rule(
            ".schedulingPolicyConfig.networkPackGroupConfigs",
            "!has(self.schedulingPolicyConfig) || !has(self.schedulingPolicyConfig.networkPackGroupConfigs) || \
             self.schedulingPolicyConfig.networkPackGroupConfigs.all(p, \
             p.cliqueNames.all(n, self.cliques.exists(c, c.name == n)))",
            say::PACK_GROUP_UNKNOWN,
        ),
        rule(
            ".schedulingPolicyConfig.networkPackGroupConfigs",
            "!has(self.schedulingPolicyConfig) || !has(self.schedulingPolicyConfig.networkPackGroupConfigs) || \
             self.cliques.all(c, self.schedulingPolicyConfig.networkPackGroupConfigs.filter(p, \
             c.name in p.cliqueNames).size() <= 1)",
            say::PACK_GROUP_TWICE,
        ),
    ]
}
