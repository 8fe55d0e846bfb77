//! Where an object is: namespace and name as one string that orders by namespace, then name.

use std::borrow::Borrow;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Namespace and name of an object. A cluster scoped object has the namespace `""`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Arc<str>);

impl Key {
    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self(Self::text(namespace, name).into())
    }

    /// What a lookup needs: a key without the cost of sharing it.
    pub(super) fn text(namespace: &str, name: &str) -> String {
        // NUL is in no name and before every other character, so the order is that of the pair.
        [namespace, "\0", name].concat()
    }

    pub(super) fn of(meta: &ObjectMeta) -> Self {
        Self::new(meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default())
    }

    /// Namespace and name.
    pub(super) fn parts(&self) -> (&str, &str) {
        self.0.split_once('\0').unwrap_or(("", &self.0))
    }
}

// Sound because the derived order is that of the string.
impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_namespace_then_name() {
        let mut keys = [Key::new("b", "a"), Key::new("a-b", "a"), Key::new("a", "z"), Key::new("a", "b")];
        keys.sort();
        let parts: Vec<_> = keys.iter().map(Key::parts).collect();
        assert_eq!(parts, [("a", "b"), ("a", "z"), ("a-b", "a"), ("b", "a")]);
    }
}
