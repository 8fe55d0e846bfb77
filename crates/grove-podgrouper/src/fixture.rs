//! Objects for tests.

use serde_json::{Value, json};

use crate::{
    group::{Group, Preemptibility},
    hub::plugin_of,
    plugin::{Found, Need, Refused},
    settings::{KindDefault, Settings},
    workload::{Owner, Workload},
};

/// An object of namespace `ns`.
pub(crate) fn object(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": { "namespace": "ns", "name": name, "uid": uid },
    })
}

/// A pod.
pub(crate) fn pod(name: &str, uid: &str) -> Value {
    object("v1", "Pod", name, uid)
}

/// With labels.
pub(crate) fn labelled(object: Value, labels: &[(&str, &str)]) -> Value {
    with_texts(object, "labels", labels)
}

/// With annotations.
pub(crate) fn annotated(object: Value, annotations: &[(&str, &str)]) -> Value {
    with_texts(object, "annotations", annotations)
}

fn with_texts(mut object: Value, field: &str, texts: &[(&str, &str)]) -> Value {
    for (key, value) in texts {
        object["metadata"][field][*key] = (*value).into();
    }
    object
}

/// With a spec.
pub(crate) fn with_spec(mut object: Value, spec: Value) -> Value {
    object["spec"] = spec;
    object
}

/// With an owner reference.
pub(crate) fn owned(mut object: Value, owner: &Value) -> Value {
    let Owner { object: owner, .. } = Owner::of(owner);
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name, "uid": owner.uid,
    }]);
    object
}

/// Settings with these PriorityClasses.
pub(crate) fn classes(names: &[&str]) -> Settings {
    Settings { priority_classes: names.iter().map(|it| (*it).to_owned()).collect(), ..Settings::default() }
}

/// What a kind gets.
pub(crate) fn kind_default(
    kind: &str,
    group: &str,
    class: &str,
    preemptibility: Option<Preemptibility>,
) -> KindDefault {
    KindDefault {
        kind: kind.to_owned(),
        group: group.to_owned(),
        priority_class: class.to_owned(),
        preemptibility,
    }
}

/// A pod below owners, the nearest first.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) pod: Value,
    pub(crate) owners: Vec<Value>,
    /// What else the cluster has.
    pub(crate) others: Vec<Value>,
    pub(crate) settings: Settings,
}

impl Case {
    pub(crate) fn new(pod: Value, owners: Vec<Value>) -> Self {
        Self { pod, owners, others: Vec::new(), settings: Settings::default() }
    }

    pub(crate) fn with(mut self, others: impl IntoIterator<Item = Value>) -> Self {
        self.others.extend(others);
        self
    }

    pub(crate) fn set(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Answers what the plugin needs, and asks it for the group.
    pub(crate) fn group(&self) -> Result<Group, Refused> {
        let owners: Vec<Owner> = self.owners.iter().map(Owner::of).collect();
        let top = self.owners.last().unwrap_or(&self.pod);
        let workload = Workload { pod: &self.pod, top, owners: &owners };
        let plugin = plugin_of(top, &self.settings);
        let mut found = Found::default();
        for _ in 0..10 {
            let needs = plugin.needs(workload, &found, &self.settings)?;
            let open: Vec<Need> = needs.into_iter().filter(|it| found.get(it).is_none()).collect();
            if open.is_empty() {
                return Ok(plugin.group(workload, &found, &self.settings)?.expect("no group"));
            }
            for need in open {
                let objects = self.answer(&need);
                found.put(need, objects);
            }
        }
        panic!("it never has enough")
    }

    fn answer(&self, need: &Need) -> Vec<Value> {
        let all = self.owners.iter().chain(&self.others);
        let fits = |it: &&Value| match need {
            Need::Object { api_version, kind, name } => {
                it["apiVersion"] == **api_version && it["kind"] == **kind && it["metadata"]["name"] == **name
            }
            Need::Pods(labels) => {
                it["kind"] == "Pod"
                    && labels.iter().all(|(key, value)| it["metadata"]["labels"][key] == **value)
            }
            Need::Group(name) => it["kind"] == "PodGroup" && it["metadata"]["name"] == **name,
            Need::Groups(prefix) => {
                it["kind"] == "PodGroup"
                    && it["metadata"]["name"].as_str().is_some_and(|it| it.starts_with(prefix))
            }
        };
        all.filter(fits).cloned().collect()
    }
}

/// A group of the cluster.
pub(crate) fn pod_group(name: &str) -> Value {
    object("scheduling.run.ai/v2alpha2", "PodGroup", name, "group-uid")
}
