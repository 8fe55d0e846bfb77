//! Frames on a terminal in memory.

use std::time::Duration;

use ratatui::{Terminal, backend::TestBackend, buffer::Cell, style::Color};

use super::*;
use crate::view::model::{GangState, GangView, NodeView, PodState, PodView, Tone};

/// Two racks of two nodes with four GPUs; one gang runs, another one waits.
fn scene() -> Scene {
    let node = |rack: usize, it: usize| NodeView {
        name: format!("rack-{rack}-node-{it}"),
        domains: vec![format!("rack-{rack}")],
        gpus: 4,
        ready: true,
        cordoned: false,
    };
    let pod = |name: &str, gang: &str, node: Option<&str>, state| PodView {
        name: name.to_owned(),
        clique: format!("{gang}-w"),
        gang: gang.to_owned(),
        gpus: 4,
        node: node.map(str::to_owned),
        state,
    };
    let gang = |name: &str, state, message: &str| GangView {
        name: name.to_owned(),
        state,
        message: message.to_owned(),
    };
    let line = |seconds, text: &str, tone| StoryLine {
        at: Duration::from_secs(seconds),
        text: text.to_owned(),
        tone,
    };
    Scene {
        title: "grove up".to_owned(),
        nodes: vec![node(0, 0), node(0, 1), node(1, 0), node(1, 1)],
        pods: vec![
            pod("a-0", "a", Some("rack-0-node-0"), PodState::Ready),
            pod("a-1", "a", Some("rack-1-node-1"), PodState::Starting),
            pod("b-0", "b", None, PodState::Pending),
        ],
        gangs: vec![
            gang("a", GangState::Starting, ""),
            gang("b", GangState::Waiting, "needs 16 GPUs in one rack"),
        ],
        story: vec![line(1, "the cluster is up", Tone::Plain), line(2, "gang a is scheduled", Tone::Good)],
        story_left_out: 0,
        advice: Vec::new(),
        keys: vec![("l".to_owned(), "lose a node".to_owned())],
    }
}

fn terminal(
    width: u16,
    height: u16,
    scene: &Scene,
    look: Look,
    scroll: &mut Scroll,
) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, scene, look, scroll)).unwrap();
    terminal
}

fn text(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let width = usize::from(buffer.area.width);
    let rows = buffer.content().chunks(width);
    rows.map(|row| row.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned()).collect()
}

fn drawn(width: u16, height: u16, scene: &Scene) -> Vec<String> {
    text(&terminal(width, height, scene, Look { colours: true }, &mut Scroll::default()))
}

#[test]
fn a_narrow_screen_has_everything_below_each_other() {
    let want = [
        "grove up   1 of 3 pods ready, 4 nodes",
        "  rack-0   rack-1",
        "  AAAA     ····",
        "  ····     aaaa",
        "b  waiting: needs 16 GPUs in one rack",
        "  B  b-w  0 of 1 ready, 1 without a node",
        "a  starting",
        "  A  a-w  1 of 2 ready, 1 starting",
        "",
        "   1.0 s  the cluster is up",
        "   2.0 s  gang a is scheduled",
        "",
        "",
        "q quit   ↑↓ scroll   l lose a node",
    ];
    assert_eq!(drawn(60, 14, &scene()), want);
}

#[test]
fn a_wide_screen_has_the_racks_beside_the_gangs() {
    let got = drawn(120, 10, &scene());
    assert_eq!(got[1], format!("{:<60}b  waiting: needs 16 GPUs in one rack", "  rack-0   rack-1"));
    assert_eq!(got[2], format!("{:<60}  B  b-w  0 of 1 ready, 1 without a node", "  AAAA     ····"));
    assert!(got[6].ends_with("1.0 s  the cluster is up"), "{got:?}");
}

#[test]
fn a_small_screen_has_the_end_of_the_story() {
    let got = drawn(29, 5, &scene());
    assert_eq!(got[0], "grove up   1 of 3 pods ready,");
    assert_eq!(&got[1..3], ["   1.0 s  the cluster is up", "   2.0 s  gang a is scheduled"]);
    assert_eq!(got[4], "q quit   ↑↓ scroll", "what has no room is left out");
}

