//! What a bundle is about: all namespaces, one, or one set. Says how to ask for what belongs to it.

use grove_api::constants::labels;
use kube::api::ListParams;
use serde_json::Value;

/// What a bundle is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Cluster,
    Namespace(String),
    Set { namespace: String, name: String },
}

impl Scope {
    /// `None`: all.
    pub(super) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Cluster => None,
            Self::Namespace(namespace) | Self::Set { namespace, .. } => Some(namespace),
        }
    }

    fn set(&self) -> Option<&str> {
        match self {
            Self::Set { name, .. } => Some(name),
            Self::Cluster | Self::Namespace(_) => None,
        }
    }

    /// Selects PodCliqueSets. By name: their labels are the user's.
    pub(super) fn sets(&self) -> ListParams {
        let all = ListParams::default();
        self.set().map_or(all.clone(), |set| all.fields(&format!("metadata.name={set}")))
    }

    /// Selects kinds of which every object may matter.
    pub(super) fn related(&self) -> ListParams {
        let all = ListParams::default();
        self.set().map_or(all.clone(), |set| all.labels(&format!("{}={set}", labels::PART_OF)))
    }

    /// Selects, of kinds that others use too, what the operator made.
    pub(super) fn made(&self) -> ListParams {
        let made = format!("{}={}", labels::MANAGED_BY, labels::MANAGED_BY_VALUE);
        let more = self.set().map(|set| format!(",{}={set}", labels::PART_OF));
        ListParams::default().labels(&(made + &more.unwrap_or_default()))
    }

    /// Whether an object without Grove's labels belongs to the set: by its name, or by those of its owners.
    pub(super) fn has(&self, object: &Value) -> bool {
        let Some(set) = self.set() else { return true };
        let metadata = &object["metadata"];
        let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
        let names = owners.map(|it| &it["name"]).chain([&metadata["name"]]);
        names.filter_map(Value::as_str).any(|it| is_of(it, set))
    }
}

/// Whether something with this name was probably made for the set: names begin with that of the set.
pub(super) fn is_of(name: &str, set: &str) -> bool {
    name.strip_prefix(set).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scopes() -> [Scope; 3] {
        let (namespace, name) = ("ml".to_owned(), "chat".to_owned());
        [Scope::Cluster, Scope::Namespace(namespace.clone()), Scope::Set { namespace, name }]
    }

    #[test]
    fn what_is_asked_for() {
        let part_of = "app.kubernetes.io/part-of=chat";
        let managed = "app.kubernetes.io/managed-by=grove-operator";
        let both = format!("{managed},{part_of}");
        let rows = [
            (None, None, None, managed),
            (Some("ml"), None, None, managed),
            (Some("ml"), Some("metadata.name=chat"), Some(part_of), both.as_str()),
        ];
        for (scope, (namespace, fields, related, made)) in scopes().iter().zip(rows) {
            assert_eq!(scope.namespace(), namespace);
            assert_eq!(scope.sets().field_selector.as_deref(), fields, "{scope:?}");
            assert_eq!(scope.related().label_selector.as_deref(), related, "{scope:?}");
            assert_eq!(scope.made().label_selector.as_deref(), Some(made), "{scope:?}");
        }
    }

    #[test]
    fn what_belongs_to_a_set() {
        let [cluster, _, set] = scopes();
        let rows = [
            (json!({ "metadata": { "name": "chat-0" } }), true),
            (json!({ "metadata": { "name": "chat" } }), true),
            (json!({ "metadata": { "name": "chatty-0" } }), false),
            (json!({ "metadata": { "name": "pg-1", "ownerReferences": [{ "name": "chat-0" }] } }), true),
            (json!({ "metadata": { "name": "pg-1" } }), false),
        ];
        for (object, want) in rows {
            assert_eq!(set.has(&object), want, "{object}");
            assert!(cluster.has(&object));
        }
    }
}
