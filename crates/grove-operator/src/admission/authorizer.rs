//! Protects what Grove manages: only the operator, and whom the configuration exempts, may change it.

use std::collections::BTreeSet;

use grove_api::constants::annotations::DISABLE_PROTECTION;
use http::StatusCode;

use super::{
    knowledge::{Owner, Snapshot, part_of},
    review::{Operation, Request},
    verdict::Verdict,
};

/// They finish what somebody with the right to do so has begun: the deletion of an owner or of a namespace.
const CLUSTER: [&str; 3] = [
    "system:kube-controller-manager",
    "system:serviceaccount:kube-system:generic-garbage-collector",
    "system:serviceaccount:kube-system:namespace-controller",
];

/// Who may change managed objects.
#[derive(Clone, Debug)]
pub struct Authorizer {
    users: BTreeSet<String>,
}

impl Authorizer {
    /// The operator's own service account, and those that the configuration exempts.
    pub fn new(namespace: &str, service_account: &str, exempt: &[String]) -> Self {
        let operator = format!("system:serviceaccount:{namespace}:{service_account}");
        let cluster = CLUSTER.iter().map(|it| (*it).to_owned());
        Self { users: exempt.iter().cloned().chain([operator]).chain(cluster).collect() }
    }

    /// Judges a change of a managed object.
    pub(super) fn authorize(&self, request: &Request, snapshot: &Snapshot) -> Verdict {
        if request.operation == Operation::Connect {
            return Verdict::allowed();
        }
        let Some(set) = part_of(request.subject()) else {
            return Verdict::allowed_with(
                "the object has no label app.kubernetes.io/part-of that names its PodCliqueSet: not protected",
            );
        };
        match snapshot.owner {
            Owner::Absent => {
                return Verdict::allowed_with(format!(
                    "PodCliqueSet {set:?} does not exist in this namespace: the object is not protected"
                ));
            }
            Owner::LetsGo => return Verdict::allowed(),
            Owner::Protects => {}
        }
        let user = &request.user_info.username;
        // Whoever may delete a pod may; it is made again.
        let pod = request.kind.kind == "Pod" && request.kind.group.is_empty();
        if self.users.contains(user) || (pod && request.operation == Operation::Delete) {
            return Verdict::allowed();
        }
        let message = format!(
            "{user:?} may not change this {}: it is managed by PodCliqueSet {set:?}; change that, or set its \
             annotation {DISABLE_PROTECTION} to \"true\"",
            request.kind.kind
        );
        Verdict::denied(StatusCode::FORBIDDEN, message)
    }
}
