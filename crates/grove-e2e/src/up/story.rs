//! Progress of a set's pods, each step once: created, scheduling gates removed, scheduled, ready. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::view::PodView;

/// With more cliques than this, they are not told one by one.
const MAX_CLIQUES: usize = 20;

/// What was told already.
#[derive(Debug, Default)]
pub(super) struct Story {
    wanted: usize,
    told: BTreeSet<String>,
}

impl Story {
    /// The story of so many pods.
    pub(super) fn of(wanted: usize) -> Self {
        Self { wanted, told: BTreeSet::new() }
    }

    /// What is new, given all pods as they are now.
    pub(super) fn go_on(&mut self, pods: &[PodView]) -> Vec<String> {
        if pods.len() < self.wanted {
            return Vec::new();
        }
        let mut now = vec![format!(
            "{} pods created, each with a scheduling gate until its gang is complete",
            self.wanted
        )];
        let gangs = by(pods, |it| &it.gang);
        for (gang, pods) in &gangs {
            if pods.iter().all(|it| !it.gated) {
                now.push(format!(
                    "gang {gang} is complete: scheduling gates of {} removed",
                    count(pods.len())
                ));
            }
        }
        for (gang, pods) in &gangs {
            if pods.iter().all(|it| it.node.is_some()) {
                now.push(format!("gang {gang} is scheduled"));
            }
        }
        let cliques = by(pods, |it| &it.clique);
        if cliques.len() <= MAX_CLIQUES {
            let ready = cliques.iter().filter(|(_, pods)| pods.iter().all(|it| it.ready));
            now.extend(ready.map(|(clique, _)| format!("{clique} is ready")));
        }
        if self.is_over(pods) {
            now.push(format!("all {} pods are ready", pods.len()));
        }
        now.into_iter().filter(|it| self.told.insert(it.clone())).collect()
    }

    /// Whether there is nothing more to tell.
    pub(super) fn is_over(&self, pods: &[PodView]) -> bool {
        pods.len() >= self.wanted && pods.iter().all(|it| it.ready)
    }
}

fn count(pods: usize) -> String {
    if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
}

fn by(pods: &[PodView], key: fn(&PodView) -> &String) -> BTreeMap<&str, Vec<&PodView>> {
    let mut all: BTreeMap<&str, Vec<&PodView>> = BTreeMap::new();
    for pod in pods {
        all.entry(key(pod)).or_default().push(pod);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(clique: &str, gang: &str) -> PodView {
        PodView { clique: clique.to_owned(), gang: gang.to_owned(), gated: true, ..PodView::default() }
    }

    #[test]
    fn each_thing_is_told_once_and_in_order() {
        let mut story = Story::of(2);
        let mut pods = vec![pod("a", "g")];
        assert!(story.go_on(&pods).is_empty(), "not all exist");
        pods.push(pod("b", "h"));
        assert_eq!(
            story.go_on(&pods),
            ["2 pods created, each with a scheduling gate until its gang is complete"]
        );
        pods[0].gated = false;
        assert_eq!(story.go_on(&pods), ["gang g is complete: scheduling gates of 1 pod removed"]);
        assert!(story.go_on(&pods).is_empty());
        pods[0].node = Some("n".to_owned());
        assert_eq!(story.go_on(&pods), ["gang g is scheduled"]);
        pods[0].ready = true;
        assert_eq!(story.go_on(&pods), ["a is ready"]);
        assert!(!story.is_over(&pods));
        pods[1] = PodView { gated: false, node: Some("n".to_owned()), ready: true, ..pod("b", "h") };
        assert_eq!(
            story.go_on(&pods),
            [
                "gang h is complete: scheduling gates of 1 pod removed",
                "gang h is scheduled",
                "b is ready",
                "all 2 pods are ready"
            ]
        );
        assert!(story.is_over(&pods));
    }

    #[test]
    fn many_cliques_are_not_told_one_by_one() {
        let pods: Vec<PodView> = (0..=MAX_CLIQUES)
            .map(|it| PodView {
                gated: false,
                ready: true,
                node: Some("n".to_owned()),
                ..pod(&format!("c{it}"), "g")
            })
            .collect();
        assert_eq!(Story::of(pods.len()).go_on(&pods).len(), 4);
    }
}
