//! What is shown: plain values that the program which shows them fills in.

use std::{collections::BTreeMap, time::Duration};

use grove_placement::natural;

/// Everything that is on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scene {
    /// First line: what this is.
    pub title: String,
    /// Nodes in any order.
    pub nodes: Vec<NodeView>,
    /// Pods in any order; those that have ended are left out.
    pub pods: Vec<PodView>,
    /// Gangs in any order.
    pub gangs: Vec<GangView>,
    /// What happened, the oldest first. Lines are added at the end; the oldest may be left out.
    pub story: Vec<StoryLine>,
    /// Lines that were left out at the beginning of the story.
    pub story_left_out: usize,
    /// What the user can do outside of the view, in lines above the last one.
    pub advice: Vec<String>,
    /// What else may be pressed, for the last line: key and what it does.
    pub keys: Vec<(String, String)>,
}

/// A node and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeView {
    /// Name.
    pub name: String,
    /// The domains that it is in, the widest first, without the host: `zone-0`, `block-1`, `rack-3`.
    pub domains: Vec<String>,
    /// GPUs that it has.
    pub gpus: usize,
    /// Whether its kubelet answers.
    pub ready: bool,
    /// Whether no new pods come to it.
    pub cordoned: bool,
}

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodView {
    /// Name.
    pub name: String,
    /// Name of its PodClique.
    pub clique: String,
    /// Name of its PodGang.
    pub gang: String,
    /// GPUs that it asks for.
    pub gpus: usize,
    /// Name of its node, where it has one.
    pub node: Option<String>,
    /// What it does.
    pub state: PodState,
}

/// What a pod does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodState {
    /// It has a scheduling gate.
    #[default]
    Gated,
    /// The scheduler has no place for it yet.
    Pending,
    /// It has a node and is not ready.
    Starting,
    /// It is ready.
    Ready,
    /// It is being deleted.
    Terminating,
    /// It failed.
    Failed,
}

/// A gang.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GangView {
    /// Name.
    pub name: String,
    /// How it is.
    pub state: GangState,
    /// Why it waits or what it lacks, in a sentence; empty where there is nothing to say.
    pub message: String,
}

/// How a gang is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GangState {
    /// It has no place.
    #[default]
    Waiting,
    /// It has its place and is not ready.
    Starting,
    /// All of its minimum is ready.
    Running,
    /// It fell below its minimum.
    Unhealthy,
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoryLine {
    /// When, since the start.
    pub at: Duration,
    /// What, in a sentence.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// How a line is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// A fact.
    #[default]
    Plain,
    /// Something is well now.
    Good,
    /// Something is amiss.
    Bad,
    /// An explanation, which is not a fact of this cluster.
    Note,
}

impl PodState {
    /// Whether it holds its node's GPUs.
    pub(super) fn is_ready(self) -> bool {
        self == Self::Ready
    }
}

impl StoryLine {
    /// `  4.8 s  text`
    pub(crate) fn text(&self) -> String {
        let tenths = self.at.as_millis() / 100;
        format!("{:>4}.{} s  {}", tenths / 10, tenths % 10, clean(&self.text))
    }
}

/// What stands for a clique: a letter of its own, and the colour of its gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) letter: char,
    /// Number of the gang.
    pub(super) gang: usize,
}

/// Cliques beyond the alphabet.
pub(super) const OTHERS: char = '*';

impl Scene {
    /// Letters by clique and colours by gang, in the natural order of their names: the same pods look the same.
    pub(super) fn marks(&self) -> BTreeMap<&str, Mark> {
        let mut gangs: Vec<&str> = self.pods.iter().map(|it| it.gang.as_str()).collect();
        sort(&mut gangs);
        let of_clique: BTreeMap<&str, &str> =
            self.pods.iter().map(|it| (it.clique.as_str(), it.gang.as_str())).collect();
        let mut cliques: Vec<&str> = of_clique.keys().copied().collect();
        sort(&mut cliques);
        let letters = ('A'..='Z').chain(std::iter::repeat(OTHERS));
        let mark = |(clique, letter)| {
            let gang = gangs.iter().position(|it| of_clique.get(clique) == Some(it)).unwrap_or_default();
            (clique, Mark { letter, gang })
        };
        cliques.into_iter().zip(letters).map(mark).collect()
    }

    /// Ready pods, and all of them.
    pub(super) fn ready(&self) -> (usize, usize) {
        (self.pods.iter().filter(|it| it.state.is_ready()).count(), self.pods.len())
    }
}

/// In natural order, each once.
pub(super) fn sort(names: &mut Vec<&str>) {
    names.sort_by(|one, other| natural::compare(one, other));
    names.dedup();
}

/// One line: others wrote it, and control characters would write elsewhere on the terminal.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(clique: &str, gang: &str) -> PodView {
        PodView { clique: clique.to_owned(), gang: gang.to_owned(), ..PodView::default() }
    }

    #[test]
    fn letters_follow_the_natural_order() {
        let scene = Scene {
            pods: vec![pod("a-10", "g-10"), pod("a-9", "g-9"), pod("a-9", "g-9")],
            ..Scene::default()
        };
        let marks = scene.marks();
        assert_eq!(marks["a-9"], Mark { letter: 'A', gang: 0 });
        assert_eq!(marks["a-10"], Mark { letter: 'B', gang: 1 });
    }

    #[test]
    fn the_alphabet_has_an_end() {
        let pods = (0..28).map(|it| pod(&format!("c-{it}"), "g")).collect();
        let scene = Scene { pods, ..Scene::default() };
        let marks = scene.marks();
        assert_eq!((marks["c-25"].letter, marks["c-26"].letter, marks["c-27"].letter), ('Z', OTHERS, OTHERS));
    }

    #[test]
    fn a_story_line_has_its_time_and_stays_one_line() {
        let line = StoryLine {
            at: Duration::from_millis(12_345),
            text: "a\x1b[2J\nb".to_owned(),
            tone: Tone::Plain,
        };
        assert_eq!(line.text(), "  12.3 s  a [2J b");
    }
}
