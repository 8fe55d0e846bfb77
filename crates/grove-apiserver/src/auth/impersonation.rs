//! Acting as another user, by the `Impersonate-` headers.

use std::collections::BTreeMap;

use http::HeaderMap;

use super::attributes::Attributes;
use super::authentication::authenticated;
use super::authorization::Decision;
use super::service_accounts::{groups_of_account, split_account};
use super::user::UserInfo;
use crate::failure::Failure;
use crate::query::decode;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// A user whom the client wants to act as.
#[derive(Debug)]
pub(crate) struct Impersonation(UserInfo);

/// Whom a client wants to act as, if anybody.
pub(crate) fn impersonated(headers: &HeaderMap) -> Result<Option<Impersonation>, Failure> {
    let values = |name: &str| {
        let values = headers.get_all(name).iter().filter_map(|it| it.to_str().ok());
        values.map(str::to_owned).collect::<Vec<String>>()
    };
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in headers.keys() {
        if let Some(key) = name.as_str().strip_prefix(EXTRA) {
            extra.insert(decode(key, false), values(name.as_str()));
        }
    }
    let username = values(USER).into_iter().next().unwrap_or_default();
    let (groups, uid) = (values(GROUP), values(UID).into_iter().next().unwrap_or_default());
    if username.is_empty() {
        let is_nobody = groups.is_empty() && extra.is_empty() && uid.is_empty();
        let message = format!(
            "requested {groups:?} groups, {extra:?} extra and {uid:?} uid without impersonating a user"
        );
        return if is_nobody { Ok(None) } else { Err(Failure::bad_request(message)) };
    }
    Ok(Some(Impersonation(UserInfo { username, uid, groups, extra })))
}

impl Impersonation {
    /// The other user, if `by` is permitted to act as this one in every respect.
    pub(crate) fn permitted(
        self,
        by: &UserInfo,
        decide: impl Fn(&Attributes) -> Decision,
    ) -> Result<UserInfo, Failure> {
        let Self(mut user) = self;
        for attributes in parts(&user) {
            decide(&attributes).into_result(by, &attributes)?;
        }
        if user.groups.is_empty()
            && let Some((namespace, _)) = split_account(&user.username)
        {
            user.groups = groups_of_account(namespace);
        }
        if user.username == "system:anonymous" { Ok(user) } else { Ok(authenticated(user)) }
    }
}

/// What must be permitted, one by one.
fn parts(user: &UserInfo) -> Vec<Attributes> {
    let part = |group: &str, resource: &str, name: &str| Attributes {
        verb: "impersonate".to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        resource: resource.to_owned(),
        name: name.to_owned(),
        ..Attributes::default()
    };
    let mut parts = vec![match split_account(&user.username) {
        Some((namespace, name)) => {
            Attributes { namespace: namespace.to_owned(), ..part("", "serviceaccounts", name) }
        }
        None => part("", "users", &user.username),
    }];
    parts.extend(user.groups.iter().map(|it| part("", "groups", it)));
    if !user.uid.is_empty() {
        parts.push(part("authentication.k8s.io", "uids", &user.uid));
    }
    for (key, values) in &user.extra {
        for value in values {
            let extra = part("authentication.k8s.io", "userextras", value);
            parts.push(Attributes { subresource: key.clone(), ..extra });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn read(headers: &[(&str, &str)]) -> Result<Option<Impersonation>, Failure> {
        let pairs = headers.iter().map(|(name, value)| {
            (HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap())
        });
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value);
        }
        impersonated(&map)
    }

    #[test]
    fn every_part_must_be_permitted() {
        let headers = [
            ("Impersonate-User", "jane"),
            ("Impersonate-Group", "dev"),
            ("Impersonate-Group", "ops"),
            ("Impersonate-Uid", "7"),
            ("Impersonate-Extra-a%2fb", "x"),
        ];
        let asked = parking_lot::Mutex::new(Vec::new());
        let admin = UserInfo::default();
        let user = read(&headers).unwrap().unwrap().permitted(&admin, |it| {
            asked.lock().push(format!("{} {}", it.full_resource(), it.name));
            Decision::Allowed
        });
        let user = user.unwrap();
        assert_eq!(user.groups, ["dev", "ops", "system:authenticated"]);
        assert_eq!(user.extra["a/b"], ["x"]);
        assert_eq!(
            asked.into_inner(),
            ["users jane", "groups dev", "groups ops", "uids 7", "userextras/a/b x"]
        );
        let refused = read(&headers)
            .unwrap()
            .unwrap()
            .permitted(&admin, |it| if it.name == "ops" { Decision::Denied } else { Decision::Allowed });
        assert_eq!(
            refused.unwrap_err().message,
            r#"groups "ops" is forbidden: User "system:admin" cannot impersonate resource "groups" in API group "" at the cluster scope"#
        );
    }

    #[test]
    fn a_service_account_gets_its_groups() {
        let wanted = read(&[("Impersonate-User", "system:serviceaccount:ns:builder")]).unwrap().unwrap();
        let user = wanted.permitted(&UserInfo::default(), |it| {
            assert_eq!((&*it.resource, &*it.namespace, &*it.name), ("serviceaccounts", "ns", "builder"));
            Decision::Allowed
        });
        let groups = ["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"];
        assert_eq!(user.unwrap().groups, groups);
    }

    #[test]
    fn groups_without_a_user_are_refused() {
        assert_eq!(read(&[("Impersonate-Group", "dev")]).unwrap_err().code, 400);
        assert!(read(&[]).unwrap().is_none());
    }
}
