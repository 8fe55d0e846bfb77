//! The schemas of the kinds that come with Kubernetes, from the types of k8s-openapi.
//!
//! Only kinds that every supported release has: a library does not choose the release.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, authentication::v1 as authentication,
    authorization::v1 as authorization, autoscaling::v1 as autoscaling_v1, autoscaling::v2 as autoscaling,
    batch::v1 as batch, coordination::v1 as coordination, core::v1 as core, discovery::v1 as discovery,
    events::v1 as events, networking::v1 as networking, node::v1 as node, policy::v1 as policy,
    rbac::v1 as rbac, scheduling::v1 as scheduling, storage::v1 as storage,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as apiextensions;
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::schemars::generate::SchemaSettings;
use k8s_openapi::schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The schemas of built-in kinds and of all that they refer to, by name.
pub(super) struct Builtin {
    pub(super) schemas: Map<String, Value>,
    /// The names of kinds, by group, version and kind.
    names: BTreeMap<[String; 3], String>,
}

/// The schema of the metadata of every object.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The schema of the metadata of every list.
pub(super) const LIST_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";

/// Made when first asked for, and once: it has a few megabytes.
pub(super) fn builtin() -> &'static Builtin {
    static BUILTIN: OnceLock<Builtin> = OnceLock::new();
    BUILTIN.get_or_init(Builtin::new)
}

impl Builtin {
    /// The name of the schema of a kind.
    pub(super) fn name(&self, group: &str, version: &str, kind: &str) -> Option<&str> {
        self.names.get(&[group, version, kind].map(str::to_owned)).map(String::as_str)
    }

    fn new() -> Self {
        let mut generator = SchemaSettings::openapi3().into_generator();
        generator.subschema_for::<meta::ObjectMeta>();
        generator.subschema_for::<meta::ListMeta>();
        generator.subschema_for::<meta::Status>();
        let mut names = BTreeMap::new();
        for add in KINDS {
            let (kind, name) = add(&mut generator);
            names.insert(kind, name);
        }
        let mut schemas = generator.take_definitions(true);
        for ([group, version, kind], name) in &names {
            if let Some(schema) = schemas.get_mut(name) {
                let kind = json!([{"group": group, "version": version, "kind": kind}]);
                schema["x-kubernetes-group-version-kind"] = kind;
            }
        }
        Self { schemas, names }
    }
}

type Added = ([String; 3], String);

fn kind<K: k8s_openapi::Resource + JsonSchema>(generator: &mut SchemaGenerator) -> Added {
    generator.subschema_for::<K>();
    ([K::GROUP, K::VERSION, K::KIND].map(str::to_owned), K::schema_name().into_owned())
}

const KINDS: &[fn(&mut SchemaGenerator) -> Added] = &[
    kind::<admission::MutatingWebhookConfiguration>,
    kind::<admission::ValidatingWebhookConfiguration>,
    kind::<apiextensions::CustomResourceDefinition>,
    kind::<apps::ControllerRevision>,
    kind::<apps::DaemonSet>,
    kind::<apps::Deployment>,
    kind::<apps::ReplicaSet>,
    kind::<apps::StatefulSet>,
    kind::<authentication::SelfSubjectReview>,
    kind::<authentication::TokenRequest>,
    kind::<authentication::TokenReview>,
    kind::<authorization::LocalSubjectAccessReview>,
    kind::<authorization::SelfSubjectAccessReview>,
    kind::<authorization::SelfSubjectRulesReview>,
    kind::<authorization::SubjectAccessReview>,
    kind::<autoscaling::HorizontalPodAutoscaler>,
    kind::<autoscaling_v1::Scale>,
    kind::<batch::CronJob>,
    kind::<batch::Job>,
    kind::<coordination::Lease>,
    kind::<core::Binding>,
    kind::<core::ConfigMap>,
    kind::<core::Endpoints>,
    kind::<core::Event>,
    kind::<core::LimitRange>,
    kind::<core::Namespace>,
    kind::<core::Node>,
    kind::<core::PersistentVolume>,
    kind::<core::PersistentVolumeClaim>,
    kind::<core::Pod>,
    kind::<core::PodTemplate>,
    kind::<core::ReplicationController>,
    kind::<core::ResourceQuota>,
    kind::<core::Secret>,
    kind::<core::Service>,
    kind::<core::ServiceAccount>,
    kind::<discovery::EndpointSlice>,
    kind::<events::Event>,
    kind::<networking::Ingress>,
    kind::<networking::IngressClass>,
    kind::<networking::NetworkPolicy>,
    kind::<node::RuntimeClass>,
    kind::<policy::Eviction>,
    kind::<policy::PodDisruptionBudget>,
    kind::<rbac::ClusterRole>,
    kind::<rbac::ClusterRoleBinding>,
    kind::<rbac::Role>,
    kind::<rbac::RoleBinding>,
    kind::<scheduling::PriorityClass>,
    kind::<storage::CSIDriver>,
    kind::<storage::CSINode>,
    kind::<storage::CSIStorageCapacity>,
    kind::<storage::StorageClass>,
    kind::<storage::VolumeAttachment>,
];
