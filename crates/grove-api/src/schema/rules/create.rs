//! Rules that only a new set has to keep, and rules that need its name.

use super::{
    patterns,
    rule::{Rule, new_objects},
};
use crate::{limits::NAME_BUDGET, messages as say};

pub(super) fn set() -> Vec<Rule> {
    let cliques = "!has(self.spec.template.cliques) || self.spec.template.cliques";
    let groups =
        "!has(self.spec.template.podCliqueScalingGroups) || self.spec.template.podCliqueScalingGroups";
    let forbidden = "FieldValueForbidden";
    vec![
        new_objects(".metadata", &format!("self.metadata.name.matches('{}')", patterns::SERVICE_NAME), say::SET_NAME),
        new_objects(
            ".metadata",
            &format!("{cliques}.all(c, self.metadata.name.size() + c.name.size() <= {NAME_BUDGET})"),
            say::STANDALONE_BUDGET,
        ),
        new_objects(
            ".metadata",
            &format!(
                "{groups}.all(g, g.cliqueNames.all(n, \
                 self.metadata.name.size() + g.name.size() + n.size() <= {NAME_BUDGET}))"
            ),
            say::MEMBER_BUDGET,
        ),
        new_objects(
            ".spec.template.topologyConstraint.packDomain",
            "!has(self.spec.template.topologyConstraint) || !has(self.spec.template.topologyConstraint.packDomain)",
            say::PACK_DOMAIN_NEW,
        )
        .reason(forbidden),
        new_objects(
            ".spec.template.cliques",
            &format!("{cliques}.all(c, !has(c.topologyConstraint) || !has(c.topologyConstraint.packDomain))"),
            say::PACK_DOMAIN_NEW,
        )
        .reason(forbidden),
        new_objects(
            ".spec.template.podCliqueScalingGroups",
            &format!("{groups}.all(g, !has(g.topologyConstraint) || !has(g.topologyConstraint.packDomain))"),
            say::PACK_DOMAIN_NEW,
        )
        .reason(forbidden),
        new_objects(
            ".spec.template.cliques",
            &format!("{cliques}.all(c, !has(c.spec.podSpec.topologySpreadConstraints))"),
            say::SPREAD_SET,
        ),
        new_objects(
            ".spec.template.cliques",
            &format!("{cliques}.all(c, !has(c.spec.podSpec.nodeName))"),
            say::NODE_NAME_SET,
        ),
    ]
}
