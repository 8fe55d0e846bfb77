//! What kinds of objects the server serves, and how each behaves. A table: nothing else knows kinds by name, except
//! pods and namespaces, which have rules of their own in `write`.

mod builtin;
mod cluster;
mod definition;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use definition::BadDefinition;

use crate::definitions::{self, Served};
use crate::kinds::{self, Definition};
use crate::object::Object;
use crate::ownership::Shape;
use crate::table::PrinterColumn;

/// One version of one resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// The group; empty for the core API.
    pub group: String,
    /// The version, such as `v1alpha1`.
    pub version: String,
    /// The kind of an object, such as `PodClique`.
    pub kind: String,
    /// The name in paths, such as `podcliques`.
    pub plural: String,
    /// The name of one, such as `podclique`.
    pub singular: String,
    /// Shorter names for people.
    pub short_names: Vec<String>,
    /// Groups of resources for people, such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether there is a status subresource, which alone changes the status.
    pub status: bool,
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// Whether a CustomResourceDefinition made it: such objects must say their kind, and updates their version.
    pub custom: bool,
    /// Whether objects count the changes of their spec. All custom ones do, few others.
    pub generation: bool,
    /// Whether an update may leave out the resourceVersion.
    pub unconditional_update: bool,
    /// Whether an update of what is not there creates it.
    pub create_on_update: bool,
    /// Whether the answer to a deletion is the object rather than a `Status`.
    pub returns_deleted: bool,
    /// Whether objects are checked, completed and attributed as by a real server: unknown fields, values, defaults, names,
    /// and who wrote which field. Off where tests count on sparse objects.
    pub strict: bool,
    /// Fields that can be selected by, besides name and namespace, such as `spec.nodeName`.
    pub fields: Vec<String>,
    /// How its fields are told apart.
    pub(crate) shape: Arc<Shape>,
    /// Whether its objects define resources.
    pub(crate) defines: bool,
    /// The stored definition that it comes from, if there is one.
    pub(crate) served: Option<Arc<Served>>,
    /// The schema of its CustomResourceDefinition, for those who ask for OpenAPI.
    pub(crate) open_api: Option<Arc<Value>>,
    /// What objects are made of, if the kind comes with Kubernetes.
    pub(crate) definition: Option<&'static Definition>,
    /// What tables show of objects of a custom kind.
    pub(crate) columns: Arc<[PrinterColumn]>,
    /// Derived from group and plural, hence not for others to set.
    id: Arc<str>,
}

/// Where the scale subresource finds its numbers, as JSON paths such as `.spec.replicas`.
#[derive(Clone, Debug)]
pub struct Scale {
    /// The wanted number of replicas.
    pub spec_path: String,
    /// The number of replicas that there are.
    pub status_path: String,
    /// The selector of the pods.
    pub selector_path: Option<String>,
}

impl Resource {
    /// A namespaced resource without subresources, as a CustomResourceDefinition makes it.
    pub fn custom(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        let mut resource = Self::built_in(group, version, kind, plural);
        resource.custom = true;
        resource.definition = None;
        resource.shape = Arc::new(Shape::of_objects(&Value::Null));
        resource.generation = true;
        resource.unconditional_update = false;
        resource
    }

