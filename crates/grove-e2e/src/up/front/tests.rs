//! The transcript of the documentation is what the front prints for the sample, on a cluster made up here.

use std::{collections::BTreeMap, fs};

use anstream::adapter::strip_str;
use grove_api::{defaulting::default_pod_clique_set, names, wire::PodCliqueSet};

use super::*;
use crate::{cluster::repository, nodes::Hall, objects, up::sample::Sample};

const SAMPLE: &str = "samples/12-chat.yaml";
/// How such a block begins.
const COMMAND: &str = "$ make up-real\n";
const PAGE: &str = "docs/up.md";
/// A line that stands for some that are left out.
const LEFT_OUT: &str = "\n…\n";

fn set() -> PodCliqueSet {
    let text = fs::read_to_string(repository().join(SAMPLE)).unwrap();
    let mut set: PodCliqueSet = serde_json::from_value(objects::parse(&text).unwrap().remove(0)).unwrap();
    default_pod_clique_set(&mut set, None);
    set
}

/// The pods of the set's only replica, by the clique of the template.
fn pods(set: &PodCliqueSet) -> Vec<(String, PodView)> {
    let (template, name) = (&set.spec.template, set.metadata.name.as_deref().unwrap());
    let number = |it: Option<i32>| u32::try_from(it.unwrap()).unwrap();
    let mut pods = Vec::new();
    for clique in &template.cliques {
        let homes: Vec<(String, String)> = match template.group_of(&clique.name) {
            None => vec![(names::standalone_clique(name, 0, &clique.name), names::base_gang(name, 0))],
            Some(config) => (0..number(config.replicas))
                .map(|replica| {
                    let group = names::scaling_group(name, 0, &config.name);
                    let gang = match replica.checked_sub(number(config.min_available)) {
                        None => names::base_gang(name, 0),
                        Some(ordinal) => names::scaled_gang(&group, ordinal),
                    };
                    (names::member_clique(&group, replica, &clique.name), gang)
                })
                .collect(),
        };
        let value = serde_json::to_value(&clique.spec.pod_spec.containers[0]).unwrap();
        let gpus = value["resources"]["limits"]["nvidia.com/gpu"].clone();
        let gpus = gpus.as_u64().or_else(|| gpus.as_str().and_then(|it| it.parse().ok())).unwrap_or_default();
        for (home, gang) in homes {
            for index in 0..number(clique.spec.replicas) {
                let pod = PodView {
                    name: format!("{home}-{index}"),
                    clique: home.clone(),
                    gang: gang.clone(),
                    gpus: usize::try_from(gpus).unwrap(),
                    gated: true,
                    ..PodView::default()
                };
                pods.push((clique.name.clone(), pod));
            }
        }
    }
    pods
}

/// The node with most that is free, as the stock scheduler prefers it.
fn place(pods: &mut [(String, PodView)], nodes: &[NodeView], gang: &str) {
    for at in 0..pods.len() {
        let used = |node: &NodeView| -> (usize, usize) {
            let here = pods.iter().filter(|it| it.1.node.as_deref() == Some(node.name.as_str()));
            here.fold((0, 0), |sum, it| (sum.0 + it.1.gpus, sum.1 + 1))
        };
        let best = nodes.iter().min_by_key(|it| (used(it), it.name.clone())).unwrap().name.clone();
        let pod = &mut pods[at].1;
        if pod.gang == gang {
            (pod.gated, pod.node) = (false, Some(best));
        }
    }
}

/// How many others have to be ready one after the other before a clique of the template.
fn waves(set: &PodCliqueSet) -> BTreeMap<String, usize> {
    let mut waves: BTreeMap<String, usize> = BTreeMap::new();
    for _ in &set.spec.template.cliques {
        for clique in &set.spec.template.cliques {
            let parents = clique.spec.starts_after.iter().map(|it| waves.get(it).map_or(1, |it| it + 1));
            waves.insert(clique.name.clone(), parents.max().unwrap_or_default());
        }
    }
    waves
}

fn at(tenths: u64) -> Duration {
    Duration::from_millis(tenths * 100)
}

