//! Racks as lines: a line for each node, a character for each GPU, in it the letter of whose pod has it.

use std::collections::BTreeMap;

use grove_placement::natural;
use ratatui::text::{Line, Span};

use super::{
    look::Look,
    model::{Mark, NodeView, PodView, Scene, clean, sort},
};

/// A GPU that no pod has.
const FREE: &str = "·";
/// GPUs of a node that is lost.
const LOST: &str = "x";
/// Between two racks.
const GAP: usize = 3;
const INDENT: &str = "  ";
/// GPUs of a node that are drawn; where there are more, a number follows.
const MAX_GPUS: usize = 16;

/// All racks, with as many beside each other as fit in `width`, grouped by the wider domains.
pub(super) fn lines(scene: &Scene, width: usize, look: Look) -> Vec<Line<'static>> {
    let marks = scene.marks();
    let mut pods: BTreeMap<&str, Vec<&PodView>> = BTreeMap::new();
    for pod in &scene.pods {
        pods.entry(pod.node.as_deref().unwrap_or_default()).or_default().push(pod);
    }
    for here in pods.values_mut() {
        here.sort_by(|one, other| {
            natural::compare(&one.clique, &other.clique)
                .then_with(|| natural::compare(&one.name, &other.name))
        });
    }
    let mut lines = Vec::new();
    for (around, racks) in areas(scene) {
        let drawn: Vec<Vec<Line<'static>>> = racks
            .into_iter()
            .map(|(name, nodes)| {
                let each = nodes
                    .into_iter()
                    .map(|it| node(it, pods.get(it.name.as_str()).map_or(&[], Vec::as_slice), &marks, look));
                std::iter::once(Line::from(Span::styled(clean(name), Look::dim()))).chain(each).collect()
            })
            .collect();
        if !around.is_empty() {
            lines.push(Line::from(Span::styled(clean(&around), Look::bold())));
        }
        lines.extend(side_by_side(&drawn, width));
    }
    lines
}

type Rack<'a> = (&'a str, Vec<&'a NodeView>);

/// Racks by what is around them, in natural order.
fn areas(scene: &Scene) -> Vec<(String, Vec<Rack<'_>>)> {
    let around = |it: &NodeView| it.domains.split_last().map(|it| it.1.join(" ")).unwrap_or_default();
    let rack = |it: &NodeView| it.domains.last().cloned().unwrap_or_default();
    let names: Vec<String> = scene.nodes.iter().map(around).collect();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    sort(&mut names);
    let areas = names.into_iter().map(|name| {
        let here: Vec<&NodeView> = scene.nodes.iter().filter(|it| around(it) == name).collect();
        let mut racks: Vec<&str> =
            here.iter().map(|it| it.domains.last().map_or("", String::as_str)).collect();
        sort(&mut racks);
        let racks = racks.into_iter().map(|name| {
            let mut nodes: Vec<&NodeView> = here.iter().copied().filter(|it| rack(it) == name).collect();
            nodes.sort_by(|one, other| natural::compare(&one.name, &other.name));
            (name, nodes)
        });
        (name.to_owned(), racks.collect())
    });
    areas.collect()
}

/// `BBBBcc··`, behind a plus the pods that have no GPU, and what is wrong with the node.
fn node(node: &NodeView, pods: &[&PodView], marks: &BTreeMap<&str, Mark>, look: Look) -> Line<'static> {
    let mut spans = Vec::new();
    let mut left = node.gpus.min(MAX_GPUS);
    if !node.ready {
        spans.push(Span::styled(LOST.repeat(left.max(1)), look.bad()));
        spans.push(Span::styled(" lost", look.bad()));
        return Line::from(spans);
    }
    let mark = |pod: &PodView| marks.get(pod.clique.as_str()).copied();
    for pod in pods {
        let Some(mark) = mark(pod) else { continue };
        let cells = pod.gpus.min(left);
        left -= cells;
        if cells > 0 {
            spans.push(Span::styled(letter(pod, mark).to_string().repeat(cells), look.gang(mark.gang)));
        }
    }
    spans.push(Span::styled(FREE.repeat(left), Look::dim()));
    if node.gpus > MAX_GPUS {
        spans.push(Span::raw(format!(" of {}", node.gpus)));
    }
    let mut others = pods.iter().filter(|it| it.gpus == 0).peekable();
    if others.peek().is_some() {
        spans.push(Span::raw(" +"));
        for pod in others {
            let Some(mark) = mark(pod) else { continue };
            spans.push(Span::styled(letter(pod, mark).to_string(), look.gang(mark.gang)));
        }
    }
    if node.cordoned {
        spans.push(Span::styled(" cordoned", Look::dim()));
    }
    Line::from(spans)
}

