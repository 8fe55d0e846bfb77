//! A setting that a workload may give in several places, and that has to be one for all of it.

use std::collections::BTreeMap;

use grove_api::{
    field::{Error, Errors, Path},
    wire::PodCliqueSet,
};

use crate::tree::Gang;

type Map = BTreeMap<String, String>;

/// Where a value may stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Label(&'static str),
    Annotation(&'static str),
}

/// A setting with the places that are looked at, of which the first that says something counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// What it is, as it stands in a sentence.
    pub(crate) what: &'static str,
    pub(crate) sources: &'static [Source],
}

impl Setting {
    /// What the gang says, or any of its templates, or any other template of the workload.
    pub(crate) fn of_gang<'a>(&self, gang: &'a Gang) -> Result<Option<&'a str>, String> {
        let leaves = gang.leaves();
        let groups = leaves.iter().map(|it| (it.name, &it.node.labels, &it.node.annotations));
        let siblings = gang.siblings.iter().map(|it| (it.name.as_str(), &it.labels, &it.annotations));
        let whole = std::iter::once((gang.name.as_str(), &gang.labels, &gang.annotations));
        let given: Vec<(&str, &str)> = whole
            .chain(groups)
            .chain(siblings)
            .filter_map(|(name, labels, annotations)| Some((name, self.read(labels, annotations)?.1)))
            .collect();
        let Some((first, value)) = given.first() else { return Ok(None) };
        match given.iter().find(|(_, other)| other != value) {
            None => Ok(Some(value)),
            Some((other, theirs)) => Err(format!(
                "the {} has to be one for the whole workload, but {first:?} says {value:?} and {other:?} says {theirs:?}",
                self.what
            )),
        }
    }

    /// What a set says, with the fields where it stands: the set's own first, then those of its cliques.
    pub(crate) fn of_set<'a>(&self, set: &'a PodCliqueSet) -> Vec<(Path, &'a str)> {
        let metadata = Path::of(&["metadata"]);
        let whole = self.sources.iter().find_map(|source| {
            let map = match source {
                Source::Label(_) => set.metadata.labels.as_ref(),
                Source::Annotation(_) => set.metadata.annotations.as_ref(),
            };
            Some((source.path(&metadata), source.value(map?)?))
        });
        let cliques = set.spec.template.cliques.iter().enumerate().filter_map(|(number, clique)| {
            let (source, value) = self.read(&clique.labels, &clique.annotations)?;
            Some((source.path(&Path::of(&["spec", "template", "cliques"]).index(number)), value))
        });
        whole.into_iter().chain(cliques).collect()
    }

    /// Every place in a set that differs from the first one.
    pub(crate) fn conflicts(&self, set: &PodCliqueSet) -> Errors {
        let given = self.of_set(set);
        let Some((first, value)) = given.first() else { return Errors::new() };
        let detail = format!("must be {value:?} as in {first}: the {} is one for the whole set", self.what);
        let odd = given.iter().filter(|(_, other)| other != value);
        odd.map(|(path, other)| Error::invalid(path.clone(), other, detail.clone())).collect()
    }

    fn read<'a>(&self, labels: &'a Map, annotations: &'a Map) -> Option<(Source, &'a str)> {
        self.sources.iter().find_map(|source| {
            let map = match source {
                Source::Label(_) => labels,
                Source::Annotation(_) => annotations,
            };
            Some((*source, source.value(map)?))
        })
    }
}

impl Source {
    fn key(self) -> &'static str {
        match self {
            Self::Label(key) | Self::Annotation(key) => key,
        }
    }

    fn value(self, map: &Map) -> Option<&str> {
        map.get(self.key()).map(|it| it.trim()).filter(|it| !it.is_empty())
    }

    fn path(self, metadata: &Path) -> Path {
        let field = match self {
            Self::Label(_) => "labels",
            Self::Annotation(_) => "annotations",
        };
        metadata.child(field).key(self.key())
    }
}

/// Findings that an update brings: what was wrong before is not held against it.
pub(crate) fn new_in_update(now: Errors, before: Option<Errors>) -> Errors {
    let before = before.unwrap_or_default();
    now.into_iter().filter(|it| !before.contains(it)).collect()
}
