//! What a user may do.

use super::attributes::Attributes;
use super::authentication::Authentication;
use super::rbac;
use super::user::UserInfo;
use crate::failure::{Details, Failure};
use crate::store::Store;

/// Who decides what users may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Authorization {
    /// Everybody may do everything.
    #[default]
    AlwaysAllow,
    /// The roles and role bindings among the objects. Members of `system:masters` may do everything.
    Rbac,
}

/// The answer to a question about a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Allowed,
    /// Nobody says yes.
    Denied,
}

/// How a listener authenticates and authorizes. Carried as an extension of the request, for reviews; requests that did
/// not come through a listener have none, and may do everything.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) authentication: Authentication,
    pub(crate) authorization: Authorization,
}

impl Authorization {
    /// Whether `user` may do what `attributes` say.
    pub(crate) fn decide(self, store: &Store, user: &UserInfo, attributes: &Attributes) -> Decision {
        match self {
            Self::AlwaysAllow => Decision::Allowed,
            Self::Rbac if user.is_in("system:masters") => Decision::Allowed,
            Self::Rbac => rbac::decide(store, user, attributes),
        }
    }
}

impl Access {
    pub(crate) fn authorize(&self, store: &Store, user: &UserInfo, attributes: &Attributes) -> Decision {
        self.authorization.decide(store, user, attributes)
    }
}

impl Decision {
    /// Whether the answer is yes.
    pub fn is_allowed(self) -> bool {
        self == Self::Allowed
    }

    /// A refusal if the answer is no.
    pub(crate) fn into_result(self, user: &UserInfo, attributes: &Attributes) -> Result<(), Failure> {
        if self.is_allowed() { Ok(()) } else { Err(refusal(user, attributes)) }
    }
}

fn refusal(user: &UserInfo, attributes: &Attributes) -> Failure {
    let Attributes { verb, group, resource, namespace, name, path, .. } = attributes;
    let user = &user.username;
    let mut details = Details::default();
    let message = if attributes.is_resource() {
        let dot = if group.is_empty() { "" } else { "." };
        let named = if name.is_empty() { String::new() } else { format!(" {name:?}") };
        let scope = if namespace.is_empty() {
            "at the cluster scope".to_owned()
        } else {
            format!("in the namespace {namespace:?}")
        };
        details = Details {
            name: name.clone(),
            group: group.clone(),
            kind: resource.clone(),
            ..Details::default()
        };
        format!(
            "{resource}{dot}{group}{named} is forbidden: User {user:?} cannot {verb} resource {:?} in API group {group:?} {scope}",
            attributes.full_resource()
        )
    } else {
        format!("forbidden: User {user:?} cannot {verb} path {path:?}")
    };
    let mut failure = Failure::new(403, "Forbidden", message);
    failure.details = Some(Box::new(details));
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_worded_like_those_of_the_real_server() {
        let jane = UserInfo::new("jane", &[]);
        let on = |verb: &str, group: &str, resource: &str| Attributes {
            verb: verb.to_owned(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            ..Attributes::default()
        };
        let message = |attributes: &Attributes| {
            let failure = Decision::Denied.into_result(&jane, attributes).unwrap_err();
            assert_eq!((failure.code, failure.reason.as_str()), (403, "Forbidden"));
            failure.message
        };
        assert_eq!(
            message(&Attributes { namespace: "default".to_owned(), ..on("list", "", "pods") }),
            r#"pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default""#
        );
        let mut binding = on("create", "", "pods");
        (binding.namespace, binding.name, binding.subresource) =
            ("default".to_owned(), "a".to_owned(), "binding".to_owned());
        assert_eq!(
            message(&binding),
            r#"pods "a" is forbidden: User "jane" cannot create resource "pods/binding" in API group "" in the namespace "default""#
        );
        assert_eq!(
            message(&on("list", "grove.io", "podcliques")),
            r#"podcliques.grove.io is forbidden: User "jane" cannot list resource "podcliques" in API group "grove.io" at the cluster scope"#
        );
        let path =
            Attributes { verb: "get".to_owned(), path: "/metrics".to_owned(), ..Attributes::default() };
        assert_eq!(message(&path), r#"forbidden: User "jane" cannot get path "/metrics""#);
    }
}
