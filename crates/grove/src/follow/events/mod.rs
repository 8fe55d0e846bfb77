//! What happened, line by line, from successive snapshots. Pure.
//!
//! `nodes` notices nodes that are lost, `gangs` follows each gang from its creation to its deletion, `sets` says when all pods of
//! a PodCliqueSet are ready. Each remembers what it has said, and says it again only after it was undone.

mod gangs;
mod nodes;
mod sets;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use self::{gangs::Gangs, nodes::Nodes, sets::Sets};
use super::{
    gang::Gang,
    pod::Pod,
    snapshot::{Naming, Snapshot},
};
use crate::view::{Scene, StoryLine, Tone};

/// Lines that are kept.
const MAX_LINES: usize = 500;

/// What happened since the first snapshot. The newest lines are kept.
#[derive(Clone, Debug, Default)]
pub struct Events {
    lines: VecDeque<StoryLine>,
    left_out: usize,
    nodes: Nodes,
    gangs: Gangs,
    sets: Sets,
}

impl Events {
    /// Begins with this snapshot: what is there already is no event.
    pub fn since(snapshot: &Snapshot) -> Self {
        let mut this = Self::default();
        this.new_lines(snapshot);
        this
    }

    /// Adds what is new in this snapshot, so long after the start, and returns it.
    pub fn update(&mut self, snapshot: &Snapshot, at: Duration) -> Vec<StoryLine> {
        let new: Vec<StoryLine> =
            self.new_lines(snapshot).into_iter().map(|(tone, text)| StoryLine { at, text, tone }).collect();
        for line in &new {
            self.add(line.clone());
        }
        new
    }

    /// Adds a line that comes from elsewhere.
    pub fn add(&mut self, line: StoryLine) {
        self.lines.push_back(line);
        if self.lines.len() > MAX_LINES {
            self.lines.pop_front();
            self.left_out += 1;
        }
    }

    /// Replaces the story of a scene.
    pub fn fill(&self, scene: &mut Scene) {
        scene.story = self.lines.iter().cloned().collect();
        scene.story_left_out = self.left_out;
    }

    fn new_lines(&mut self, snapshot: &Snapshot) -> Lines {
        let cluster = Cluster::new(snapshot);
        let mut lines = Lines::new();
        self.nodes.update(&cluster, &mut lines);
        self.gangs.update(&cluster, &mut lines);
        self.sets.update(&cluster, &mut lines);
        lines
    }
}

type Lines = Vec<(Tone, String)>;

/// A snapshot with an index.
struct Cluster<'a> {
    snapshot: &'a Snapshot,
    naming: Naming,
    /// By namespace and gang.
    pods: BTreeMap<(&'a str, &'a str), Vec<&'a Pod>>,
}

impl<'a> Cluster<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let mut pods: BTreeMap<_, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            pods.entry((pod.namespace.as_str(), pod.gang.as_str())).or_default().push(pod);
        }
        Self { snapshot, naming: snapshot.naming(), pods }
    }

    /// All pods of a gang.
    fn pods_of(&self, gang: &'a Gang) -> &[&'a Pod] {
        self.pods.get(&(gang.namespace.as_str(), gang.name.as_str())).map_or(&[], Vec::as_slice)
    }
}

/// Whether each PodClique of the gang has its minimum of pods that are live and `is_so`.
fn has_minimum(gang: &Gang, pods: &[&Pod], is_so: impl Fn(&Pod) -> bool) -> bool {
    let count =
        |clique: &str| pods.iter().filter(|it| it.clique == clique && it.is_live() && is_so(it)).count();
    !gang.minimum.is_empty() && gang.minimum.iter().all(|(clique, minimum)| count(clique) >= *minimum)
}

/// `1 pod`, `2 pods`
fn count(pods: usize) -> String {
    if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
}
