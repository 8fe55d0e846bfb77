//! The table: what each part of the operator asks of the API server. A request that is not here is refused; a row that
//! nothing needs is found by the scenarios, which hold the audit log against it.

use grove_api::constants::{GROUP, SCHEDULER_GROUP, webhooks};

use super::Feature;

/// Where a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// In the whole cluster.
    Cluster,
    /// In the namespace of the operator.
    Own,
    /// In the namespace of the leader's lease.
    Lease,
}

/// Which objects a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// All of the kind: either the users choose the names, or the verb cannot be limited by name.
    Any,
    /// Those with these names.
    Named(&'static [&'static str]),
    /// The leader's lease.
    Lease,
    /// The Secret of the webhook certificate.
    Certificate,
}

/// One row.
pub(super) struct Row {
    pub(super) feature: Feature,
    pub(super) place: Where,
    pub(super) group: &'static str,
    pub(super) resources: &'static [&'static str],
    pub(super) which: Which,
    pub(super) verbs: &'static [&'static str],
    pub(super) reason: &'static str,
}

const CHILD: &[&str] = &["get", "list", "watch", "create", "patch", "delete", "deletecollection"];
const CORE: &str = "";
const ADMISSION: &str = "admissionregistration.k8s.io";

const fn everywhere(
    feature: Feature,
    group: &'static str,
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
    reason: &'static str,
) -> Row {
    Row { feature, place: Where::Cluster, group, resources, which: Which::Any, verbs, reason }
}