fn printed(width: usize) -> String {
    let (set, sample) = (set(), Sample::read(&repository().join(SAMPLE)).unwrap());
    let nodes: Vec<NodeView> = Hall::racks(8).nodes(2).gpus(8).to_nodes().iter().map(NodeView::of).collect();
    let mut front = Front::new(Vec::new(), width);
    front.cluster("v1.37.0", &nodes, at(48)).unwrap();
    front.operator(crate::up::OPERATOR, at(54)).unwrap();
    front.applied(&sample.name, SAMPLE, sample.pods, at(55)).unwrap();
    let mut pods = pods(&set);
    let mut now = 56;
    let mut tell = |front: &mut Front<Vec<u8>>, pods: &[(String, PodView)], later: u64| {
        now += later;
        let pods: Vec<PodView> = pods.iter().map(|it| it.1.clone()).collect();
        (front.story(&pods, at(now)).unwrap(), pods)
    };
    tell(&mut front, &pods, 0);
    let mut gangs: Vec<String> = pods.iter().map(|it| it.1.gang.clone()).collect();
    gangs.sort();
    gangs.dedup();
    for gang in gangs {
        for (_, pod) in pods.iter_mut().filter(|it| it.1.gang == gang) {
            pod.gated = false;
        }
        tell(&mut front, &pods, 1);
        place(&mut pods, &nodes, &gang);
        tell(&mut front, &pods, 1);
    }
    let waves = waves(&set);
    let mut told = (false, Vec::new());
    for wave in 0..=*waves.values().max().unwrap() {
        for (_, pod) in pods.iter_mut().filter(|it| waves[&it.0] == wave) {
            pod.ready = true;
        }
        told = tell(&mut front, &pods, 3);
    }
    assert!(told.0, "the story does not end");
    front.picture(&nodes, &told.1).unwrap();
    let next = Next {
        kubeconfig: "target/up-real/admin.kubeconfig".to_owned(),
        environment: "target/up-real/env".to_owned(),
        set: sample.name,
        group: sample.group,
    };
    front.next(&next).unwrap();
    strip_str(str::from_utf8(&front.out).unwrap()).to_string()
}

/// The fenced blocks of a file that show the command.
fn blocks(file: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(file)).unwrap();
    let fenced = text.split("```").skip(1).step_by(2);
    fenced.filter_map(|it| it.split_once('\n')?.1.strip_prefix(COMMAND).map(str::to_owned)).collect()
}

/// Whether a block shows a text: line by line from the first to the last, but for what is left out.
fn shows(block: &str, text: &str) -> bool {
    let parts: Vec<&str> = block.split(LEFT_OUT).collect();
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return false };
    let mut rest = text;
    let in_order = parts.iter().all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    });
    in_order && text.starts_with(first) && text.ends_with(last)
}

#[test]
fn a_block_may_leave_lines_out_but_not_change_them() {
    let text = "a\nb\nc\nd\n";
    for (block, want) in
        [(text, true), ("a\n…\nd\n", true), ("a\n…\nx\n", false), ("a\nd\n", false), ("a\n…\nc\n", false)]
    {
        assert_eq!(shows(block, text), want, "{block}");
    }
}

#[test]
fn the_transcript_is_what_is_printed() {
    let want = printed(WIDE);
    let blocks = blocks(PAGE);
    assert!(!blocks.is_empty(), "{PAGE} shows no transcript; it has to be:\n{COMMAND}{want}");
    for block in blocks {
        assert!(
            shows(&block, &want),
            "the transcript of {PAGE} is not what is printed:\n{block}\nIt has to be:\n{COMMAND}{want}"
        );
    }
}

const WIDE: usize = crate::up::WIDTH;

#[test]
fn a_narrow_terminal_shows_the_same_racks_below_each_other() {
    let (wide, narrow) = (printed(WIDE), printed(30));
    assert!(wide.contains("  rack-0 ") && wide.contains("rack-1 "));
    assert!(narrow.contains("\n  rack-0        rack-1\n"), "{narrow}");
    let letters = |text: &str| text.chars().filter(char::is_ascii_uppercase).count();
    assert_eq!(letters(&wide), letters(&narrow));
}

#[test]
fn the_same_picture_is_not_drawn_twice() {
    let mut front = Front::new(Vec::new(), WIDE);
    let pod = PodView { name: "p".to_owned(), ..PodView::default() };
    front.picture(&[], std::slice::from_ref(&pod)).unwrap();
    let once = front.out.len();
    front.picture(&[], std::slice::from_ref(&pod)).unwrap();
    assert_eq!(front.out.len(), once);
    front.picture(&[], &[]).unwrap();
    assert!(front.out.len() > once);
}
