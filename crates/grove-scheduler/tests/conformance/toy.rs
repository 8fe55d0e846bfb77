//! A backend that keeps everything, but for one defect.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use grove_api::{
    config::check_keys,
    field::{Errors, Path},
};
use grove_scheduler::{
    Answer, Capabilities, Example, Gang, Node, Object, PrepareError, Probe, Probed, RenderError, ResourceUse,
    Scheduler, SchedulerBackend, Uses, tree::Content,
};
use k8s_openapi::api::core::v1::Pod;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    None,
    NamedTwice,
    TakesAnySetting,
    NoReason,
    DeclaredTwice,
    InitFails,
    InitVaries,
    ExampleFails,
    ExamplesAlike,
    EmptyNote,
    PassesRequired,
    RejectsPreferred,
    RefusesLargeGangs,
    RefusesWithoutAWord,
    Counts,
    LooksAtForm,
    GrowsWithExisting,
    ForwardsZero,
    UndeclaredKind,
    OtherKind,
    BadName,
    NamelessObject,
    TwiceTheSame,
    ForeignNamespace,
    HasOwners,
    HasStatus,
    BadPointer,
    SharesAnObject,
    HasFinalizer,
    DeletesAnything,
    RefusesPods,
    TouchesTheGate,
    PreparesTwice,
    LosesToleration,
    OtherScheduler,
    ForgetsAPod,
    OnlyTheSum,
    ForgetsTheLevel,
    ForgetsThePreference,
    ForgetsThePriority,
    TellsWhatItRejects,
    FindsByLength,
    WantsQueueAndLevels,
}

#[derive(Debug)]
pub(crate) struct Toy {
    defect: Defect,
    /// What differs from call to call.
    count: Arc<AtomicUsize>,
}

impl Toy {
    pub(crate) fn with(defect: Defect) -> Self {
        Self { defect, count: Arc::default() }
    }
}

fn herds() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("toy.example.com", "v1", "Herd"), "herds")
}

impl SchedulerBackend for Toy {
    fn name(&self) -> &'static str {
        "toy-scheduler"
    }

    fn synonyms(&self) -> &'static [&'static str] {
        if self.defect == Defect::NamedTwice { &["toy-scheduler"] } else { &[] }
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        if self.defect == Defect::TakesAnySetting { Errors::new() } else { check_keys(config, path, &[]) }
    }

    fn resources(&self, _: &Value) -> Vec<ResourceUse> {
        let reason = if self.defect == Defect::NoReason { "" } else { "gangs" };
        let it = ResourceUse { resource: herds(), uses: Uses::Writes, reason };
        if self.defect == Defect::DeclaredTwice { vec![it.clone(), it] } else { vec![it] }
    }

    fn probes(&self, _: &Value) -> Vec<Probe> {
        Vec::new()
    }

    fn examples(&self) -> Vec<Example> {
        let example = |title| Example { title, cluster: Probed::default().with_fields("herds", "v1", &[]) };
        match self.defect {
            Defect::None | Defect::ExampleFails => vec![example("one"), example("other")],
            Defect::ExamplesAlike => vec![example("one"), example("one")],
            _ => Vec::new(),
        }
    }

    fn init(&self, _: &Value, cluster: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        match self.defect {
            Defect::InitFails => Err("nothing is there".to_owned()),
            Defect::ExampleFails if cluster.schema("herds", "v1").is_some() => {
                Err("its own herds do not suit it".to_owned())
            }
            defect => {
                let number = self.count.fetch_add(1, Ordering::SeqCst);
                Ok(Arc::new(Herder { defect, number, count: Arc::clone(&self.count) }))
            }
        }
    }
}

#[derive(Debug)]
struct Herder {
    defect: Defect,
    number: usize,
    count: Arc<AtomicUsize>,
}