/// All rows, in the order in which they are printed.
pub(super) const TABLE: &[Row] = &[
    everywhere(
        Feature::Workloads,
        GROUP,
        &["podcliquesets"],
        &["list", "watch", "patch"],
        "sets are watched; a patch sets and removes our finalizer; one is listed by name before everything of it is deleted",
    ),
    everywhere(
        Feature::Workloads,
        GROUP,
        &["podcliques", "podcliquescalinggroups"],
        CHILD,
        "made from a set, kept as the set says, removed with it; one is read when a create meets an existing name",
    ),
    everywhere(
        Feature::Workloads,
        GROUP,
        &["podcliquesets/status", "podcliques/status", "podcliquescalinggroups/status"],
        &["patch"],
        "what is there, and what is awaited",
    ),
    everywhere(
        Feature::Workloads,
        GROUP,
        &["podcliquesets/finalizers", "podcliques/finalizers", "podcliquescalinggroups/finalizers"],
        &["update"],
        "children name their owner with blockOwnerDeletion, which the admission plugin \
         OwnerReferencesPermissionEnforcement allows only to who may do this",
    ),
    everywhere(
        Feature::Workloads,
        SCHEDULER_GROUP,
        &["podgangs"],
        CHILD,
        "one for each unit that is placed as a whole; references follow its pods",
    ),
    everywhere(
        Feature::Workloads,
        SCHEDULER_GROUP,
        &["podgangs/status"],
        &["patch"],
        "tells the scheduler that a gang is complete, and users what it waits for",
    ),
    everywhere(
        Feature::Workloads,
        CORE,
        &["pods"],
        &["list", "watch", "create", "patch", "delete", "deletecollection"],
        "the pods of a set, and dry runs before an update; a patch lifts the scheduling gate and lets a role start that waited for others",
    ),
    everywhere(
        Feature::Workloads,
        CORE,
        &["resourcequotas"],
        &["list", "watch"],
        "gangs that wait for quota are tried again when a quota is raised or used less; nothing but the enforced and used \
         amounts is kept",
    ),
    everywhere(
        Feature::Workloads,
        CORE,
        &["services"],
        CHILD,
        "the headless Service of each replica of a set",
    ),
    everywhere(
        Feature::Workloads,
        "autoscaling",
        &["horizontalpodautoscalers"],
        CHILD,
        "where a role or a scaling group asks to be scaled by load",
    ),
    everywhere(
        Feature::Workloads,
        "apps",
        &["controllerrevisions"],
        &["get", "list", "watch", "create", "patch", "delete"],
        "the templates that a set has had, for people who want to go back; one that is in use again gets a new number; \
         the one in use is read while updates are paused",
    ),
    everywhere(
        Feature::Workloads,
        "events.k8s.io",
        &["events"],
        &["create"],
        "what happened, for people; never read, never changed",
    ),
    everywhere(
        Feature::Topology,
        GROUP,
        &["clustertopologybindings"],
        &["get", "list", "watch"],
        "constraints of sets are held against it, in admission and in conditions; also while placement by topology is off, \
         to say so; one that the cache lacks is read before a set is refused for it",
    ),
    everywhere(
        Feature::Topology,
        GROUP,
        &["clustertopologybindings/status"],
        &["patch"],
        "whether the schedulers' own topology objects have the same levels, and how many nodes lack a label",
    ),
    everywhere(
        Feature::Topology,
        GROUP,
        &["clustertopologybindings/finalizers"],
        &["update"],
        "a scheduler's topology object names its binding with blockOwnerDeletion: the plugin \
         OwnerReferencesPermissionEnforcement asks for it",
    ),
    everywhere(
        Feature::Topology,
        "kueue.x-k8s.io",
        &["topologies"],
        &["get", "list", "watch", "patch"],
        "sets may be placed by a Topology of Kueue; one that is used is held by a finalizer, and nothing else of it is changed; \
         one that the cache lacks is read before a set is refused for it",
    ),
    everywhere(
        Feature::Topology,
        "kueue.x-k8s.io",
        &["topologies/finalizers"],
        &["update"],
        "a scheduler's topology object names the Topology that it mirrors with blockOwnerDeletion: the same plugin asks for it",
    ),
    everywhere(
        Feature::Schedulers,
        GROUP,
        &["schedulerbackends"],
        &["list", "watch", "create"],
        "one for each scheduler that the operator knows, for people to read",
    ),
    everywhere(
        Feature::Schedulers,
        GROUP,
        &["schedulerbackends/status"],
        &["patch"],
        "whether a scheduler can be used, and what it can do",
    ),
    everywhere(
        Feature::Schedulers,
        "apiextensions.k8s.io",
        &["customresourcedefinitions"],
        &["get", "list", "watch"],
        "what an installed scheduler understands is in its definitions, and one that is installed later is noticed",
    ),
    everywhere(
        Feature::Schedulers,
        SCHEDULER_GROUP,
        &["podgangs/finalizers"],
        &["update"],
        "what is made for a scheduler names its gang with blockOwnerDeletion: the same plugin asks for it",
    ),
    everywhere(
        Feature::Nodes,
        CORE,
        &["nodes"],
        &["get", "list", "watch"],
        "pods on nodes that are gone, or tainted for too long, count as gone, and a node is read once more before they do; by their labels \
         it is known which domain they are in; nothing but names, taints and labels is kept",
    ),
    Row {
        feature: Feature::LeaderElection,
        place: Where::Lease,
        group: "coordination.k8s.io",
        resources: &["leases"],
        which: Which::Lease,
        verbs: &["get", "update"],
        reason: "who leads, by one lease",
    },
    Row {
        feature: Feature::LeaderElection,
        place: Where::Lease,
        group: "coordination.k8s.io",
        resources: &["leases"],
        which: Which::Any,
        verbs: &["create"],
        reason: "the lease, the first time; Kubernetes cannot limit a create by name",
    },
    Row {
        feature: Feature::Certificates,
        place: Where::Own,
        group: CORE,
        resources: &["secrets"],
        which: Which::Certificate,
        verbs: &["get", "list", "watch", "update"],
        reason: "the certificate of the webhooks, shared by all replicas of the operator and renewed in time",
    },
    Row {
        feature: Feature::Certificates,
        place: Where::Own,
        group: CORE,
        resources: &["secrets"],
        which: Which::Any,
        verbs: &["create"],
        reason: "that Secret, the first time; Kubernetes cannot limit a create by name",
    },
    Row {
        feature: Feature::Certificates,
        place: Where::Cluster,
        group: ADMISSION,
        resources: &["mutatingwebhookconfigurations"],
        which: Which::Named(&[webhooks::SET_DEFAULTING.configuration]),
        verbs: WEBHOOK_CONFIGURATION,
        reason: "tells the API server which authority signed the certificate, and tells it again when somebody forgets",
    },
    Row {
        feature: Feature::Certificates,
        place: Where::Cluster,
        group: ADMISSION,
        resources: &["validatingwebhookconfigurations"],
        which: Which::Named(&[
            webhooks::SET_VALIDATING.configuration,
            webhooks::TOPOLOGY_VALIDATING.configuration,
            webhooks::CLIQUE_VALIDATING.configuration,
            webhooks::GROUP_VALIDATING.configuration,
        ]),
        verbs: WEBHOOK_CONFIGURATION,
        reason: "likewise",
    },
    Row {
        feature: Feature::AuthorizerCertificate,
        place: Where::Cluster,
        group: ADMISSION,
        resources: &["validatingwebhookconfigurations"],
        which: Which::Named(&[webhooks::AUTHORIZER.configuration]),
        verbs: WEBHOOK_CONFIGURATION,
        reason: "likewise, where the authorizer is on",
    },
];

const WEBHOOK_CONFIGURATION: &[&str] = &["list", "watch", "patch"];
