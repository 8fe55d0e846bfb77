//! The gang tree that every scheduler backend is given, as something to place.

use grove_scheduler::{Content, Gang, Node, Pack};

use super::{GangPod, Group, Members};

/// The gang as a tree of groups that are all needed. `pod` has what is known of a pod, by the name of its group and its own; pods
/// of which nothing is known are left out, so that a group may have fewer pods than its minimum.
pub fn from_tree(gang: &Gang, mut pod: impl FnMut(&str, &str) -> Option<GangPod>) -> Group {
    let children = gang.children.iter().map(|it| group(it, &mut pod)).collect();
    with_pack(Group::all_of(gang.name.as_str(), children), &gang.pack)
}

fn group(node: &Node, pod: &mut impl FnMut(&str, &str) -> Option<GangPod>) -> Group {
    let group = match &node.content {
        Content::Group { min, pods } => {
            let pods = pods.iter().filter_map(|it| pod(&node.name, it)).collect();
            Group {
                name: node.name.clone(),
                min_count: *min,
                members: Members::Pods(pods),
                ..Group::default()
            }
        }
        Content::Bundle(children) => {
            Group::all_of(node.name.as_str(), children.iter().map(|it| group(it, pod)).collect())
        }
    };
    with_pack(group, &node.pack)
}

fn with_pack(group: Group, pack: &Pack) -> Group {
    Group { required: pack.required.clone(), preferred: pack.preferred.clone(), ..group }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_and_groups_keep_their_minimum_and_their_levels() {
        let leaf = |name: &str, min: u32, pods: &[&str]| Node {
            name: name.to_owned(),
            content: Content::Group { min, pods: pods.iter().map(|it| (*it).to_owned()).collect() },
            ..Node::default()
        };
        let bundle = Node {
            name: "b".to_owned(),
            pack: Pack { required: Some("rack".to_owned()), preferred: Some("host".to_owned()) },
            content: Content::Bundle(vec![leaf("x", 1, &["x-0", "x-1"])]),
            ..Node::default()
        };
        let gang = Gang {
            name: "g".to_owned(),
            pack: Pack { required: Some("block".to_owned()), preferred: None },
            children: vec![bundle, leaf("y", 2, &["y-0", "unknown"])],
            ..Gang::default()
        };
        let root = from_tree(&gang, |group, name| {
            (name != "unknown").then(|| GangPod { name: format!("{group}/{name}"), ..GangPod::default() })
        });
        assert_eq!((root.min_count, root.required.as_deref()), (2, Some("block")));
        let names: Vec<&str> = root.pods().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["x/x-0", "x/x-1", "y/y-0"]);
        let Members::Groups(children) = &root.members else { panic!("groups") };
        assert_eq!((children[0].min_count, children[0].required.as_deref()), (1, Some("rack")));
        assert_eq!(children[0].preferred.as_deref(), Some("host"));
        assert_eq!((children[1].name.as_str(), children[1].min_count), ("y", 2));
    }
}
