//! PodCliques.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_api::{
    constants::{annotations, components, environment, finalizers, labels},
    wire::{CliqueTemplate, PodClique, PodCliqueScalingGroup, PodCliqueSpec},
};
use k8s_openapi::{
    api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector, PodSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{Context, MIRRORED, Mirrored, labels::Labels, owner};
use crate::{
    facts::label,
    hash,
    layout::{self, Clique, set_name, set_namespace, wire_count},
};

/// Labels that say where something belongs. Where a clique has no such place, a template cannot give it one.
const PLACE: [&str; 5] = [
    labels::BASE_POD_GANG,
    labels::SCALING_GROUP,
    labels::SCALING_GROUP_REPLICA_INDEX,
    labels::POD_CLIQUE,
    labels::POD_INDEX,
];

/// Variables that members of a group have on top of their template.
const GROUP_ENVIRONMENT: [&str; 3] =
    [environment::GROUP_NAME, environment::GROUP_TEMPLATE_PODS, environment::GROUP_INDEX];

/// A PodClique to create, whose pod spec is that of all PodCliques of its template: a plan of many holds it once.
#[derive(Clone, Debug, PartialEq)]
pub struct CliqueDraft {
    /// Without its pod spec.
    object: Box<PodClique>,
    pod_spec: Arc<PodSpec>,
}

impl CliqueDraft {
    /// Metadata.
    pub fn metadata(&self) -> &ObjectMeta {
        &self.object.metadata
    }

    /// Where the pod spec is: the same for all PodCliques that share it.
    pub fn pod_spec_address(&self) -> *const PodSpec {
        Arc::as_ptr(&self.pod_spec)
    }

    /// The whole object.
    pub fn object(&self) -> PodClique {
        self.clone().into_object()
    }

    /// Likewise; the pod spec is copied only where others need it too.
    pub fn into_object(self) -> PodClique {
        let mut object = *self.object;
        object.spec.pod_spec = Arc::unwrap_or_clone(self.pod_spec);
        object
    }
}

/// What all PodCliques of a template have in common, made when the first of them is planned.
#[derive(Debug, Default)]
pub struct SharedTemplates {
    by_name: BTreeMap<String, SharedTemplate>,
}

#[derive(Clone, Debug)]
struct SharedTemplate {
    pod_spec: Arc<PodSpec>,
    hash: String,
}

impl SharedTemplate {
    fn of(context: Context<'_>, clique: &Clique<'_>) -> Self {
        let mut pod_spec = clique.template.spec.pod_spec.clone();
        if let Some(member) = &clique.member {
            let names = member.config.clique_names.iter();
            let cliques = names.filter_map(|it| context.set.spec.template.clique(it));
            add_group_environment(&mut pod_spec, cliques.map(layout::clique_replicas).sum());
        }
        Self { pod_spec: Arc::new(pod_spec), hash: hash::pod_template(clique.template) }
    }
}

impl SharedTemplates {
    /// `clique` as it is created. `group` owns it where it is a member of one, else the set does.
    pub fn draft(
        &mut self,
        context: Context<'_>,
        clique: &Clique<'_>,
        group: Option<&PodCliqueScalingGroup>,
    ) -> CliqueDraft {
        let name = &clique.template.name;
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.clone(), SharedTemplate::of(context, clique));
        }
        draft(context, clique, group, &self.by_name[name])
    }
}

/// The object of `clique`, as it is created. `group` owns it where it is a member of one, else the set does.
pub fn clique(context: Context<'_>, clique: &Clique<'_>, group: Option<&PodCliqueScalingGroup>) -> PodClique {
    let shared = SharedTemplate::of(context, clique);
    let draft = draft(context, clique, group, &shared);
    drop(shared);
    draft.into_object()
}

fn draft(
    context: Context<'_>,
    clique: &Clique<'_>,
    group: Option<&PodCliqueScalingGroup>,
    shared: &SharedTemplate,
) -> CliqueDraft {
    let set = context.set;
    let template = clique.template;
    let component =
        if clique.member.is_some() { components::GROUP_POD_CLIQUE } else { components::SET_POD_CLIQUE };
    let gang = context.gang_of(clique);
    let mut from_template = template.labels.clone();
    from_template.retain(|key, _| !PLACE.contains(&key.as_str()));
    let mut labels = Labels::from_template(&from_template)
        .of_set(set_name(set))
        .with(labels::NAME, clique.name.clone())
        .with(labels::COMPONENT, component)
        .with(labels::POD_GANG, gang.name)
        .with(labels::SET_REPLICA_INDEX, clique.replica.to_string())
        .with(labels::POD_TEMPLATE_HASH, shared.hash.clone());
    if let Some(base) = gang.base {
        labels = labels.with(labels::BASE_POD_GANG, base);
    }
    if let Some(member) = &clique.member {
        labels = labels
            .with(labels::SCALING_GROUP, member.group.clone())
            .with(labels::SCALING_GROUP_REPLICA_INDEX, member.replica.to_string());
    }
    let mut notes = template.annotations.clone();
    // It belongs to PodGangs; on a clique it would only mislead.
    notes.remove(annotations::TOPOLOGY_NAME);
    let mirrored = Mirrored {
        labels: from_template.into_keys().collect(),
        annotations: notes.keys().cloned().collect(),
    };
    notes.extend(mirrored.write().map(|it| (MIRRORED.to_owned(), it)));

    let spec = PodCliqueSpec {
        role_name: template.spec.role_name.clone(),
        replicas: Some(wire_count(layout::clique_replicas(template) as usize)),
        min_available: Some(wire_count(layout::clique_minimum(template) as usize)),
        starts_after: layout::parents(set, clique).into_iter().map(|it| it.name).collect(),
        auto_scaling_config: template.spec.auto_scaling_config.clone(),
        pod_spec: PodSpec::default(),
    };
    let object = PodClique {
        metadata: ObjectMeta {
            name: Some(clique.name.clone()),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels.into_map()),
            annotations: (!notes.is_empty()).then_some(notes),
            finalizers: Some(vec![finalizers::POD_CLIQUE.to_owned()]),
            owner_references: group.map_or_else(|| owner(set), owner).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        spec,
        status: None,
    };
    CliqueDraft { object: Box::new(object), pod_spec: Arc::clone(&shared.pod_spec) }
}