impl Herder {
    fn has(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    fn part(&self, node: &Node, existing: &[Value]) -> Value {
        let mut part = json!({ "name": node.name });
        if !self.has(Defect::ForgetsTheLevel) {
            part["required"] = json!(node.pack.required);
        }
        if !self.has(Defect::ForgetsThePreference) {
            part["preferred"] = json!(node.pack.preferred);
        }
        match &node.content {
            Content::Group { min, .. } => {
                let before = existing.iter().find_map(|it| find(&it["spec"]["parts"], &node.name));
                let lifted = *min == 0 && !self.has(Defect::ForwardsZero);
                part["min"] = json!(if lifted { before.unwrap_or(1) } else { u64::from(*min) });
                if self.has(Defect::OnlyTheSum) {
                    part["min"] = json!(null);
                }
            }
            Content::Bundle(children) => {
                part["parts"] = children.iter().map(|it| self.part(it, existing)).collect();
            }
        }
        part
    }
}

fn prefers(gang: &Gang) -> bool {
    gang.pack.preferred.is_some() || gang.nodes().iter().any(|it| it.pack.preferred.is_some())
}

/// The minimum of a part.
fn find(parts: &Value, name: &str) -> Option<u64> {
    parts
        .as_array()?
        .iter()
        .find_map(|it| if it["name"] == name { it["min"].as_u64() } else { find(&it["parts"], name) })
}

impl Scheduler for Herder {
    fn capabilities(&self) -> Capabilities {
        let bundles = match self.defect {
            Defect::PassesRequired => Answer::Pass("no bundles"),
            Defect::TellsWhatItRejects => Answer::Reject("no bundles"),
            Defect::InitVaries if self.number.is_multiple_of(2) => Answer::Emulated("by luck"),
            _ => Answer::Native,
        };
        let preferred =
            if self.has(Defect::RejectsPreferred) { Answer::Reject("no") } else { Answer::Native };
        Capabilities {
            single_group_gang: Answer::Native,
            multi_group_gang: Answer::Native,
            hierarchical_gang: Answer::Native,
            best_effort_above_minimum: Answer::Native,
            minimum_change: Answer::Native,
            required_topology_gang: Answer::Native,
            required_topology_bundle: bundles,
            required_topology_group: Answer::Native,
            nested_required_topology: Answer::Native,
            preferred_topology: preferred,
            required_and_preferred_topology: Answer::Native,
            priority_class: Answer::Native,
            gang_preemptor: Answer::Native,
            gang_victim: Answer::Native,
            reservation_reuse: Answer::Pass("nothing is reserved"),
            scaled_after_base: Answer::Emulated("gates"),
            queue: if self.has(Defect::EmptyNote) { Answer::Pass(" ") } else { Answer::Pass("no queues") },
            group_status: Answer::Native,
        }
    }

    fn form(&self) -> &'static str {
        "herd"
    }

