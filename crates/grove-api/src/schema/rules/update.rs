//! What may not change after creation.

use super::rule::{Rule, rule, same_topology, unchanged, unchanged_list};
use crate::messages as say;

/// A list that cannot be changed after creation.
fn fixed_list(field: &'static str) -> Rule {
    rule(field, unchanged_list(&format!("self{field}"), &format!("oldSelf{field}")), say::IMMUTABLE)
}

pub(super) fn set() -> Vec<Rule> {
    let matched = |condition: &str| {
        format!(
            "!has(self.podCliqueScalingGroups) || !has(oldSelf.podCliqueScalingGroups) || \
             self.podCliqueScalingGroups.all(g, oldSelf.podCliqueScalingGroups.all(o, o.name != g.name || ({condition})))"
        )
    };
    let same = |field: &str| {
        format!("has(g.{field}) == has(o.{field}) && (!has(g.{field}) || g.{field} == o.{field})")
    };
    vec![
        rule(
            ".cliques",
            "self.cliques.size() == oldSelf.cliques.size() \
             && self.cliques.all(c, oldSelf.cliques.exists(o, o.name == c.name))",
            say::CLIQUES_FIXED,
        )
        .reason("FieldValueForbidden"),
        rule(
            ".cliques",
            "!has(self.cliqueStartupType) || self.cliqueStartupType == 'CliqueStartupTypeAnyOrder' \
             || self.cliques.map(c, c.name) == oldSelf.cliques.map(c, c.name)",
            say::CLIQUE_ORDER_FIXED,
        ),
        rule(".cliqueStartupType", unchanged("cliqueStartupType"), say::IMMUTABLE),
        fixed_list(".resourceClaimTemplates"),
        fixed_list(".resourceSharing"),
        rule(
            ".podCliqueScalingGroups",
            "(has(self.podCliqueScalingGroups) ? self.podCliqueScalingGroups.size() : 0) == \
             (has(oldSelf.podCliqueScalingGroups) ? oldSelf.podCliqueScalingGroups.size() : 0) \
             && (!has(self.podCliqueScalingGroups) || self.podCliqueScalingGroups.all(g, \
             oldSelf.podCliqueScalingGroups.exists(o, o.name == g.name)))",
            say::GROUPS_FIXED,
        )
        .reason("FieldValueForbidden"),
        rule(".podCliqueScalingGroups", matched("g.cliqueNames == o.cliqueNames"), say::IMMUTABLE),
        rule(".podCliqueScalingGroups", matched(&same("minAvailable")), say::IMMUTABLE),
        rule(
            ".podCliqueScalingGroups",
            matched(&unchanged_list("g.resourceSharing", "o.resourceSharing")),
            say::IMMUTABLE,
        ),
        rule(
            ".podCliqueScalingGroups",
            matched(&same_topology("g.topologyConstraint", "o.topologyConstraint")),
            say::TOPOLOGY_FIXED,
        )
        .reason("FieldValueForbidden"),
        rule(
            ".topologyConstraint",
            same_topology("self.topologyConstraint", "oldSelf.topologyConstraint"),
            say::TOPOLOGY_FIXED,
        )
        .reason("FieldValueForbidden"),
        rule(".schedulingPolicyConfig", unchanged("schedulingPolicyConfig"), say::TOPOLOGY_FIXED)
            .reason("FieldValueForbidden"),
    ]
}

/// Cliques are matched by name, so `oldSelf` is the same clique.
pub(super) fn clique() -> Vec<Rule> {
    let spec = |field: &str| unchanged(&format!("spec.{field}"));
    vec![
        rule(".spec.roleName", spec("roleName"), say::IMMUTABLE),
        rule(".spec.minAvailable", spec("minAvailable"), say::IMMUTABLE),
        fixed_list(".spec.startsAfter"),
        rule(
            ".spec.podSpec.schedulerName",
            "(has(self.spec.podSpec.schedulerName) ? self.spec.podSpec.schedulerName : '') == \
             (has(oldSelf.spec.podSpec.schedulerName) ? oldSelf.spec.podSpec.schedulerName : '')",
            say::IMMUTABLE,
        ),
        fixed_list(".resourceSharing"),
        rule(
            ".topologyConstraint",
            same_topology("self.topologyConstraint", "oldSelf.topologyConstraint"),
            say::TOPOLOGY_FIXED,
        )
        .reason("FieldValueForbidden"),
    ]
}
