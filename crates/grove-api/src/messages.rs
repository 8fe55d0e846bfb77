//! What is wrong, in words: shared by the CEL rules of the CRDs and the validation functions, so that a user reads
//! the same sentence whoever refuses the object.

pub(crate) const ABOVE_REPLICAS: &str = "must not be greater than replicas";
pub(crate) const BELOW_MIN_AVAILABLE: &str = "must not be less than minAvailable";
pub(crate) const BETWEEN: &str = "must be 0, or not less than minAvailable";
pub(crate) const MAX_BELOW_MIN: &str = "must not be less than minReplicas";
pub(crate) const MAX_BELOW_REPLICAS: &str = "must not be less than replicas";
pub(crate) const TOO_MANY_PODS: &str = "a set may have at most 100000 pods: lower replicas, or split the set";
pub(crate) const TOO_MANY_CLIQUES: &str =
    "a set may have at most 10000 PodCliques: lower replicas, or split the set";
pub(crate) const TOO_MANY_GROUPS: &str =
    "a set may have at most 10000 PodCliqueScalingGroups: lower replicas, or split the set";
pub(crate) const ROLE_NAME_TWICE: &str = "roleName must be unique among the cliques";
pub(crate) const GROUP_NAME_TWICE: &str = "names of scaling groups must be unique";
pub(crate) const MEMBER_UNKNOWN: &str = "must name cliques of spec.template.cliques";
pub(crate) const MEMBER_TWICE: &str =
    "a clique can belong to only one scaling group, and be listed there once";
pub(crate) const MEMBER_AUTOSCALED: &str = "a clique of a scaling group scales with the group: remove its autoScalingConfig, or use the group's scaleConfig";
pub(crate) const MEMBER_ZERO: &str =
    "a clique of a scaling group cannot be scaled to zero on its own: set replicas of the group to 0";
pub(crate) const DELAY_NOT_POSITIVE: &str = "must be a duration greater than 0, such as 30s or 4h";
pub(crate) const BACKOFF_UPSIDE_DOWN: &str = "must not be longer than backoff.max";
pub(crate) const STARTS_AFTER_UNKNOWN: &str = "must name cliques of spec.template.cliques";
pub(crate) const STARTS_AFTER_SELF: &str = "a clique cannot start after itself";
pub(crate) const STARTS_AFTER_TWICE: &str = "lists a clique more than once";
pub(crate) const KUBE_SCHEDULER: &str =
    "use default-scheduler: kube-scheduler is the name of the program, not of a scheduler that pods can name";
pub(crate) const MIXED_SCHEDULERS: &str = "all cliques of a set must use the same scheduler";
pub(crate) const SPREAD_SET: &str = "must not be set: Grove places the pods of a gang together";
pub(crate) const NODE_NAME_SET: &str = "must not be set: the scheduler chooses the node";
pub(crate) const SET_NAME: &str = "must begin with a lower-case letter and have only lower-case letters, digits and \
     dashes: it begins the name of a Service";
pub(crate) const STANDALONE_BUDGET: &str =
    "the names of the set and of a clique may have 45 characters together";
pub(crate) const MEMBER_BUDGET: &str =
    "the names of the set, of a scaling group and of a clique in it may have 45 characters together";
pub(crate) const PACK_DOMAIN_NEW: &str =
    "packDomain is deprecated and cannot be used on new workloads; use pack.required";
pub(crate) const PACK_MISSING: &str = "topologyConstraint must specify pack or deprecated packDomain";
pub(crate) const PACK_BOTH: &str = "must not set both pack.required and deprecated packDomain";
pub(crate) const PACK_EMPTY: &str = "pack must specify at least one of required or preferred";
pub(crate) const TWO_TOPOLOGY_APIS: &str =
    "use either schedulingPolicyConfig or topologyConstraint, not both in one set";
pub(crate) const POLICY_NAME_MISSING: &str = "required by the constraints of schedulingPolicyConfig";
pub(crate) const PACK_GROUP_TWICE: &str =
    "a clique can belong to only one pack group, and be listed there once";
pub(crate) const PACK_GROUP_UNKNOWN: &str = "must name cliques of spec.template.cliques";
pub(crate) const PACK_GROUP_EMPTY: &str = "a pack group needs at least one clique";
pub(crate) const CLAIM_TEMPLATE_TWICE: &str = "names of claim templates must be unique";
pub(crate) const CLAIM_REQUEST_MISSING: &str = "at least one device request is required";
pub(crate) const SHARING_TWICE: &str = "names must be unique in the list";
pub(crate) const SHARING_NAMESPACE: &str = "must be empty: the name is a claim template of this set";
pub(crate) const FILTER_EMPTY: &str = "name at least one child, or leave the filter out to mean all";
pub(crate) const FILTER_CLIQUE_UNKNOWN: &str = "no such clique at this level";
pub(crate) const FILTER_GROUP_UNKNOWN: &str = "no such scaling group";
pub(crate) const IMMUTABLE: &str = "cannot be changed after creation";
pub(crate) const CLIQUES_FIXED: &str = "cliques cannot be added, removed or renamed after creation";
pub(crate) const CLIQUE_ORDER_FIXED: &str =
    "the order of cliques cannot be changed: with this startup type it is the start order";
pub(crate) const GROUPS_FIXED: &str = "scaling groups cannot be added, removed or renamed after creation";
pub(crate) const TOPOLOGY_FIXED: &str =
    "topology constraints cannot be added, removed or changed after creation";
pub(crate) const RULE_TWO_MINIMA: &str =
    "must not be set beside subGroups: the minima of the sub-groups are that of the group";
pub(crate) const RULE_NO_SUB_GROUPS: &str = "needs subGroups: it says how many of them are placed together";
pub(crate) const RULE_TOPOLOGY_NAME: &str = "needed by the levels of the topology";
pub(crate) const RULE_SUB_GROUP_TWICE: &str = "sub-group names must be unique";
pub(crate) const RULE_TWO_RESTS: &str =
    "only one sub-group may be without a podSelector: it takes the pods that no other takes";
pub(crate) const RULE_NAME_OR_EACH: &str = "exactly one of name and forEach is needed";
pub(crate) const RULE_PATH_OR_VALUE: &str = "exactly one of path and value is needed";
pub(crate) const RULE_DEFAULT_ALONE: &str = "is for a path that finds nothing: set path, or value instead";
pub(crate) const RULE_PRIORITY_EMPTY: &str = "at least one of path and default is needed";
pub(crate) const RULE_NO_LEVEL: &str = "at least one of required and preferred is needed";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{MAX_POD_CLIQUES_PER_SET, MAX_PODS_PER_SET, MAX_SCALING_GROUPS_PER_SET};

    #[test]
    fn sentences_name_the_limits() {
        for (message, limit) in [
            (TOO_MANY_PODS, MAX_PODS_PER_SET),
            (TOO_MANY_CLIQUES, MAX_POD_CLIQUES_PER_SET),
            (TOO_MANY_GROUPS, MAX_SCALING_GROUPS_PER_SET),
        ] {
            assert!(message.contains(&format!("at most {limit} ")), "{message}");
        }
    }
}
