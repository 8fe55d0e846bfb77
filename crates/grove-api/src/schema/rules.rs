//! Validation rules in CEL, so that a cluster refuses wrong objects also while the operator is down.
//!
//! Rules stand with the type they speak of; `self` is a value of that type. What CEL cannot say within the API
//! server's cost budget (cycles, totals, anything about other objects) is left to admission.

use serde_json::{Map, Value, json};

use super::{definitions::Definitions, patterns};
use crate::{
    limits::{MAX_LABEL_LENGTH, NAME_BUDGET},
    messages as say,
};

/// One rule.
struct Rule {
    /// CEL expression that has to be true.
    rule: String,
    /// What is wrong where it is not.
    message: &'static str,
    /// Field below `self` that is wrong.
    field: &'static str,
    reason: Option<&'static str>,
    /// Evaluated on create too, with `oldSelf` empty.
    on_create: bool,
}

fn rule(field: &'static str, rule: impl Into<String>, message: &'static str) -> Rule {
    Rule {
        rule: rule.into(),
        message,
        field,
        reason: None,
        on_create: false,
    }
}

impl Rule {
    fn reason(self, reason: &'static str) -> Self {
        Self {
            reason: Some(reason),
            ..self
        }
    }

    fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("rule".into(), json!(self.rule));
        value.insert("message".into(), json!(self.message));
        if !self.field.is_empty() {
            value.insert("fieldPath".into(), json!(self.field));
        }
        if let Some(reason) = self.reason {
            value.insert("reason".into(), json!(reason));
        }
        if self.on_create {
            value.insert("optionalOldSelf".into(), json!(true));
        }
        Value::Object(value)
    }
}

/// Holds on create; an object that is already there keeps what it has.
fn new_objects(field: &'static str, expression: &str, message: &'static str) -> Rule {
    Rule {
        on_create: true,
        ..rule(field, format!("oldSelf.hasValue() || ({expression})"), message)
    }
}

/// `field` of self and oldSelf are equal, absence included. It stands on the parent of the field, because a rule
/// on the field itself is not asked when the field is added or removed.
fn unchanged(field: &str) -> String {
    format!(
        "has(self.{field}) == has(oldSelf.{field}) && (!has(self.{field}) || self.{field} == oldSelf.{field})"
    )
}

/// Likewise for a list, where empty and absent are the same.
fn unchanged_list(new: &str, old: &str) -> String {
    format!("(has({new}) ? {new} : []) == (has({old}) ? {old} : [])")
}

/// A topology constraint may only change its spelling: `packDomain` to `pack.required`, or gain the name it lacked.
fn same_topology(new: &str, old: &str) -> String {
    let required = |it: &str| {
        format!(
            "(has({it}.pack) && has({it}.pack.required) ? {it}.pack.required \
             : (has({it}.packDomain) ? {it}.packDomain : ''))"
        )
    };
    let preferred =
        |it: &str| format!("(has({it}.pack) && has({it}.pack.preferred) ? {it}.pack.preferred : '')");
    let name = |it: &str| format!("(has({it}.topologyName) ? {it}.topologyName : '')");
    format!(
        "has({new}) == has({old}) && (!has({new}) || ({} == {} && {} == {} && ({} == {} || \
         ({} == '' && has({old}.packDomain)))))",
        required(new),
        required(old),
        preferred(new),
        preferred(old),
        name(new),
        name(old),
        name(old),
    )
}

