//! The parts of a group, on the one level of sub-groups that Volcano has.

use serde_json::{Map, Value, json};

use crate::workload::{Group, parts::Parts};

use super::{super::form::TOO_OLD_FOR_GROUPS, Form, SUB_GROUP, network};

/// Parts as a PodGroup says them.
#[derive(Debug, Default)]
pub(super) struct Said<'a> {
    /// Fields of its spec.
    pub(super) fields: Vec<(&'static str, Value)>,
    /// Parts whose pods say so in an annotation.
    pub(super) tasks: Vec<&'a str>,
}

pub(super) fn told<'a>(
    form: &Form,
    group: &'a Group,
    parts: &Parts<'a>,
    there: &Value,
    remarks: &mut Vec<String>,
) -> Said<'a> {
    if group.sub_groups.is_empty() {
        return Said::default();
    }
    let spare = parts.spare();
    if let Some(whose) = &spare {
        remarks.push(format!(
            "{whose} needs only some of its parts, which Volcano does not support: any {} of its pods are placed together",
            parts.needed()
        ));
    }
    let above = (0..).zip(&group.sub_groups).filter(|(number, _)| !parts.is_leaf(*number));
    if let Some((_, part)) = above.into_iter().find(|it| it.1.topology.is_some()) {
        remarks.push(format!(
            "placement of part {:?} has no effect: Volcano has one level of sub-groups, and it has parts",
            part.name
        ));
    }
    if form.sub_groups {
        let policies = parts.leaves().map(|part| {
            let there = there["subGroupPolicy"].as_array().into_iter().flatten();
            let there = there.clone().find(|it| it["name"] == part.name.as_str());
            let there = there.map_or(&Value::Null, |it| &it["networkTopology"]);
            let mut policy = json!({
                "name": part.name,
                "labelSelector": { "matchLabels": { SUB_GROUP: part.name } },
                // Without keys to match by, a policy has no effect.
                "matchLabelKeys": [SUB_GROUP],
                "subGroupSize": part.min_members.max(1),
                "minSubGroups": u32::from(spare.is_none() && part.min_members > 0),
            });
            let whose = format!("part {:?}", part.name);
            if let Some(network) = network(form, part.topology.as_ref(), there, &whose, remarks) {
                policy["networkTopology"] = network;
            }
            policy
        });
        let policies: Vec<Value> = policies.collect();
        return Said { fields: vec![("subGroupPolicy", policies.into())], tasks: Vec::new() };
    }
    if let Some(part) = parts.leaves().find(|it| it.topology.is_some()) {
        remarks.push(format!("placement of part {:?} has no effect: {TOO_OLD_FOR_GROUPS}", part.name));
    }
    let tasks: Vec<_> = parts.leaves().filter(|it| it.min_members > 0 && spare.is_none()).collect();
    // Of a single part, minMember says it all.
    if tasks.len() < 2 {
        return Said::default();
    }
    let minima: Map<String, Value> =
        tasks.iter().map(|it| (it.name.clone(), it.min_members.into())).collect();
    Said {
        fields: vec![("minTaskMember", minima.into())],
        tasks: tasks.iter().map(|it| it.name.as_str()).collect(),
    }
}
