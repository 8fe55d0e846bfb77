//! A replica that is cut into segments, with the leader in the first or beside them.

use serde_json::Value;

use super::{INDEX_LABEL, LEADER, WORKERS};
use crate::{
    fields,
    group::{SubGroup, Topology},
    integers::{count, parse},
    metadata::annotation,
    plugin::Refused,
    segments,
    sub_groups::{leaf, parent, place},
};

const FIRST: &str = "segment-0";
const TEMPLATE: &str = "spec.leaderWorkerTemplate";

/// Parts of a replica of so many pods; `None` where it is not cut.
pub(super) fn segmented(
    pod: &Value,
    set: &Value,
    index: Option<u32>,
    pods: u32,
) -> Result<Option<Vec<SubGroup>>, Refused> {
    let template = &set["spec"]["leaderWorkerTemplate"];
    let Some((size, field)) = size(set, template)? else { return Ok(None) };
    if size > pods {
        return Err(Refused(format!(
            "{field} is {size}, more than the {pods} pods that are placed together: lower it"
        )));
    }
    let is_even = (pods - 1).is_multiple_of(size);
    let topology = segments::topology(pod, &template["workerTemplate"], set)
        .filter(|_| !template["workerTemplate"].is_null());
    let is_excluded = is_excluded(template)?;
    let mut parts = if is_excluded {
        if !is_even {
            return Err(Refused(format!(
                "{field} is {size}, which does not divide the {} workers: with subGroupPolicyType \
                 LeaderExcluded it has to, so change it or {TEMPLATE}.size",
                pods - 1
            )));
        }
        let segments = cut(pods - 1, size, topology.as_ref())?;
        [vec![leaf(LEADER, 1)], segments].concat()
    } else {
        with_leader(pods, size, is_even, topology.as_ref())?
    };
    let part = match index {
        None => {
            return Err(Refused(format!(
                "label {INDEX_LABEL} of the pod is missing: it says in which segment a pod is, so leave it as \
                 the LeaderWorkerSet sets it"
            )));
        }
        Some(0) => LEADER.to_owned(),
        Some(worker) => match if is_even { (worker - 1) / size } else { worker / size } {
            0 if !is_excluded => WORKERS.to_owned(),
            segment => format!("segment-{segment}"),
        },
    };
    place(pod, &part, &mut parts);
    Ok(Some(parts))
}

/// Segments of the leader and its workers. The leader is one more in the first where the workers alone fill them all.
fn with_leader(
    pods: u32,
    size: u32,
    is_even: bool,
    topology: Option<&Topology>,
) -> Result<Vec<SubGroup>, Refused> {
    let mut parts = cut(if is_even { pods - 1 } else { pods }, size, topology)?;
    let Some(first) = parts.first_mut() else { return Ok(parts) };
    let workers = if is_even { first.min_members } else { first.min_members - 1 };
    *first = SubGroup { topology: first.topology.take(), ..parent(FIRST, 2) };
    for (name, min_members) in [(LEADER, 1), (WORKERS, workers)] {
        parts.push(SubGroup { parent: Some(FIRST.to_owned()), ..leaf(name, min_members) });
    }
    Ok(parts)
}

fn cut(pods: u32, size: u32, topology: Option<&Topology>) -> Result<Vec<SubGroup>, Refused> {
    let sizes = segments::sizes(pods, size)?;
    let named = sizes.iter().enumerate().map(|(index, pods)| SubGroup {
        topology: topology.cloned(),
        ..leaf(format!("segment-{index}"), *pods)
    });
    Ok(named.collect())
}

/// Pods in a segment, and where that is said: in the set's own field, else with an annotation.
fn size(set: &Value, template: &Value) -> Result<Option<(u32, String)>, Refused> {
    let key = segments::SIZE;
    let field = format!("{TEMPLATE}.subGroupPolicy.subGroupSize");
    if let Some(size) = count(&template["subGroupPolicy"]["subGroupSize"], format_args!("{field}"), 2)? {
        return Ok(Some((size, field)));
    }
    let places = [
        (set, format!("metadata.annotations[{key}]")),
        (&template["workerTemplate"], format!("{TEMPLATE}.workerTemplate.metadata.annotations[{key}]")),
    ];
    for (object, field) in places {
        if let Some(text) = annotation(object, key) {
            return Ok(Some((parse(text, format_args!("{field}"), 2)?, field)));
        }
    }
    Ok(None)
}

/// Whether the leader is in no segment.
fn is_excluded(template: &Value) -> Result<bool, Refused> {
    let field = format_args!("{TEMPLATE}.subGroupPolicy.subGroupPolicyType");
    match fields::text(&template["subGroupPolicy"]["subGroupPolicyType"], field)? {
        None | Some("" | "LeaderWorker") => Ok(false),
        Some("LeaderExcluded") => Ok(true),
        Some(other) => Err(Refused(format!(
            "{TEMPLATE}.subGroupPolicy.subGroupPolicyType is {}: set it to LeaderWorker or LeaderExcluded",
            fields::shown(&Value::from(other))
        ))),
    }
}
