//! Small random clusters and gangs.

use std::collections::BTreeMap;

use fastrand::Rng;
use grove_placement::{
    Cluster, GangPod, Group, Level, Members, Node, PodRequirements,
    cluster::Taint,
    pod::{HostPort, LabelRequirement, Operator, PodTerm, Selector, Spread, Toleration},
};

const KEYS: [&str; 3] = ["t/zone", "t/rack", "t/host"];

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) cluster: Cluster,
    pub(crate) gang: Group,
}

/// Pods that do not depend on each other; labels of nodes may cross, or be missing.
pub(crate) fn independent(seed: u64) -> Case {
    let rng = &mut Rng::with_seed(seed);
    let crossing = rng.u8(0..4) == 0;
    Maker { rng, crossing, dependent: false, alike: false }.case()
}

/// Likewise, on nodes that are alike, with labels of which the narrower ones lie in the wider ones.
pub(crate) fn nested(seed: u64) -> Case {
    let rng = &mut Rng::with_seed(seed ^ 0x5eed_0000);
    Maker { rng, crossing: false, dependent: false, alike: true }.case()
}

/// Pods that depend on each other.
pub(crate) fn dependent(seed: u64) -> Case {
    let rng = &mut Rng::with_seed(seed ^ 0xaff1_0000);
    Maker { rng, crossing: false, dependent: true, alike: false }.case()
}

struct Maker<'a> {
    rng: &'a mut Rng,
    crossing: bool,
    dependent: bool,
    /// Nodes differ only in where they are, so that symmetry is put to the test.
    alike: bool,
}

