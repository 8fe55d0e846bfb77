//! The audit log as evidence: neither a tenant nor the operator on its behalf changes anything outside the tenant's namespace.

use crate::{cluster::Write, grouper, operator::account};

/// The users that tenants are.
pub(super) const EDITOR: &str = "e2e-tenant-editor";
pub(super) const OWNER: &str = "e2e-tenant-owner";

/// What our programs write beside the namespaces of users, whatever happens there: resource, and the namespace it is in. Leases
/// are not in this log at all.
const ALLOWED: &[(&str, &str)] = &[
    ("schedulerbackends", ""),
    ("schedulerbackends/status", ""),
    ("clustertopologybindings/status", ""),
    ("mutatingwebhookconfigurations", ""),
    ("validatingwebhookconfigurations", ""),
    ("secrets", account::NAMESPACE),
];
/// What is written about objects of a namespace and changes none of them.
const EVENTS: &str = "events";
/// What follows a pod that comes again: the references of its gang, and what a scheduler is told of that gang.
const FOLLOWING: [&str; 3] = ["podgangs", "podgroups", "compositepodgroups"];

/// What our programs may do in the victim's namespace, because the scenario made it necessary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Permit {
    /// Pods that were deleted and have to be made again: one create each, and two patches for the gate and the start order.
    pub(super) pods: usize,
    /// A resource of which an object was deleted and has to be made again.
    pub(super) remade: &'static str,
    /// All of it was deleted.
    pub(super) anything: bool,
}

/// What nothing justifies, one sentence each.
pub(super) fn trespasses(writes: &[Write], home: &str, victim: &str, permit: Permit) -> Vec<String> {
    let done = writes.iter().filter(|it| it.code < 400);
    let mut wrong = Vec::new();
    let (mut created, mut patched) = (0, 0);
    for write in done.filter(|it| it.namespace != home) {
        let (what, name) = (write.what(), &write.name);
        let place = format!("{}/{name}", write.namespace);
        if [EDITOR, OWNER].contains(&write.user.as_str()) {
            wrong.push(format!("the tenant could {what} {place}"));
        }
        if ![account::USER, grouper::USER].contains(&write.user.as_str()) || write.resource == EVENTS {
            continue;
        }
        if write.namespace != victim {
            let is_allowed = ALLOWED.contains(&(write.resource.as_str(), write.namespace.as_str()));
            if !is_allowed {
                wrong.push(format!("the operator did {what} {place}"));
            }
            continue;
        }
        match (write.verb.as_str(), write.resource.as_str()) {
            _ if permit.anything => {}
            ("create", "pods") => created += 1,
            ("patch", "pods") => patched += 1,
            (verb, resource) => {
                let is_status = verb == "patch" && resource.ends_with("/status");
                let is_remade = resource == permit.remade;
                // A gang that comes again has other objects of its scheduler, and those of the former go.
                let may_go = is_remade || FOLLOWING.contains(&permit.remade);
                let follows = FOLLOWING.contains(&resource) && (verb != "delete" || may_go);
                if !(is_status || is_remade || follows) || verb == "deletecollection" {
                    wrong.push(format!("the operator did {what} {place}"));
                }
            }
        }
    }
    if created > permit.pods || patched > 2 * permit.pods {
        let missing = permit.pods;
        wrong.push(format!("{missing} pods of the victim were missing; the operator made {created}, and changed pods {patched} times"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(user: &str, verb: &str, resource: &str, namespace: &str) -> Write {
        Write {
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            user: user.to_owned(),
            code: 200,
            ..Write::default()
        }
    }

    #[test]
    fn what_is_told() {
        let one = Permit { pods: 1, remade: "services", ..Permit::default() };
        let gang = Permit { remade: "podgangs", ..Permit::default() };
        let all = Permit { anything: true, ..Permit::default() };
        let table = [
            (EDITOR, "create", "pods", "home", one, false),
            (EDITOR, "create", "pods", "victim", one, true),
            (OWNER, "patch", "leases", "kube-system", one, true),
            (account::USER, "delete", "pods", "home", one, false),
            (account::USER, "create", "events", "victim", one, false),
            (account::USER, "patch", "podcliques/status", "victim", one, false),
            (account::USER, "create", "pods", "victim", one, false),
            (account::USER, "create", "pods", "victim", Permit::default(), true),
            (account::USER, "delete", "pods", "victim", one, true),
            (account::USER, "deletecollection", "pods", "victim", one, true),
            (account::USER, "deletecollection", "pods", "victim", all, false),
            (account::USER, "patch", "podgroups", "victim", one, false),
            (account::USER, "delete", "podgroups", "victim", one, true),
            (account::USER, "delete", "podgangs", "victim", one, true),
            (account::USER, "delete", "podgroups", "victim", gang, false),
            (account::USER, "create", "services", "victim", one, false),
            (account::USER, "create", "services", "victim", Permit::default(), true),
            (account::USER, "patch", "podcliques", "victim", one, true),
            (account::USER, "patch", "schedulerbackends/status", "", one, false),
            (account::USER, "patch", "services", "default", one, true),
            (grouper::USER, "patch", "pods", "third", one, true),
            ("admin", "delete", "pods", "victim", one, false),
        ];
        for (user, verb, resource, namespace, permit, is_wrong) in table {
            let found = trespasses(&[write(user, verb, resource, namespace)], "home", "victim", permit);
            assert_eq!(!found.is_empty(), is_wrong, "{user} {verb} {resource} {namespace}: {found:?}");
        }
        let refused = Write { code: 403, ..write(EDITOR, "create", "pods", "victim") };
        assert!(trespasses(&[refused], "home", "victim", one).is_empty());
    }
}
