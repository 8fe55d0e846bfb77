//! Workloads that others made: the PodGroup that KAI's own pod grouper would write, and what their pods carry.

mod sub_groups;

use std::{collections::BTreeMap, time::Duration};

use grove_api::{constants::labels::KAI_QUEUE, wire::GoDuration};
use kube::core::ApiResource;
use serde_json::{Map, Value, json};

use crate::{
    backend::RenderError,
    workload::{Group, Grouped, PodMarks, Preemptibility, Told, Topology, WorkloadGroups, parts::Parts},
};

use super::{
    Installed, NODE_POOL_KEY,
    form::Form,
    pod::{POD_GROUP, SUB_GROUP},
    pod_groups,
};
use sub_groups::{Written, constraint};

impl WorkloadGroups for Installed {
    fn resource(&self) -> ApiResource {
        pod_groups()
    }

    fn pod_marks(&self) -> PodMarks {
        PodMarks { labels: &[SUB_GROUP], annotations: &[POD_GROUP] }
    }

    fn render(&self, group: &Group, pod: &Value, existing: Option<&Value>) -> Result<Told, RenderError> {
        let parts = Parts::of(group)?;
        let written = sub_groups::written(self.form, group, &parts)?;
        let mut remarks = written.remarks.clone();
        let mut pod_remarks = Vec::new();
        let place = place(group, &parts, &written, pod, &mut pod_remarks);

        let resource = pod_groups();
        let spec = self.spec(group, &parts, written, existing, &mut remarks)?;
        let mut object = json!({
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {
                "name": group.name,
                "namespace": group.namespace,
                "ownerReferences": [group.owner.reference()],
            },
            "spec": spec,
        });
        let labels = labels(group, existing);
        let texts = [("labels", &labels), ("annotations", &group.annotations)];
        for (field, texts) in texts.into_iter().filter(|it| !it.1.is_empty()) {
            object["metadata"][field] = json!(texts);
        }
        let name = Some(group.name.clone());
        Ok(Told::Grouped(Box::new(Grouped {
            object,
            labels: BTreeMap::from([(SUB_GROUP.to_owned(), place)]),
            annotations: BTreeMap::from([(POD_GROUP.to_owned(), name)]),
            remarks,
            pod_remarks,
        })))
    }

    fn knows_older_groups(&self) -> bool {
        self.form > Form::SubGroups
    }

    fn group_of<'a>(&self, pod: &'a Value) -> Option<&'a str> {
        pod["metadata"]["annotations"].get(POD_GROUP)?.as_str().filter(|it| !it.is_empty())
    }
}

/// The sub-group of the pod. One without a place is never scheduled; the others of the group are.
fn place(
    group: &Group,
    parts: &Parts<'_>,
    written: &Written,
    pod: &Value,
    remarks: &mut Vec<String>,
) -> Option<String> {
    /// KAI looks for pods that name no sub-group in this one.
    const CATCH_ALL: &str = "default";
    if written.entries.is_empty() {
        return None;
    }
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let place = group.sub_group_of(name).map(|it| it.name.as_str());
    let is_leaf = |wanted: &str| parts.leaves().any(|it| it.name == wanted);
    match place {
        Some(place) if !is_leaf(place) => {
            remarks.push(format!("pod {name} is in part {place:?}, which has parts: KAI does not place it"));
        }
        None if !is_leaf(CATCH_ALL) => {
            remarks.push(format!("pod {name} is in none of the parts of its group: KAI does not place it"));
        }
        _ => {}
    }
    place.map(str::to_owned)
}

/// The group's labels. Pool and queue belong to whoever gave them first: a PodGroup does not move to another pool.
fn labels(group: &Group, existing: Option<&Value>) -> BTreeMap<String, String> {
    let mut labels = group.labels.clone();
    let Some(existing) = existing else { return labels };
    let kept = |key: &str| existing["metadata"]["labels"].get(key)?.as_str().map(str::to_owned);
    labels.remove(NODE_POOL_KEY);
    for key in [NODE_POOL_KEY, KAI_QUEUE] {
        labels.extend(kept(key).map(|it| (key.to_owned(), it)));
    }
    labels
}

impl Installed {
    fn spec(
        &self,
        group: &Group,
        parts: &Parts<'_>,
        written: Written,
        existing: Option<&Value>,
        remarks: &mut Vec<String>,
    ) -> Result<Map<String, Value>, RenderError> {
        let before = |field: &str| existing.and_then(|it| it["spec"].get(field)).filter(|it| !it.is_null());
        let mut spec = Map::new();
        let mut set = |field: &str, value: Option<Value>| {
            spec.extend(value.map(|it| (field.to_owned(), it)));
        };
        let text = |it: &str| Some(it).filter(|it| !it.is_empty()).map(Value::from);

        // Set by hand, and nobody else's.
        for field in ["markUnschedulable", "schedulingBackoff"] {
            set(field, before(field).cloned());
        }
        let queue = before("queue").and_then(Value::as_str).and_then(text).or_else(|| text(&group.queue));
        if queue.is_none() {
            remarks.push("the workload names a queue that has no name: KAI does not place it".to_owned());
        }
        set("queue", queue);
        set("priorityClassName", text(&group.priority_class));
        set("preemptibility", group.preemptibility.map(Preemptibility::as_str).map(Value::from));
        let (field, minimum) = self.minimum(group, parts);
        set(field, minimum.map(Value::from));
        set("topologyConstraint", Some(self.root_constraint(group, before("topologyConstraint"))?));
        let delays = [
            ("preemptionDelay", &group.preemption_delay),
            ("stalenessGracePeriod", &group.staleness_grace_period),
        ];
        for (field, duration) in delays {
            let Some(duration) = duration else { continue };
            if self.form >= Form::Delays {
                set(field, Some(as_go_writes_it(duration).into()));
            } else {
                let version = self.form.version();
                remarks.push(format!("{field} has no effect in KAI {version}: it needs 0.17 or newer"));
            }
        }
        set("subGroups", Some(written.entries).filter(|it| !it.is_empty()).map(Value::from));
        Ok(spec)
    }

    /// What the whole group needs, in one field or the other.
    fn minimum(&self, group: &Group, parts: &Parts<'_>) -> (&'static str, Option<u32>) {
        match group.min_sub_groups {
            // Go leaves out a zero.
            _ if self.form == Form::SubGroups => ("minMember", Some(parts.needed()).filter(|it| *it > 0)),
            Some(min) => ("minSubGroup", Some(min.max(self.least))),
            None => ("minMember", Some(group.min_members.max(self.least))),
        }
    }

    /// Where all of it goes. It is always there, and may be empty; what somebody else set holds where the workload names
    /// no topology.
    fn root_constraint(&self, group: &Group, before: Option<&Value>) -> Result<Value, RenderError> {
        let topology = group.topology.as_ref();
        match before {
            Some(before) if topology.is_none_or(|it| it.name.is_empty()) => Ok(before.clone()),
            _ => constraint(self.form, topology.unwrap_or(&Topology::default()), "the group"),
        }
    }
}

/// Go reads `90s` and writes `1m30s`. What it writes of parts of a second stays as it is said.
fn as_go_writes_it(text: &str) -> String {
    const SECOND: u64 = 1_000_000_000;
    match GoDuration::from(text).nanos() {
        Ok(nanos) if nanos.unsigned_abs() % SECOND == 0 => {
            let sign = if nanos < 0 { "-" } else { "" };
            format!("{sign}{}", GoDuration::from(Duration::from_secs(nanos.unsigned_abs() / SECOND)))
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
