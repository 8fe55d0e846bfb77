//! Under a quota gangs go one after the other: whoever fits runs in the end, who waits holds nothing for ever, and pods are
//! not made and deleted without end.

use grove_api::constants::labels;
use grove_apiserver::Object;
use serde_json::Value;

use super::{Broken, Rule};
use crate::{
    cluster::{CLIQUES, Cluster, GANGS, PODS, QUOTAS, number, text},
    past::{Clique, Past, Pod, is_gated},
};

/// How often a pod may be made while gangs take turns: their pauses double, and these are few hours.
const TURNS: usize = 12;

/// Whether the operator may delete a pod so that a gang before its own has the quota: it never ran, and its gang may be
/// believed to lack its minimum.
pub(super) fn may_release(past: &Past, pod: &Pod, clique: &Clique) -> bool {
    let start = past.start();
    let mut of_gang = past.cliques.values().filter(|it| it.gang == clique.gang);
    past.limited
        && pod.gated.now() == Some(&true)
        && pod.node.now().is_some_and(String::is_empty)
        && of_gang.any(|it| it.complete.had(start, |it| !it))
}

/// A gang that fits into what nobody else can use has its minimum. Judged long after the last trouble.
pub(crate) fn nobody_waits_in_vain(cluster: &Cluster) -> Result<(), Broken> {
    let quota = cluster.get(QUOTAS, "pods");
    let hard = quota.as_ref().map(|it| text(it, "/spec/hard/pods")).and_then(|it| it.parse().ok());
    let Some(hard) = hard else { return Ok(()) };
    let mut pods = cluster.list(PODS);
    pods.retain(|it| !matches!(text(it, "/status/phase"), "Failed" | "Succeeded"));
    let gangs = cluster.list(GANGS);
    let lacks = |name: &str| gangs.iter().any(|it| it.name() == name && missing(it, &pods));
    let runs = |gang: &str| pods.iter().any(|it| it.label(labels::POD_GANG) == Some(gang) && !is_gated(it));
    // A gang that runs keeps the pods that it has for the repair of its minimum.
    let is_idle = |pod: &Object| {
        let gang = pod.label(labels::POD_GANG).unwrap_or_default();
        is_gated(pod) && lacks(gang) && !runs(gang)
    };
    let used = pods.iter().filter(|it| !is_idle(it)).count() as u64;
    let free = u64::saturating_sub(hard, used);
    for gang in gangs.iter().filter(|it| !it.is_terminating() && missing(it, &pods)) {
        let base = base_of(cluster, gang);
        if runs(gang.name()) || base.is_some_and(|base| lacks(&base)) {
            continue;
        }
        let needed: u64 = minima(gang).map(|(_, minimum)| minimum).sum();
        if needed <= free {
            let words = format!(
                "gang {} needs {needed} pods, {free} are free or held by gangs that do not run, and it waits",
                gang.name()
            );
            return Err(Rule::Quota.broken(words));
        }
    }
    Ok(())
}

/// Few pods were made since a write.
pub(crate) fn few_pods_are_made(cluster: &Cluster, since: u64) -> Result<(), Broken> {
    let writes = cluster.server.store().writes_since(since);
    let made = writes.iter().filter(|it| it.verb == "create" && it.resource == PODS && it.code < 300).count();
    let wanted: u64 = cluster.list(CLIQUES).iter().filter_map(|it| number(it, "/spec/replicas")).sum();
    let most = (usize::try_from(wanted).unwrap_or_default() + 1) * TURNS;
    if made > most {
        return Err(
            Rule::Quota.broken(format!("{made} pods were made under a quota, of which {wanted} are wanted"))
        );
    }
    Ok(())
}

/// Whether a clique of a gang has fewer pods than its minimum.
fn missing<P: AsRef<Object>>(gang: &Object, pods: &[P]) -> bool {
    let there = |clique: &str| {
        let of_clique = |it: &&P| it.as_ref().label(labels::POD_CLIQUE) == Some(clique);
        pods.iter().filter(of_clique).filter(|it| !it.as_ref().is_terminating()).count() as u64
    };
    minima(gang).any(|(clique, minimum)| there(clique) < minimum)
}

fn minima(gang: &Object) -> impl Iterator<Item = (&str, u64)> {
    let groups = gang.field("/spec/podgroups").and_then(Value::as_array).into_iter().flatten();
    groups.filter_map(|it| Some((it["name"].as_str()?, it["minReplicas"].as_u64()?)))
}

fn base_of(cluster: &Cluster, gang: &Object) -> Option<String> {
    let cliques = cluster.list(CLIQUES);
    let mut of_gang = cliques.iter().filter(|it| it.label(labels::POD_GANG) == Some(gang.name()));
    of_gang.find_map(|it| it.label(labels::BASE_POD_GANG)).map(str::to_owned)
}
