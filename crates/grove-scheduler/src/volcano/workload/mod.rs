//! Workloads that others made: their PodGroup, and what their pods carry.
//!
//! Volcano's own controller makes a PodGroup for pods that name none. Its name is known, so that such a pod is taken
//! over; one that names another PodGroup belongs to somebody else.

mod parts;

use std::collections::BTreeMap;

use grove_api::constants::annotations;
use kube::core::ApiResource;
use serde_json::{Value, json};

use crate::{
    backend::RenderError,
    workload::{
        DEFAULT_QUEUE, Group, Grouped, PodMarks, Preemptibility, Told, Topology, WorkloadGroups,
        metadata::metadata, parts::Parts,
    },
};

use super::{
    API_VERSION, Installed,
    form::Form,
    pod::{GROUP, TASK, VOLCANO_GROUP},
    pod_group, pod_groups,
};

/// By which Volcano tells the parts of a group apart.
const SUB_GROUP: &str = "grove.io/subgroup";
const NOT_PACKED: &str = "Volcano 1.12 or newer with HyperNodes is needed for it";
/// Whether Volcano may preempt a pod, which is so where nobody says otherwise.
const PREEMPTABLE: &str = "volcano.sh/preemptable";
/// How names of groups begin that may be replaced: those of the pod grouper, and those of Volcano's own controller.
const REPLACED: [&str; 2] = ["pg-", "podgroup-"];

impl WorkloadGroups for Installed {
    fn resource(&self) -> ApiResource {
        pod_groups()
    }

    fn pod_marks(&self) -> PodMarks {
        PodMarks { labels: &[SUB_GROUP], annotations: &[GROUP, VOLCANO_GROUP, PREEMPTABLE, TASK] }
    }

    fn render(&self, group: &Group, pod: &Value, existing: Option<&Value>) -> Result<Told, RenderError> {
        let is_foreign = |it: &str| it != group.name && !REPLACED.iter().any(|start| it.starts_with(start));
        if self.group_of(pod).is_some_and(is_foreign) {
            return Ok(Told::LeftAlone);
        }
        let parts = Parts::of(group)?;
        let there = existing.map_or(&Value::Null, |it| &it["spec"]);
        let mut remarks = Vec::new();
        let mut spec = json!({ "minMember": parts.needed(), "queue": queue(group, there) });
        // One that does not exist counts as none.
        if !group.priority_class.is_empty() {
            spec["priorityClassName"] = group.priority_class.as_str().into();
        }
        if let Some(resources) = there.get("minResources").filter(|it| !it.is_null()) {
            spec["minResources"] = resources.clone();
        }
        let topology = group.topology.as_ref();
        if let Some(network) =
            network(&self.form, topology, &there["networkTopology"], "the group", &mut remarks)
        {
            spec["networkTopology"] = network;
        }
        let told = parts::told(&self.form, group, &parts, there, &mut remarks);
        for (field, value) in told.fields {
            spec[field] = value;
        }
        let delays = [
            ("preemption delay", &group.preemption_delay),
            ("staleness grace period", &group.staleness_grace_period),
        ];
        let delays = delays.into_iter().filter(|it| it.1.is_some());
        remarks.extend(delays.map(|(what, _)| format!("Volcano has no {what}")));
        let mut metadata = metadata(group);
        let mut of_pod =
            BTreeMap::from([GROUP, VOLCANO_GROUP].map(|it| (it.to_owned(), Some(group.name.clone()))));
        if group.preemptibility == Some(Preemptibility::NonPreemptible) {
            metadata["annotations"][PREEMPTABLE] = "false".into();
            of_pod.insert(PREEMPTABLE.to_owned(), Some("false".to_owned()));
        }
        let place = pod["metadata"]["name"].as_str().and_then(|it| group.sub_group_of(it));
        let place =
            place.map(|it| it.name.as_str()).filter(|place| parts.leaves().any(|it| it.name == *place));
        if let Some(place) = place.filter(|it| told.tasks.contains(it)) {
            of_pod.insert(TASK.to_owned(), Some(place.to_owned()));
        }
        let label = place.filter(|_| self.form.sub_groups).map(str::to_owned);
        Ok(Told::Grouped(Box::new(Grouped {
            object: json!({ "apiVersion": API_VERSION, "kind": "PodGroup", "metadata": metadata, "spec": spec }),
            labels: BTreeMap::from([(SUB_GROUP.to_owned(), label)]),
            annotations: of_pod,
            remarks,
            pod_remarks: Vec::new(),
        })))
    }

    fn group_of<'a>(&self, pod: &'a Value) -> Option<&'a str> {
        pod["metadata"]["annotations"].get(GROUP)?.as_str().filter(|it| !it.is_empty())
    }
}

/// Volcano's own word comes first. Where the workload names none, the one stays that Volcano's webhook chose; else it is
/// that of every Volcano.
fn queue<'a>(group: &'a Group, there: &'a Value) -> &'a str {
    let of_volcano = [annotations::VOLCANO_QUEUE, annotations::VOLCANO_QUEUE_NAME];
    let named = of_volcano.iter().find_map(|it| group.annotations.get(*it)).map(String::as_str);
    let named = named.or(Some(group.queue.as_str()).filter(|it| *it != DEFAULT_QUEUE));
    let there = || there["queue"].as_str().filter(|it| !it.is_empty());
    named.filter(|it| !it.is_empty()).or_else(there).unwrap_or(super::DEFAULT_QUEUE)
}

/// Placement, as far as Volcano knows the level.
fn network(
    form: &Form,
    topology: Option<&Topology>,
    there: &Value,
    whose: &str,
    remarks: &mut Vec<String>,
) -> Option<Value> {
    let Topology { required, preferred, .. } = topology?;
    let network = pod_group::network(form, required.as_deref(), preferred.is_some(), there);
    match network {
        Ok(Some(network)) => Some(network),
        Ok(None) => {
            let level = preferred.as_deref()?;
            remarks.push(format!("{whose} should be placed by {level:?}, which has no effect: {NOT_PACKED}"));
            None
        }
        Err(why) => {
            remarks.push(format!("placement of {whose} has no effect: {why}"));
            None
        }
    }
}

#[cfg(test)]
mod tests;