    fn render(&self, gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
        match self.defect {
            Defect::RefusesLargeGangs if gang.leaves().len() > 8 => {
                return Err(RenderError("too many".to_owned()));
            }
            Defect::RejectsPreferred if prefers(gang) => {
                return Err(RenderError("no preferences".to_owned()));
            }
            Defect::RefusesWithoutAWord if gang.reuses_reservation => return Err(RenderError(String::new())),
            Defect::WantsQueueAndLevels => {
                let packs = std::iter::once(&gang.pack).chain(gang.nodes().into_iter().map(|it| &it.pack));
                let known = |it: &&String| ["l1", "l2", "l3"].contains(&it.as_str());
                let levels: Vec<_> = packs.filter_map(|it| it.required.as_ref()).collect();
                if !gang.labels.contains_key("queue")
                    || !gang.annotations.contains_key("tenant")
                    || !levels.iter().all(known)
                {
                    return Err(RenderError("no queue, no tenant, or not my level".to_owned()));
                }
            }
            _ => {}
        }
        let mut resource = herds();
        let mut value = json!({
            "apiVersion": resource.api_version, "kind": resource.kind,
            "metadata": { "name": gang.name },
            "spec": {
                "parts": gang.children.iter().map(|it| self.part(it, existing)).collect::<Vec<_>>(),
                "required": gang.pack.required, "preferred": gang.pack.preferred, "class": gang.priority_class,
            },
        });
        let (metadata, spec) = ("metadata", "spec");
        match self.defect {
            Defect::Counts => value[spec]["count"] = json!(self.count.fetch_add(1, Ordering::SeqCst)),
            Defect::LooksAtForm => value[spec]["form"] = json!(gang.form),
            Defect::GrowsWithExisting if !gang.is_lifted() => value[spec]["existing"] = json!(existing.len()),
            Defect::GrowsWithExisting => value[spec]["existing"] = json!(0),
            Defect::UndeclaredKind => {
                resource = ApiResource { kind: "Flock".to_owned(), ..resource };
                value["kind"] = json!("Flock");
            }
            Defect::OtherKind => value["kind"] = json!("Flock"),
            Defect::BadName => value[metadata]["name"] = json!(format!("{}_x", gang.name)),
            Defect::ForeignNamespace => value[metadata]["namespace"] = json!("kube-system"),
            Defect::HasOwners => value[metadata]["ownerReferences"] = json!([]),
            Defect::HasStatus => value["status"] = json!({}),
            Defect::HasFinalizer => value[metadata]["finalizers"] = json!(["toy.example.com/mine"]),
            Defect::ForgetsTheLevel => value[spec]["required"] = json!(null),
            Defect::ForgetsThePreference => value[spec]["preferred"] = json!(null),
            Defect::ForgetsThePriority => value[spec]["class"] = json!(null),
            Defect::OnlyTheSum => {
                let before = existing.first().and_then(|it| it[spec]["min"].as_u64());
                let sum = if gang.is_lifted() { before.unwrap_or(1) } else { gang.min().into() };
                value[spec]["min"] = json!(sum);
            }
            _ => {}
        }
        let once = if self.has(Defect::BadPointer) { vec!["spec.parts".to_owned()] } else { vec![] };
        let object = Object { resource: resource.clone(), value, once, immutable: vec![] };
        let named = |name: Option<&str>| {
            let value = json!({ "apiVersion": resource.api_version, "kind": resource.kind, "metadata": { "name": name } });
            Object { resource: resource.clone(), value, once: vec![], immutable: vec![] }
        };
        Ok(match self.defect {
            Defect::NamelessObject => vec![object, named(None)],
            Defect::TwiceTheSame => vec![object.clone(), object],
            Defect::SharesAnObject => vec![object, named(Some("all-herds"))],
            _ => vec![object],
        })
    }

    fn on_pod_gang_delete(&self, _: &Gang) -> Vec<Object> {
        let resource =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("", "v1", "Secret"), "secrets");
        let secret = Object { resource, value: json!({}), once: vec![], immutable: vec![] };
        if self.has(Defect::DeletesAnything) { vec![secret] } else { vec![] }
    }

    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
        let index =
            pod.metadata.labels.as_ref().and_then(|it| it.get("grove.io/podclique-pod-index")).cloned();
        let notes = pod.metadata.annotations.get_or_insert_default();
        let herd = match self.defect {
            Defect::RefusesPods if index.as_deref() == Some("4") => {
                return Err(PrepareError("no pods today".to_owned()));
            }
            Defect::ForgetsAPod if index.as_deref() == Some("1") => None,
            Defect::FindsByLength => None,
            Defect::BadName => Some(format!("{}_x", gang.name)),
            _ => Some(gang.name.clone()),
        };
        notes.extend(herd.map(|it| ("toy.example.com/herd".to_owned(), it)));
        if self.has(Defect::PreparesTwice) {
            let again = notes.get("toy.example.com/again").cloned().unwrap_or_default();
            notes.insert("toy.example.com/again".to_owned(), format!("{again}x"));
        }
        let labels = pod.metadata.labels.get_or_insert_default();
        if self.has(Defect::FindsByLength) {
            labels.insert("toy.example.com/length".to_owned(), gang.name.len().to_string());
        }
        let spec = pod.spec.get_or_insert_default();
        match self.defect {
            Defect::TouchesTheGate if index.as_deref() == Some("4") => spec.scheduling_gates = None,
            Defect::LosesToleration => spec.tolerations = None,
            Defect::OtherScheduler => spec.scheduler_name = Some("other".to_owned()),
            _ => {}
        }
        Ok(())
    }
}
