//! All that a user may do in a namespace, for SelfSubjectRulesReview.

use serde_json::{Map, Value, json};

use super::authorization::Authorization;
use super::rbac::visit_rules;
use super::user::UserInfo;
use crate::store::Store;

/// The status of a SelfSubjectRulesReview.
pub(super) fn rules_of(
    authorization: Authorization,
    store: &Store,
    user: &UserInfo,
    namespace: &str,
) -> Value {
    let (mut resource_rules, mut path_rules) = (Vec::new(), Vec::new());
    let everything = authorization == Authorization::AlwaysAllow || user.is_in("system:masters");
    if everything {
        resource_rules.push(json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
        path_rules.push(json!({"verbs": ["*"], "nonResourceURLs": ["*"]}));
    } else {
        visit_rules(store, user, Some(namespace), &mut |rule| {
            if rule.get("resources").is_some() {
                resource_rules.push(only(rule, &["verbs", "apiGroups", "resources", "resourceNames"]));
            }
            if rule.get("nonResourceURLs").is_some() {
                path_rules.push(only(rule, &["verbs", "nonResourceURLs"]));
            }
            false
        });
    }
    json!({"resourceRules": resource_rules, "nonResourceRules": path_rules, "incomplete": false})
}

fn only(rule: &Value, fields: &[&str]) -> Value {
    let said = fields.iter().filter_map(|field| Some(((*field).to_owned(), rule.get(*field)?.clone())));
    Value::Object(said.collect::<Map<_, _>>())
}
