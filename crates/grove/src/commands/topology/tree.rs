//! The tree of domains: what each has, and the gangs that sit there.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde::Serialize;

use super::{
    facts::{Level, Node, NodeState},
    natural,
    seats::Seat,
};
use crate::amount::Amount;

/// A domain of some level, or all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Domain {
    /// What domains of its level are called; absent for all nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) level: Option<String>,
    /// Value of the node label; absent for all nodes, and for those without the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(flatten)]
    pub(super) room: Room,
    pub(super) gangs: Vec<Seated>,
    pub(super) domains: Vec<Domain>,
}

/// What there is in a domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Room {
    pub(super) nodes: usize,
    pub(super) cordoned_nodes: usize,
    pub(super) not_ready_nodes: usize,
    pub(super) total: Amount,
    /// On nodes that pods may come to; `None`: not known.
    pub(super) free: Option<Amount>,
    /// What nobody uses on nodes that pods may not come to.
    pub(super) idle_but_unusable: Option<Amount>,
}

/// A gang where it sits: in the narrowest domain that holds all of its pods.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Seated {
    #[serde(flatten)]
    pub(super) seat: Seat,
    /// In how many domains of the level below its pods are; absent where they are in one, or there is no level below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) spread: Option<Spread>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Spread {
    pub(super) level: String,
    pub(super) domains: usize,
}

/// A node, and what is used of it.
#[derive(Clone, Copy)]
pub(super) struct UsedNode<'a> {
    pub(super) node: &'a Node,
    /// `None`: not known.
    pub(super) used: Option<Amount>,
}

/// All nodes by these levels.
pub(super) fn grow(levels: &[Level], nodes: &[UsedNode<'_>], seats: Vec<Seat>) -> Domain {
    let mut domain = Domain { room: Room::of(nodes), ..Domain::default() };
    let Some((level, below)) = levels.split_first() else {
        domain.gangs = seats.into_iter().map(|seat| Seated { seat, spread: None }).collect();
        return domain;
    };
    let mut parts: BTreeMap<Place<'_>, (Vec<UsedNode<'_>>, Vec<Seat>)> = BTreeMap::new();
    let mut place_of = BTreeMap::new();
    for it in nodes {
        let place = Place(it.node.labels.get(&level.key).map(String::as_str));
        place_of.insert(it.node.name.as_str(), place);
        parts.entry(place).or_default().0.push(*it);
    }
    for seat in seats {
        let places: BTreeSet<Place<'_>> =
            seat.on.iter().filter_map(|node| place_of.get(node.as_str())).copied().collect();
        let only = places.first().filter(|_| places.len() == 1);
        if let Some((_, seats)) = only.and_then(|place| parts.get_mut(place)) {
            seats.push(seat);
        } else {
            let spread = Spread { level: level.domain.clone(), domains: places.len() };
            domain.gangs.push(Seated { seat, spread: Some(spread) });
        }
    }
    let grown = parts.into_iter().map(|(place, (nodes, seats))| Domain {
        level: Some(level.domain.clone()),
        name: place.0.map(str::to_owned),
        ..grow(below, &nodes, seats)
    });
    domain.domains = grown.collect();
    domain
}

impl Domain {
    /// How many domains there are so many levels below.
    pub(super) fn count(&self, levels: usize) -> usize {
        match levels {
            0 => 1,
            more => self.domains.iter().map(|it| it.count(more - 1)).sum(),
        }
    }

    /// Only so many levels below: gangs from further down sit in the domain that holds theirs.
    pub(super) fn cut(mut self, levels: usize) -> Self {
        if let Some(below) = levels.checked_sub(1) {
            self.domains = self.domains.into_iter().map(|it| it.cut(below)).collect();
            return self;
        }
        for domain in std::mem::take(&mut self.domains) {
            let gangs = domain.cut(0).gangs.into_iter();
            self.gangs.extend(gangs.map(|it| Seated { spread: None, ..it }));
        }
        self.gangs.sort_by(|a, b| a.seat.order(&b.seat));
        self
    }
}

impl Room {
    fn of(nodes: &[UsedNode<'_>]) -> Self {
        let mut room = Self { nodes: nodes.len(), ..Self::default() };
        let (mut free, mut idle) = (Some(Amount::default()), Some(Amount::default()));
        for UsedNode { node, used } in nodes {
            room.total = room.total.plus(node.allocatable);
            let left = used.map(|it| node.allocatable.left_after(it));
            let add = |sum: Option<Amount>| Some(sum?.plus(left?));
            match node.state {
                NodeState::Usable => free = add(free),
                NodeState::Cordoned => {
                    room.cordoned_nodes += 1;
                    idle = add(idle);
                }
                NodeState::NotReady => {
                    room.not_ready_nodes += 1;
                    idle = add(idle);
                }
            }
        }
        Self { free, idle_but_unusable: idle, ..room }
    }
}

/// Where a label says that a node is. Nodes without it come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place<'a>(Option<&'a str>);

impl Ord for Place<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Some(one), Some(other)) => natural::order(one, other),
            (one, other) => one.is_none().cmp(&other.is_none()),
        }
    }
}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
