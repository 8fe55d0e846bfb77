//! The policy of the pod grouper for kube-scheduler.
//!
//! A pod names its group when it is created. The API server itself sees to that, by a policy: nothing has to
//! run for it, so that nothing can be down.

use std::io;

use grove_scheduler::workload::{ENABLE_LABEL, ENABLED};
use k8s_openapi::api::admissionregistration::v1::{
    ApplyConfiguration, MatchCondition, MatchResources, MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec, MutatingAdmissionPolicySpec,
    Mutation, NamedRuleWithOperations, Variable,
};

use super::{
    Kind, Object,
    labels::{labels, metadata},
};

/// Policy and binding.
const NAME: &str = "grove-pod-grouper";
const COMPONENT: &str = "pod-grouper";

pub(super) fn objects() -> io::Result<Vec<Object>> {
    let metadata = || metadata(NAME, None, labels(COMPONENT, NAME));
    let policy = MutatingAdmissionPolicy { metadata: metadata(), spec: Some(policy()) };
    let binding = MutatingAdmissionPolicyBinding {
        metadata: metadata(),
        spec: Some(MutatingAdmissionPolicyBindingSpec {
            policy_name: Some(NAME.to_owned()),
            ..MutatingAdmissionPolicyBindingSpec::default()
        }),
    };
    Ok(vec![
        Object::new(Kind::MutatingAdmissionPolicy, &policy)?,
        Object::new(Kind::MutatingAdmissionPolicyBinding, &binding)?,
    ])
}

fn policy() -> MutatingAdmissionPolicySpec {
    let list = |text: &str| Some(vec![text.to_owned()]);
    let condition = |(name, expression): (&str, String)| MatchCondition { name: name.to_owned(), expression };
    let variable = |(name, expression): (&str, String)| Variable { name: name.to_owned(), expression };
    MutatingAdmissionPolicySpec {
        // A pod without a group is placed by itself, which the pod grouper tells; a pod that is refused is an outage. The
        // conditions are asked of every pod of the cluster.
        failure_policy: Some("Ignore".to_owned()),
        // Somebody else may choose the scheduler after us.
        reinvocation_policy: Some("IfNeeded".to_owned()),
        match_constraints: Some(MatchResources {
            resource_rules: Some(vec![NamedRuleWithOperations {
                api_groups: list(""),
                api_versions: list("v1"),
                operations: list("CREATE"),
                resources: list("pods"),
                ..NamedRuleWithOperations::default()
            }]),
            ..MatchResources::default()
        }),
        match_conditions: Some(conditions().map(condition).into()),
        variables: Some(variables().map(variable).into()),
        mutations: Some(vec![Mutation {
            patch_type: "ApplyConfiguration".to_owned(),
            apply_configuration: Some(ApplyConfiguration { expression: Some(mutation()) }),
            ..Mutation::default()
        }]),
        ..MutatingAdmissionPolicySpec::default()
    }
}

/// Which pods get a group. All have to hold.
fn conditions() -> [(&'static str, String); 4] {
    [
        // What the pod says comes before what its namespace says.
        (
            "asks-for-it",
            format!(
                "object.metadata.?labels[?'{ENABLE_LABEL}'].orValue(\
                 namespaceObject.metadata.?labels[?'{ENABLE_LABEL}'].orValue('')) == '{ENABLED}'"
            ),
        ),
        (
            "is-for-kube-scheduler",
            "object.spec.?schedulerName.orValue('') in ['', 'default-scheduler']".to_owned(),
        ),
        // The Job controller names one where its own gate is open, and so may users.
        ("has-no-group", "!has(object.spec.schedulingGroup)".to_owned()),
        // Each pod of a DaemonSet has its own node, those of a Node run there already, and our operator names the groups of
        // its own pods. A name that is too long would be refused.
        (
            "has-an-owner-that-makes-groups",
            "object.metadata.?ownerReferences.orValue([]).exists(it, it.?controller.orValue(false) \
             && !(it.kind in ['DaemonSet', 'Node']) && !it.apiVersion.startsWith('grove.io/') \
             && size(it.name) + size(it.uid) <= 249)"
                .to_owned(),
        ),
    ]
}

fn variables() -> [(&'static str, String); 1] {
    let owner = "object.metadata.ownerReferences.filter(it, it.?controller.orValue(false))[0]";
    [("owner", owner.to_owned())]
}

/// The name is that of the owner's group, as the pod grouper computes it. The label lets the pod grouper watch only such pods.
fn mutation() -> String {
    format!(
        "Object{{metadata: Object.metadata{{labels: {{'{ENABLE_LABEL}': '{ENABLED}'}}}}, \
         spec: Object.spec{{schedulingGroup: Object.spec.schedulingGroup{{\
         podGroupName: 'pg-' + variables.owner.name + '-' + variables.owner.uid}}}}}}"
    )
}