impl Maker<'_> {
    fn one_in(&mut self, number: u32) -> bool {
        self.rng.u32(0..number) == 0
    }

    fn case(&mut self) -> Case {
        let levels = self.rng.usize(1..=3);
        let most = if self.alike { 5 } else { 6 };
        let nodes: Vec<Node> =
            (0..self.rng.usize(2..=most)).map(|number| self.node(number, levels)).collect();
        let names: Vec<String> = nodes.iter().map(|it| it.name.clone()).collect();
        let level = |key: &&str| Level { name: key[2..].to_owned(), key: (*key).to_owned() };
        let cluster = Cluster::new(nodes, KEYS[3 - levels..].iter().map(level).collect());
        let kinds: Vec<PodRequirements> = (0..self.rng.usize(1..=3)).map(|_| self.pod()).collect();
        let mut pods = self.rng.usize(1..=if self.dependent { 5 } else { 6 });
        let mut gang = self.group("g", 0, &mut pods, &kinds, &names, levels);
        if self.dependent {
            // What is bound is of another test.
            for_pods(&mut gang, &mut |it| it.node = None);
        }
        let mut cluster = cluster;
        for_pods(&mut gang, &mut |pod| {
            if let Some(node) = pod.node.as_ref().and_then(|it| cluster.node_mut(it)) {
                node.add_pod(&pod.requirements);
            }
        });
        Case { cluster, gang }
    }

    fn node(&mut self, number: usize, levels: usize) -> Node {
        let name = format!("n{number}");
        let mut node = Node { name: name.clone(), ..Node::default() };
        let rack = self.rng.usize(0..3);
        let zone = if self.crossing { self.rng.usize(0..2) } else { rack / 2 };
        let values = [format!("z{zone}"), format!("r{rack}"), name];
        for (key, value) in KEYS[3 - levels..].iter().zip(&values[3 - levels..]) {
            if !(self.crossing && self.one_in(6)) {
                node.labels.insert((*key).to_owned(), value.clone());
            }
        }
        if self.alike {
            node.allocatable.set("cpu", 2000);
            node.allocatable.set("x/gpu", 2);
            node.allocatable.set("pods", 3);
            return node;
        }
        if self.one_in(3) {
            node.labels.insert("disk".to_owned(), "ssd".to_owned());
        }
        if self.one_in(4) {
            node.taints.push(Taint { key: "gpu".into(), value: String::new(), effect: "NoSchedule".into() });
        }
        node.unschedulable = self.one_in(12);
        node.allocatable.set("cpu", self.rng.i64(1..=4) * 1000);
        node.allocatable.set("x/gpu", self.rng.i64(0..=3));
        node.allocatable.set("pods", self.rng.i64(1..=4));
        node
    }

    fn pod(&mut self) -> PodRequirements {
        let mut pod = PodRequirements { namespace: "ns".to_owned(), ..PodRequirements::default() };
        pod.labels.insert("app".to_owned(), ["a", "b"][self.rng.usize(0..2)].to_owned());
        pod.requests.set("cpu", self.rng.i64(1..=3) * 500);
        pod.requests.set("x/gpu", self.rng.i64(0..=2));
        pod.requests.set("pods", 1);
        if !self.alike && self.one_in(5) {
            pod.node_selector.insert("disk".to_owned(), "ssd".to_owned());
        }
        if !self.one_in(3) {
            pod.tolerations.push(Toleration { key: "gpu".into(), ..Toleration::default() });
        }
        if self.dependent {
            self.add_dependencies(&mut pod);
        }
        pod
    }

    fn add_dependencies(&mut self, pod: &mut PodRequirements) {
        match self.rng.u8(0..6) {
            0 | 1 => pod.anti_affinity.push(self.term()),
            2 => pod.affinity.push(self.term()),
            3 => {
                let term = self.term();
                pod.spread.push(Spread {
                    max_skew: self.rng.i32(1..=2),
                    topology_key: term.topology_key,
                    selector: term.selector,
                    min_domains: self.rng.i32(1..=3),
                    honors_affinity: self.rng.bool(),
                    honors_taints: self.rng.bool(),
                });
            }
            4 => pod.host_ports.push(HostPort { ip: String::new(), protocol: "TCP".into(), port: 80 }),
            _ => {}
        }
    }

    fn term(&mut self) -> PodTerm {
        let values = [["a", "b"][self.rng.usize(0..2)].to_owned()].into();
        PodTerm {
            topology_key: KEYS[self.rng.usize(1..3)].to_owned(),
            namespaces: None,
            selector: Selector::All(vec![LabelRequirement {
                key: "app".to_owned(),
                operator: Operator::In,
                values,
            }]),
        }
    }

    fn group(
        &mut self,
        name: &str,
        depth: usize,
        pods: &mut usize,
        kinds: &[PodRequirements],
        nodes: &[String],
        levels: usize,
    ) -> Group {
        let key = |it: &mut Self| KEYS[3 - it.rng.usize(1..=levels)].to_owned();
        let required = self.one_in(2).then(|| key(self));
        let preferred = self.one_in(4).then(|| key(self));
        let is_leaf = depth == 3 || self.rng.usize(0..3) < depth;
        let (members, size) = if is_leaf {
            let count = self.rng.usize(0..=(*pods).min(4));
            *pods -= count;
            let kind = self.rng.usize(0..kinds.len());
            let mixed = self.one_in(4);
            let pod = |number: usize| {
                let kind = if mixed { self.rng.usize(0..kinds.len()) } else { kind };
                let node = self.one_in(12).then(|| nodes[self.rng.usize(0..nodes.len())].clone());
                GangPod { name: format!("{name}-{number}"), requirements: kinds[kind].clone(), node }
            };
            (Members::Pods((0..count).map(pod).collect()), count)
        } else {
            let count = self.rng.usize(1..=3);
            let child = |number: usize| {
                self.group(&format!("{name}.{number}"), depth + 1, pods, kinds, nodes, levels)
            };
            let groups: Vec<Group> = (0..count).map(child).collect();
            (Members::Groups(groups), count)
        };
        let least =
            if self.dependent && !is_leaf || !self.one_in(3) { size } else { self.rng.usize(0..=size) };
        let more = usize::from(self.one_in(60));
        let min_count = u32::try_from(least + more).unwrap();
        Group { name: name.to_owned(), min_count, required, preferred, members }
    }
}

fn for_pods(group: &mut Group, act: &mut impl FnMut(&mut GangPod)) {
    match &mut group.members {
        Members::Pods(pods) => pods.iter_mut().for_each(act),
        Members::Groups(groups) => groups.iter_mut().for_each(|it| for_pods(it, act)),
    }
}

/// Pods by node, as the enumeration keeps them.
pub(crate) type Nodes = BTreeMap<String, String>;
