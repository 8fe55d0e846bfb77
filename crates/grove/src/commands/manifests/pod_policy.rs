//! Policies that hold the accounts of the operator and of the pod grouper to the changes of pods that they really make.
//!
//! RBAC can say "may patch pods", and no more: who has the token of such an account could put another image into any pod of the
//! cluster. The API server evaluates them for each request of the account, without a webhook.

use std::io;

use grove_api::constants::{annotations, gates, labels};
use grove_scheduler::workload::PodMarks;
use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, MatchResources, NamedRuleWithOperations, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec, ValidatingAdmissionPolicySpec,
    Validation, Variable,
};

use super::{Kind, Object, labels::metadata};

/// What of an object's metadata changes with every write.
const OF_SERVER: &str = "'managedFields', 'resourceVersion', 'generation'";
const IS_SUBRESOURCE: &str = "has(request.subResource) && request.subResource != ''";

/// Expressions that all have to be true, and what is said where one is not.
type Rules = Vec<(String, String)>;

/// The policy of the operator, which runs in `namespace` with this account.
pub(super) fn of_operator(account: &str, namespace: &str) -> io::Result<Vec<Object>> {
    let variables = [
        ("gates", or_empty("object.spec.schedulingGates", "[]")),
        ("oldGates", or_empty("oldObject.spec.schedulingGates", "[]")),
        ("nodeSelector", or_empty("object.spec.nodeSelector", "{}")),
        ("oldNodeSelector", or_empty("oldObject.spec.nodeSelector", "{}")),
        ("annotations", or_empty("object.metadata.annotations", "{}")),
        ("oldAnnotations", or_empty("oldObject.metadata.annotations", "{}")),
    ];
    policy("operator-pod-policy", account, namespace, &variables, operator_rules())
}

/// That of the pod grouper, for pods of these schedulers, which carry these marks for their groups' sake.
pub(super) fn of_pod_grouper(
    account: &str,
    namespace: &str,
    schedulers: &[&str],
    marks: &[PodMarks],
) -> io::Result<Vec<Object>> {
    let variables = [
        ("labels", or_empty("object.metadata.labels", "{}")),
        ("oldLabels", or_empty("oldObject.metadata.labels", "{}")),
        ("annotations", or_empty("object.metadata.annotations", "{}")),
        ("oldAnnotations", or_empty("oldObject.metadata.annotations", "{}")),
    ];
    policy("podgrouper-pod-policy", account, namespace, &variables, grouper_rules(schedulers, marks))
}

fn operator_rules() -> Rules {
    let (gate, told, group) =
        (gates::POD_GANG_PENDING, annotations::PARENTS_READY, annotations::POD_GROUP_NAME);
    let is_clique = "it.kind == 'PodClique' && it.apiVersion.startsWith('grove.io/')";
    let label = |pod: &str| {
        let (key, value) = (labels::MANAGED_BY, labels::MANAGED_BY_VALUE);
        let of_pod = format!("{pod}.metadata.labels");
        format!("(has({of_pod}) && '{key}' in {of_pod} && {of_pod}['{key}'] == '{value}')")
    };
    let is_ours = format!(
        "{} || (has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(it, {is_clique}))",
        label("oldObject")
    );
    let rule = |when: &str, expression: &str, message: &str| {
        (format!("request.operation != '{when}' || ({expression})"), format!("the Grove operator {message}"))
    };
    vec![
        (format!("!({IS_SUBRESOURCE})"), "the Grove operator uses no subresource of pods".to_owned()),
        rule("CREATE", &label("object"), "creates only pods that are labelled as its own"),
        rule(
            "CREATE",
            &format!(
                "has(object.metadata.ownerReferences) && size(object.metadata.ownerReferences) == 1 \
                 && object.metadata.ownerReferences.all(it, {is_clique} && has(it.controller) && it.controller)"
            ),
            "creates only pods that a PodClique owns",
        ),
        rule(
            "CREATE",
            &format!(
                "has(object.spec.schedulingGates) && object.spec.schedulingGates.exists(it, it.name == '{gate}')"
            ),
            "creates only pods that its gate holds back",
        ),
        rule("UPDATE", &is_ours, "changes only its own pods"),
        rule("DELETE", &is_ours, "deletes only its own pods"),
        rule(
            "UPDATE",
            &same_but("object.spec", "oldObject.spec", "'schedulingGates', 'nodeSelector'"),
            "changes nothing in the spec of a pod but gates and node selector",
        ),
        rule(
            "UPDATE",
            &format!(
                "variables.gates.all(it, variables.oldGates.exists(old, old.name == it.name)) \
                 && variables.oldGates.all(old, old.name == '{gate}' || variables.gates.exists(it, it.name == old.name))"
            ),
            "removes its own gate, and adds none",
        ),
        rule(
            "UPDATE",
            "size(variables.nodeSelector) <= size(variables.oldNodeSelector) + 1 \
             && variables.oldNodeSelector.all(key, key in variables.nodeSelector \
             && variables.nodeSelector[key] == variables.oldNodeSelector[key])",
            "adds one label to a node selector, and changes none",
        ),
        rule(
            "UPDATE",
            &same_but("object.metadata", "oldObject.metadata", &format!("'annotations', {OF_SERVER}")),
            "changes nothing in the metadata of a pod but annotations",
        ),
        rule(
            "UPDATE",
            &same_but("variables.annotations", "variables.oldAnnotations", &format!("'{told}', '{group}'")),
            &format!("changes no annotation of a pod but {told} and {group}"),
        ),
    ]
}

