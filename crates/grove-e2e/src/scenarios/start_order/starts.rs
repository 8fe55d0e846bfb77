//! When pods were told, started and became ready, in the order of their versions.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::{annotations, labels, start_order::INIT_CONTAINER};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::cases::Case;
use crate::scenario::{Change, Watched};

/// What start order needs to know of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) name: String,
    pub(super) clique: String,
    pub(super) bound: bool,
    pub(super) has_init_container: bool,
    /// Whether it has the annotation.
    pub(super) told: bool,
    /// Whether its init containers have ended.
    pub(super) initialized: bool,
    /// Whether its containers were started.
    pub(super) running: bool,
    pub(super) ready: bool,
}

impl Watched for Start {
    type Object = Pod;

    fn of(pod: &Pod) -> Self {
        let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
        let conditions = status.and_then(|it| it.conditions.as_deref()).unwrap_or_default();
        let is = |type_: &str| conditions.iter().any(|it| it.type_ == type_ && it.status == "True");
        let mut init = spec.into_iter().flat_map(|it| it.init_containers.iter().flatten());
        Self {
            name: pod.name_any(),
            clique: pod.labels().get(labels::POD_CLIQUE).cloned().unwrap_or_default(),
            bound: spec.is_some_and(|it| it.node_name.is_some()),
            has_init_container: init.any(|it| it.name == INIT_CONTAINER),
            told: pod.annotations().contains_key(annotations::PARENTS_READY),
            initialized: is("Initialized"),
            running: status.is_some_and(|it| it.phase.as_deref() == Some("Running")),
            ready: is("Ready"),
        }
    }

    fn summary(pods: &[Self]) -> String {
        let lines: Vec<String> = pods.iter().map(|it| format!("\n    {it:?}")).collect();
        lines.concat()
    }
}

/// Each pod is told after those before it are ready, and whoever waits for nobody is not told.
pub(super) fn check_told(story: &[Change<Start>], case: &Case) -> Result<()> {
    check(story, case, "told", |it| it.told)?;
    for change in story {
        let Some(pod) = &change.after else { continue };
        let waits = case.order.iter().any(|(clique, _)| *clique == pod.clique);
        ensure!(pod.has_init_container == waits, "{}: init container: {}", pod.name, pod.has_init_container);
        ensure!(waits || !pod.told, "{} was told, and waits for nobody", pod.name);
    }
    Ok(())
}

/// Each pod starts after those before it are ready.
pub(super) fn check_started(story: &[Change<Start>], case: &Case) -> Result<()> {
    check(story, case, "started", |it| it.running)
}

fn check(story: &[Change<Start>], case: &Case, what: &str, test: fn(&Start) -> bool) -> Result<()> {
    let (happened, ready) = (first(story, test), first(story, |it| it.ready));
    for (clique, parents) in case.order {
        let pods = happened.get(clique).with_context(|| format!("no pod of {clique} was {what}"))?;
        for (parent, minimum) in *parents {
            let mut versions: Vec<u64> =
                ready.get(parent).into_iter().flat_map(BTreeMap::values).copied().collect();
            versions.sort_unstable();
            let enough = *versions.get(minimum - 1).with_context(|| format!("{parent} is not ready"))?;
            for (pod, version) in pods {
                ensure!(
                    *version > enough,
                    "{pod} was {what} at {version}, and {parent} had {minimum} ready at {enough}"
                );
            }
        }
    }
    Ok(())
}

/// For each clique the first version of each of its pods for which `test` holds.
fn first(story: &[Change<Start>], test: fn(&Start) -> bool) -> BTreeMap<&str, BTreeMap<&str, u64>> {
    let mut all: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
    for change in story {
        if let Some(pod) = change.after.as_ref().filter(|it| test(it)) {
            all.entry(&pod.clique).or_default().entry(&pod.name).or_insert(change.version);
        }
    }
    all
}