/// Adds the rules to the types of `definitions`, and bounds and patterns that CEL and users rely on.
pub(super) fn attach(definitions: &mut Definitions) {
    for (type_, rules) in [
        ("PodCliqueSpec", clique_rules()),
        ("CliqueTemplate", clique_template_rules()),
        ("AutoScalingConfig", autoscaling_rules()),
        ("ScalingGroupConfig", group_config_rules()),
        ("PodCliqueScalingGroupSpec", group_rules()),
        (
            "SetTemplate",
            [template_rules(), template_update_rules()]
                .into_iter()
                .flatten()
                .collect(),
        ),
        ("ClaimTemplate", claim_template_rules()),
        (
            "SetFilter",
            filter_rules(&["childCliqueNames", "childScalingGroupNames"]),
        ),
        ("GroupFilter", filter_rules(&["childCliqueNames"])),
        ("TopologyConstraint", topology_rules()),
        ("TopologyPack", pack_rules()),
        ("SchedulingPolicyConfig", policy_rules()),
        ("ClusterTopologyBindingSpec", binding_rules()),
    ] {
        if let Some(Value::Object(schema)) = definitions.get_mut(type_) {
            put(schema, &rules);
        }
    }
    for (type_, field, keyword, value) in [
        ("CliqueTemplate", "name", "pattern", json!(patterns::DNS_LABEL)),
        (
            "ScalingGroupConfig",
            "name",
            "pattern",
            json!(patterns::DNS_LABEL),
        ),
        ("PodCliqueSpec", "minAvailable", "minimum", json!(1)),
        ("PodCliqueSpec", "replicas", "minimum", json!(1)),
        ("ScalingGroupConfig", "minAvailable", "minimum", json!(1)),
        ("ScalingGroupConfig", "replicas", "minimum", json!(1)),
        ("PodCliqueScalingGroupSpec", "minAvailable", "minimum", json!(1)),
        ("PodCliqueScalingGroupSpec", "replicas", "minimum", json!(1)),
        ("ClaimTemplate", "name", "minLength", json!(1)),
        ("SetSharing", "name", "minLength", json!(1)),
        ("GroupSharing", "name", "minLength", json!(1)),
        ("SharingRef", "name", "minLength", json!(1)),
    ] {
        if let Some(schema) = field_of(definitions, type_, field) {
            schema.insert(keyword.to_owned(), value);
        }
    }
    // Fields that are always written although they have a default.
    for (type_, fields) in [
        (
            "PodCliqueStatus",
            &[
                "readyReplicas",
                "scheduleGatedReplicas",
                "scheduledReplicas",
                "updatedReplicas",
            ] as &[&str],
        ),
        (
            "PodCliqueScalingGroupStatus",
            &["availableReplicas", "scheduledReplicas", "updatedReplicas"],
        ),
        ("PodCliqueSetStatus", &["availableReplicas", "updatedReplicas"]),
        ("SchedulerBackendStatus", &["default"]),
        ("PodCliqueScalingGroupSpec", &["cliqueNames", "replicas"]),
        ("HeadlessServiceConfig", &["publishNotReadyAddresses"]),
        ("io.k8s.api.resource.v1.ResourceClaimTemplateSpec", &["spec"]),
    ] {
        if let Some(Value::Object(schema)) = definitions.get_mut(type_) {
            schema.insert("required".to_owned(), json!(fields));
        }
    }
    for (type_, field) in [
        ("PodCliqueSpec", "startsAfter"),
        ("ScalingGroupConfig", "cliqueNames"),
        ("PodCliqueScalingGroupSpec", "cliqueNames"),
        ("PackGroup", "cliqueNames"),
        ("SetFilter", "childCliqueNames"),
        ("SetFilter", "childScalingGroupNames"),
        ("GroupFilter", "childCliqueNames"),
    ] {
        // A PodClique's startsAfter holds whole object names, so the bound is that of a label.
        if let Some(Value::Object(items)) =
            field_of(definitions, type_, field).and_then(|it| it.get_mut("items"))
        {
            items.insert("maxLength".to_owned(), json!(MAX_LABEL_LENGTH));
        }
    }
}

fn field_of<'a>(
    definitions: &'a mut Definitions,
    type_: &str,
    field: &str,
) -> Option<&'a mut Map<String, Value>> {
    definitions
        .get_mut(type_)?
        .get_mut("properties")?
        .get_mut(field)?
        .as_object_mut()
}

/// Adds the rules that need the object's name, or whether the object is new.
pub(super) fn attach_to_root(kind: &str, schema: &mut Value) {
    if let (Value::Object(schema), "PodCliqueSet") = (schema, kind) {
        put(schema, &set_rules());
    }
}

fn put(schema: &mut Map<String, Value>, rules: &[Rule]) {
    schema.insert(
        "x-kubernetes-validations".into(),
        rules.iter().map(Rule::to_value).collect(),
    );
}

fn clique_rules() -> Vec<Rule> {
    vec![rule(
        ".minAvailable",
        "!has(self.minAvailable) || self.minAvailable <= self.replicas",
        say::ABOVE_REPLICAS,
    )]
}

