//! What may be seen of gangs at rest: none runs in part, and no room is left that one of them could use.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use grove_api::constants::labels;

use crate::scenario::PodState;

/// Pods of a clique.
#[derive(Default)]
struct Clique {
    pods: usize,
    bound: usize,
    gated: usize,
}

/// Pods of a gang.
#[derive(Default)]
struct Gang {
    /// The gang that goes before it.
    base: Option<String>,
    cliques: BTreeMap<String, Clique>,
}

impl Gang {
    fn is_placed(&self) -> bool {
        self.cliques.values().any(|it| it.bound > 0)
    }

    fn pods(&self) -> usize {
        self.cliques.values().map(|it| it.pods).sum()
    }
}

/// Fails with what is wrong in `pods` on so many nodes, each of which takes one pod; `minimum` is that of a clique.
pub(super) fn check(pods: &[PodState], open: usize, minimum: impl Fn(&str) -> usize) -> Result<()> {
    let mut gangs: BTreeMap<&str, Gang> = BTreeMap::new();
    for pod in pods {
        let gang = gangs.entry(pod.label(labels::POD_GANG)).or_default();
        gang.base = Some(pod.label(labels::BASE_POD_GANG)).filter(|it| !it.is_empty()).map(str::to_owned);
        let clique = gang.cliques.entry(pod.label(labels::POD_CLIQUE).to_owned()).or_default();
        clique.pods += 1;
        clique.bound += usize::from(pod.node.is_some());
        clique.gated += usize::from(!pod.gates.is_empty());
    }
    let bound = pods.iter().filter(|it| it.node.is_some()).count();
    ensure!(bound <= open, "{bound} pods on {open} nodes");
    let free = open - bound;
    let may_go =
        |gang: &Gang| gang.base.as_ref().is_none_or(|it| gangs.get(it.as_str()).is_some_and(Gang::is_placed));
    // Minima go first: others may be kept from growing while one waits.
    let one_waits = gangs.values().any(|it| !it.is_placed() && may_go(it));
    let a_base_waits = gangs.values().any(|it| it.base.is_none() && !it.is_placed());
    for (name, gang) in &gangs {
        let base_is_placed = may_go(gang);
        let gated: usize = gang.cliques.values().map(|it| it.gated).sum();
        if gang.is_placed() {
            ensure!(base_is_placed, "gang {name} goes before its base gang");
            for (clique, it) in &gang.cliques {
                let needed = minimum(clique);
                ensure!(it.bound >= needed, "gang {name} runs in part: {} of {clique}", it.bound);
                let waiting = it.pods - it.bound - if one_waits { it.gated } else { 0 };
                ensure!(free == 0 || waiting == 0, "{free} nodes are free, and {clique} waits");
            }
            ensure!(gated == 0 || one_waits, "gang {name} has its place, and {gated} pods are held");
        } else if base_is_placed && gang.base.is_some() && a_base_waits && gated == gang.pods() {
            // It follows when every base gang of the set has its place.
        } else if base_is_placed {
            let needed: usize = gang.cliques.keys().map(|it| minimum(it)).sum();
            ensure!(free < needed, "{free} nodes are free, gang {name} needs {needed}");
            let all = gang.pods();
            ensure!(all - gated >= needed, "gang {name} may go, and {gated} of its {all} pods are held");
        } else {
            ensure!(gated == gang.pods(), "gang {name} is let go before its base gang has its place");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `gang clique state`, a state being `b`ound, `w`aiting or `g`ated.
    fn pods(text: &str) -> Vec<PodState> {
        text.split(',')
            .map(|it| {
                let mut parts = it.split_whitespace();
                let (gang, clique, state) =
                    (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
                let mut labels = BTreeMap::from([
                    (labels::POD_GANG.to_owned(), gang.to_owned()),
                    (labels::POD_CLIQUE.to_owned(), clique.to_owned()),
                ]);
                if gang == "more" {
                    labels.insert(labels::BASE_POD_GANG.to_owned(), "base".to_owned());
                }
                PodState {
                    labels,
                    node: (state == "b").then(|| "node".to_owned()),
                    gates: if state == "g" { vec!["gate".to_owned()] } else { Vec::new() },
                    ..PodState::default()
                }
            })
            .collect()
    }

    fn told(text: &str, open: usize) -> String {
        check(&pods(text), open, |_| 1).map_or_else(|it| it.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn what_is_at_rest() {
        assert_eq!(told("base a w,base b w,more c g", 1), "fine");
        assert_eq!(told("base a b,base b b,base b w,more c w,more d w", 2), "fine");
        assert_eq!(told("base a b,base b b,more c b", 5), "fine");
        // Pods above the minimum may be held until the gang has its place, and others have theirs.
        assert_eq!(told("base a w,base b w,base b g", 1), "fine");
        assert_eq!(told("base a b,base a g,more c w,more d w", 2), "fine");
        // A scaled gang may be held while a base gang waits.
        assert_eq!(told("base a b,other a w,other b w,more c g", 2), "fine");
    }

    #[test]
    fn what_is_not() {
        assert_eq!(told("base a b,base b w", 1), "gang base runs in part: 0 of b");
        assert_eq!(told("base a w,base b w", 2), "2 nodes are free, gang base needs 2");
        assert_eq!(told("base a b,base a w", 2), "1 nodes are free, and a waits");
        assert_eq!(told("base a b,base a g", 1), "gang base has its place, and 1 pods are held");
        assert_eq!(
            told("base a w,base b w,more c w", 1),
            "gang more is let go before its base gang has its place"
        );
        assert_eq!(told("base a w,base b w,more c b", 1), "gang more goes before its base gang");
        assert_eq!(told("base a b,more c g", 1), "gang more may go, and 1 of its 1 pods are held");
        assert_eq!(told("base a b,base b b", 1), "2 pods on 1 nodes");
    }
}
