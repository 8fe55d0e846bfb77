//! Kueue Topologies that sets use are not deleted under them: a finalizer holds them.

use grove_api::constants::finalizers::TOPOLOGY_PROTECTION;

/// How many sets are named to whoever wants to delete a topology.
const NAMED: usize = 5;

/// What is known of a topology.
#[derive(Clone, Copy, Debug)]
pub struct TopologyInUse<'a> {
    /// Its finalizers.
    pub finalizers: &'a [String],
    /// Whether somebody deleted it.
    pub is_deleted: bool,
    /// The sets that use it: namespace and name.
    pub users: &'a [String],
}

/// What is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// These have to be its finalizers.
    Finalizers(Vec<String>),
    /// It is held although somebody deleted it: a sentence that says by whom.
    Held(String),
}

/// `None` where all is as it should be.
pub fn protect(topology: TopologyInUse<'_>) -> Option<Protection> {
    let TopologyInUse { finalizers, is_deleted, users } = topology;
    let is_held = finalizers.iter().any(|it| it == TOPOLOGY_PROTECTION);
    match (users.is_empty(), is_held) {
        (false, true) if is_deleted => Some(Protection::Held(words(users))),
        // Nobody can hold what is being deleted already.
        (false, false) if !is_deleted => {
            let ours = std::iter::once(TOPOLOGY_PROTECTION.to_owned());
            Some(Protection::Finalizers(finalizers.iter().cloned().chain(ours).collect()))
        }
        (true, true) => {
            let others = finalizers.iter().filter(|it| *it != TOPOLOGY_PROTECTION);
            Some(Protection::Finalizers(others.cloned().collect()))
        }
        _ => None,
    }
}

fn words(users: &[String]) -> String {
    let named = users.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = users.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("deletion waits until no PodCliqueSet uses it; used by: {named}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(all: &[&str]) -> Vec<String> {
        all.iter().map(|it| (*it).to_owned()).collect()
    }

    fn done(finalizers: &[&str], is_deleted: bool, users: &[&str]) -> Option<Protection> {
        let (finalizers, users) = (list(finalizers), list(users));
        protect(TopologyInUse { finalizers: &finalizers, is_deleted, users: &users })
    }

    #[test]
    fn what_is_used_is_held_and_what_is_not_is_let_go() {
        let finalizers = |all: &[&str]| Some(Protection::Finalizers(list(all)));
        let (ours, theirs) = ("grove.ai/topology-protection", "kueue.x-k8s.io/resource-in-use");
        let rows = [
            (&[][..], false, &[][..], None),
            (&[theirs], false, &[], None),
            (&[], false, &["a/x"], finalizers(&[ours])),
            (&[theirs], false, &["a/x"], finalizers(&[theirs, ours])),
            (&[ours], false, &["a/x"], None),
            (&[ours, theirs], false, &[], finalizers(&[theirs])),
            (&[ours], true, &[], finalizers(&[])),
            (&[theirs], true, &["a/x"], None),
        ];
        for (has, is_deleted, users, wanted) in rows {
            assert_eq!(done(has, is_deleted, users), wanted, "{has:?} {is_deleted} {users:?}");
        }
    }

    #[test]
    fn whoever_deletes_it_is_told_who_uses_it() {
        let ours = &["grove.ai/topology-protection"];
        let said = |users: &[&str]| match done(ours, true, users) {
            Some(Protection::Held(words)) => words,
            other => panic!("{other:?}"),
        };
        assert!(said(&["a/x", "b/y"]).ends_with("; used by: a/x, b/y"));
        assert!(said(&["1", "2", "3", "4", "5", "6", "7"]).ends_with("1, 2, 3, 4, 5 and 2 more"));
    }
}
