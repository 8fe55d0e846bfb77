//! Security contexts: users, groups, privileges.

use k8s_openapi::api::core::v1::{PodSecurityContext, SecurityContext};

use super::between;
use crate::field::{Error, Errors, Path};

pub(super) fn of_pod(context: Option<&PodSecurityContext>, path: &Path, errors: &mut Errors) {
    let Some(context) = context else { return };
    for (field, id) in [
        ("runAsUser", context.run_as_user),
        ("runAsGroup", context.run_as_group),
        ("fsGroup", context.fs_group),
    ] {
        user(id, path.child(field), errors);
    }
}

pub(super) fn of_container(context: Option<&SecurityContext>, path: &Path, errors: &mut Errors) {
    let Some(context) = context else { return };
    user(context.run_as_user, path.child("runAsUser"), errors);
    user(context.run_as_group, path.child("runAsGroup"), errors);
    if context.privileged == Some(true) && context.allow_privilege_escalation == Some(false) {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.push(Error::invalid(path.clone(), context, detail));
    }
}

fn user(id: Option<i64>, path: Path, errors: &mut Errors) {
    let ids = 0..=i64::from(i32::MAX);
    if let Some(id) = id.filter(|it| !ids.contains(it)) {
        errors.push(Error::invalid(path, id, between(0, i32::MAX.into())));
    }
}
