//! Rules for the template of a set, its cliques and groups.

use super::rule::{Rule, positive, rule, unique};
use crate::messages as say;

pub(super) fn clique() -> Vec<Rule> {
    vec![rule(
        ".minAvailable",
        "!has(self.minAvailable) || self.replicas == 0 || self.minAvailable <= self.replicas",
        say::ABOVE_REPLICAS,
    )]
}

/// Rules of an update strategy.
pub(super) fn update_strategy() -> Vec<Rule> {
    vec![positive(".progressDeadline")]
}

pub(super) fn clique_template() -> Vec<Rule> {
    vec![
        rule(
            ".spec.autoScalingConfig.minReplicas",
            "!has(self.spec.autoScalingConfig) || !has(self.spec.autoScalingConfig.minReplicas) \
             || !has(self.spec.minAvailable) || self.spec.autoScalingConfig.minReplicas >= self.spec.minAvailable",
            say::BELOW_MIN_AVAILABLE,
        ),
        rule(
            ".spec.autoScalingConfig.maxReplicas",
            "!has(self.spec.autoScalingConfig) || self.spec.autoScalingConfig.maxReplicas >= self.spec.replicas",
            say::MAX_BELOW_REPLICAS,
        ),
        rule(
            ".spec.podSpec.schedulerName",
            "!has(self.spec.podSpec.schedulerName) || self.spec.podSpec.schedulerName != 'kube-scheduler'",
            say::KUBE_SCHEDULER,
        ),
        unique(".resourceSharing", "self", say::SHARING_TWICE),
    ]
}

pub(super) fn autoscaling() -> Vec<Rule> {
    vec![rule(
        ".maxReplicas",
        "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
        say::MAX_BELOW_MIN,
    )]
}

pub(super) fn group_config() -> Vec<Rule> {
    vec![
        rule(
            ".minAvailable",
            "!has(self.minAvailable) || !has(self.replicas) || self.replicas == 0 || self.minAvailable <= self.replicas",
            say::ABOVE_REPLICAS,
        ),
        rule(
            ".scaleConfig.minReplicas",
            "!has(self.scaleConfig) || !has(self.scaleConfig.minReplicas) || !has(self.minAvailable) \
             || self.scaleConfig.minReplicas >= self.minAvailable",
            say::BELOW_MIN_AVAILABLE,
        ),
        rule(
            ".scaleConfig.maxReplicas",
            "!has(self.scaleConfig) || !has(self.replicas) || self.scaleConfig.maxReplicas >= self.replicas",
            say::MAX_BELOW_REPLICAS,
        ),
        rule(
            ".cliqueNames",
            "self.cliqueNames.all(n, self.cliqueNames.exists_one(m, m == n))",
            say::MEMBER_TWICE,
        ),
        unique(".resourceSharing", "self", say::SHARING_TWICE),
        rule(
            ".resourceSharing",
            "!has(self.resourceSharing) || self.resourceSharing.all(s, !has(s.filter) \
             || !has(s.filter.childCliqueNames) || s.filter.childCliqueNames.all(n, n in self.cliqueNames))",
            say::FILTER_CLIQUE_UNKNOWN,
        ),
    ]
}

pub(super) fn group() -> Vec<Rule> {
    vec![rule(
        ".replicas",
        "!has(self.minAvailable) || self.replicas == 0 || self.replicas >= self.minAvailable",
        say::BETWEEN,
    )]
}