/// A small letter for a pod that is not ready.
fn letter(pod: &PodView, mark: Mark) -> char {
    if pod.state.is_ready() { mark.letter } else { mark.letter.to_ascii_lowercase() }
}

/// As many racks beside each other as fit.
fn side_by_side(racks: &[Vec<Line<'static>>], width: usize) -> Vec<Line<'static>> {
    let widest = racks.iter().flatten().map(Line::width).max().unwrap_or_default();
    let columns = (width.saturating_sub(INDENT.len()) + GAP) / (widest + GAP).max(1);
    let mut lines = Vec::new();
    for row in racks.chunks(columns.max(1)) {
        let height = row.iter().map(Vec::len).max().unwrap_or_default();
        for at in 0..height {
            let mut spans = vec![Span::raw(INDENT)];
            for (column, rack) in row.iter().enumerate() {
                let part = rack.get(at).cloned().unwrap_or_default();
                let missing = widest.saturating_sub(part.width());
                spans.extend(part.spans);
                if column + 1 < row.len() {
                    spans.push(Span::raw(" ".repeat(missing + GAP)));
                }
            }
            lines.push(Line::from(spans));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::model::PodState;

    fn place(name: &str, domains: &[&str], gpus: usize) -> NodeView {
        NodeView {
            name: name.to_owned(),
            domains: domains.iter().map(|it| (*it).to_owned()).collect(),
            gpus,
            ready: true,
            cordoned: false,
        }
    }

    fn pod(clique: &str, gpus: usize, on: &str, state: PodState) -> PodView {
        PodView {
            name: format!("{clique}-{on}"),
            clique: clique.to_owned(),
            gang: "g".to_owned(),
            gpus,
            node: Some(on.to_owned()),
            state,
        }
    }

    fn drawn(scene: &Scene, width: usize) -> Vec<String> {
        lines(scene, width, Look { colours: false })
            .iter()
            .map(|it| it.to_string().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn each_gpu_shows_whose_it_is() {
        let mut nodes = vec![
            place("n10", &["zone-0", "rack-10"], 4),
            place("n2", &["zone-0", "rack-2"], 4),
            place("n1", &["zone-0", "rack-2"], 4),
            place("n3", &["zone-1", "rack-3"], 2),
        ];
        nodes[3].cordoned = true;
        nodes[0].ready = false;
        let pods = vec![
            pod("b", 2, "n1", PodState::Ready),
            pod("a", 1, "n1", PodState::Starting),
            pod("c", 0, "n2", PodState::Ready),
            pod("a", 4, "n10", PodState::Ready),
        ];
        let scene = Scene { nodes, pods, ..Scene::default() };
        let want = [
            "zone-0",
            "  rack-2    rack-10",
            "  aBB·      xxxx lost",
            "  ···· +C",
            "zone-1",
            "  rack-3",
            "  ·· cordoned",
        ];
        let got = drawn(&scene, 80);
        let squeezed = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            got.iter().map(|it| squeezed(it)).collect::<Vec<_>>(),
            want.iter().map(|it| squeezed(it)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn racks_stand_below_each_other_where_it_is_narrow() {
        let nodes = (0..3).map(|it| place(&format!("n{it}"), &[&format!("rack-{it}")], 8)).collect();
        let scene = Scene { nodes, ..Scene::default() };
        assert_eq!(drawn(&scene, 80).len(), 2);
        assert_eq!(drawn(&scene, 22).len(), 4);
        assert_eq!(drawn(&scene, 5).len(), 6, "a rack that is too wide still has a line");
    }

    #[test]
    fn a_pod_that_asks_for_more_than_there_is_stays_in_its_line() {
        let scene = Scene {
            nodes: vec![place("n", &["r"], 2)],
            pods: vec![pod("a", 100, "n", PodState::Ready)],
            ..Scene::default()
        };
        assert_eq!(drawn(&scene, 80), ["  r", "  AA"]);
        let many = Scene { nodes: vec![place("n", &["r"], 1_000_000)], ..Scene::default() };
        assert_eq!(drawn(&many, 80)[1], "  ················ of 1000000");
    }
}
