//! Admission webhooks: the configuration objects in the cluster, the webhook in each, and the path it is served at.

/// One admission webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Name of the configuration object.
    pub configuration: &'static str,
    /// Name of the webhook in it.
    pub name: &'static str,
    /// Where the operator serves it.
    pub path: &'static str,
}

/// Fills in what a PodCliqueSet leaves out (MutatingWebhookConfiguration).
pub const SET_DEFAULTING: Webhook = Webhook {
    configuration: "podcliqueset-defaulting-webhook",
    name: "pcs.defaulting.webhooks.grove.io",
    path: "/webhooks/default-podcliqueset",
};

/// Refuses PodCliqueSets that are wrong (ValidatingWebhookConfiguration).
pub const SET_VALIDATING: Webhook = Webhook {
    configuration: "podcliqueset-validating-webhook",
    name: "pcs.validating.webhooks.grove.io",
    path: "/webhooks/validate-podcliqueset",
};

/// Refuses to scale PodCliqueSets, by `/scale`, beyond what they may have; beside [`SET_VALIDATING`] in its configuration object, so
/// that scaling goes on while no operator answers.
pub const SET_SCALE: Webhook = Webhook {
    configuration: SET_VALIDATING.configuration,
    name: "pcs.scale.webhooks.grove.io",
    path: "/webhooks/validate-podcliqueset-scale",
};

/// Refuses ClusterTopologyBindings that are wrong (ValidatingWebhookConfiguration).
pub const TOPOLOGY_VALIDATING: Webhook = Webhook {
    configuration: "clustertopology-validating-webhook",
    name: "clustertopology.validating.webhooks.grove.io",
    path: "/webhooks/validate-clustertopology",
};

/// Looks at changes of `replicas` of PodCliques, by `/scale` too (ValidatingWebhookConfiguration).
pub const CLIQUE_VALIDATING: Webhook = Webhook {
    configuration: "podclique-validating-webhook",
    name: "pclq.validating.webhooks.grove.io",
    path: "/webhooks/validate-podclique",
};

/// Likewise of PodCliqueScalingGroups (ValidatingWebhookConfiguration).
pub const GROUP_VALIDATING: Webhook = Webhook {
    configuration: "podcliquescalinggroup-validating-webhook",
    name: "pcsg.validating.webhooks.grove.io",
    path: "/webhooks/validate-podcliquescalinggroup",
};

/// Protects what Grove manages against others; only where it is enabled (ValidatingWebhookConfiguration).
pub const AUTHORIZER: Webhook = Webhook {
    configuration: "authorizer-webhook",
    name: "authorizer.webhooks.grove.io",
    path: "/webhooks/authorizer-webhook",
};
