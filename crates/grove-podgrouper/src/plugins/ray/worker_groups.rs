//! Groups of workers of a RayCluster: how many pods of each have to be placed.

use serde_json::Value;

use crate::{
    fields,
    group::SubGroup,
    integers::{count, multiply},
    plugin::Refused,
    sub_groups::{self, checked_name, leaf},
    topology_annotations,
};

/// The groups that ask for pods. One that is suspended, or scaled to nothing, does not.
pub(super) fn worker_groups(groups: &[Value]) -> Result<Vec<SubGroup>, Refused> {
    // Before anything is made of them: their number is the user's.
    sub_groups::within(groups.len(), format_args!("spec.workerGroupSpecs"))?;
    let mut parts = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        parts.extend(worker_group(index, group)?);
    }
    Ok(parts)
}

fn worker_group(index: usize, group: &Value) -> Result<Option<SubGroup>, Refused> {
    let field = format!("spec.workerGroupSpecs[{index}]");
    fields::map(group, format_args!("{field}"))?;
    // The first is KubeRay's field, the second one that KAI reads.
    if is_true(&group["suspend"]) || is_true(&group["suspended"]) {
        return Ok(None);
    }
    let number = |name: &str, least: u32| count(&group[name], format_args!("{field}.{name}"), least);
    let replicas = number("replicas", 0)?.unwrap_or(0);
    let least = number("minReplicas", 0)?.unwrap_or(0);
    if least > replicas {
        return Err(Refused(format!(
            "{field}.minReplicas is {least}, more than {field}.replicas, which is {replicas}: lower the one or \
             raise the other"
        )));
    }
    let needed = if least > 0 { least } else { replicas };
    if needed == 0 {
        return Ok(None);
    }
    let hosts = number("numOfHosts", 1)?.unwrap_or(1);
    let pods = multiply(needed, hosts, format_args!("{field}.replicas and {field}.numOfHosts"))?;
    let name = match fields::text(&group["groupName"], format_args!("{field}.groupName"))? {
        None | Some("") => format!("worker-group-{index}"),
        Some(name) => checked_name(name, format_args!("{field}.groupName"))?.to_owned(),
    };
    let topology = topology_annotations::checked(&group["template"], format_args!("{field}.template"))?;
    Ok(Some(SubGroup { topology, ..leaf(name, pods) }))
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true)
}
