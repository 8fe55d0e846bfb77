//! Which pods make room for a gang of higher priority: few of them, of low priority, found by a bounded search.

use std::{cmp::Reverse, collections::BTreeSet};

use k8s_openapi::jiff::Timestamp;

use crate::scheduler::observe::pod_view::PodKey;

/// Sets of victims that are tried at most.
const MAX_TRIES: usize = 64;

/// Pods that give room together: those of a group with `disruptionMode: all`, or one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Victim {
    /// `NAMESPACE/NAME` of the group or the pod.
    pub(crate) name: String,
    pub(crate) priority: i32,
    pub(crate) created: Timestamp,
    pub(crate) pods: BTreeSet<PodKey>,
}

impl Victim {
    /// What is more important is kept rather: higher priority, then more pods, then older.
    fn importance(&self) -> (i32, usize, Reverse<Timestamp>) {
        (self.priority, self.pods.len(), Reverse(self.created))
    }
}

/// Chooses some of `candidates`, as their positions. `fits` says whether the gang fits without some of them. `None` where it does
/// not fit even without all of them.
///
/// The result has no victim that could be kept, as far as [`MAX_TRIES`] sets show.
pub(crate) fn choose(candidates: &[Victim], mut fits: impl FnMut(&[usize]) -> bool) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|it| (candidates[*it].importance(), *it));
    if order.is_empty() || !fits(&order) {
        return None;
    }
    let mut tries = 0;
    let mut fits = |chosen: &[usize]| {
        tries += 1;
        tries <= MAX_TRIES && fits(chosen)
    };
    // No higher priority than needed. It fits without those up to `high`.
    let mut ends: Vec<usize> = (1..order.len())
        .filter(|it| candidates[order[*it]].priority != candidates[order[*it - 1]].priority)
        .collect();
    ends.push(order.len());
    let (mut low, mut high) = (0, ends.len() - 1);
    while low < high {
        let middle = usize::midpoint(low, high);
        if fits(&order[..ends[middle]]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    order.truncate(ends[high]);
    let mut chosen = keep_most(order, &mut fits);
    if chosen.len() > 1 {
        smaller(candidates, &mut chosen, &mut fits);
    }
    Some(chosen)
}

/// Keeps what can be kept, the most important first: halves at first, and smaller and smaller parts of what is left.
fn keep_most(mut chosen: Vec<usize>, fits: &mut impl FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut size = chosen.len().div_ceil(2);
    while size > 0 && chosen.len() > 1 {
        let mut end = chosen.len();
        while end > 0 && chosen.len() > 1 {
            let start = end.saturating_sub(size);
            let rest = [&chosen[..start], &chosen[end..]].concat();
            if !rest.is_empty() && fits(&rest) {
                chosen = rest;
            }
            end = start;
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    chosen
}

/// One victim in place of several, if it has no more pods than these, and no higher priority.
fn smaller(candidates: &[Victim], chosen: &mut Vec<usize>, fits: &mut impl FnMut(&[usize]) -> bool) {
    let pods: usize = chosen.iter().map(|it| candidates[*it].pods.len()).sum();
    let highest = chosen.iter().map(|it| candidates[*it].priority).max();
    let mut single: Vec<usize> = (0..candidates.len())
        .filter(|it| candidates[*it].pods.len() <= pods && Some(candidates[*it].priority) <= highest)
        .collect();
    single.sort_by_key(|it| (candidates[*it].pods.len(), candidates[*it].importance(), *it));
    if let Some(one) = single.into_iter().take(MAX_TRIES / 2).find(|it| fits(&[*it])) {
        *chosen = vec![one];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Priority and number of pods of each candidate.
    fn candidates(rows: &[(i32, usize)]) -> Vec<Victim> {
        let victim = |(number, (priority, pods)): (usize, &(i32, usize))| Victim {
            name: format!("ns/v{number}"),
            priority: *priority,
            created: Timestamp::UNIX_EPOCH,
            pods: (0..*pods)
                .map(|it| PodKey { namespace: "ns".to_owned(), name: format!("{number}-{it}") })
                .collect(),
        };
        rows.iter().enumerate().map(victim).collect()
    }

    /// Candidates, places that are needed, and who is chosen.
    type Row<'a> = (&'a [(i32, usize)], usize, Option<&'a [usize]>);

    /// As if each pod gave one of `needed` places.
    fn by_pods(rows: &[(i32, usize)], needed: usize) -> Option<Vec<usize>> {
        let mut chosen =
            choose(&candidates(rows), |it| it.iter().map(|it| rows[*it].1).sum::<usize>() >= needed)?;
        chosen.sort_unstable();
        Some(chosen)
    }

    #[test]
    fn few_and_unimportant_ones_are_chosen() {
        let rows: [Row<'_>; 8] = [
            (&[], 1, None),
            (&[(0, 1), (0, 2)], 4, None),
            (&[(0, 1), (0, 2)], 3, Some(&[0, 1])),
            // The lower priority, even if it is larger.
            (&[(1, 1), (0, 4)], 1, Some(&[1])),
            // The smaller one of equal priority.
            (&[(0, 4), (0, 2)], 2, Some(&[1])),
            // One that suffices, instead of several with more pods in all.
            (&[(0, 1), (0, 1), (0, 3), (0, 2)], 2, Some(&[3])),
            // Nobody of a higher priority where those below suffice.
            (&[(5, 8), (0, 1), (0, 1)], 2, Some(&[1, 2])),
            (&[(5, 8), (0, 1), (0, 1)], 3, Some(&[0])),
        ];
        for (candidates, needed, want) in rows {
            assert_eq!(by_pods(candidates, needed).as_deref(), want, "{candidates:?} {needed}");
        }
    }

    #[test]
    fn a_thousand_candidates_take_few_tries() {
        let victims = candidates(&vec![(0, 1); 1000]);
        let mut tries = 0;
        let chosen = choose(&victims, |it| {
            tries += 1;
            // Only this one is in the way.
            it.contains(&777)
        });
        assert_eq!(chosen, Some(vec![777]));
        assert!(tries <= MAX_TRIES + 1, "{tries}");
    }
}
