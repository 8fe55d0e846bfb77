//! The sentences of KAI's answers.

use super::cause::Cause;

/// One explanation.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    /// A gang of which only a part fits.
    Gang { found: u32, group: Option<String>, needs: u32, cause: Cause, times: u32 },
    /// Pods above the minimum.
    Pods { pods: Vec<String>, cause: Cause },
    /// What was tried for one pod.
    Nodes(Cause),
    /// A level of which no domain fits.
    Level { level: String, topology: String, group: Option<String>, places: Vec<String>, room: Option<Room> },
    /// Domains that are too small.
    Room(Room),
    /// Anything else.
    Other { text: String, times: u32 },
}

/// The room of the best of some domains, where it is too little.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Room {
    best: String,
    fit: u32,
    needs: u32,
    /// All that were tried.
    places: Vec<String>,
}

impl Said {
    pub(super) fn read(text: &str) -> Self {
        let known = Self::read_gang(text).or_else(|| Self::read_pod(text)).or_else(|| Self::read_level(text));
        let known = known.or_else(|| Room::read(text).map(Self::Room));
        let known = known.or_else(|| Cause::is_it(text).then(|| Self::Nodes(Cause::read(text))));
        known.unwrap_or_else(|| Self::Other { text: text.to_owned(), times: 1 })
    }

    /// `Resources were found for 2 pods [from all sub-groups] while [sub-group x requires 3 pods|3 are required] …due to: …`
    fn read_gang(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("Resources were found for ")?;
        let (found, rest) = rest.split_once(" pods ")?;
        let (_, rest) = rest.split_once("while ")?;
        let (head, cause) = rest.split_once("due to: ")?;
        let (group, needs) = match head.strip_prefix("sub-group ") {
            Some(head) => {
                let (group, head) = head.split_once(" requires ")?;
                (Some(group.to_owned()), head.split_once(' ')?.0)
            }
            None => (None, head.split_once(' ')?.0),
        };
        let (found, needs) = (found.parse().ok()?, needs.parse().ok()?);
        Some(Self::Gang { found, group, needs, cause: Cause::read(cause), times: 1 })
    }

    /// `Resources were not found for pod ns/name due to: …`
    fn read_pod(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("Resources were not found for pod ")?;
        let (pod, cause) = rest.split_once(" due to: ")?;
        let pod = pod.split_once('/').map_or(pod, |it| it.1);
        Some(Self::Pods { pods: vec![pod.to_owned()], cause: Cause::read(cause) })
    }

