//! A picture of racks: zones, racks, nodes, and in each GPU the letter of whose pod has it. Pure.
//!
//! A clique has a letter and a gang a colour, so that the picture also reads without colours.

use std::collections::{BTreeMap, BTreeSet};

use super::view::{NodeView, PodView};

/// A GPU that nobody has.
const FREE: char = '·';
/// Cliques beyond the alphabet.
const OTHERS: char = '*';
/// Between two racks.
const GAP: usize = 3;
const INDENT: &str = "  ";

/// A piece of a line; `tone` is the number of a gang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) tone: Option<usize>,
}

/// A line of the picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(pub(super) Vec<Span>);

impl Line {
    fn plain(text: impl Into<String>) -> Self {
        Self(vec![Span { text: text.into(), tone: None }])
    }

    fn push(&mut self, text: impl Into<String>, tone: Option<usize>) {
        self.0.push(Span { text: text.into(), tone });
    }

    fn width(&self) -> usize {
        self.0.iter().map(|it| it.text.chars().count()).sum()
    }
}

/// A rack: its name and its nodes.
type Rack = Vec<Line>;

/// What stands for a clique.
#[derive(Clone, Copy)]
struct Mark {
    letter: char,
    tone: usize,
}

/// Draws everything, in lines of at most `width` where racks are not wider.
pub(super) fn draw(nodes: &[NodeView], pods: &[PodView], width: usize) -> Vec<Line> {
    let mut pods: Vec<&PodView> = pods.iter().collect();
    pods.sort_by(|one, other| (&one.clique, &one.name).cmp(&(&other.clique, &other.name)));
    let marks = marks(&pods);
    let mut zones: BTreeMap<&str, BTreeMap<&str, BTreeMap<&str, &NodeView>>> = BTreeMap::new();
    for node in nodes {
        zones.entry(&node.zone).or_default().entry(&node.rack).or_default().insert(&node.name, node);
    }
    let zones: Vec<(&str, Vec<Rack>)> = zones
        .into_iter()
        .map(|(zone, racks)| {
            let racks = racks.into_iter().map(|(name, nodes)| {
                let each = nodes.values().map(|it| draw_node(it, &pods, &marks));
                std::iter::once(Line::plain(name)).chain(each).collect()
            });
            (zone, racks.collect())
        })
        .collect();
    let widest = zones.iter().flat_map(|it| &it.1).flatten().map(Line::width).max().unwrap_or_default();
    let mut lines = Vec::new();
    for (zone, racks) in &zones {
        lines.push(Line::plain(*zone));
        lines.extend(side_by_side(racks, widest, width));
    }
    lines.push(Line::default());
    lines.extend(legend(&pods, &marks));
    lines
}

/// Letters by clique and colours by gang, in the order of their names: the same pods give the same picture.
fn marks<'a>(pods: &[&'a PodView]) -> BTreeMap<&'a str, Mark> {
    let gangs: BTreeSet<&str> = pods.iter().map(|it| it.gang.as_str()).collect();
    let gangs: Vec<&str> = gangs.into_iter().collect();
    let cliques: BTreeMap<&str, &str> =
        pods.iter().map(|it| (it.clique.as_str(), it.gang.as_str())).collect();
    let letters = ('A'..='Z').chain(std::iter::repeat(OTHERS));
    let mark = |((clique, gang), letter)| {
        let tone = gangs.iter().position(|it| *it == gang).unwrap_or_default();
        (clique, Mark { letter, tone })
    };
    cliques.into_iter().zip(letters).map(mark).collect()
}

