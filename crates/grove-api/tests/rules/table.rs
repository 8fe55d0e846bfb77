//! Reads the tables of `testdata/`.

use std::{collections::BTreeMap, fs, path::PathBuf};

use grove_api::{
    defaulting::{default_pod_clique_set, default_topology},
    manifest,
    validation::{Environment, Scheduler, Schedulers},
    wire::{KueueTopologyLevel, KueueTopologySpec, PodCliqueSet, TopologyLevel},
};
use serde::Deserialize;
use serde_json::{Value, json};

/// One row of a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: String,
    base: String,
    before: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    set: BTreeMap<String, Value>,
    #[serde(default)]
    remove: Vec<String>,
    #[serde(default)]
    environment: Cluster,
    /// Fields that are warned about; not compared where absent.
    pub(crate) warnings: Option<Vec<String>>,
    pub(crate) refused: Option<Refused>,
    #[serde(default)]
    pub(crate) errors: Vec<String>,
}

/// What the cluster is like; by default everything is on.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Cluster {
    topology_aware: Option<bool>,
    mnnvl: Option<bool>,
    /// Kueue is installed: there are its topologies `hall` and a second `racks`.
    #[serde(default)]
    kueue: bool,
    /// Nothing is known of the cluster.
    #[serde(default)]
    unknown: bool,
}

/// Who refuses an object on a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Refused {
    Schema,
    Cel,
    Admission,
}

impl Row {
    /// The object before the change, if the row is an update.
    pub(crate) fn old(&self) -> Option<Value> {
        let before = self.before.as_ref()?;
        Some(changed(base(&self.base), before, &[]))
    }

    /// The object that is sent.
    pub(crate) fn object(&self) -> Value {
        changed(self.old().unwrap_or_else(|| base(&self.base)), &self.set, &self.remove)
    }

    /// The old object as a cluster has it, defaulted.
    pub(crate) fn stored(&self) -> Option<Value> {
        self.old().and_then(|old| defaulted(&old, None))
    }

    /// The object behind the defaulting webhook; `None` where it does not decode.
    pub(crate) fn sent(&self) -> Option<Value> {
        defaulted(&self.object(), self.stored().as_ref())
    }

    pub(crate) fn environment(&self) -> Environment {
        if self.environment.unknown {
            return Environment::default();
        }
        let kueue_topologies = if self.environment.kueue { of_kueue() } else { BTreeMap::new() };
        let cluster = environment(
            self.environment.topology_aware.unwrap_or(true),
            self.environment.mnnvl.unwrap_or(true),
        );
        Environment { kueue_topologies, ..cluster }
    }
}

fn of_kueue() -> BTreeMap<String, Vec<TopologyLevel>> {
    let levels = |labels: &[&str]| {
        let levels = labels.iter().map(|it| KueueTopologyLevel { node_label: (*it).to_owned() }).collect();
        KueueTopologySpec { levels }.levels()
    };
    BTreeMap::from([
        ("hall".to_owned(), levels(&["example.com/block", "kubernetes.io/hostname"])),
        ("racks".to_owned(), levels(&["example.com/moon"])),
    ])
}

/// A cluster with three schedulers, two of which have topology objects, and one topology.
pub(crate) fn environment(topology_aware: bool, mnnvl: bool) -> Environment {
    let scheduler = |name: &str, topology_aware| Scheduler { name: name.to_owned(), topology_aware };
    let level = |domain: &str, key: &str| TopologyLevel { domain: domain.to_owned(), key: key.to_owned() };
    let racks = vec![
        level("zone", "topology.kubernetes.io/zone"),
        level("rack", "example.com/rack"),
        level("host", "kubernetes.io/hostname"),
    ];
    Environment {
        schedulers: Some(Schedulers {
            default: "default-scheduler".to_owned(),
            active: vec![
                scheduler("default-scheduler", false),
                scheduler("kai-scheduler", true),
                scheduler("volcano", true),
            ],
        }),
        topology_aware: Some(topology_aware),
        default_topology: None,
        topologies: BTreeMap::from([("racks".to_owned(), racks)]),
        kueue_topologies: BTreeMap::new(),
        all_topologies_known: true,
        mnnvl: Some(mnnvl),
    }
}

pub(crate) fn testdata() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// All rows of the tables in `testdata/invalid`.
pub(crate) fn invalid() -> Vec<Row> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(testdata().join("invalid")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files.into_iter().flat_map(|file| rows(&file)).collect()
}

/// The rows of `testdata/allowed.yaml`.
pub(crate) fn allowed() -> Vec<Row> {
    rows(&testdata().join("allowed.yaml"))
}

fn rows(file: &std::path::Path) -> Vec<Row> {
    let text = fs::read_to_string(file).unwrap();
    let value =
        manifest::parse(&text).unwrap_or_else(|it| panic!("{}: {it:?}", file.display())).remove(0).value;
    serde_json::from_value(value).unwrap_or_else(|it| panic!("{}: {it}", file.display()))
}

/// A valid manifest of `testdata/bases`.
pub(crate) fn base(name: &str) -> Value {
    let file = testdata().join("bases").join(format!("{name}.yaml"));
    manifest::parse(&fs::read_to_string(&file).unwrap()).unwrap().remove(0).value
}

fn changed(mut object: Value, set: &BTreeMap<String, Value>, remove: &[String]) -> Value {
    // From the last to the first, so that removing one element does not move another.
    for pointer in remove.iter().rev() {
        apply(&mut object, json!([{ "op": "remove", "path": pointer }]));
    }
    for (pointer, value) in set {
        let op = if object.pointer(pointer).is_some() { "replace" } else { "add" };
        apply(&mut object, json!([{ "op": op, "path": pointer, "value": value }]));
    }
    object
}

fn apply(object: &mut Value, patch: Value) {
    let text = patch.to_string();
    let patch: json_patch::Patch = serde_json::from_value(patch).unwrap();
    json_patch::patch(object, &patch).unwrap_or_else(|it| panic!("{text}: {it}"));
}

/// The object behind the defaulting webhook; unknown fields stay, so that the schema sees them.
fn defaulted(object: &Value, old: Option<&Value>) -> Option<Value> {
    let mut object = manifest::without_nulls(object);
    if object["kind"] != "PodCliqueSet" {
        return Some(object);
    }
    let old: Option<PodCliqueSet> = old.map(|it| serde_json::from_value(it.clone()).unwrap());
    let before: PodCliqueSet = serde_json::from_value(object.clone()).ok()?;
    let mut after = before.clone();
    default_pod_clique_set(&mut after, old.as_ref());
    default_topology(&mut after, old.as_ref(), None);
    let patch =
        json_patch::diff(&serde_json::to_value(before).unwrap(), &serde_json::to_value(after).unwrap());
    json_patch::patch(&mut object, &patch).ok()?;
    Some(object)
}