pub(super) fn set() -> Vec<Rule> {
    let groups = "!has(self.podCliqueScalingGroups) || self.podCliqueScalingGroups";
    let explicit = "!has(self.cliqueStartupType) || self.cliqueStartupType != 'CliqueStartupTypeExplicit'";
    let scheduler =
        |it: &str| format!("(has({it}.spec.podSpec.schedulerName) ? {it}.spec.podSpec.schedulerName : '')");
    vec![
        rule(
            ".cliques",
            "self.cliques.all(c, self.cliques.exists_one(o, o.spec.roleName == c.spec.roleName))",
            say::ROLE_NAME_TWICE,
        ),
        unique(".podCliqueScalingGroups", "self", say::GROUP_NAME_TWICE),
        rule(
            ".podCliqueScalingGroups",
            format!("{groups}.all(g, g.cliqueNames.all(n, self.cliques.exists(c, c.name == n)))"),
            say::MEMBER_UNKNOWN,
        ),
        rule(
            ".podCliqueScalingGroups",
            "!has(self.podCliqueScalingGroups) || self.cliques.all(c, \
             self.podCliqueScalingGroups.filter(g, c.name in g.cliqueNames).size() <= 1)",
            say::MEMBER_TWICE,
        ),
        rule(
            ".cliques",
            format!(
                "{groups}.all(g, self.cliques.all(c, !has(c.spec.autoScalingConfig) || !(c.name in g.cliqueNames)))"
            ),
            say::MEMBER_AUTOSCALED,
        ),
        rule(
            ".cliques",
            format!(
                "{groups}.all(g, self.cliques.all(c, c.spec.replicas > 0 || !(c.name in g.cliqueNames)))"
            ),
            say::MEMBER_ZERO,
        ),
        positive(".terminationDelay"),
        rule(
            ".cliques",
            format!(
                "{explicit} || self.cliques.all(c, !has(c.spec.startsAfter) || \
                 c.spec.startsAfter.all(s, self.cliques.exists(o, o.name == s)))"
            ),
            say::STARTS_AFTER_UNKNOWN,
        ),
        rule(
            ".cliques",
            format!(
                "{explicit} || self.cliques.all(c, !has(c.spec.startsAfter) || !(c.name in c.spec.startsAfter))"
            ),
            say::STARTS_AFTER_SELF,
        ),
        rule(
            ".cliques",
            format!(
                "{explicit} || self.cliques.all(c, !has(c.spec.startsAfter) || \
                 c.spec.startsAfter.all(s, c.spec.startsAfter.exists_one(o, o == s)))"
            ),
            say::STARTS_AFTER_TWICE,
        ),
        rule(
            ".cliques",
            format!(
                "self.cliques.all(c, {c} == '' || self.cliques.all(d, {d} == '' || {d} == {c}))",
                c = scheduler("c"),
                d = scheduler("d"),
            ),
            say::MIXED_SCHEDULERS,
        ),
    ]
}

pub(super) fn set_sharing() -> Vec<Rule> {
    let sharing = "!has(self.resourceSharing) || self.resourceSharing";
    vec![
        unique(".resourceClaimTemplates", "self", say::CLAIM_TEMPLATE_TWICE),
        unique(".resourceSharing", "self", say::SHARING_TWICE),
        rule(
            ".resourceSharing",
            format!(
                "{sharing}.all(s, !has(s.__namespace__) || s.__namespace__ == '' || !has(self.resourceClaimTemplates) \
                 || !self.resourceClaimTemplates.exists(t, t.name == s.name))"
            ),
            say::SHARING_NAMESPACE,
        ),
        rule(
            ".resourceSharing",
            format!(
                "{sharing}.all(s, !has(s.filter) || !has(s.filter.childCliqueNames) || \
                 s.filter.childCliqueNames.all(n, self.cliques.exists(c, c.name == n)))"
            ),
            say::FILTER_CLIQUE_UNKNOWN,
        ),
        rule(
            ".resourceSharing",
            format!(
                "{sharing}.all(s, !has(s.filter) || !has(s.filter.childScalingGroupNames) || \
                 s.filter.childScalingGroupNames.all(n, has(self.podCliqueScalingGroups) && \
                 self.podCliqueScalingGroups.exists(g, g.name == n)))"
            ),
            say::FILTER_GROUP_UNKNOWN,
        ),
    ]
}

pub(super) fn claim_template() -> Vec<Rule> {
    vec![
        rule(
            ".templateSpec.spec.devices.requests",
            "has(self.templateSpec.spec.devices) && has(self.templateSpec.spec.devices.requests) \
             && self.templateSpec.spec.devices.requests.size() > 0",
            say::CLAIM_REQUEST_MISSING,
        )
        .reason("FieldValueRequired"),
    ]
}

pub(super) fn filter(fields: &[&str]) -> Vec<Rule> {
    let any: Vec<String> =
        fields.iter().map(|it| format!("(has(self.{it}) && self.{it}.size() > 0)")).collect();
    vec![rule("", any.join(" || "), say::FILTER_EMPTY).reason("FieldValueRequired")]
}
