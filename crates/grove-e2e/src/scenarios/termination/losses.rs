//! Which pods the operator took away, and which it must not.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::labels;

use crate::scenario::{Change, PodState};

/// A pod that the operator took away.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    uid: String,
    name: String,
    at: Duration,
}

/// Pods that went although the scenario did not delete them, in order. Fails if one of them came after the first had gone: what is
/// new is not taken again.
pub(super) fn taken(changes: &[Change<PodState>], theirs: &BTreeSet<String>) -> Result<Vec<Taken>> {
    let mut taken: Vec<Taken> = Vec::new();
    let (mut late, mut known) = (BTreeSet::new(), BTreeSet::new());
    for change in changes {
        let lives = change.after.as_ref().is_some_and(|it| !it.terminating);
        if lives {
            let is_new =
                change.after.as_ref().is_some_and(|it| it.node.is_none()) && !known.contains(&change.uid);
            if is_new && !taken.is_empty() {
                late.insert(change.uid.clone());
            }
            known.insert(change.uid.clone());
        } else if !theirs.contains(&change.uid) && taken.iter().all(|it| it.uid != change.uid) {
            ensure!(!late.contains(&change.uid), "{} was new, and was taken", change.name);
            taken.push(Taken { uid: change.uid.clone(), name: change.name.clone(), at: change.at });
        }
    }
    Ok(taken)
}

/// Whether a pod is of a clique whose name begins so.
pub(super) fn is_of(pod: &PodState, prefix: &str) -> bool {
    pod.label(labels::POD_CLIQUE).starts_with(prefix)
}

/// Holds what went against what should have gone: every pod of `before` whose clique begins with `prefix`, and of the others none; not
/// before `earliest`.
pub(super) fn check(
    before: &[PodState],
    taken: &[Taken],
    theirs: &BTreeSet<String>,
    prefix: &str,
    earliest: Duration,
) -> Result<()> {
    let went = |pod: &PodState| taken.iter().any(|it| it.uid == pod.uid);
    for pod in before.iter().filter(|it| !theirs.contains(&it.uid)) {
        let goes = is_of(pod, prefix);
        ensure!(went(pod) == goes, "{} went: {}, should: {goes}", pod.name, went(pod));
    }
    let other = taken.iter().find(|it| !it.name.starts_with(prefix));
    ensure!(other.is_none(), "{other:?} went, which came since");
    let first = taken.first().context("nothing went")?.at;
    ensure!(first >= earliest, "the first pod went at {first:?}, before {earliest:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str) -> PodState {
        let clique = uid.split('.').next().unwrap_or_default().to_owned();
        PodState {
            uid: uid.to_owned(),
            name: uid.to_owned(),
            labels: [(labels::POD_CLIQUE.to_owned(), clique)].into(),
            ..PodState::default()
        }
    }

    /// `+uid` comes, `-uid` goes; a second each.
    fn changes(text: &str) -> Vec<Change<PodState>> {
        let change = |(second, it): (u64, &str)| Change {
            at: Duration::from_secs(second),
            version: second,
            name: it[1..].to_owned(),
            namespace: String::new(),
            uid: it[1..].to_owned(),
            after: it.starts_with('+').then(|| pod(&it[1..])),
        };
        (1..).zip(text.split_whitespace()).map(change).collect()
    }

    fn told(text: &str, earliest: u64) -> String {
        let theirs = BTreeSet::from(["a.0".to_owned()]);
        let before = ["a.0", "a.1", "b.0"].map(pod);
        let result = taken(&changes(text), &theirs)
            .and_then(|it| check(&before, &it, &theirs, "a", Duration::from_secs(earliest)));
        result.map_or_else(|it| it.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn what_should_go_and_nothing_else() {
        assert_eq!(told("-a.0 +a.2 -a.1 -a.2 +a.3 +a.4", 3), "fine");
        assert_eq!(told("-a.0 +a.2 -a.1 -a.2", 4), "the first pod went at 3s, before 4s");
        assert_eq!(told("-a.0 -a.1 -b.0", 0), "b.0 went: true, should: false");
        assert!(told("-a.0 +b.1 -a.1 -b.1", 0).contains("came since"));
        assert_eq!(told("-a.0 +a.2 -a.2", 0), "a.1 went: false, should: true");
    }

    #[test]
    fn what_is_new_is_not_taken_again() {
        assert_eq!(told("-a.0 -a.1 +a.3 -a.3", 0), "a.3 was new, and was taken");
    }
}
