//! Changes of `replicas` of PodCliqueSets, PodCliques and PodCliqueScalingGroups, by `/scale` too: what the user should know of
//! them.

use grove_api::{
    field::{Error, Path},
    limits::{MAX_POD_CLIQUE_BYTES_PER_SET, MAX_POD_CLIQUES_PER_SET},
    validation::too_many_bytes,
};
use serde_json::Value;

use super::{
    knowledge::Snapshot,
    review::{Operation, Request},
    verdict::Verdict,
};

/// What is known of the object whose replicas change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scaled {
    /// The scaling group that a clique is a member of.
    pub group: Option<String>,
    /// The cliques of the same role in other replicas of the group, with their pods.
    pub siblings: Vec<(String, i32)>,
    /// Of a member of a scaling group: how many pods the set's template gives it.
    pub template: Option<i32>,
    /// Lower and upper bound of the autoscaler that it has.
    pub autoscaler: Option<(i32, i32)>,
    /// Of a group: what its set consists of.
    pub set: Option<ScaledSet>,
    /// Of a set: the bytes of the PodCliques of one replica.
    pub replica_bytes: Option<u64>,
}

/// The set of a scaling group whose replicas change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScaledSet {
    /// Its name.
    pub name: String,
    /// PodCliques that it asks for besides those of the group beyond its minimum.
    pub others: u64,
    /// Bytes of those.
    pub other_bytes: u64,
    /// The minimum of the group.
    pub minimum: u32,
    /// PodCliques of one replica of the group.
    pub members: u64,
    /// Bytes of those.
    pub member_bytes: u64,
}

impl ScaledSet {
    /// PodCliques that it asks for where the group has so many replicas, and their bytes.
    fn wanted(&self, replicas: i64) -> (u64, u64) {
        let further = u64::try_from(replicas).unwrap_or(0).saturating_sub(self.minimum.into());
        let cliques = self.others.saturating_add(further.saturating_mul(self.members));
        (cliques, self.other_bytes.saturating_add(further.saturating_mul(self.member_bytes)))
    }
}

/// Answers a change of an object that scales. Whatever does not change its replicas passes.
pub(super) fn scale(request: &Request, snapshot: &Snapshot) -> Verdict {
    let (old, new) = (replicas(&request.old_object), replicas(&request.object));
    if request.operation != Operation::Update || old == new {
        return Verdict::allowed();
    }
    let scaled = &snapshot.scaled;
    let path = || Path::of(&["spec", "replicas"]);
    if let Some(group) = scaled.group.as_ref().filter(|_| new == 0) {
        let detail = format!(
            "a clique of a scaling group cannot be scaled to zero on its own: kubectl scale pcsg/{group} --replicas=0"
        );
        return Verdict::of(vec![Error::invalid(path(), 0, detail)]);
    }
    if let Some(set) = scaled.set.as_ref().filter(|_| new > old) {
        let (cliques, bytes) = set.wanted(new);
        let excess = if cliques > MAX_POD_CLIQUES_PER_SET {
            Some(format!("{cliques} PodCliques, and may have {MAX_POD_CLIQUES_PER_SET}"))
        } else if bytes > MAX_POD_CLIQUE_BYTES_PER_SET {
            Some(format!("PodCliques of {bytes} bytes, and may have {MAX_POD_CLIQUE_BYTES_PER_SET}"))
        } else {
            None
        };
        if let Some(excess) = excess {
            let name = &set.name;
            let detail = format!(
                "set {name} would have {excess}: scale other groups or the set in first, or split the set"
            );
            return Verdict::of(vec![Error::invalid(path(), new, detail)]);
        }
    }
    if let Some(each) = scaled.replica_bytes.filter(|_| new > old) {
        let total = u64::try_from(new).unwrap_or(0).saturating_mul(each);
        if total > MAX_POD_CLIQUE_BYTES_PER_SET {
            return Verdict::of(vec![too_many_bytes(new, total, each)]);
        }
    }
    let mut warnings = Vec::new();
    let unlike = scaled.siblings.iter().find(|it| i64::from(it.1) != new);
    if let (Some(group), Some((sibling, pods))) = (&scaled.group, unlike) {
        warnings.push(format!(
            "{}: only this replica of scaling group {group} changes, {sibling} keeps {pods} pods. For more replicas of the \
             group: kubectl scale pcsg/{group} --replicas=N",
            path()
        ));
    }
    // Replicas that are created later have as many as the template says.
    let unlike_template = scaled.template.filter(|it| unlike.is_none() && i64::from(*it) != new);
    if let (Some(group), Some(pods)) = (&scaled.group, unlike_template) {
        warnings.push(format!(
            "{}: the template of the set has {pods}, and further replicas of scaling group {group} get as many. To change it for \
             all, change the template and scale each replica",
            path()
        ));
    }
    // An autoscaler leaves alone what is at zero.
    if let Some((low, high)) = scaled.autoscaler.filter(|_| new != 0) {
        let name = &request.name;
        warnings.push(format!(
            "{}: HorizontalPodAutoscaler {name} sets it between {low} and {high}, and will change it again",
            path()
        ));
    }
    Verdict { warnings, ..Verdict::allowed() }
}

/// A Scale leaves 0 out.
fn replicas(object: &Value) -> i64 {
    object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or_default()
}
