//! The objects of the input, and those that are imagined beside them.

use std::collections::BTreeMap;

use grove_api::{
    field::{Error, Errors, Path},
    manifest::Document,
};
use grove_podgrouper::Need;
use serde_json::{Value, json};

use crate::{findings::Report, input::Source};

/// Stands for what an API server fills in.
pub(super) const UID: &str = "<uid>";
const NAMESPACE: &str = "default";

/// An object.
pub(super) struct Object<'a> {
    /// With namespace, name and UID.
    pub(super) value: Value,
    /// Where it is in the input; `None` where it is imagined.
    pub(super) place: Option<(&'a Source, Document)>,
}

/// What an object is found by: namespace, API version, kind and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key([String; 4]);

impl Key {
    pub(super) fn new(namespace: &str, api_version: &str, kind: &str, name: &str) -> Self {
        Self([namespace, api_version, kind, name].map(str::to_owned))
    }
}

/// All objects.
#[derive(Default)]
pub(super) struct Objects<'a> {
    all: Vec<Object<'a>>,
    /// Of two with the same name the first counts.
    places: BTreeMap<Key, usize>,
}

impl Object<'_> {
    pub(super) fn name(&self) -> &str {
        text(&self.value["metadata"]["name"])
    }

    pub(super) fn namespace(&self) -> &str {
        text(&self.value["metadata"]["namespace"])
    }

    pub(super) fn key(&self) -> Key {
        let field = |name: &str| text(&self.value[name]);
        Key::new(self.namespace(), field("apiVersion"), field("kind"), self.name())
    }

    pub(super) fn is_pod(&self) -> bool {
        self.value["kind"] == "Pod" && self.value["apiVersion"] == "v1"
    }
}

impl<'a> Objects<'a> {
    /// Takes in an object of the input. What cannot be one is a finding.
    pub(super) fn add(&mut self, source: &'a Source, document: Document, report: &mut Report) {
        match completed(document.value.clone()) {
            Ok(value) => self.push(Object { value, place: Some((source, document)) }),
            Err(errors) => report.errors(source, &document, errors),
        }
    }

    /// Adds an object that the cluster would have.
    pub(super) fn imagine(&mut self, value: Value) {
        self.push(Object { value, place: None });
    }

    fn push(&mut self, object: Object<'a>) {
        self.places.entry(object.key()).or_insert(self.all.len());
        self.all.push(object);
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Object<'a>> {
        self.all.iter()
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Object<'a>> {
        self.all.iter_mut()
    }

    /// An object of a namespace.
    pub(super) fn find(
        &self,
        namespace: &str,
        api_version: &str,
        kind: &str,
        name: &str,
    ) -> Option<&Object<'a>> {
        self.places.get(&Key::new(namespace, api_version, kind, name)).and_then(|at| self.all.get(*at))
    }

    /// What a cluster with these objects would answer.
    pub(super) fn answer(&self, namespace: &str, need: &Need) -> Vec<Value> {
        let values = |fits: &dyn Fn(&Object<'a>) -> bool| {
            let all = self.all().filter(|it| it.namespace() == namespace && fits(it));
            all.map(|it| it.value.clone()).collect()
        };
        let is_group = |it: &Object<'a>| {
            it.value["kind"] == "PodGroup" && text(&it.value["apiVersion"]).starts_with("scheduling.run.ai/")
        };
        match need {
            Need::Object { api_version, kind, name } => {
                self.find(namespace, api_version, kind, name).map(|it| it.value.clone()).into_iter().collect()
            }
            Need::Pods(labels) => values(&|it| {
                let has = |(key, value): (&String, &String)| {
                    it.value["metadata"]["labels"].get(key).and_then(Value::as_str) == Some(value)
                };
                it.is_pod() && labels.iter().all(has)
            }),
            Need::Group(name) => values(&|it| is_group(it) && it.name() == name),
            Need::Groups(prefix) => values(&|it| is_group(it) && it.name().starts_with(prefix.as_str())),
        }
    }
}

/// The object as an API server would have it: namespace, name and UID are there.
fn completed(mut object: Value) -> Result<Value, Errors> {
    let mut errors = Errors::default();
    for field in ["apiVersion", "kind"] {
        if text(&object[field]).is_empty() {
            errors.push(Error::required(Path::of(&[field]), "every object needs it"));
        }
    }
    let metadata = &object["metadata"];
    let name = match (text(&metadata["name"]), text(&metadata["generateName"])) {
        ("", "") => {
            errors.push(Error::required(Path::of(&["metadata", "name"]), "every object needs a name"));
            String::new()
        }
        ("", prefix) => format!("{prefix}<random>"),
        (name, _) => name.to_owned(),
    };
    if !errors.is_empty() {
        return Err(errors);
    }
    let filled = [("name", name.as_str()), ("namespace", NAMESPACE), ("uid", UID)];
    for (field, value) in filled {
        if text(&object["metadata"][field]).is_empty() {
            object["metadata"][field] = json!(value);
        }
    }
    Ok(object)
}

/// A text; empty where there is none.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
