//! A backend as a person wants to know it: a pure function of its SchedulerBackend.

use grove_api::{
    constants::conditions::scheduler_backend_ready,
    wire::{Capability, SchedulerBackend},
};
use kube::ResourceExt;
use serde::Serialize;

/// One backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Backend {
    pub(super) name: String,
    /// Whether sets that name no scheduler use it.
    pub(super) default: bool,
    pub(super) ready: Ready,
    /// Version of the scheduler or of its API; empty where nobody knows it.
    pub(super) version: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) capabilities: Vec<Capability>,
}

/// Whether it can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Ready {
    Yes,
    No,
    /// No profile asks for it.
    NotConfigured,
    /// Nobody has looked yet.
    Unknown,
}

impl Ready {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::NotConfigured => "not configured",
            Self::Unknown => "unknown",
        }
    }
}

/// All of them: the default first, those that nobody configured last.
pub(super) fn all(objects: &[SchedulerBackend]) -> Vec<Backend> {
    let mut all: Vec<Backend> = objects.iter().map(Backend::of).collect();
    all.sort_by_key(|it| (!it.default, it.ready == Ready::NotConfigured, it.name.clone()));
    all
}

impl Backend {
    fn of(object: &SchedulerBackend) -> Self {
        let status = object.status.clone().unwrap_or_default();
        let condition = status.conditions.into_iter().find(|it| it.type_ == scheduler_backend_ready::TYPE);
        let (said, reason, message) =
            condition.map(|it| (it.status, it.reason, it.message)).unwrap_or_default();
        Self {
            name: status.scheduler_name.unwrap_or_else(|| object.name_any()),
            default: status.default,
            ready: match said.as_str() {
                "True" => Ready::Yes,
                "False" => Ready::No,
                _ if reason == scheduler_backend_ready::NOT_CONFIGURED => Ready::NotConfigured,
                _ => Ready::Unknown,
            },
            version: status.scheduler_version.unwrap_or_default(),
            reason,
            message,
            capabilities: status.capabilities,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    pub(in crate::commands::backends) fn object(
        name: &str,
        default: bool,
        condition: Value,
    ) -> SchedulerBackend {
        let mut value = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "SchedulerBackend", "metadata": { "name": name },
            "spec": {}, "status": { "schedulerName": name, "default": default },
        });
        if !condition.is_null() {
            let mut condition = condition;
            condition["type"] = json!("SchedulerBackendReady");
            condition["lastTransitionTime"] = json!("2027-01-01T00:00:00Z");
            value["status"]["conditions"] = json!([condition]);
        }
        serde_json::from_value(value).unwrap()
    }

    pub(in crate::commands::backends) fn three() -> Vec<Backend> {
        let condition = |status: &str, reason: &str, message: &str| json!({ "status": status, "reason": reason, "message": message });
        let no_crd = "the cluster has no CRD podgroups.scheduling.run.ai that serves v2alpha2: install KAI 0.12 or newer";
        let told = "gangs are scheduled as a unit; new gangs use the form \"flat\"";
        let not_asked = "the operator's configuration has no profile for this scheduler";
        let mut kube = object("default-scheduler", true, condition("True", "BackendInitialized", told));
        let status = kube.status.as_mut().unwrap();
        status.scheduler_version = Some("scheduling.k8s.io v1beta1 PodGroup".to_owned());
        status.capabilities = serde_json::from_value(json!([
            { "feature": "SingleGroupGang", "support": "Native" },
            { "feature": "MultiGroupGang", "support": "Emulated", "note": "one PodGroup with the minimum of every group" },
            { "feature": "RequiredTopologyGang", "support": "Reject", "note": "the API server drops topology constraints" },
            { "feature": "Queue", "support": "Pass", "note": "kube-scheduler has no queues" },
        ]))
        .unwrap();
        all(&[
            object("volcano", false, condition("Unknown", "BackendNotConfigured", not_asked)),
            object("kai-scheduler", false, condition("False", "BackendInitializationFailed", no_crd)),
            kube,
        ])
    }

    #[test]
    fn what_the_condition_says_decides() {
        let ready: Vec<(String, Ready)> = three().into_iter().map(|it| (it.name, it.ready)).collect();
        let want = [
            ("default-scheduler", Ready::Yes),
            ("kai-scheduler", Ready::No),
            ("volcano", Ready::NotConfigured),
        ];
        assert_eq!(ready, want.map(|(name, ready)| (name.to_owned(), ready)));
        // An object that the operator has not come to yet.
        assert_eq!(all(&[object("a", false, Value::Null)])[0].ready, Ready::Unknown);
        let bare: SchedulerBackend = serde_json::from_value(json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "SchedulerBackend", "metadata": { "name": "b" }, "spec": {},
        }))
        .unwrap();
        assert_eq!(
            (all(std::slice::from_ref(&bare))[0].name.as_str(), all(&[bare])[0].ready),
            ("b", Ready::Unknown)
        );
    }

    #[test]
    fn machines_get_all_of_it() {
        let json = serde_json::to_value(&three()[0]).unwrap();
        assert_eq!(
            json,
            json!({
                "name": "default-scheduler", "default": true, "ready": "yes",
                "version": "scheduling.k8s.io v1beta1 PodGroup", "reason": "BackendInitialized",
                "message": "gangs are scheduled as a unit; new gangs use the form \"flat\"",
                "capabilities": [
                    { "feature": "SingleGroupGang", "support": "Native" },
                    { "feature": "MultiGroupGang", "support": "Emulated", "note": "one PodGroup with the minimum of every group" },
                    { "feature": "RequiredTopologyGang", "support": "Reject", "note": "the API server drops topology constraints" },
                    { "feature": "Queue", "support": "Pass", "note": "kube-scheduler has no queues" },
                ],
            })
        );
    }
}
