//! A cluster at rest: everything that is wanted is there and ready, nothing else is, and statuses say so.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{constants::labels, names};
use grove_apiserver::Object;
use serde_json::Value;

use super::{Broken, Rule};
use crate::{
    cluster::{
        AUTOSCALERS, CLIQUES, Cluster, GANGS, GROUPS, PODS, SERVICES, SETS, condition, is_ready, number, text,
    },
    past::is_gated,
};

/// Names of what is wanted, by kind.
#[derive(Default)]
struct Wanted(BTreeMap<&'static str, BTreeSet<String>>);

impl Wanted {
    fn add(&mut self, kind: &'static str, name: String) {
        self.0.entry(kind).or_default().insert(name);
    }
}

/// Looks at everything.
pub(crate) fn at_rest(cluster: &Cluster) -> Result<(), Broken> {
    let mut wanted = Wanted::default();
    for set in cluster.list(SETS) {
        if set.is_terminating() {
            return Err(Rule::Convergence.broken(format!("set {} is not gone", set.name())));
        }
        children(cluster, &set, &mut wanted);
    }
    for kind in [GROUPS, CLIQUES, GANGS, SERVICES, AUTOSCALERS] {
        let there: BTreeSet<String> = cluster.list(kind).iter().map(|it| it.name().to_owned()).collect();
        let wanted = wanted.0.remove(kind).unwrap_or_default();
        if let Some(name) = there.difference(&wanted).next() {
            return Err(Rule::Orphans.broken(format!("{kind} {name} is not wanted and still there")));
        }
        if let Some(name) = wanted.difference(&there).next() {
            return Err(Rule::Convergence.broken(format!("{kind} {name} is wanted and not there")));
        }
    }
    for kind in [GROUPS, CLIQUES, GANGS, SERVICES, AUTOSCALERS, PODS] {
        cluster.list(kind).iter().try_for_each(|it| owned(cluster, kind, it))?;
    }
    cluster.list(CLIQUES).iter().try_for_each(|it| {
        clique(cluster, it)?;
        template(cluster, it)
    })?;
    cluster.list(GROUPS).iter().try_for_each(|it| group(cluster, it))?;
    cluster.list(GANGS).iter().try_for_each(|it| gang(cluster, it))?;
    cluster.list(SETS).iter().try_for_each(|it| set(it))
}

fn children(cluster: &Cluster, set: &Object, wanted: &mut Wanted) {
    let list = |pointer: &str| set.field(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let groups = list("/spec/template/podCliqueScalingGroups");
    let members: BTreeSet<String> = groups.iter().flat_map(member_names).collect();
    for replica in 0..index(number(set, "/spec/replicas")) {
        wanted.add(SERVICES, names::headless_service(set.name(), replica));
        wanted.add(GANGS, names::base_gang(set.name(), replica));
        let cliques = list("/spec/template/cliques");
        for clique in cliques.iter().filter(|it| !members.contains(&name(it))) {
            let called = names::standalone_clique(set.name(), replica, &name(clique));
            if clique.pointer("/spec/autoScalingConfig").is_some() {
                wanted.add(AUTOSCALERS, called.clone());
            }
            wanted.add(CLIQUES, called);
        }
        for config in &groups {
            let group = names::scaling_group(set.name(), replica, &name(config));
            let object = cluster.get(GROUPS, &group);
            let replicas = index(object.as_ref().and_then(|it| number(it, "/spec/replicas")));
            let minimum = index(object.as_ref().and_then(|it| number(it, "/spec/minAvailable")));
            for group_replica in 0..replicas {
                for clique in member_names(config) {
                    wanted.add(CLIQUES, names::member_clique(&group, group_replica, &clique));
                }
            }
            (minimum..replicas).for_each(|it| wanted.add(GANGS, names::scaled_gang(&group, it - minimum)));
            if config.get("scaleConfig").is_some() {
                wanted.add(AUTOSCALERS, group.clone());
            }
            wanted.add(GROUPS, group);
        }
    }
}

fn member_names(config: &Value) -> Vec<String> {
    let names = config["cliqueNames"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn index(number: Option<u64>) -> u32 {
    number.and_then(|it| u32::try_from(it).ok()).unwrap_or_default()
}

fn owned(cluster: &Cluster, kind: &str, object: &Object) -> Result<(), Broken> {
    if object.is_terminating() {
        return Err(Rule::Convergence.broken(format!("{kind} {} is not gone", object.name())));
    }
    let owner = object.owner_references().iter().find(|it| it["controller"] == true);
    let uid = owner.and_then(|it| it["uid"].as_str()).unwrap_or_default();
    if cluster.server.store().by_uid(uid).is_none() {
        return Err(Rule::Orphans.broken(format!("{kind} {} has no owner", object.name())));
    }
    Ok(())
}

/// Whether a number of a status is as it should be.
fn says(object: &Object, kind: &str, field: &str, wanted: u64) -> Result<(), Broken> {
    let said = number(object, &format!("/status/{field}")).unwrap_or_default();
    if said == wanted {
        return Ok(());
    }
    let words = format!("{kind} {}: {field} is {said} instead of {wanted}", object.name());
    Err(Rule::Convergence.broken(words))
}

fn holds(object: &Object, kind: &str, type_: &str, wanted: &str) -> Result<(), Broken> {
    let condition = condition(object, type_);
    if condition.is_some_and(|it| it["status"] == wanted) {
        return Ok(());
    }
    let words = format!("{kind} {}: condition {type_} is {condition:?} instead of {wanted}", object.name());
    Err(Rule::Convergence.broken(words))
}

fn observed(object: &Object, kind: &str) -> Result<(), Broken> {
    let generation = number(object, "/metadata/generation").unwrap_or_default();
    says(object, kind, "observedGeneration", generation)
}

fn pods_of(cluster: &Cluster, clique: &Object) -> Vec<std::sync::Arc<Object>> {
    let mut pods = cluster.list(PODS);
    pods.retain(|it| it.owner_references().iter().any(|it| it["uid"] == clique.uid()));
    pods
}

fn clique(cluster: &Cluster, clique: &Object) -> Result<(), Broken> {
    let wanted = number(clique, "/spec/replicas").unwrap_or_default();
    let pods = pods_of(cluster, clique);
    let broken = |words: String| Err(Rule::Convergence.broken(format!("clique {}: {words}", clique.name())));
    if pods.len() as u64 != wanted {
        return broken(format!("{} pods instead of {wanted}", pods.len()));
    }
    let indices: BTreeSet<&str> = pods.iter().filter_map(|it| it.label(labels::POD_INDEX)).collect();
    if indices.len() != pods.len() {
        return Err(Rule::Indices.broken(format!("clique {} has pods with the same index", clique.name())));
    }
    for pod in &pods {
        if is_gated(pod) {
            return broken(format!("pod {} is gated", pod.name()));
        }
        if !is_ready(pod) {
            return broken(format!("pod {} is {} and not ready", pod.name(), text(pod, "/status/phase")));
        }
    }
    observed(clique, "clique")?;
    for field in ["replicas", "readyReplicas", "scheduledReplicas"] {
        says(clique, "clique", field, wanted)?;
    }
    says(clique, "clique", "scheduleGatedReplicas", 0)?;
    if clique.field("/status/lostNodes").and_then(Value::as_array).is_some_and(|it| !it.is_empty())
        || condition(clique, "NodeLost").is_some_and(|it| it["status"] == "True")
    {
        return broken("it says that nodes are lost".to_owned());
    }
    if condition(clique, "RestartBudgetExhausted").is_some_and(|it| it["status"] == "True") {
        return broken("it says that it is not restarted any more".to_owned());
    }
    holds(clique, "clique", "MinAvailableBreached", "False")?;
    holds(clique, "clique", "PodCliqueScheduled", "True")
}

/// A clique is of the template of its set, and so are its pods, unless they are meant to wait for somebody to delete them.
fn template(cluster: &Cluster, clique: &Object) -> Result<(), Broken> {
    let set = cluster.get(SETS, clique.label(labels::PART_OF).unwrap_or_default());
    let Some(set) = set else { return Ok(()) };
    let role = text(clique, "/spec/roleName");
    let templates = set.field("/spec/template/cliques").and_then(Value::as_array);
    let wanted = templates.into_iter().flatten().find(|it| it["name"] == role);
    let image = |value: &Value| value.pointer("/spec/podSpec/containers/0/image").cloned();
    if wanted.and_then(image) != image(clique.value()) {
        let words = format!("clique {} is not of the template of its set", clique.name());
        return Err(Rule::Convergence.broken(words));
    }
    if !rolls(&set) {
        return Ok(());
    }
    let hash = clique.label(labels::POD_TEMPLATE_HASH);
    if let Some(pod) = pods_of(cluster, clique).iter().find(|it| it.label(labels::POD_TEMPLATE_HASH) != hash)
    {
        let words = format!("pod {} is of an older template", pod.name());
        return Err(Rule::Convergence.broken(words));
    }
    let wanted = number(clique, "/spec/replicas").unwrap_or_default();
    says(clique, "clique", "updatedReplicas", wanted)
}

/// Whether changes of its template reach pods that run.
fn rolls(set: &Object) -> bool {
    text(set, "/spec/updateStrategy/type") != "OnDelete"
}

fn group(cluster: &Cluster, group: &Object) -> Result<(), Broken> {
    let wanted = number(group, "/spec/replicas").unwrap_or_default();
    observed(group, "group")?;
    for field in ["replicas", "scheduledReplicas", "availableReplicas"] {
        says(group, "group", field, wanted)?;
    }
    let set = cluster.get(SETS, group.label(labels::PART_OF).unwrap_or_default());
    if set.is_some_and(|it| rolls(&it)) {
        says(group, "group", "updatedReplicas", wanted)?;
    }
    holds(group, "group", "MinAvailableBreached", "False")
}

fn gang(cluster: &Cluster, gang: &Object) -> Result<(), Broken> {
    holds(gang, "gang", "Initialized", "True")?;
    holds(gang, "gang", "Scheduled", "True")?;
    if text(gang, "/status/phase") != "Running" {
        let words = format!("gang {} is {}", gang.name(), text(gang, "/status/phase"));
        return Err(Rule::Convergence.broken(words));
    }
    for group in gang.field("/spec/podgroups").and_then(Value::as_array).into_iter().flatten() {
        let name = group["name"].as_str().unwrap_or_default();
        let listed = group["podReferences"].as_array().into_iter().flatten();
        let listed: BTreeSet<&str> = listed.filter_map(|it| it["name"].as_str()).collect();
        let clique = cluster.get(CLIQUES, name);
        let pods = clique.as_ref().map(|it| pods_of(cluster, it)).unwrap_or_default();
        let there: BTreeSet<&str> = pods.iter().map(|it| it.name()).collect();
        if listed != there {
            let words = format!("gang {} lists {listed:?} of {name} instead of {there:?}", gang.name());
            return Err(Rule::Convergence.broken(words));
        }
    }
    Ok(())
}

fn set(set: &Object) -> Result<(), Broken> {
    let wanted = number(set, "/spec/replicas").unwrap_or_default();
    observed(set, "set")?;
    says(set, "set", "replicas", wanted)?;
    says(set, "set", "availableReplicas", wanted)?;
    let progress = set.field("/status/updateProgress");
    if progress.is_some_and(|it| it.get("updateEndedAt").is_none()) {
        let words = format!("the update of set {} has not ended: {progress:?}", set.name());
        return Err(Rule::Convergence.broken(words));
    }
    if rolls(set) { says(set, "set", "updatedReplicas", wanted) } else { Ok(()) }
}
