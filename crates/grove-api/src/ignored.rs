//! Settings that are accepted, because upstream has them, and that have no effect yet.
//!
//! One table says which. Admission and `grove validate` warn of those in a set and the set's condition
//! [`SETTINGS_IGNORED`](crate::constants::conditions::SETTINGS_IGNORED) names them; `grove config check` and the operator's log
//! warn of those in the configuration. Whoever implements one removes its row.

use std::collections::BTreeMap;

use crate::{
    config::OperatorConfiguration,
    constants::annotations::{MNNVL_GROUP, MNNVL_NONE},
    field::{Path, Warning},
    wire::PodCliqueSet,
};

/// A setting without effect.
struct Ignored {
    /// What does not happen.
    effect: &'static str,
    /// The fields that ask for it.
    found: Found,
}

enum Found {
    InSet(fn(&PodCliqueSet) -> Vec<Path>),
    InConfiguration(fn(&OperatorConfiguration) -> Vec<Path>),
}
use Found::{InConfiguration, InSet};

const TABLE: &[Ignored] = &[
    Ignored { effect: "no ResourceClaimTemplate is created", found: InSet(claim_templates) },
    Ignored { effect: "pods get no shared ResourceClaims", found: InSet(sharing) },
    Ignored {
        effect: "no ComputeDomain is created, and pods get no claim of one",
        found: InSet(nvlink_groups),
    },
    Ignored {
        effect: "no ComputeDomains are created",
        found: InConfiguration(|it| asked(it.network.auto_mnnvl_enabled, &["network", "autoMNNVLEnabled"])),
    },
    Ignored { effect: "the operator always speaks JSON", found: InConfiguration(content_types) },
];

/// What a set asks for in vain.
pub fn in_set(set: &PodCliqueSet) -> Vec<Warning> {
    let rows = TABLE.iter().filter_map(|row| match row.found {
        InSet(found) => Some((row, found(set))),
        InConfiguration(_) => None,
    });
    warnings(rows)
}

/// What a configuration asks for in vain.
pub(crate) fn in_configuration(config: &OperatorConfiguration) -> Vec<Warning> {
    let rows = TABLE.iter().filter_map(|row| match row.found {
        InConfiguration(found) => Some((row, found(config))),
        InSet(_) => None,
    });
    warnings(rows)
}

fn warnings<'a>(rows: impl Iterator<Item = (&'a Ignored, Vec<Path>)>) -> Vec<Warning> {
    let text = |row: &Ignored| format!("accepted but not implemented: {}", row.effect);
    rows.flat_map(|(row, paths)| paths.into_iter().map(move |path| Warning { path, text: text(row) }))
        .collect()
}

fn asked(is_asked: bool, path: &[&str]) -> Vec<Path> {
    if is_asked { vec![Path::of(path)] } else { Vec::new() }
}

fn template() -> Path {
    Path::of(&["spec", "template"])
}

fn claim_templates(set: &PodCliqueSet) -> Vec<Path> {
    let is_asked = !set.spec.template.resource_claim_templates.is_empty();
    asked(is_asked, &["spec", "template", "resourceClaimTemplates"])
}

/// A set, its cliques and its groups: where each stands, and whether `test` holds for it.
fn everywhere(
    set: &PodCliqueSet,
    of_set: bool,
    of_clique: impl Fn(usize) -> bool,
    of_group: impl Fn(usize) -> bool,
) -> Vec<Path> {
    let template_of_set = &set.spec.template;
    let places = |list: &str, count: usize, test: &dyn Fn(usize) -> bool| -> Vec<Path> {
        (0..count).filter(|it| test(*it)).map(|it| template().child(list).index(it)).collect()
    };
    let own = if of_set { vec![Path::root()] } else { Vec::new() };
    let cliques = places("cliques", template_of_set.cliques.len(), &of_clique);
    let groups = places("podCliqueScalingGroups", template_of_set.scaling_groups.len(), &of_group);
    own.into_iter().chain(cliques).chain(groups).collect()
}

fn sharing(set: &PodCliqueSet) -> Vec<Path> {
    let template_of_set = &set.spec.template;
    let found = everywhere(
        set,
        !template_of_set.resource_sharing.is_empty(),
        |it| !template_of_set.cliques[it].resource_sharing.is_empty(),
        |it| !template_of_set.scaling_groups[it].resource_sharing.is_empty(),
    );
    let at = |it: Path| if it.segments().is_empty() { template() } else { it };
    found.into_iter().map(|it| at(it).child("resourceSharing")).collect()
}

fn nvlink_groups(set: &PodCliqueSet) -> Vec<Path> {
    let is_asked =
        |it: &BTreeMap<String, String>| it.get(MNNVL_GROUP).is_some_and(|group| group != MNNVL_NONE);
    let template_of_set = &set.spec.template;
    let found = everywhere(
        set,
        set.metadata.annotations.as_ref().is_some_and(is_asked),
        |it| is_asked(&template_of_set.cliques[it].annotations),
        |it| is_asked(&template_of_set.scaling_groups[it].annotations),
    );
    let at = |it: Path| if it.segments().is_empty() { Path::of(&["metadata"]) } else { it };
    found.into_iter().map(|it| at(it).child("annotations").key(MNNVL_GROUP)).collect()
}

fn content_types(config: &OperatorConfiguration) -> Vec<Path> {
    const JSON: &str = "application/json";
    let connection = &config.runtime_client_connection;
    let rows =
        [("contentType", &connection.content_type), ("acceptContentTypes", &connection.accept_content_types)];
    let other = rows.iter().filter(|it| !it.1.is_empty() && it.1 != JSON);
    other.map(|it| Path::of(&["runtimeClientConnection", it.0])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn of_set(annotation: Option<&str>, shares: bool) -> Vec<String> {
        let sharing: Value =
            if shares { json!([{ "name": "gpu", "scope": "AllReplicas" }]) } else { json!([]) };
        let annotations = annotation.map_or_else(|| json!({}), |it| json!({ MNNVL_GROUP: it }));
        let part = json!({ "name": "a", "resourceSharing": sharing, "annotations": annotations });
        let (mut clique, mut group) = (part.clone(), part);
        clique["spec"] = json!({ "podSpec": { "containers": [] } });
        group["cliqueNames"] = json!(["a"]);
        let templates: Value =
            if shares { json!([{ "name": "gpu", "templateSpec": { "spec": {} } }]) } else { json!([]) };
        let set = json!({
            "metadata": { "name": "s", "annotations": annotations },
            "spec": { "template": {
                "cliques": [clique], "podCliqueScalingGroups": [group],
                "resourceSharing": sharing, "resourceClaimTemplates": templates,
            } },
        });
        in_set(&serde_json::from_value(set).unwrap()).iter().map(|it| it.path.to_string()).collect()
    }

    #[test]
    fn every_field_of_a_set_that_has_no_effect_is_named() {
        assert_eq!(of_set(None, false), [""; 0]);
        assert_eq!(of_set(Some("none"), false), [""; 0]);
        assert_eq!(
            of_set(None, true),
            [
                "spec.template.resourceClaimTemplates",
                "spec.template.resourceSharing",
                "spec.template.cliques[0].resourceSharing",
                "spec.template.podCliqueScalingGroups[0].resourceSharing",
            ]
        );
        assert_eq!(
            of_set(Some("ring"), false),
            [
                "metadata.annotations[grove.io/mnnvl-group]",
                "spec.template.cliques[0].annotations[grove.io/mnnvl-group]",
                "spec.template.podCliqueScalingGroups[0].annotations[grove.io/mnnvl-group]",
            ]
        );
    }
}
