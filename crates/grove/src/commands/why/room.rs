//! What would help pods for which a scheduler finds no room.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;

use super::{facts::node, obstacle::Obstacle, words::Shortage};

/// What would help, the likeliest first; `pods` are those that the shortage is about. More capacity is advised only where
/// it would help.
pub(super) fn help<'a>(
    shortage: &Shortage<'_>,
    obstacles: &[Obstacle],
    pods: impl Iterator<Item = &'a Pod>,
) -> Vec<String> {
    let mut help: Vec<String> = obstacles.iter().filter_map(Obstacle::fix).collect();
    if !obstacles.iter().any(Obstacle::is_final) {
        help.push(room(shortage, pods));
    }
    if let Some(level) = shortage.level {
        help.push(format!("require a wider topology level than {level}"));
    }
    help
}

/// One of several things that would help.
pub(super) fn alternatives(help: Vec<String>) -> Vec<String> {
    let first = |(number, text): (usize, String)| if number == 0 { text } else { format!("or {text}") };
    help.into_iter().enumerate().map(first).collect()
}

/// `free up, or add, capacity for 2 more pods of chat-0-decode (each 8 nvidia.com/gpu) in one domain of rack`
fn room<'a>(shortage: &Shortage<'_>, pods: impl Iterator<Item = &'a Pod>) -> String {
    let count = match shortage.pods {
        Some(1) => "1 more pod".to_owned(),
        Some(count) => format!("{count} more pods"),
        None => "its pods".to_owned(),
    };
    let whose = shortage.group.map(|it| format!(" of {it}")).unwrap_or_default();
    let sizes: Vec<String> = {
        let mut sizes: Vec<String> = pods.filter(|it| node(it).is_none()).map(size).collect();
        sizes.sort();
        sizes.dedup();
        sizes
    };
    let each = match sizes.as_slice() {
        [size] if !size.is_empty() => format!(" (each {size})"),
        _ => String::new(),
    };
    let place = shortage.level.map(|it| format!(" in one domain of {it}")).unwrap_or_default();
    format!("free up, or add, capacity for {count}{whose}{each}{place}")
}

/// What a pod asks of devices; of all else nodes have plenty, or the words say it.
pub(super) fn size(pod: &Pod) -> String {
    let mut devices: BTreeMap<&str, u64> = BTreeMap::new();
    for container in pod.spec.iter().flat_map(|it| &it.containers) {
        let Some(resources) = &container.resources else { continue };
        // Of a device, a limit without a request is a request.
        let asked = resources.requests.iter().flatten().chain(resources.limits.iter().flatten());
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        for (name, quantity) in asked.filter(|it| it.0.contains('/')) {
            if let Ok(count) = quantity.0.parse() {
                own.insert(name, count);
            }
        }
        for (name, count) in own {
            let sum = devices.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    devices.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