/// `BBBBCC··`, and behind a plus the pods that have no GPU.
fn draw_node(node: &NodeView, pods: &[&PodView], marks: &BTreeMap<&str, Mark>) -> Line {
    let mut line = Line::default();
    let here = || pods.iter().filter(|it| it.node.as_deref() == Some(node.name.as_str()));
    let mark = |pod: &PodView| marks.get(pod.clique.as_str()).copied();
    let mut left = node.gpus;
    for pod in here() {
        let Some(mark) = mark(pod) else { continue };
        let cells = pod.gpus.min(left);
        left -= cells;
        if cells > 0 {
            line.push(shown(pod, mark).to_string().repeat(cells), Some(mark.tone));
        }
    }
    line.push(FREE.to_string().repeat(left), None);
    let mut others = here().filter(|it| it.gpus == 0).peekable();
    if others.peek().is_some() {
        line.push(" +", None);
        for pod in others {
            let Some(mark) = mark(pod) else { continue };
            line.push(shown(pod, mark).to_string(), Some(mark.tone));
        }
    }
    line
}

/// A small letter for a pod that is not ready.
fn shown(pod: &PodView, mark: Mark) -> char {
    if pod.ready { mark.letter } else { mark.letter.to_ascii_lowercase() }
}

/// As many racks beside each other as fit.
fn side_by_side(racks: &[Rack], widest: usize, width: usize) -> Vec<Line> {
    let columns = (width.saturating_sub(INDENT.len()) + GAP) / (widest + GAP).max(1);
    let mut lines = Vec::new();
    for row in racks.chunks(columns.max(1)) {
        let height = row.iter().map(Vec::len).max().unwrap_or_default();
        for at in 0..height {
            let mut line = Line::plain(INDENT);
            for (column, rack) in row.iter().enumerate() {
                let part = rack.get(at).cloned().unwrap_or_default();
                let missing = widest - part.width();
                line.0.extend(part.0);
                if column + 1 < row.len() {
                    line.push(" ".repeat(missing + GAP), None);
                }
            }
            lines.push(line);
        }
    }
    lines
}

/// Which letter is whose.
fn legend(pods: &[&PodView], marks: &BTreeMap<&str, Mark>) -> Vec<Line> {
    let named: Vec<(&str, Mark)> =
        marks.iter().map(|(clique, mark)| (*clique, *mark)).filter(|it| it.1.letter != OTHERS).collect();
    let rows: Vec<(Mark, &str, String, &str)> = named
        .into_iter()
        .map(|(clique, mark)| {
            let pods: Vec<&&PodView> = pods.iter().filter(|it| it.clique == clique).collect();
            let gang = pods.first().map(|it| it.gang.as_str()).unwrap_or_default();
            (mark, clique, count(&pods), gang)
        })
        .collect();
    let wide = |of: fn(&(Mark, &str, String, &str)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (name, count) = (wide(|it| it.1.chars().count()), wide(|it| it.2.chars().count()));
    let mut lines: Vec<Line> = rows
        .iter()
        .map(|(mark, clique, pods, gang)| {
            let mut line = Line::plain(INDENT);
            line.push(mark.letter.to_string(), Some(mark.tone));
            line.push(format!("  {clique:<name$}   {pods:<count$}   gang "), None);
            line.push(*gang, Some(mark.tone));
            line
        })
        .collect();
    let others = marks.values().filter(|it| it.letter == OTHERS).count();
    if others > 0 {
        lines.push(Line::plain(format!("{INDENT}{OTHERS}  {others} more cliques")));
    }
    let mut notes = vec![format!("{FREE} free GPU"), "one line per node".to_owned()];
    if pods.iter().any(|it| it.gpus == 0 && it.node.is_some()) {
        notes.push("+ pods without a GPU".to_owned());
    }
    if pods.iter().any(|it| it.node.is_some() && !it.ready) {
        notes.push("lower case: not ready yet".to_owned());
    }
    lines.push(Line::plain(format!("{INDENT}{}", notes.join(", "))));
    lines
}

/// `2 pods of 8 GPUs, 1 without a node`.
fn count(pods: &[&&PodView]) -> String {
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let gpus = pods.iter().map(|it| it.gpus).max().unwrap_or_default();
    let mut text = plural(pods.len(), "pod");
    if gpus > 0 {
        text = format!("{text} of {}", plural(gpus, "GPU"));
    }
    match pods.iter().filter(|it| it.node.is_none()).count() {
        0 => text,
        missing => format!("{text}, {missing} without a node"),
    }
}

#[cfg(test)]
mod tests;
