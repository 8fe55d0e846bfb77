//! PodGroups and CompositePodGroups (`scheduling.k8s.io`) as gangs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{GangPod, Group, Members};

/// Levels of groups in groups that are followed.
const MAX_LEVELS: usize = 16;

/// The gangs of a cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KubeGangs {
    /// Each PodGroup or CompositePodGroup without a parent, with its namespace, in the order of their age and name.
    pub roots: Vec<(String, Group)>,
    /// Groups that are in no gang: their parent does not exist, or they are in each other, or too deep. By namespace and name.
    pub incomplete: BTreeSet<(String, String)>,
}

/// Builds the gangs of all PodGroups and CompositePodGroups. `pods` has the pods of a PodGroup, by namespace and name, the oldest
/// first. A group with the policy `basic` needs nothing: its members are placed where they fit.
pub fn from_objects(objects: &[Value], mut pods: impl FnMut(&str, &str) -> Vec<GangPod>) -> KubeGangs {
    let mut all: Vec<&Value> =
        objects.iter().filter(|it| is_composite(it) || it["kind"] == "PodGroup").collect();
    // The order in which kube-scheduler tries them.
    all.sort_by_key(|it| (text(it, "/metadata/creationTimestamp"), text(it, "/metadata/name")));
    let mut children: BTreeMap<(&str, &str), Vec<&Value>> = BTreeMap::new();
    for object in &all {
        let parent = text(object, "/spec/parentCompositePodGroupName");
        children.entry((text(object, "/metadata/namespace"), parent)).or_default().push(object);
    }
    let mut builder = Builder { children, pods: &mut pods, reached: BTreeSet::new() };
    let mut gangs = KubeGangs::default();
    for root in all.iter().filter(|it| text(it, "/spec/parentCompositePodGroupName").is_empty()) {
        gangs.roots.push((text(root, "/metadata/namespace").to_owned(), builder.group(root, 1)));
    }
    let lost = all.iter().map(|it| id(it)).filter(|it| !builder.reached.contains(it));
    gangs.incomplete = lost.map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
    gangs
}

struct Builder<'a, 'b, F> {
    children: BTreeMap<(&'a str, &'a str), Vec<&'a Value>>,
    pods: &'b mut F,
    /// Groups that are in a gang: namespace, name, and whether they are composite.
    reached: BTreeSet<(&'a str, &'a str, bool)>,
}

impl<'a, F: FnMut(&str, &str) -> Vec<GangPod>> Builder<'a, '_, F> {
    fn group(&mut self, object: &'a Value, level: usize) -> Group {
        let (namespace, name) = (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        self.reached.insert(id(object));
        let (members, least) = if is_composite(object) {
            let children = self.children.get(&(namespace, name)).cloned().unwrap_or_default();
            let children = if level < MAX_LEVELS { children } else { Vec::new() };
            let groups = children.into_iter().map(|it| self.group(it, level + 1)).collect();
            (Members::Groups(groups), "/spec/schedulingPolicy/gang/minGroupCount")
        } else {
            (Members::Pods((self.pods)(namespace, name)), "/spec/schedulingPolicy/gang/minCount")
        };
        let least = object.pointer(least).and_then(Value::as_u64).unwrap_or_default();
        let key = text(object, "/spec/schedulingConstraints/topology/0/key");
        Group {
            name: name.to_owned(),
            min_count: u32::try_from(least).unwrap_or(u32::MAX),
            required: Some(key.to_owned()).filter(|it| !it.is_empty()),
            preferred: None,
            members,
        }
    }
}

/// Namespace, name, and whether it is composite: a PodGroup and a CompositePodGroup may have one name.
fn id(object: &Value) -> (&str, &str, bool) {
    (text(object, "/metadata/namespace"), text(object, "/metadata/name"), is_composite(object))
}

fn is_composite(object: &Value) -> bool {
    object["kind"] == "CompositePodGroup"
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(kind: &str, name: &str, parent: Option<&str>, policy: &Value) -> Value {
        json!({
            "kind": kind, "metadata": { "namespace": "ns", "name": name, "creationTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "parentCompositePodGroupName": parent, "schedulingPolicy": policy,
                "schedulingConstraints": { "topology": [{ "key": format!("key-of-{name}") }] } },
        })
    }

    fn pods(namespace: &str, group: &str) -> Vec<GangPod> {
        vec![GangPod { name: format!("{namespace}/{group}-0"), ..GangPod::default() }]
    }

    #[test]
    fn trees_are_built_in_the_order_of_age_and_name() {
        let mut late = object("PodGroup", "a", Some("root"), &json!({ "gang": { "minCount": 1 } }));
        late["metadata"]["creationTimestamp"] = json!("2026-01-02T00:00:00Z");
        let objects = [
            late,
            object("PodGroup", "c", Some("root"), &json!({ "basic": {} })),
            object("PodGroup", "b", Some("root"), &json!({ "gang": { "minCount": 3 } })),
            object("CompositePodGroup", "root", None, &json!({ "gang": { "minGroupCount": 2 } })),
            object("PodGroup", "alone", None, &json!({ "gang": { "minCount": 2 } })),
            json!({ "kind": "Pod", "metadata": { "name": "other" } }),
        ];
        let gangs = from_objects(&objects, pods);
        let names: Vec<&str> = gangs.roots.iter().map(|it| it.1.name.as_str()).collect();
        assert_eq!(names, ["alone", "root"]);
        let root = &gangs.roots[1].1;
        assert_eq!((root.min_count, root.required.as_deref()), (2, Some("key-of-root")));
        let Members::Groups(children) = &root.members else { panic!("groups") };
        let children: Vec<(&str, u32)> = children.iter().map(|it| (it.name.as_str(), it.min_count)).collect();
        assert_eq!(children, [("b", 3), ("c", 0), ("a", 1)]);
        assert_eq!(root.pods()[0].name, "ns/b-0");
        assert!(gangs.incomplete.is_empty());
    }

    #[test]
    fn groups_without_a_root_are_named() {
        let gang = || json!({ "gang": { "minGroupCount": 1 } });
        let mut objects = vec![
            object("CompositePodGroup", "x", Some("y"), &gang()),
            object("CompositePodGroup", "y", Some("x"), &gang()),
            object("PodGroup", "orphan", Some("gone"), &json!({ "gang": { "minCount": 1 } })),
            object("CompositePodGroup", "c0", None, &gang()),
        ];
        for level in 1..100 {
            objects.push(object(
                "CompositePodGroup",
                &format!("c{level}"),
                Some(&format!("c{}", level - 1)),
                &gang(),
            ));
        }
        let gangs = from_objects(&objects, pods);
        assert_eq!(gangs.roots.len(), 1);
        let is_lost = |name: &str| gangs.incomplete.contains(&("ns".to_owned(), name.to_owned()));
        assert!(is_lost("x") && is_lost("y") && is_lost("orphan") && is_lost("c16") && !is_lost("c15"));
    }
}