fn clique_template_rules() -> Vec<Rule> {
    let spec = |field: &str| unchanged(&format!("spec.{field}"));
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
        rule(".spec.roleName", spec("roleName"), say::IMMUTABLE),
        rule(".spec.minAvailable", spec("minAvailable"), say::IMMUTABLE),
        rule(
            ".spec.startsAfter",
            unchanged_list("self.spec.startsAfter", "oldSelf.spec.startsAfter"),
            say::IMMUTABLE,
        ),
        rule(
            ".spec.podSpec.schedulerName",
            "(has(self.spec.podSpec.schedulerName) ? self.spec.podSpec.schedulerName : '') == \
             (has(oldSelf.spec.podSpec.schedulerName) ? oldSelf.spec.podSpec.schedulerName : '')",
            say::IMMUTABLE,
        ),
        rule(
            ".resourceSharing",
            unchanged_list("self.resourceSharing", "oldSelf.resourceSharing"),
            say::IMMUTABLE,
        ),
        rule(
            ".topologyConstraint",
            same_topology("self.topologyConstraint", "oldSelf.topologyConstraint"),
            say::TOPOLOGY_FIXED,
        )
        .reason("FieldValueForbidden"),
    ]
}

fn autoscaling_rules() -> Vec<Rule> {
    vec![rule(
        ".maxReplicas",
        "!has(self.minReplicas) || self.minReplicas <= self.maxReplicas",
        say::MAX_BELOW_MIN,
    )]
}

fn group_config_rules() -> Vec<Rule> {
    vec![
        rule(
            ".minAvailable",
            "!has(self.minAvailable) || !has(self.replicas) || self.minAvailable <= self.replicas",
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
        )
        .reason("FieldValueDuplicate"),
        unique(".resourceSharing", "self", say::SHARING_TWICE),
        rule(
            ".resourceSharing",
            "!has(self.resourceSharing) || self.resourceSharing.all(s, !has(s.filter) \
             || !has(s.filter.childCliqueNames) || s.filter.childCliqueNames.all(n, n in self.cliqueNames))",
            say::FILTER_CLIQUE_UNKNOWN,
        ),
    ]
}

fn group_rules() -> Vec<Rule> {
    vec![rule(
        ".replicas",
        "!has(self.minAvailable) || self.replicas >= self.minAvailable",
        say::BELOW_MIN_AVAILABLE,
    )]
}

/// Names inside the list `field` of `holder` are unique.
fn unique(field: &'static str, holder: &str, message: &'static str) -> Rule {
    let list = format!("{holder}{field}");
    rule(
        field,
        format!("!has({list}) || {list}.all(a, {list}.exists_one(b, b.name == a.name))"),
        message,
    )
    .reason("FieldValueDuplicate")
}

fn template_rules() -> Vec<Rule> {
    let groups = "!has(self.podCliqueScalingGroups) || self.podCliqueScalingGroups";
    let explicit = "!has(self.cliqueStartupType) || self.cliqueStartupType != 'CliqueStartupTypeExplicit'";
    let sharing = "!has(self.resourceSharing) || self.resourceSharing";
    let scheduler =
        |it: &str| format!("(has({it}.spec.podSpec.schedulerName) ? {it}.spec.podSpec.schedulerName : '')");
    vec![
        rule(
            ".cliques",
            "self.cliques.all(c, self.cliques.exists_one(o, o.spec.roleName == c.spec.roleName))",
            say::ROLE_NAME_TWICE,
        )
        .reason("FieldValueDuplicate"),
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
        )
        .reason("FieldValueDuplicate"),
        rule(
            ".cliques",
            format!(
                "{groups}.all(g, self.cliques.all(c, !has(c.spec.autoScalingConfig) || !(c.name in g.cliqueNames)))"
            ),
            say::MEMBER_AUTOSCALED,
        ),
        rule(
            ".terminationDelay",
            format!(
                "!has(self.terminationDelay) || (self.terminationDelay.matches('{}') \
                 && duration(self.terminationDelay) > duration('0s'))",
                patterns::DURATION.replace('\\', "\\\\"),
            ),
            say::DELAY_NOT_POSITIVE,
        ),
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
            format!("{explicit} || self.cliques.all(c, !has(c.spec.startsAfter) || !(c.name in c.spec.startsAfter))"),
            say::STARTS_AFTER_SELF,
        ),
        rule(
            ".cliques",
            format!(
                "{explicit} || self.cliques.all(c, !has(c.spec.startsAfter) || \
                 c.spec.startsAfter.all(s, c.spec.startsAfter.exists_one(o, o == s)))"
            ),
            say::STARTS_AFTER_TWICE,
        )
        .reason("FieldValueDuplicate"),
        rule(
            ".cliques",
            format!(
                "self.cliques.all(c, {c} == '' || self.cliques.all(d, {d} == '' || {d} == {c}))",
                c = scheduler("c"),
                d = scheduler("d"),
            ),
            say::MIXED_SCHEDULERS,
        ),
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
        )
        .reason("FieldValueDuplicate"),
    ]
}

