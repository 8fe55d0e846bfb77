//! Collects the JSON schema of every type that a resource is made of, by type name.

use std::collections::BTreeMap;

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::Value;

/// Schemas by type name, still referring to each other.
pub(super) type Definitions = BTreeMap<String, Value>;

/// The schemas of `Spec`, `Status` and all they contain.
pub(super) fn collect<Spec: JsonSchema, Status: JsonSchema>() -> Definitions {
    let mut generator: SchemaGenerator = SchemaSettings::openapi3().into_generator();
    generator.subschema_for::<Spec>();
    generator.subschema_for::<Status>();
    generator.take_definitions(true).into_iter().collect()
}
