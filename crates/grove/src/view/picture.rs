//! Racks and gangs as text, for standard output that is no terminal.

use super::{gangs, look::Look, model::Scene, racks};

/// Racks, then gangs with their PodCliques, in lines of about `width`.
pub fn picture(scene: &Scene, width: usize) -> Vec<String> {
    let look = Look { colours: false };
    let racks = racks::lines(scene, width, look);
    let gangs = gangs::lines(scene, look);
    let text = |it: ratatui::text::Line<'static>| it.to_string().trim_end().to_owned();
    racks.into_iter().map(text).chain([String::new()]).chain(gangs.into_iter().map(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{GangState, GangView, NodeView, PodState, PodView};

    #[test]
    fn racks_stand_above_gangs() {
        let scene = Scene {
            nodes: vec![NodeView {
                name: "n".to_owned(),
                domains: vec!["zone-0".to_owned(), "rack-0".to_owned()],
                gpus: 4,
                ready: true,
                ..NodeView::default()
            }],
            pods: vec![PodView {
                name: "s-0-w-0".to_owned(),
                clique: "s-0-w".to_owned(),
                gang: "s-0".to_owned(),
                gpus: 2,
                node: Some("n".to_owned()),
                state: PodState::Ready,
            }],
            gangs: vec![GangView {
                name: "s-0".to_owned(),
                state: GangState::Running,
                ..GangView::default()
            }],
            ..Scene::default()
        };
        let want = ["zone-0", "  rack-0", "  AA··", "", "s-0  running", "  A  s-0-w  1 of 1 ready"];
        assert_eq!(picture(&scene, 80), want);
    }
}
