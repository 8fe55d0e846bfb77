//! A gang from its creation to its deletion.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cluster, Lines, count, has_minimum};
use crate::{
    follow::{gang::Gang, pod::Pod, snapshot::Naming},
    view::Tone,
};

/// PodCliques of a gang that has more are not mentioned one by one.
const MAX_CLIQUES: usize = 20;

/// What was said of each gang, by its UID.
#[derive(Clone, Debug, Default)]
pub(super) struct Gangs(BTreeMap<String, Progress>);

#[derive(Clone, Debug, Default)]
struct Progress {
    /// What it is called when it is gone.
    name: String,
    is_created: bool,
    /// Pods whose gates are known to be removed.
    ungated: usize,
    does_not_fit: bool,
    scheduled: Stage,
    is_unhealthy: bool,
    cliques: BTreeMap<String, Stage>,
}

/// Something that may be undone and reached again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Never,
    Reached,
    Undone,
}

impl Stage {
    /// What to say where it is reached now: nothing, or whether it is the first time.
    fn reach(&mut self) -> Option<&'static str> {
        let again = match *self {
            Self::Never => "",
            Self::Undone => " again",
            Self::Reached => return None,
        };
        *self = Self::Reached;
        Some(again)
    }

    fn undo(&mut self) {
        if *self == Self::Reached {
            *self = Self::Undone;
        }
    }
}

impl Gangs {
    pub(super) fn update(&mut self, cluster: &Cluster<'_>, lines: &mut Lines) {
        let gangs = &cluster.snapshot.gangs;
        let existing: BTreeSet<&str> = gangs.iter().map(|it| it.uid.as_str()).collect();
        self.0.retain(|uid, progress| {
            let is_kept = existing.contains(uid.as_str());
            if !is_kept && progress.is_created {
                lines.push((Tone::Plain, format!("gang {} was deleted", progress.name)));
            }
            is_kept
        });
        for gang in gangs {
            let progress = self.0.entry(gang.uid.clone()).or_default();
            progress.update(gang, cluster.pods_of(gang), cluster.naming, lines);
        }
    }
}

impl Progress {
    fn update(&mut self, gang: &Gang, pods: &[&Pod], naming: Naming, lines: &mut Lines) {
        self.name = naming.name(&gang.namespace, &gang.name);
        let name = self.name.clone();
        let live: Vec<&Pod> = pods.iter().copied().filter(|it| it.is_live()).collect();
        let ungated = live.iter().filter(|it| !it.gated).count();
        // Pods may be heard of later than their gang.
        let are_known = !live.is_empty() && live.len() >= gang.pods;
        if !self.is_created && are_known && (gang.initialized || ungated > 0) {
            self.is_created = true;
            let each = if live.len() == 1 { "with" } else { "each with" };
            let text = format!(
                "gang {name}: {} created, {each} a scheduling gate until the gang is complete",
                count(live.len())
            );
            lines.push((Tone::Plain, text));
        }
        self.gates(gang, &live, ungated, lines);
        self.placement(gang, pods, lines);
        if gang.unhealthy.is_some() != self.is_unhealthy {
            self.is_unhealthy = gang.unhealthy.is_some();
            let below = |why: &String| (Tone::Bad, format!("gang {name} is below its minimum: {why}"));
            lines.extend(gang.unhealthy.as_ref().map(below));
        }
        self.readiness(gang, &live, naming, lines);
    }

    /// Gates of the minimum are removed at once, those of pods above it perhaps later.
    fn gates(&mut self, gang: &Gang, live: &[&Pod], ungated: usize, lines: &mut Lines) {
        let name = &self.name;
        if self.ungated == 0 {
            if has_minimum(gang, live, |it| !it.gated) {
                let text = format!("gang {name} is complete: scheduling gates of {} removed", count(ungated));
                lines.push((Tone::Plain, text));
                self.ungated = ungated;
            }
        } else if ungated == live.len() && ungated > self.ungated {
            let more = ungated - self.ungated;
            let pods = if more == 1 { "1 more pod".to_owned() } else { format!("{more} more pods") };
            lines.push((Tone::Plain, format!("gang {name}: scheduling gates of {pods} removed")));
            self.ungated = ungated;
        }
    }

    /// The pods say whether it is bound: the status of the gang may be older than theirs.
    fn placement(&mut self, gang: &Gang, pods: &[&Pod], lines: &mut Lines) {
        let name = &self.name;
        if has_minimum(gang, pods, |it| it.node.is_some()) {
            self.does_not_fit = false;
            let scheduled = |again| (Tone::Good, format!("gang {name} is scheduled{again}"));
            lines.extend(self.scheduled.reach().map(scheduled));
            return;
        }
        self.scheduled.undo();
        if gang.unschedulable && !self.does_not_fit {
            self.does_not_fit = true;
            lines.push((Tone::Bad, format!("gang {name} does not fit: {}", gang.scheduling)));
        }
    }

    /// A PodClique is ready when all its pods are; that is undone only when it falls below its minimum.
    fn readiness(&mut self, gang: &Gang, live: &[&Pod], naming: Naming, lines: &mut Lines) {
        if gang.minimum.len() > MAX_CLIQUES {
            return;
        }
        for (clique, minimum) in &gang.minimum {
            let pods = || live.iter().filter(|it| it.clique == *clique);
            let ready = pods().filter(|it| it.ready).count();
            let stage = self.cliques.entry(clique.clone()).or_default();
            if ready < *minimum {
                stage.undo();
            } else if ready > 0 && ready == pods().count() {
                let clique = naming.name(&gang.namespace, clique);
                lines.extend(stage.reach().map(|again| (Tone::Plain, format!("{clique} is ready{again}"))));
            }
        }
        self.cliques.retain(|clique, _| gang.minimum.contains_key(clique));
    }
}
