//! The gangs.

use grove_api::constants::labels;

use super::Conformance;
use crate::tree::{Content, Gang, Node, Pack};

/// A gang and what is special about it.
pub(super) struct Shape {
    pub(super) name: &'static str,
    pub(super) gang: Gang,
}

pub(super) const NAMESPACE: &str = "conformance";

/// The gangs of every shape.
pub(super) fn all(kit: &Conformance<'_>) -> Vec<Shape> {
    let [wide, narrow, narrowest] = kit.levels;
    let of = |children: Vec<Node>| gang(kit, "set-0", children);
    let pair = || vec![group("set-0-a", 2, 2), group("set-0-b", 1, 3)];
    let replica = |number: usize| {
        let name = format!("set-0-g-{number}");
        let groups = vec![group(&format!("{name}-p"), 1, 1), group(&format!("{name}-d"), 2, 3)];
        bundle(&name, groups)
    };
    let three_levels = || {
        let mut inner = require(narrow, replica(0));
        if let Content::Bundle(groups) = &mut inner.content
            && let Some(first) = groups.first_mut()
        {
            *first = require(narrowest, first.clone());
        }
        required(wide, of(vec![group("set-0-fe", 1, 2), inner]))
    };
    let many = (0..64).map(|it| group(&format!("set-0-c{it:02}"), 1, 1)).collect();
    let long = |letter: &str| letter.repeat(63);
    let shapes = [
        ("one group", of(vec![group("set-0-a", 3, 3)])),
        ("one pod", of(vec![group("set-0-a", 1, 1)])),
        ("one group with further pods", of(vec![group("set-0-a", 2, 5)])),
        ("one group without pods yet", of(vec![group("set-0-a", 2, 0)])),
        ("two groups", of(pair())),
        ("bundles", of(vec![group("set-0-fe", 1, 2), replica(0), replica(1)])),
        ("a scaled replica", scaled(kit)),
        ("64 groups", of(many)),
        ("long names", gang(kit, &long("s"), vec![group(&long("c"), 1, 2), group(&long("d"), 1, 1)])),
        ("a priority", Gang { priority_class: "high".to_owned(), ..of(pair()) }),
        ("a reservation to reuse", Gang { reuses_reservation: true, ..of(pair()) }),
        ("a required level", required(wide, of(pair()))),
        ("a required level, one group", required(wide, of(vec![group("set-0-a", 2, 2)]))),
        (
            "a required level of one group of two",
            of(vec![require(narrow, group("set-0-a", 2, 2)), group("set-0-b", 1, 1)]),
        ),
        ("a required level of its one group", of(vec![require(narrow, group("set-0-a", 2, 2))])),
        ("a required level of a bundle", of(vec![group("set-0-fe", 1, 1), require(narrow, replica(0))])),
        ("three required levels", three_levels()),
        ("a preferred level", preferred(narrow, of(pair()))),
        (
            "preferred levels of bundles and groups",
            of(vec![prefer(narrow, replica(0)), prefer(narrowest, group("set-0-a", 1, 1))]),
        ),
        ("a required and a preferred level", preferred(narrow, required(wide, of(pair())))),
    ];
    shapes.into_iter().map(|(name, gang)| Shape { name, gang }).collect()
}

fn scaled(kit: &Conformance<'_>) -> Gang {
    let mut gang = gang(kit, "set-0-g-0", vec![group("set-0-g-1-p", 1, 1), group("set-0-g-1-d", 2, 2)]);
    gang.labels.insert(labels::BASE_POD_GANG.to_owned(), "set-0".to_owned());
    gang
}

/// A gang of the name and parts, as it comes from a PodGang.
pub(super) fn gang(kit: &Conformance<'_>, name: &str, children: Vec<Node>) -> Gang {
    let mut own = kit.labels.clone();
    own.insert(labels::MANAGED_BY.to_owned(), labels::MANAGED_BY_VALUE.to_owned());
    own.insert(labels::PART_OF.to_owned(), "set".to_owned());
    own.insert(labels::SCHEDULER_NAME.to_owned(), kit.backend.name().to_owned());
    Gang {
        namespace: NAMESPACE.to_owned(),
        name: name.to_owned(),
        uid: format!("uid-of-{name}"),
        api_version: "scheduler.grove.io/v1alpha1".to_owned(),
        kind: "PodGang".to_owned(),
        labels: own,
        annotations: kit.annotations.clone(),
        topology: "conformance".to_owned(),
        children,
        ..Gang::default()
    }
}

pub(super) fn group(name: &str, min: u32, pods: u32) -> Node {
    let pods = (0..pods).map(|it| format!("{name}-{it}")).collect();
    Node { name: name.to_owned(), content: Content::Group { min, pods }, ..Node::default() }
}

pub(super) fn bundle(name: &str, groups: Vec<Node>) -> Node {
    Node { name: name.to_owned(), content: Content::Bundle(groups), ..Node::default() }
}

pub(super) fn require(level: &str, node: Node) -> Node {
    Node { pack: Pack { required: Some(level.to_owned()), ..node.pack }, ..node }
}

pub(super) fn prefer(level: &str, node: Node) -> Node {
    Node { pack: Pack { preferred: Some(level.to_owned()), ..node.pack }, ..node }
}

pub(super) fn required(level: &str, gang: Gang) -> Gang {
    Gang { pack: Pack { required: Some(level.to_owned()), ..gang.pack }, ..gang }
}

pub(super) fn preferred(level: &str, gang: Gang) -> Gang {
    Gang { pack: Pack { preferred: Some(level.to_owned()), ..gang.pack }, ..gang }
}

/// The same gang with every minimum lifted.
pub(super) fn lifted(gang: &Gang) -> Gang {
    fn lift(nodes: &mut [Node]) {
        for node in nodes {
            match &mut node.content {
                Content::Group { min, .. } => *min = 0,
                Content::Bundle(children) => lift(children),
            }
        }
    }
    let mut gang = gang.clone();
    lift(&mut gang.children);
    gang
}

/// The same gang under another name, with all of its parts.
pub(super) fn renamed(gang: &Gang) -> Gang {
    fn rename(nodes: &mut [Node]) {
        for node in nodes {
            node.name.insert(0, 'z');
            match &mut node.content {
                Content::Group { pods, .. } => pods.iter_mut().for_each(|it| it.insert(0, 'z')),
                Content::Bundle(children) => rename(children),
            }
        }
    }
    let mut gang = Gang { name: format!("z{}", gang.name), uid: format!("z{}", gang.uid), ..gang.clone() };
    rename(&mut gang.children);
    gang
}
