use super::*;

/// A hall of `zones` with two racks of two nodes each, of four GPUs.
fn hall(zones: usize) -> Vec<NodeView> {
    let node = |zone: usize, rack: usize, node: usize| NodeView {
        zone: format!("zone-{zone}"),
        rack: format!("rack-{rack}"),
        name: format!("rack-{rack}-node-{node}"),
        gpus: 4,
    };
    (0..zones * 4).map(|it| node(it / 4, it / 2, it % 2)).collect()
}

fn pod(clique: &str, index: usize, gpus: usize, node: Option<&str>) -> PodView {
    PodView {
        name: format!("{clique}-{index}"),
        clique: clique.to_owned(),
        gang: "g".to_owned(),
        gpus,
        gated: false,
        node: node.map(str::to_owned),
        ready: node.is_some(),
    }
}

fn text(lines: &[Line]) -> String {
    let line = |it: &Line| it.0.iter().map(|it| it.text.as_str()).collect::<String>() + "\n";
    lines.iter().map(line).collect()
}

#[test]
fn zones_racks_nodes_and_whose_each_gpu_is() {
    let pods = [
        pod("decode", 0, 4, Some("rack-0-node-0")),
        pod("decode", 1, 4, Some("rack-3-node-1")),
        pod("prefill", 0, 1, Some("rack-0-node-1")),
        pod("prefill", 1, 2, Some("rack-0-node-1")),
        pod("router", 0, 0, Some("rack-1-node-0")),
    ];
    // All racks are as wide as the widest of them.
    let want = "\
zone-0
  rack-0    rack-1
  AAAA      ···· +C
  BBB·      ····
zone-1
  rack-2    rack-3
  ····      ····
  ····      AAAA

  A  decode    2 pods of 4 GPUs   gang g
  B  prefill   2 pods of 2 GPUs   gang g
  C  router    1 pod              gang g
  · free GPU, one line per node, + pods without a GPU
";
    let got = text(&draw(&hall(2), &pods, 80));
    assert_eq!(got, want);
}

#[test]
fn pods_that_wait_and_pods_that_are_not_ready() {
    let starting = PodView { ready: false, ..pod("a", 0, 2, Some("rack-0-node-0")) };
    let pods = [starting, pod("a", 1, 2, None), pod("a", 2, 2, None)];
    let got = text(&draw(&hall(1), &pods, 80));
    assert!(got.contains("  aa··     ····\n"), "{got}");
    assert!(got.contains("  A  a   3 pods of 2 GPUs, 2 without a node   gang g\n"), "{got}");
    assert!(got.ends_with("one line per node, lower case: not ready yet\n"), "{got}");
}

#[test]
fn racks_that_do_not_fit_go_below() {
    let wide = text(&draw(&hall(1), &[], 17));
    assert!(wide.contains("  rack-0   rack-1\n"), "{wide}");
    for width in [16, 0] {
        let narrow = text(&draw(&hall(1), &[], width));
        assert!(narrow.starts_with("zone-0\n  rack-0\n  ····\n  ····\n  rack-1\n"), "{narrow}");
    }
}

#[test]
fn a_gang_has_a_colour_and_a_clique_a_letter() {
    let other = PodView { gang: "h".to_owned(), ..pod("b", 0, 2, Some("rack-0-node-0")) };
    let lines = draw(&hall(1), &[other, pod("a", 0, 2, Some("rack-0-node-0")), pod("c", 0, 0, None)], 80);
    let cells = &lines[2].0[1..3];
    assert_eq!(cells[0], Span { text: "AA".to_owned(), tone: Some(0) });
    assert_eq!(cells[1], Span { text: "BB".to_owned(), tone: Some(1) });
}

#[test]
fn more_cliques_than_letters() {
    let pods: Vec<PodView> =
        (0..30).map(|it| pod(&format!("c{it:02}"), 0, 1, Some("rack-0-node-0"))).collect();
    let mut nodes = hall(1);
    nodes[0].gpus = 32;
    let got = text(&draw(&nodes, &pods, 80));
    assert!(got.contains("ABCDEFGHIJKLMNOPQRSTUVWXYZ****··"), "{got}");
    assert!(got.contains("\n  Z  c25   1 pod of 1 GPU   gang g\n  *  4 more cliques\n"), "{got}");
}

#[test]
fn more_pods_than_gpus_stay_in_the_node() {
    let pods: Vec<PodView> = (0..3).map(|it| pod("a", it, 2, Some("rack-0-node-0"))).collect();
    let got = text(&draw(&hall(1), &pods, 80));
    assert!(got.contains("  AAAA     ····\n"), "{got}");
}

#[test]
fn nothing_at_all() {
    assert_eq!(text(&draw(&[], &[], 80)), "\n  · free GPU, one line per node\n");
}

#[test]
fn the_order_of_what_comes_in_does_not_matter() {
    let mut pods = vec![
        pod("a", 0, 2, Some("rack-0-node-0")),
        pod("b", 0, 1, Some("rack-0-node-0")),
        pod("b", 1, 0, Some("rack-1-node-0")),
    ];
    let mut nodes = hall(2);
    let want = draw(&nodes, &pods, 80);
    pods.reverse();
    nodes.reverse();
    assert_eq!(draw(&nodes, &pods, 80), want);
}
