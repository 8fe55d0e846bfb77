//! What a set has to say so that KAI takes its gangs.

use grove_api::{
    constants::labels,
    field::{Error, Errors, Path, Warning},
    wire::{GoDuration, PodCliqueSet},
};

use crate::{agreed::new_in_update, backend::Findings};

use super::{
    Installed, NODE_POOL, PREEMPTIBILITY_KEY, PREEMPTION_DELAY_KEY, QUEUE, STALENESS_KEY,
    pod_group::PREEMPTIBILITIES,
};

pub(super) fn validate(kai: &Installed, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Findings {
    let errors = new_in_update(errors(kai, set), old.map(|it| errors(kai, it)));
    let warnings = old.and_then(|old| queue_stays(set, old)).into_iter().collect();
    Findings { errors, warnings }
}

fn errors(kai: &Installed, set: &PodCliqueSet) -> Errors {
    let mut errors = QUEUE.conflicts(set);
    if QUEUE.of_set(set).is_empty() && kai.default_queue.is_none() {
        let path = Path::of(&["metadata", "labels"]).key(labels::KAI_QUEUE);
        errors.push(Error::required(path, "KAI needs the name of a queue, here or on the cliques"));
    }
    errors.extend(NODE_POOL.conflicts(set));

    let label = set.metadata.labels.as_ref().and_then(|it| it.get(PREEMPTIBILITY_KEY));
    if let Some(value) = label.filter(|it| !PREEMPTIBILITIES.contains(&it.trim())) {
        let path = Path::of(&["metadata", "labels"]).key(PREEMPTIBILITY_KEY);
        errors.push(Error::not_supported(path, value, &PREEMPTIBILITIES));
    }
    for (key, least, detail) in [
        (PREEMPTION_DELAY_KEY, 0, "must be a duration such as 30s, 15m or 1h30m, and not negative"),
        (STALENESS_KEY, i64::MIN, "must be a duration such as 30s, 15m or 1h30m; a negative one means never"),
    ] {
        let Some(value) = set.metadata.annotations.as_ref().and_then(|it| it.get(key)) else { continue };
        if !GoDuration::from(value.as_str()).nanos().is_ok_and(|it| it >= least) {
            errors.push(Error::invalid(Path::of(&["metadata", "annotations"]).key(key), value, detail));
        }
    }
    errors
}

/// KAI never moves a PodGroup to another queue.
fn queue_stays(set: &PodCliqueSet, old: &PodCliqueSet) -> Option<Warning> {
    let (now, before) = (QUEUE.of_set(set), QUEUE.of_set(old));
    let ((path, now), (_, before)) = (now.first()?, before.first()?);
    let text = || format!("gangs that exist stay in the queue {before:?}; only new ones use {now:?}");
    (now != before).then(|| Warning { path: path.clone(), text: text() })
}
