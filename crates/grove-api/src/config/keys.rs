//! Every key of the configuration file, in the order in which findings are reported, and the keys that are
//! accepted although they have no meaning any more.
//!
//! Upstream ignores what it does not know. Here a key that is not in these tables is an error, in every block:
//! a setting that was mistyped must not go unnoticed.

use super::{
    shape::{Key, Shape},
    types::{API_VERSION, KIND},
    walk::Accepted,
};
use crate::field::{Path, Segment};

use Shape::{AnyObject, Bool, Duration, Host, List, Name, Object, OneOf, Positive, Text};

const PORT: Shape = Shape::Integer { min: 1, max: 65_535 };
const COUNT: Shape = Shape::Integer { min: 1, max: i32::MAX as i64 };
const COUNT_OR_ZERO: Shape = Shape::Integer { min: 0, max: i32::MAX as i64 };

/// The whole file.
pub(super) const FILE: Shape = Object(&[
    Key::required("apiVersion", OneOf(&[API_VERSION])),
    Key::required("kind", OneOf(&[KIND])),
    Key::optional("runtimeClientConnection", Object(CLIENT_CONNECTION)),
    Key::optional("leaderElection", Object(LEADER_ELECTION)),
    Key::optional("server", Object(SERVER)),
    Key::optional("debugging", Object(DEBUGGING)),
    Key::optional("controllers", Object(CONTROLLERS)),
    Key::optional("logLevel", OneOf(&["debug", "info", "error"])),
    Key::optional("logFormat", OneOf(&["json", "text"])),
    Key::optional("authorizer", Object(AUTHORIZER)),
    Key::optional("topologyAwareScheduling", Object(TOPOLOGY_AWARE_SCHEDULING)),
    Key::optional("network", Object(&[Key::optional("autoMNNVLEnabled", Bool)])),
    Key::optional("nodeLoss", Object(NODE_LOSS)),
    Key::optional("scheduler", Object(SCHEDULER)),
    Key::optional("schedulerName", Text),
]);

const CLIENT_CONNECTION: &[Key] = &[
    Key::optional("qps", Positive),
    Key::optional("burst", COUNT_OR_ZERO),
    Key::optional("contentType", Text),
    Key::optional("acceptContentTypes", Text),
];

const LEADER_ELECTION: &[Key] = &[
    Key::optional("enabled", Bool),
    Key::optional("leaseDuration", Duration),
    Key::optional("renewDeadline", Duration),
    Key::optional("retryPeriod", Duration),
    Key::optional("resourceLock", OneOf(&["leases"])),
    Key::optional("resourceName", Name),
    Key::optional("resourceNamespace", Name),
];

const SERVER: &[Key] = &[
    Key::optional(
        "webhooks",
        Object(&[
            Key::optional("bindAddress", Host),
            Key::optional("port", PORT),
            Key::optional("serverCertDir", Text),
            Key::optional("secretName", Name),
            Key::optional("certProvisionMode", OneOf(&["auto", "manual"])),
        ]),
    ),
    Key::optional("healthProbes", Object(PLAIN_SERVER)),
    Key::optional(
        "metrics",
        Object(&[
            Key::optional("bindAddress", Host),
            Key::optional("port", PORT),
            Key::optional("tokenFile", Text),
        ]),
    ),
];

const PLAIN_SERVER: &[Key] = &[Key::optional("bindAddress", Host), Key::optional("port", PORT)];

const DEBUGGING: &[Key] = &[
    Key::optional("enableProfiling", Bool),
    Key::optional("pprofBindHost", Host),
    Key::optional("pprofBindPort", PORT),
];

const CONTROLLERS: &[Key] = &[
    Key::optional("podCliqueSet", Object(CONTROLLER)),
    Key::optional("podClique", Object(CONTROLLER)),
    Key::optional("podCliqueScalingGroup", Object(CONTROLLER)),
    Key::optional("podGang", Object(CONTROLLER)),
];

const CONTROLLER: &[Key] = &[Key::optional("concurrentSyncs", COUNT)];

const AUTHORIZER: &[Key] =
    &[Key::optional("enabled", Bool), Key::optional("exemptServiceAccountUserNames", List(&Text))];

const TOPOLOGY_AWARE_SCHEDULING: &[Key] = &[
    Key::optional("enabled", Bool),
    Key::optional("defaultTopologyName", Name),
    Key::optional("levels", List(&Object(&[Key::required("domain", Text), Key::required("key", Text)]))),
];

const NODE_LOSS: &[Key] = &[
    Key::optional("enabled", Bool),
    Key::optional("after", Duration),
    Key::optional("replaceUnitAfter", Duration),
];

const SCHEDULER: &[Key] =
    &[Key::optional("profiles", List(&Object(PROFILE))), Key::optional("defaultProfileName", Text)];

const PROFILE: &[Key] =
    &[Key::required("name", Text), Key::optional("config", AnyObject), Key::optional("default", Bool)];

/// What is accepted with a warning: keys of older versions, and keys that upstream's chart and samples write
/// although nothing reads them.
pub(super) const ACCEPTED: &[Accepted] = &[
    Accepted { path: "metadata", warning: "ignored: the file is not an object in the cluster" },
    Accepted { path: "clusterTopology", warning: "ignored: the setting is topologyAwareScheduling" },
    Accepted {
        path: "authorizer.reconcilerServiceAccountUserName",
        warning: "ignored: the operator knows its own service account",
    },
    Accepted {
        path: "authorizer.exemptServiceAccounts",
        warning: "ignored: list the user names in authorizer.exemptServiceAccountUserNames",
    },
    Accepted {
        path: "topologyAwareScheduling.levels",
        warning: "not applied: create a ClusterTopologyBinding with these levels",
    },
    Accepted {
        path: "schedulerName",
        warning: "deprecated: list the scheduler in scheduler.profiles with default: true",
    },
];

/// Where a path stands in the file: the position of each of its steps. Unknown keys stand last.
pub(super) fn position(path: &Path) -> Vec<usize> {
    let mut shape = FILE;
    let mut steps = Vec::new();
    for segment in path.segments() {
        let (step, below) = match (segment, shape) {
            (Segment::Field(name), Object(keys)) => match keys.iter().position(|key| key.name == name) {
                Some(step) => (step, keys[step].shape),
                None => (usize::MAX, AnyObject),
            },
            (Segment::Index(index), List(element)) => (*index, *element),
            _ => break,
        };
        steps.push(step);
        shape = below;
    }
    steps
}