    /// `topology t, requirement l couldn't be satisfied for job <ns/name>[, subgroup x][: not enough resources in d …]`
    fn read_level(text: &str) -> Option<Self> {
        let (topology, rest) = text.strip_prefix("topology ")?.split_once(", requirement ")?;
        let (level, rest) = rest.split_once(" couldn't be satisfied for job <")?;
        let (_, rest) = rest.split_once('>')?;
        let (group, place) = match rest.split_once(": ") {
            Some((group, place)) => (group, Some(place)),
            None => (rest, None),
        };
        let place = place.map(|it| it.strip_prefix("not enough resources in ").unwrap_or(it));
        let place = place.map(|it| it.strip_suffix(" to allocate the job").unwrap_or(it).to_owned());
        Some(Self::Level {
            level: level.to_owned(),
            topology: topology.to_owned(),
            group: group.strip_prefix(", subgroup ").map(str::to_owned),
            places: place.into_iter().collect(),
            room: None,
        })
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gang { group, needs, .. }, Self::Gang { group: other, needs: many, .. }) => {
                group == other && needs == many
            }
            (Self::Pods { .. }, Self::Pods { .. }) | (Self::Nodes(_), Self::Nodes(_)) => true,
            (
                Self::Level { level, topology, group, .. },
                Self::Level { level: other_level, topology: other_topology, group: other_group, .. },
            ) => level == other_level && topology == other_topology && group == other_group,
            (Self::Room(room), Self::Room(other)) => room.needs == other.needs,
            (Self::Other { text, .. }, Self::Other { text: other, .. }) => text == other,
            _ => false,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        match (self, other) {
            (
                Self::Gang { found, cause, times, .. },
                Self::Gang { found: more, cause: other, times: again, .. },
            ) => {
                *found = more.max(*found);
                *times += again;
                cause.add(other);
            }
            (Self::Pods { pods, cause }, Self::Pods { pods: more, cause: other }) => {
                unite(pods, more);
                cause.add(other);
            }
            (Self::Nodes(cause), Self::Nodes(other)) => cause.add(other),
            (Self::Level { places, .. }, Self::Level { places: more, .. }) => unite(places, more),
            (Self::Room(room), Self::Room(other)) => room.add(other),
            (Self::Other { times, .. }, Self::Other { times: again, .. }) => *times += again,
            _ => {}
        }
    }

    pub(super) fn text(&self) -> String {
        let tried = |times: u32| if times > 1 { format!(" (tried {times} times)") } else { String::new() };
        match self {
            Self::Gang { found, group, needs, cause, times } => {
                let (whose, tried) = (whose(group.as_deref()), tried(*times));
                let at_most = if *times > 1 { "at most " } else { "" };
                format!(
                    "resources for {at_most}{found} pods were found, {whose} requires {needs}{tried}: {}",
                    cause.text()
                )
            }
            Self::Pods { pods, cause } => {
                format!("no resources for {}: {}", listed(pods), cause.text())
            }
            Self::Nodes(cause) => cause.text(),
            Self::Level { level, group, room: Some(room), .. } => {
                let which = match room.places.len() {
                    1 => "no domain".to_owned(),
                    many => format!("none of {many} domains"),
                };
                format!("{which} of {level} has room for {}: {}", whose(group.as_deref()), room.text())
            }
            Self::Level { level, topology, group, places, room: None } => {
                let place = match places.as_slice() {
                    [] => String::new(),
                    [only] if only == "the cluster" => ", nor has the whole cluster".to_owned(),
                    _ => format!(": {}", listed(places)),
                };
                let whose = whose(group.as_deref());
                format!("no {level} of topology {topology} has enough resources for {whose}{place}")
            }
            Self::Room(room) => match room.places.len() {
                1 => room.text(),
                many => format!("none of {many} domains has room: {}", room.text()),
            },
            Self::Other { text, times } => format!("{text}{}", tried(*times)),
        }
    }
}

impl Room {
    /// `node-group d can allocate only 3 of 4 required pods`
    fn read(text: &str) -> Option<Self> {
        let (place, rest) = text.strip_prefix("node-group ")?.split_once(" can allocate only ")?;
        let (fit, needs) = rest.strip_suffix(" required pods")?.split_once(" of ")?;
        let (fit, needs) = (fit.parse().ok()?, needs.parse().ok()?);
        Some(Self { best: place.to_owned(), fit, needs, places: vec![place.to_owned()] })
    }

    fn add(&mut self, other: Self) {
        // KAI names domains in any order, and the sentence should not change by that.
        if other.fit > self.fit || (other.fit == self.fit && other.best < self.best) {
            (self.best, self.fit) = (other.best, other.fit);
        }
        unite(&mut self.places, other.places);
    }

    fn text(&self) -> String {
        format!("{} has room for at most {} of {} pods", self.best, self.fit, self.needs)
    }
}

/// KAI tells of each domain, and then of the level. Where it is clear that they belong together, they are one sentence.
pub(super) fn join(all: &mut Vec<Said>) {
    let is_level = |it: &&Said| matches!(it, Said::Level { places, .. } if places.is_empty());
    let rooms: Vec<Room> = all
        .iter()
        .filter_map(|it| if let Said::Room(room) = it { Some(room.clone()) } else { None })
        .collect();
    let ([only], 1) = (rooms.as_slice(), all.iter().filter(is_level).count()) else { return };
    all.retain(|it| !matches!(it, Said::Room(_)));
    for said in all {
        if let Said::Level { places, room, .. } = said
            && places.is_empty()
        {
            *room = Some(only.clone());
        }
    }
}

fn whose(group: Option<&str>) -> String {
    group.map_or_else(|| "the gang".to_owned(), |it| format!("sub-group {it}"))
}

fn unite(all: &mut Vec<String>, more: Vec<String>) {
    for it in more {
        if !all.contains(&it) {
            all.push(it);
        }
    }
}

/// The first few of a list.
fn listed(items: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = items.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
