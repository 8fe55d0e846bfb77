//! How much a set may consist of. The whole object is looked at, so that the rules hold for `/scale` too, which no webhook is
//! asked about. What is beyond a cap already may be changed, as long as it does not grow.

use super::rule::{Rule, new_objects, rule};
use crate::{
    limits::{MAX_POD_CLIQUES_PER_SET, MAX_PODS_PER_SET, MAX_SCALING_GROUPS_PER_SET},
    messages as say,
};

pub(super) fn set() -> Vec<Rule> {
    [
        (cliques as fn(&str) -> String, MAX_POD_CLIQUES_PER_SET, say::TOO_MANY_CLIQUES),
        (groups, MAX_SCALING_GROUPS_PER_SET, say::TOO_MANY_GROUPS),
        (pods, MAX_PODS_PER_SET, say::TOO_MANY_PODS),
    ]
    .into_iter()
    .flat_map(|(total, max, message)| {
        let (now, before) = (total("self"), total("oldSelf"));
        [
            new_objects(".spec.replicas", &format!("{now} <= {max}"), message),
            rule(".spec.replicas", format!("{now} <= {max} || {now} <= {before}"), message),
        ]
    })
    .collect()
}

/// One group by itself; what it has beside the others of its set is for the webhook and the plan to see.
pub(super) fn group() -> Rule {
    let total = |it: &str| format!("{it}.replicas * {it}.cliqueNames.size()");
    let (now, before) = (total("self"), total("oldSelf"));
    let expression = format!("{now} <= {MAX_POD_CLIQUES_PER_SET} || {now} <= {before}");
    rule(".replicas", expression, say::TOO_MANY_CLIQUES)
}

/// PodCliques of a set. Every clique has one in each replica, and one more for each further replica of its group.
fn cliques(set: &str) -> String {
    let more = format!("({COPIES} - 1) * g.cliqueNames.size()");
    format!("{} * ({} + {})", replicas(set), size(&clique_list(set)), sum(&group_list(set), "g", &more))
}

fn groups(set: &str) -> String {
    format!("{} * {}", replicas(set), size(&group_list(set)))
}

fn pods(set: &str) -> String {
    let list = clique_list(set);
    let members = format!("{list}.filter(c, c.name in g.cliqueNames).map(c, {PODS}).sum()");
    let more = format!("((has(g.replicas) ? g.replicas : 1) - 1) * {members}");
    format!("{} * ({} + {})", replicas(set), sum(&list, "c", PODS), sum(&group_list(set), "g", &more))
}

/// Replicas of a group that count: one that is scaled to zero can come back.
const COPIES: &str =
    "(has(g.replicas) && g.replicas > 0 ? g.replicas : (has(g.minAvailable) ? g.minAvailable : 1))";
const PODS: &str = "(has(c.spec.replicas) ? c.spec.replicas : 1)";

fn clique_list(set: &str) -> String {
    format!("{set}.spec.template.cliques")
}

fn group_list(set: &str) -> String {
    format!("{set}.spec.template.podCliqueScalingGroups")
}

fn replicas(set: &str) -> String {
    format!("(has({set}.spec.replicas) ? {set}.spec.replicas : 0)")
}

fn size(list: &str) -> String {
    format!("(has({list}) ? {list}.size() : 0)")
}

fn sum(list: &str, item: &str, term: &str) -> String {
    format!("(has({list}) ? {list}.map({item}, {term}).sum() : 0)")
}
