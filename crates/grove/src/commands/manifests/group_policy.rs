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
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};

use super::{
    Kind, Object,
    labels::{labels, metadata},
};

/// The policy, and how its bindings begin.
const NAME: &str = "grove-pod-grouper";
const COMPONENT: &str = "pod-grouper";

pub(super) fn objects() -> io::Result<Vec<Object>> {
    let metadata = |name: &str| metadata(name, None, labels(COMPONENT, name));
    let policy = MutatingAdmissionPolicy { metadata: metadata(NAME), spec: Some(policy()) };
    let mut objects = vec![Object::new(Kind::MutatingAdmissionPolicy, &policy)?];
    for (name, match_resources) in whose() {
        let spec = MutatingAdmissionPolicyBindingSpec {
            policy_name: Some(NAME.to_owned()),
            match_resources: Some(match_resources),
            ..MutatingAdmissionPolicyBindingSpec::default()
        };
        let metadata = metadata(&format!("{NAME}-{name}"));
        let binding = MutatingAdmissionPolicyBinding { metadata, spec: Some(spec) };
        objects.push(Object::new(Kind::MutatingAdmissionPolicyBinding, &binding)?);
    }
    Ok(objects)
}

/// Pods that ask for a group, and pods that say nothing in a namespace that asks for it. A condition of the policy could not
/// say so: it does not see the namespace.
fn whose() -> [(&'static str, MatchResources); 2] {
    let enabled = || LabelSelector {
        match_labels: Some([(ENABLE_LABEL.to_owned(), ENABLED.to_owned())].into()),
        ..LabelSelector::default()
    };
    let silent = LabelSelector {
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: ENABLE_LABEL.to_owned(),
            operator: "DoesNotExist".to_owned(),
            values: None,
        }]),
        ..LabelSelector::default()
    };
    let pods = MatchResources { object_selector: Some(enabled()), ..MatchResources::default() };
    let namespaces = MatchResources {
        namespace_selector: Some(enabled()),
        object_selector: Some(silent),
        ..MatchResources::default()
    };
    [("pods", pods), ("namespaces", namespaces)]
}

fn policy() -> MutatingAdmissionPolicySpec {
    let list = |text: &str| Some(vec![text.to_owned()]);
    let condition = |(name, expression): (&str, String)| MatchCondition { name: name.to_owned(), expression };
    let variable = |(name, expression): (&str, String)| Variable { name: name.to_owned(), expression };
    MutatingAdmissionPolicySpec {
        // A pod without a group is placed by itself, which the pod grouper tells; a pod that is refused is an outage.
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
fn conditions() -> [(&'static str, String); 5] {
    [
        (
            "is-for-kube-scheduler",
            "object.spec.?schedulerName.orValue('') in ['', 'default-scheduler']".to_owned(),
        ),
        // The Job controller names one where its own gate is open, and so may users.
        ("has-no-group", "!has(object.spec.schedulingGroup)".to_owned()),
        // Nobody would make its group, and it would wait for ever.
        (
            "is-not-to-be-left-alone",
            "object.metadata.?annotations[?'kai.scheduler/skip-podgrouper'].orValue('') != 'true'".to_owned(),
        ),
        // Groups cannot have the priority of the system.
        (
            "has-a-priority-that-groups-have",
            "!object.spec.?priorityClassName.orValue('').startsWith('system-')".to_owned(),
        ),
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