fn grouper_rules(schedulers: &[&str], marks: &[PodMarks]) -> Rules {
    let list = |texts: Vec<&str>| texts.into_iter().map(quoted).collect::<Vec<_>>().join(", ");
    let sorted = |keys: fn(&PodMarks) -> &'static [&'static str]| {
        let mut all: Vec<&str> = marks.iter().flat_map(|it| keys(it).iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let [labels, annotations] = [sorted(|it| it.labels), sorted(|it| it.annotations)].map(list);
    let rule = |expression: &str, message: &str| {
        let expression = format!("request.operation != 'UPDATE' || ({expression})");
        (expression, format!("the Grove pod grouper {message}"))
    };
    vec![
        (
            format!("request.operation == 'UPDATE' && !({IS_SUBRESOURCE})"),
            "the Grove pod grouper creates and deletes no pods, and uses no subresource of them".to_owned(),
        ),
        rule(
            &format!(
                "has(oldObject.spec.schedulerName) && oldObject.spec.schedulerName in [{}]",
                list(schedulers.to_vec())
            ),
            "changes only pods of the schedulers that it works for",
        ),
        rule("object.spec == oldObject.spec", "changes nothing in the spec of a pod"),
        rule(
            &same_but(
                "object.metadata",
                "oldObject.metadata",
                &format!("'labels', 'annotations', {OF_SERVER}"),
            ),
            "changes nothing in the metadata of a pod but labels and annotations",
        ),
        rule(
            &same_but("variables.labels", "variables.oldLabels", &labels),
            &format!("changes no labels of a pod but these: [{labels}]"),
        ),
        rule(
            &same_but("variables.annotations", "variables.oldAnnotations", &annotations),
            &format!("changes no annotations of a pod but these: [{annotations}]"),
        ),
    ]
}

/// Whether two maps are equal but for some keys. `dyn`, because the fields of an object are not typed as a map.
fn same_but(new: &str, old: &str, keys: &str) -> String {
    format!(
        "dyn({new}).all(key, key in [{keys}] || (key in dyn({old}) && dyn({new})[key] == dyn({old})[key])) \
         && dyn({old}).all(key, key in [{keys}] || key in dyn({new}))"
    )
}

/// A text as CEL reads it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'"))
}

fn or_empty(field: &str, empty: &str) -> String {
    format!("has({field}) ? dyn({field}) : dyn({empty})")
}

/// A policy for what an account does with pods, and its binding, of the same name.
fn policy(
    component: &str,
    account: &str,
    namespace: &str,
    variables: &[(&str, String)],
    rules: Rules,
) -> io::Result<Vec<Object>> {
    let list = |texts: &[&str]| Some(texts.iter().map(|it| (*it).to_owned()).collect());
    let name = format!("{account}-pods");
    let metadata = metadata(&name, None, super::labels::labels(component, &name));
    let user = quoted(&format!("system:serviceaccount:{namespace}:{account}"));
    let spec = ValidatingAdmissionPolicySpec {
        // It concerns the account alone, and what cannot be held against it is not done.
        failure_policy: Some("Fail".to_owned()),
        match_constraints: Some(MatchResources {
            resource_rules: Some(vec![NamedRuleWithOperations {
                api_groups: list(&[""]),
                api_versions: list(&["v1"]),
                operations: list(&["CREATE", "UPDATE", "DELETE", "CONNECT"]),
                resources: list(&["pods", "pods/*"]),
                ..NamedRuleWithOperations::default()
            }]),
            ..MatchResources::default()
        }),
        match_conditions: Some(vec![MatchCondition {
            name: "is-the-account".to_owned(),
            expression: format!("request.userInfo.username == {user}"),
        }]),
        variables: Some(
            variables
                .iter()
                .map(|(name, expression)| Variable {
                    name: (*name).to_owned(),
                    expression: expression.clone(),
                })
                .collect(),
        ),
        validations: Some(
            rules
                .into_iter()
                .map(|(expression, message)| Validation {
                    expression,
                    message: Some(message),
                    reason: Some("Forbidden".to_owned()),
                    ..Validation::default()
                })
                .collect(),
        ),
        ..ValidatingAdmissionPolicySpec::default()
    };
    let binding = ValidatingAdmissionPolicyBindingSpec {
        policy_name: name,
        validation_actions: vec!["Deny".to_owned()],
        ..ValidatingAdmissionPolicyBindingSpec::default()
    };
    let policy =
        ValidatingAdmissionPolicy { metadata: metadata.clone(), spec: Some(spec), ..Default::default() };
    let binding = ValidatingAdmissionPolicyBinding { metadata, spec: binding };
    Ok(vec![
        Object::new(Kind::ValidatingAdmissionPolicy, &policy)?,
        Object::new(Kind::ValidatingAdmissionPolicyBinding, &binding)?,
    ])
}