    /// A namespaced resource without subresources, as it comes with Kubernetes.
    pub fn built_in(group: &str, version: &str, kind: &str, plural: &str) -> Self {
        let definition = kinds::of_kind(group, version, kind);
        let shape = definition.map_or_else(|| Shape::of_objects(&Value::Null), Shape::of_kind);
        let id = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            status: false,
            scale: None,
            custom: false,
            generation: false,
            unconditional_update: true,
            create_on_update: false,
            returns_deleted: false,
            strict: false,
            fields: Vec::new(),
            defines: false,
            served: None,
            open_api: None,
            shape: Arc::new(shape),
            definition,
            columns: Arc::new([PrinterColumn::age()]),
            id: id.into(),
        }
    }

    /// The same, strict ([`Resource::strict`]).
    #[must_use]
    pub fn into_strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// The name among all resources, such as `pods` or `podcliques.grove.io`.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    /// What objects say as their `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    pub(crate) fn is(&self, id: &str) -> bool {
        &*self.id == id
    }

    /// The version of the stored definition that it comes from, as it is there: with its schema and printer columns.
    pub fn definition(&self) -> Option<&Value> {
        self.served.as_ref().map(|it| it.raw())
    }

    /// The paths of fields that an object has and the schema has not, such as `spec.replica`.
    pub fn unknown_fields(&self, object: &Value) -> Vec<String> {
        self.served.as_ref().map(|it| it.unknown_fields(object)).unwrap_or_default()
    }

    /// A stored object as clients of this version see it.
    pub(crate) fn present(&self, object: &Arc<Object>) -> Arc<Object> {
        self.served.as_ref().map_or_else(|| Arc::clone(object), |it| it.present(object))
    }
}

/// The resources that a server serves, each in one or more versions.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// The preferred version first.
    rows: BTreeMap<String, Vec<Arc<Resource>>>,
}

impl Resources {
    /// No resources at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The resources of Kubernetes that an operator and its tests meet.
    pub fn kubernetes() -> Self {
        builtin::rows().into_iter().fold(Self::none(), Self::with)
    }

    /// The resources of Kubernetes that a cluster has where people work: more kinds, and all of them strict
    /// ([`Resource::strict`]).
    pub fn cluster() -> Self {
        let rows = builtin::rows().into_iter().chain(cluster::rows());
        rows.map(Resource::into_strict).fold(Self::none(), Self::with)
    }

    /// These and one more. A resource of the same group and plural is replaced.
    #[must_use]
    pub fn with(mut self, resource: Resource) -> Self {
        self.rows.insert(resource.id().to_owned(), vec![Arc::new(resource)]);
        self
    }

    /// These and CustomResourceDefinitions: what is stored as one is served, and its objects are held to its schema. They
    /// are as strict as these are.
    #[must_use]
    pub fn with_definitions(self) -> Self {
        let is_strict = self.iter().any(|it| it.strict);
        self.with(Resource { strict: is_strict, ..definitions::resource() })
    }

    /// Whether custom kinds are strict.
    pub(crate) fn defines_strictly(&self) -> bool {
        self.by_id(definitions::RESOURCE).is_some_and(|it| it.strict)
    }

    /// These and the versions of one resource, the preferred one first.
    pub(crate) fn with_versions(mut self, versions: Vec<Arc<Resource>>) -> Self {
        if let Some(first) = versions.first() {
            self.rows.insert(first.id().to_owned(), versions);
        }
        self
    }

    pub(crate) fn has_definitions(&self) -> bool {
        self.by_id(definitions::RESOURCE).is_some_and(|it| it.defines)
    }

    /// These and what a CustomResourceDefinition defines, in its storage version.
    pub fn with_crd(self, definition: &Value) -> Result<Self, BadDefinition> {
        Ok(self.with(Resource::from_crd(definition)?))
    }

    /// All versions of all resources, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.rows.values().flatten()
    }

    /// The resource of an id such as `podcliques.grove.io`, in its preferred version.
    pub fn by_id(&self, id: &str) -> Option<&Arc<Resource>> {
        self.rows.get(id)?.first()
    }

    /// The resource that a path names.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let is_it = |it: &&Arc<Resource>| it.group == group && it.plural == plural && it.version == version;
        let rows = if group.is_empty() {
            self.rows.get(plural)
        } else {
            self.rows.get(&format!("{plural}.{group}"))
        };
        rows?.iter().find(is_it)
    }

    /// The resource of a kind, whatever its version.
    pub fn by_kind(&self, group: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.iter().find(|it| it.group == group && it.kind == kind)
    }
}
