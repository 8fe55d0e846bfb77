//! Gangs as lines, those that need attention first, each with its PodCliques.

use std::collections::BTreeMap;

use grove_placement::natural;
use ratatui::text::{Line, Span};

use super::{
    look::Look,
    model::{GangState, GangView, Mark, OTHERS, PodState, Scene, clean},
};

/// All gangs.
pub(super) fn lines(scene: &Scene, look: Look) -> Vec<Line<'static>> {
    let marks = scene.marks();
    let mut gangs: Vec<&GangView> = scene.gangs.iter().collect();
    gangs.sort_by(|one, other| {
        rank(one).cmp(&rank(other)).then_with(|| natural::compare(&one.name, &other.name))
    });
    gangs.into_iter().flat_map(|gang| of(scene, gang, &marks, look)).collect()
}

fn rank(gang: &GangView) -> u8 {
    match gang.state {
        GangState::Unhealthy => 0,
        GangState::Waiting => 1,
        GangState::Starting => 2,
        GangState::Running => 3,
    }
}

fn of(scene: &Scene, gang: &GangView, marks: &BTreeMap<&str, Mark>, look: Look) -> Vec<Line<'static>> {
    let state = match gang.state {
        GangState::Waiting => "waiting",
        GangState::Starting => "starting",
        GangState::Running => "running",
        GangState::Unhealthy => "unhealthy",
    };
    let mut cliques: BTreeMap<&str, Vec<PodState>> = BTreeMap::new();
    for pod in scene.pods.iter().filter(|it| it.gang == gang.name) {
        cliques.entry(&pod.clique).or_default().push(pod.state);
    }
    let mut names: Vec<&str> = cliques.keys().copied().collect();
    names.sort_by(|one, other| natural::compare(one, other));
    let number = names.first().and_then(|it| marks.get(it)).map_or(0, |it| it.gang);
    let mut head = vec![
        Span::styled(clean(&gang.name), look.gang(number).patch(Look::bold())),
        Span::raw("  "),
        Span::styled(state, look.state(gang.state)),
    ];
    if !gang.message.is_empty() {
        head.push(Span::raw(format!(": {}", clean(&gang.message))));
    }
    let mut lines = vec![Line::from(head)];
    for name in names {
        let pods = &cliques[name];
        let letter = marks.get(name).map_or(OTHERS, |it| it.letter);
        lines.push(Line::from(vec![
            Span::raw("  "),
            Span::styled(letter.to_string(), look.gang(number)),
            Span::raw(format!("  {}  {}", clean(name), counts(pods))),
        ]));
    }
    lines
}

/// `2 of 3 ready, 1 gated`
fn counts(pods: &[PodState]) -> String {
    let ready = pods.iter().filter(|it| it.is_ready()).count();
    let rest = [
        (PodState::Gated, "gated"),
        (PodState::Pending, "without a node"),
        (PodState::Starting, "starting"),
        (PodState::Terminating, "terminating"),
        (PodState::Failed, "failed"),
    ];
    let rest = rest.iter().filter_map(|(state, word)| {
        let count = pods.iter().filter(|it| *it == state).count();
        (count > 0).then(|| format!(", {count} {word}"))
    });
    format!("{ready} of {} ready{}", pods.len(), rest.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::model::PodView;

    #[test]
    fn gangs_in_need_come_first_and_numbers_count() {
        let gang = |name: &str, state, message: &str| GangView {
            name: name.to_owned(),
            state,
            message: message.to_owned(),
        };
        let pod = |clique: &str, gang: &str, state| PodView {
            clique: clique.to_owned(),
            gang: gang.to_owned(),
            state,
            ..PodView::default()
        };
        let scene = Scene {
            gangs: vec![
                gang("a-10", GangState::Running, ""),
                gang("a-9", GangState::Running, ""),
                gang("z", GangState::Waiting, "needs 16 GPUs\nin one rack"),
            ],
            pods: vec![
                pod("a-9-x", "a-9", PodState::Ready),
                pod("a-9-x", "a-9", PodState::Terminating),
                pod("z-w", "z", PodState::Gated),
                pod("z-w", "z", PodState::Pending),
            ],
            ..Scene::default()
        };
        let got: Vec<String> =
            lines(&scene, Look { colours: false }).iter().map(ToString::to_string).collect();
        let want = [
            "z  waiting: needs 16 GPUs in one rack",
            "  B  z-w  0 of 2 ready, 1 gated, 1 without a node",
            "a-9  running",
            "  A  a-9-x  1 of 2 ready, 1 terminating",
            "a-10  running",
        ];
        assert_eq!(got, want);
    }
}
