//! What kinds of objects the server serves, and how each behaves. A table: nothing else knows kinds by name, except
//! pods and namespaces, which have rules of their own in `write`.

mod builtin;
mod definition;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use definition::BadDefinition;

use crate::ownership::Shape;

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
    /// Fields that can be selected by, besides name and namespace, such as `spec.nodeName`.
    pub fields: Vec<String>,
    /// How its fields are told apart.
    pub(crate) shape: Arc<Shape>,
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
        resource.generation = true;
        resource.unconditional_update = false;
        resource
    }

    /// A namespaced resource without subresources, as it comes with Kubernetes.
    pub fn built_in(group: &str, version: &str, kind: &str, plural: &str) -> Self {
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
            fields: Vec::new(),
            shape: Arc::new(Shape::of_objects(&Value::Null)),
            id: id.into(),
        }
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
}

/// The resources that a server serves.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    rows: BTreeMap<String, Arc<Resource>>,
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

    /// These and one more. A resource of the same group and plural is replaced.
    #[must_use]
    pub fn with(mut self, resource: Resource) -> Self {
        self.rows.insert(resource.id().to_owned(), Arc::new(resource));
        self
    }

    /// These and what a CustomResourceDefinition defines, in its storage version.
    pub fn with_crd(self, definition: &Value) -> Result<Self, BadDefinition> {
        Ok(self.with(Resource::from_crd(definition)?))
    }

    /// All, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.rows.values()
    }

    /// The resource of an id such as `podcliques.grove.io`.
    pub fn by_id(&self, id: &str) -> Option<&Arc<Resource>> {
        self.rows.get(id)
    }

    /// The resource that a path names.
    pub fn find(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        let is_it = |it: &&Arc<Resource>| it.group == group && it.plural == plural && it.version == version;
        let row =
            if group.is_empty() { self.by_id(plural) } else { self.by_id(&format!("{plural}.{group}")) };
        row.filter(is_it)
    }

    /// The resource of a kind, whatever its version.
    pub fn by_kind(&self, group: &str, kind: &str) -> Option<&Arc<Resource>> {
        self.iter().find(|it| it.group == group && it.kind == kind)
    }
}