/// A terminal may be resized to anything.
#[test]
fn every_size_can_be_drawn() {
    let mut scene = scene();
    scene.story.push(StoryLine { text: "x".repeat(300), ..StoryLine::default() });
    scene.keys.push((String::new(), "y".repeat(300)));
    for width in 1..130 {
        for height in [0, 1, 2, 3, 4, 7, 8, 9, 12, 40] {
            let got = drawn(width, height, &scene);
            if width >= 8 && height >= 2 {
                assert_eq!(&got[0][..8], "grove up", "{width}x{height}");
                assert!(got[usize::from(height) - 1].starts_with("q quit"), "{width}x{height}: {got:?}");
            }
        }
    }
}

#[test]
fn racks_that_have_no_room_can_be_scrolled_to() {
    let mut scene = scene();
    let node = scene.nodes[0].clone();
    scene.nodes = (0..40).map(|it| NodeView { name: format!("n-{it}"), ..node.clone() }).collect();
    scene.pods.clear();
    scene.pods.push(PodView {
        clique: "c".to_owned(),
        gpus: 4,
        node: Some("n-39".to_owned()),
        state: PodState::Ready,
        ..PodView::default()
    });
    let look = Look { colours: false };
    let mut scroll = Scroll::default();
    let top = text(&terminal(120, 12, &scene, look, &mut scroll));
    assert!(top[10].starts_with("  … 32 more lines"), "{top:?}");
    scroll.by(1_000);
    let end = text(&terminal(120, 12, &scene, look, &mut scroll));
    assert!(end[10].starts_with("  AAAA"), "{end:?}");
    // It was put back to the end, from where one step up is seen.
    scroll.by(-1);
    let up = text(&terminal(120, 12, &scene, look, &mut scroll));
    assert!(!up.iter().any(|it| it.contains("AAAA")), "{up:?}");
}

#[test]
fn the_last_of_a_long_story_is_shown_and_long_lines_are_folded() {
    let mut scene = scene();
    scene.story = (0..50)
        .map(|it| StoryLine {
            at: Duration::from_secs(it),
            text: format!("step {it}"),
            ..StoryLine::default()
        })
        .collect();
    scene.story.push(StoryLine {
        at: Duration::from_secs(50),
        text: "a gang waits until all of its pods fit at once in a rack".to_owned(),
        ..StoryLine::default()
    });
    let got = drawn(43, 14, &scene);
    assert_eq!(
        &got[9..13],
        [
            "  48.0 s  step 48",
            "  49.0 s  step 49",
            "  50.0 s  a gang waits until all of its",
            "          pods fit at once in a rack"
        ]
    );
}

#[test]
fn colours_can_be_switched_off() {
    let colours = |look: Look| {
        let terminal = terminal(80, 20, &scene(), look, &mut Scroll::default());
        terminal
            .backend()
            .buffer()
            .content()
            .iter()
            .filter(|it| it.fg != Color::Reset || it.bg != Color::Reset)
            .count()
    };
    assert!(colours(Look { colours: true }) > 0);
    assert_eq!(colours(Look { colours: false }), 0);
}

#[test]
fn a_lost_node_is_counted() {
    let mut scene = scene();
    scene.nodes[0].ready = false;
    let got = drawn(80, 20, &scene);
    assert_eq!(got[0], "grove up   1 of 3 pods ready, 4 nodes, 1 lost");
    assert!(got.iter().any(|it| it.contains("xxxx lost")), "{got:?}");
}

#[test]
fn advice_stands_above_the_keys_where_it_has_room() {
    let mut scene = scene();
    scene.advice = vec!["kubeconfig: k".to_owned(), "  kubectl get pods".to_owned()];
    let got = drawn(80, 24, &scene);
    assert_eq!(&got[20..], ["", "kubeconfig: k", "  kubectl get pods", "q quit   ↑↓ scroll   l lose a node"]);
    assert!(got.iter().any(|it| it.contains("gang a is scheduled")), "{got:?}");
    assert!(!drawn(80, 10, &scene).iter().any(|it| it.contains("kubectl")), "the cluster goes first");
}

#[test]
fn a_long_title_leaves_the_counts_their_room() {
    let mut scene = scene();
    scene.title = format!("grove up   kubeconfig: /far/away/{}", "x".repeat(100));
    let got = drawn(60, 14, &scene);
    assert!(got[0].starts_with("grove up   kubeconfig"), "{got:?}");
    assert!(got[0].ends_with("…   1 of 3 pods ready, 4 nodes"), "{got:?}");
}
