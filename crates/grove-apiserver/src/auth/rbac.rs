//! Role-based access control: roles and bindings among the objects of the store.

use std::sync::Arc;

use serde_json::Value;

use super::attributes::Attributes;
use super::authorization::Decision;
use super::user::UserInfo;
use crate::object::Object;
use crate::store::Store;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Aggregated roles may aggregate aggregated roles; deeper than this nobody means it.
const MOST_NESTED: usize = 8;

/// Whether any rule that is bound to `user` allows what `attributes` say.
pub(super) fn decide(store: &Store, user: &UserInfo, attributes: &Attributes) -> Decision {
    let namespace = Some(attributes.namespace.as_str()).filter(|it| !it.is_empty());
    let mut decision = Decision::Denied;
    visit_rules(store, user, namespace, &mut |rule| {
        if allows(rule, attributes) {
            decision = Decision::Allowed;
        }
        decision.is_allowed()
    });
    decision
}

/// Shows `visit` every rule that is bound to `user`, in the cluster and in `namespace`, until it says that it has seen enough.
pub(super) fn visit_rules(
    store: &Store,
    user: &UserInfo,
    namespace: Option<&str>,
    visit: &mut dyn FnMut(&Value) -> bool,
) {
    for binding in store.list(&id("clusterrolebindings"), None) {
        if is_bound(&binding, user) && visit_role(store, &binding, None, visit) {
            return;
        }
    }
    let Some(namespace) = namespace else { return };
    for binding in store.list(&id("rolebindings"), Some(namespace)) {
        if is_bound(&binding, user) && visit_role(store, &binding, Some(namespace), visit) {
            return;
        }
    }
}

fn id(resource: &str) -> String {
    format!("{resource}.{GROUP}")
}

/// Whether a binding names the user, or a group or service account that the user is.
fn is_bound(binding: &Object, user: &UserInfo) -> bool {
    items(binding.field("/subjects")).any(|subject| {
        let text = |field: &str| subject[field].as_str().unwrap_or_default();
        match text("kind") {
            "User" => text("name") == user.username,
            "Group" => user.is_in(text("name")),
            "ServiceAccount" => {
                // A subject without a namespace is one of the binding's.
                let namespace = Some(text("namespace")).filter(|it| !it.is_empty());
                let namespace = namespace.unwrap_or_else(|| binding.namespace());
                user.username == format!("system:serviceaccount:{namespace}:{}", text("name"))
            }
            _ => false,
        }
    })
}

/// Shows the rules of the role that a binding refers to. Whether `visit` has seen enough.
fn visit_role(
    store: &Store,
    binding: &Object,
    namespace: Option<&str>,
    visit: &mut dyn FnMut(&Value) -> bool,
) -> bool {
    let text = |pointer: &str| binding.field(pointer).and_then(Value::as_str).unwrap_or_default();
    let name = text("/roleRef/name");
    match (text("/roleRef/kind"), namespace) {
        ("Role", Some(namespace)) => {
            let role = store.get(&id("roles"), namespace, name);
            role.is_some_and(|role| items(role.field("/rules")).any(visit))
        }
        ("ClusterRole", _) => store
            .get(&id("clusterroles"), "", name)
            .is_some_and(|role| visit_cluster_role(store, &role, MOST_NESTED, visit)),
        _ => false,
    }
}

/// The rules of a cluster role, and of those that it aggregates by their labels.
fn visit_cluster_role(
    store: &Store,
    role: &Arc<Object>,
    deeper: usize,
    visit: &mut dyn FnMut(&Value) -> bool,
) -> bool {
    let Some(aggregation) = role.field("/aggregationRule") else {
        return items(role.field("/rules")).any(visit);
    };
    if deeper == 0 {
        return false;
    }
    let selectors: Vec<&Value> = items(aggregation.get("clusterRoleSelectors")).collect();
    let others = store.list(&id("clusterroles"), None);
    let mut selected = others
        .iter()
        .filter(|it| it.name() != role.name() && selectors.iter().any(|selector| selects(selector, it)));
    selected.any(|it| visit_cluster_role(store, it, deeper - 1, visit))
}

/// Whether a `LabelSelector` selects an object. An empty one selects everything, as does the controller of the real server.
fn selects(selector: &Value, object: &Object) -> bool {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut labels = labels.map(|(key, value)| object.label(key) == value.as_str());
    let mut expressions = items(selector.get("matchExpressions")).map(|expression| {
        let value = object.label(expression["key"].as_str().unwrap_or_default());
        let is_listed = || items(expression.get("values")).any(|it| it.as_str() == value && value.is_some());
        match expression["operator"].as_str().unwrap_or_default() {
            "In" => is_listed(),
            "NotIn" => !is_listed(),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    });
    labels.all(|it| it) && expressions.all(|it| it)
}

/// Whether a rule allows what `attributes` say.
fn allows(rule: &Value, attributes: &Attributes) -> bool {
    let has = |field: &str, wanted: &str| texts(rule, field).any(|it| it == "*" || it == wanted);
    if !has("verbs", &attributes.verb) {
        return false;
    }
    if !attributes.is_resource() {
        return texts(rule, "nonResourceURLs").any(|it| covers_path(it, &attributes.path));
    }
    let names: Vec<&str> = texts(rule, "resourceNames").collect();
    has("apiGroups", &attributes.group)
        && texts(rule, "resources").any(|it| covers_resource(it, attributes))
        && (names.is_empty() || names.contains(&attributes.name.as_str()))
}

/// `*` is everything, `pods/*` is no such thing, `*/scale` is a subresource of everything.
fn covers_resource(rule: &str, attributes: &Attributes) -> bool {
    rule == "*"
        || rule == attributes.full_resource()
        || (!attributes.subresource.is_empty() && rule.strip_prefix("*/") == Some(&attributes.subresource))
}

fn covers_path(rule: &str, path: &str) -> bool {
    rule == "*" || rule == path || rule.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

fn texts<'a>(rule: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    items(rule.get(field)).filter_map(Value::as_str)
}
