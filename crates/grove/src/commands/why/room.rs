//! What would help pods for which a scheduler finds no room.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;

use super::{facts::node, obstacle::Obstacle, words::Shortage};

/// Something that would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Help {
    /// Nothing else helps without it.
    Needed(String),
    /// It may be needed too.
    Further(String),
    /// One of several.
    Alternative(String),
}

/// What would help, the likeliest first; `pods` are those that the shortage is about. More capacity is advised only where
/// it would help.
pub(super) fn help<'a>(
    shortage: &Shortage<'_>,
    obstacles: &[Obstacle],
    pods: impl Iterator<Item = &'a Pod>,
) -> Vec<Help> {
    let has_final = obstacles.iter().any(Obstacle::is_final);
    let of = |it: &Obstacle| {
        let fix = it.fix()?;
        Some(match (it.is_final(), has_final) {
            (true, _) => Help::Needed(fix),
            (false, true) => Help::Further(fix),
            (false, false) => Help::Alternative(fix),
        })
    };
    let mut help: Vec<Help> = obstacles.iter().filter_map(of).collect();
    if !has_final {
        help.push(Help::Alternative(room(shortage, pods)));
    }
    // Another level is no help to pods that fit nowhere.
    let is_of_level = |it: &&Obstacle| matches!(it, Obstacle::MissingLabel { .. });
    let level =
        shortage.level.filter(|_| obstacles.iter().filter(|it| it.is_final()).all(|it| is_of_level(&it)));
    help.extend(level.map(|it| Help::Alternative(format!("require a wider topology level than {it}"))));
    help
}

/// In words that say which of them are needed together.
pub(super) fn joined(help: Vec<Help>) -> Vec<String> {
    let word = |(number, help): (usize, Help)| match help {
        Help::Needed(text) | Help::Alternative(text) if number == 0 => text,
        Help::Needed(text) => format!("and {text}"),
        Help::Further(text) => format!("if that is not enough, {text}"),
        Help::Alternative(text) => format!("or {text}"),
    };
    help.into_iter().enumerate().map(word).collect()
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