/// Whether two cliques make the same pods, whatever their hashes say.
pub fn same_meaning(one: &PodClique, other: &PodClique) -> bool {
    let (a, b) = (&one.spec.pod_spec, &other.spec.pod_spec);
    a == b || hash::canonical_pod_spec(a) == hash::canonical_pod_spec(b)
}

/// Whether two cliques come from the same pod template. What members of a group get on top of it is no part of it: it
/// changes with the size of the group, and nobody restarts a pod for that.
pub fn same_pod_template(one: &PodClique, other: &PodClique) -> bool {
    let canonical = |clique: &PodClique| hash::canonical_pod_spec(&own_pod_spec(clique));
    one.spec.pod_spec == other.spec.pod_spec || canonical(one) == canonical(other)
}

/// The template that a clique was made from, as far as it makes pods. `known` are keys that may come from there, for cliques
/// that have no note of it.
pub fn template_of(clique: &PodClique, known: &Mirrored) -> CliqueTemplate {
    let noted = Mirrored::read(clique.metadata.annotations.as_ref());
    let of = |all: Option<&BTreeMap<String, String>>, noted: &BTreeSet<String>, known: &BTreeSet<String>| {
        let mut all = all.cloned().unwrap_or_default();
        all.retain(|key, _| noted.contains(key) || known.contains(key));
        all
    };
    CliqueTemplate {
        labels: of(clique.metadata.labels.as_ref(), &noted.labels, &known.labels),
        annotations: of(clique.metadata.annotations.as_ref(), &noted.annotations, &known.annotations),
        spec: PodCliqueSpec { pod_spec: own_pod_spec(clique), ..clique.spec.clone() },
        ..CliqueTemplate::default()
    }
}

/// The pod of a clique, without what members of a group get on top of their template.
fn own_pod_spec(clique: &PodClique) -> PodSpec {
    let mut pod = clique.spec.pod_spec.clone();
    if label(clique.metadata.labels.as_ref(), labels::SCALING_GROUP).is_some() {
        for variables in containers(&mut pod).filter_map(|it| it.env.as_mut()) {
            variables.retain(|it| !GROUP_ENVIRONMENT.contains(&it.name.as_str()) && !is_group_pod_index(it));
        }
    }
    pod
}

/// Whether upstream Grove has added a variable: newer versions of it have one more than we do. A user's of that name has another
/// value, and is part of the template.
fn is_group_pod_index(variable: &EnvVar) -> bool {
    let path = variable.value_from.as_ref().and_then(|it| Some(&it.field_ref.as_ref()?.field_path));
    variable.name == environment::GROUP_POD_INDEX
        && path.is_some_and(|it| it.contains(labels::SCALING_GROUP_POD_INDEX))
}

fn add_group_environment(pod: &mut PodSpec, pods: u32) {
    let [name, size, index] = GROUP_ENVIRONMENT;
    let variables = [
        from_label(name, labels::SCALING_GROUP),
        EnvVar { name: size.to_owned(), value: Some(pods.to_string()), value_from: None },
        from_label(index, labels::SCALING_GROUP_REPLICA_INDEX),
    ];
    for container in containers(pod) {
        prepend(container, &variables);
    }
}

/// All containers of a pod, those that run before the others too.
pub(super) fn containers(pod: &mut PodSpec) -> impl Iterator<Item = &mut Container> {
    pod.init_containers.iter_mut().flatten().chain(&mut pod.containers)
}

/// Puts `variables` before those of the user, who may refer to them; of the same name, ours stays.
pub(super) fn prepend(container: &mut Container, variables: &[EnvVar]) {
    let own = container.env.take().unwrap_or_default();
    let own = own.into_iter().filter(|it| variables.iter().all(|ours| ours.name != it.name));
    container.env = Some(variables.iter().cloned().chain(own).collect());
}

/// A variable whose value is a label of the pod.
pub(super) fn from_label(name: &str, label: &str) -> EnvVar {
    EnvVar {
        name: name.to_owned(),
        value: None,
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                // As upstream: the API server fills it in for pods, and not for cliques.
                api_version: None,
                field_path: format!("metadata.labels['{label}']"),
            }),
            ..EnvVarSource::default()
        }),
    }
}