fn template_update_rules() -> Vec<Rule> {
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
        rule(
            ".cliqueStartupType",
            unchanged("cliqueStartupType"),
            say::IMMUTABLE,
        ),
        rule(
            ".resourceClaimTemplates",
            unchanged_list("self.resourceClaimTemplates", "oldSelf.resourceClaimTemplates"),
            say::IMMUTABLE,
        ),
        rule(
            ".resourceSharing",
            unchanged_list("self.resourceSharing", "oldSelf.resourceSharing"),
            say::IMMUTABLE,
        ),
        rule(
            ".podCliqueScalingGroups",
            "(has(self.podCliqueScalingGroups) ? self.podCliqueScalingGroups.size() : 0) == \
             (has(oldSelf.podCliqueScalingGroups) ? oldSelf.podCliqueScalingGroups.size() : 0) \
             && (!has(self.podCliqueScalingGroups) || self.podCliqueScalingGroups.all(g, \
             oldSelf.podCliqueScalingGroups.exists(o, o.name == g.name)))",
            say::GROUPS_FIXED,
        )
        .reason("FieldValueForbidden"),
        rule(
            ".podCliqueScalingGroups",
            matched("g.cliqueNames == o.cliqueNames"),
            say::IMMUTABLE,
        ),
        rule(
            ".podCliqueScalingGroups",
            matched(&same("minAvailable")),
            say::IMMUTABLE,
        ),
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
        rule(
            ".schedulingPolicyConfig",
            unchanged("schedulingPolicyConfig"),
            say::TOPOLOGY_FIXED,
        )
        .reason("FieldValueForbidden"),
    ]
}

fn claim_template_rules() -> Vec<Rule> {
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

fn filter_rules(fields: &[&str]) -> Vec<Rule> {
    let any: Vec<String> = fields
        .iter()
        .map(|it| format!("(has(self.{it}) && self.{it}.size() > 0)"))
        .collect();
    vec![rule("", any.join(" || "), say::FILTER_EMPTY).reason("FieldValueRequired")]
}

fn topology_rules() -> Vec<Rule> {
    vec![
        rule(
            ".pack",
            "has(self.pack) || has(self.packDomain)",
            say::PACK_MISSING,
        )
        .reason("FieldValueRequired"),
        rule(
            ".pack.required",
            "!(has(self.packDomain) && has(self.pack) && has(self.pack.required))",
            say::PACK_BOTH,
        ),
    ]
}

fn pack_rules() -> Vec<Rule> {
    vec![rule("", "has(self.required) || has(self.preferred)", say::PACK_EMPTY).reason("FieldValueRequired")]
}

fn policy_rules() -> Vec<Rule> {
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
        )
        .reason("FieldValueDuplicate"),
    ]
}

fn binding_rules() -> Vec<Rule> {
    vec![
        rule(
            ".levels",
            "self.levels.all(l, self.levels.exists_one(o, o.domain == l.domain))",
            say::DOMAIN_TWICE,
        )
        .reason("FieldValueDuplicate"),
        rule(
            ".levels",
            "self.levels.all(l, self.levels.exists_one(o, o.key == l.key))",
            say::KEY_TWICE,
        )
        .reason("FieldValueDuplicate"),
        rule(
            ".schedulerTopologyBindings",
            "!has(self.schedulerTopologyBindings) || self.schedulerTopologyBindings.all(b, \
             self.schedulerTopologyBindings.exists_one(o, o.schedulerName == b.schedulerName))",
            say::BINDING_TWICE,
        )
        .reason("FieldValueDuplicate"),
    ]
}

fn set_rules() -> Vec<Rule> {
    let cliques = "self.spec.template.cliques";
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
