//! Who sent a request.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The user of a request, after authentication and impersonation.
///
/// Carried as an extension of the request: `parts.extensions.get::<UserInfo>()`. Requests that did not come through a
/// listener, such as those of a [`crate::ApiService`] in the same process, have none; use [`UserInfo::default`] for
/// them, which is `system:admin` of `system:masters`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// The name, such as `system:serviceaccount:default:builder`.
    pub username: String,
    /// The UID; empty if the authenticator knows none.
    pub uid: String,
    /// The groups, such as `system:authenticated`.
    pub groups: Vec<String>,
    /// Whatever else the authenticator knows.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// A user without UID and extra.
    pub fn new(username: &str, groups: &[&str]) -> Self {
        Self {
            username: username.to_owned(),
            uid: String::new(),
            groups: groups.iter().map(|it| (*it).to_owned()).collect(),
            extra: BTreeMap::new(),
        }
    }

    /// Whether the user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|it| it == group)
    }

    /// The `authentication.k8s.io/v1` UserInfo, without empty fields.
    pub fn to_json(&self) -> Value {
        let mut user = json!({"username": self.username});
        if !self.uid.is_empty() {
            user["uid"] = self.uid.as_str().into();
        }
        if !self.groups.is_empty() {
            user["groups"] = json!(self.groups);
        }
        if !self.extra.is_empty() {
            user["extra"] = json!(self.extra);
        }
        user
    }
}

impl Default for UserInfo {
    fn default() -> Self {
        Self::new("system:admin", &["system:masters", "system:authenticated"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_are_left_out() {
        let mut user = UserInfo::new("jane", &["dev"]);
        assert_eq!(user.to_json(), json!({"username": "jane", "groups": ["dev"]}));
        user.uid = "42".to_owned();
        user.extra.insert("scopes".to_owned(), vec!["a".to_owned()]);
        let expected =
            json!({"username": "jane", "uid": "42", "groups": ["dev"], "extra": {"scopes": ["a"]}});
        assert_eq!(user.to_json(), expected);
    }
}
