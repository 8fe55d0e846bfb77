//! The resources that a server serves: those that it was made with, and those that are defined in its store.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::Value;

use super::{RESOURCE, Served, by_priority, is_established};
use crate::metadata;
use crate::object::Object;
use crate::resource::{Resource, Resources};
use crate::schema;
use crate::store::Store;

/// Knows the resources of the moment. Asking costs a comparison where no definition has changed.
#[derive(Debug)]
pub(crate) struct Registry {
    base: Arc<Resources>,
    current: RwLock<Current>,
}

#[derive(Debug)]
struct Current {
    /// How often definitions had changed when this was made.
    changes: u64,
    resources: Arc<Resources>,
    /// The versions of each definition, by its uid. What has not changed is not compiled again.
    compiled: BTreeMap<String, Compiled>,
}

#[derive(Clone, Debug)]
struct Compiled {
    generation: i64,
    versions: Vec<Arc<Resource>>,
}

impl Registry {
    pub(crate) fn new(base: Resources) -> Self {
        let base = Arc::new(base);
        let current = Current { changes: 0, resources: Arc::clone(&base), compiled: BTreeMap::new() };
        Self { base, current: RwLock::new(current) }
    }

    /// The resources of now.
    pub(crate) fn resources(&self, store: &Store) -> Arc<Resources> {
        let changes = store.definition_changes();
        {
            let current = self.current.read();
            if current.changes == changes || !self.base.has_definitions() {
                return Arc::clone(&current.resources);
            }
        }
        let mut current = self.current.write();
        if current.changes != changes {
            // Counted before they are read: a change in between is seen twice rather than never.
            let definitions = store.list(RESOURCE, None);
            let compiled = self.compile(&definitions, &current.compiled);
            let rows = compiled.values().map(|it| it.versions.clone());
            current.resources = Arc::new(rows.fold((*self.base).clone(), Resources::with_versions));
            current.compiled = compiled;
            current.changes = changes;
        }
        Arc::clone(&current.resources)
    }

    fn compile(
        &self,
        definitions: &[Arc<Object>],
        known: &BTreeMap<String, Compiled>,
    ) -> BTreeMap<String, Compiled> {
        let mut out = BTreeMap::new();
        for definition in definitions.iter().filter(|it| is_established(it)) {
            let generation = metadata::number(definition.value(), "generation").unwrap_or_default();
            let known = known.get(definition.uid()).filter(|it| it.generation == generation).cloned();
            let compiled = known.unwrap_or_else(|| {
                let is_strict = self.base.defines_strictly();
                Compiled { generation, versions: versions(definition, generation, is_strict) }
            });
            // What comes with the server stays as it is.
            let is_built_in = |it: &Arc<Resource>| self.base.by_id(it.id()).is_some_and(|it| !it.custom);
            if !compiled.versions.iter().any(is_built_in) {
                out.insert(definition.uid().to_owned(), compiled);
            }
        }
        out
    }
}

/// The served versions of a definition, the preferred one first.
fn versions(definition: &Arc<Object>, generation: i64, is_strict: bool) -> Vec<Arc<Resource>> {
    let value = definition.value();
    let all =
        value.pointer("/spec/versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |it: &Value| it["name"].as_str().unwrap_or_default().to_owned();
    let group = value.pointer("/spec/group").and_then(Value::as_str).unwrap_or_default();
    let stored = all.iter().find(|it| it["storage"] == true).map(name).unwrap_or_default();
    let served = all.iter().filter(|it| it["served"] == true);
    let mut rows: Vec<Arc<Resource>> = served
        .filter_map(|version| {
            let mut resource = Resource::from_crd_version(value, version).ok()?;
            resource.strict = is_strict;
            // Was checked before it was stored.
            let schema = schema::compile(&version["schema"]["openAPIV3Schema"], "").ok()?;
            resource.served = Some(Arc::new(Served {
                definition: definition.name().to_owned(),
                uid: definition.uid().to_owned(),
                generation,
                api_version: resource.api_version(),
                stored_api_version: format!("{group}/{stored}"),
                since: definition.revision(),
                schema: Arc::new(schema),
                raw: Arc::new(version.clone()),
            }));
            Some(Arc::new(resource))
        })
        .collect();
    rows.sort_by(|left, right| by_priority(&left.version, &right.version));
    rows
}
