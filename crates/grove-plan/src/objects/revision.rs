//! ControllerRevisions: the templates that a set has had.

use std::{collections::BTreeMap, fmt::Write as _};

use grove_api::{
    constants::{components, labels},
    names,
    wire::PodCliqueSet,
};
use k8s_openapi::{
    api::apps::v1::ControllerRevision,
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, runtime::RawExtension},
};

use serde_json::{Value, json};

use super::{labels::Labels, owner};
use crate::layout::{set_name, set_namespace};

/// Where in `data` the template is.
const TEMPLATE: &str = "template";

/// The set's template as it is now, under its generation hash and with this number.
pub fn revision(set: &PodCliqueSet, hash: &str, number: i64) -> ControllerRevision {
    let name = names::revision(set_name(set), hash);
    let labels = Labels::from_template(&BTreeMap::new())
        .of_set(set_name(set))
        .with(labels::COMPONENT, components::REVISION)
        .into_map();
    // Our types have string keys only, so that they always serialise.
    let template = serde_json::to_string(&set.spec.template).unwrap_or_default();
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels),
            owner_references: owner(set).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        data: RawExtension(json!({ TEMPLATE: plain(&template) })),
        revision: Some(number),
    }
}

/// The template that a revision keeps; `None` where it keeps none, or something else.
pub fn kept_template(revision: &ControllerRevision) -> Option<Value> {
    serde_json::from_str(revision.data.0.get(TEMPLATE)?.as_str()?).ok()
}

/// The same JSON in characters that every encoder writes alike. The API server compares the bytes of `data` with those that
/// it writes itself, and whoever changes anything else of a revision (the garbage collector, when a set is orphaned; we,
/// when a template comes back) is refused where an encoder has its own mind on order, `<`, `>`, `&` or line separators.
fn plain(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if matches!(character, ' '..='~') && !matches!(character, '<' | '>' | '&') {
            text.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                // A string takes whatever is written to it.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::set;

    #[test]
    fn a_template_is_kept_in_characters_that_no_encoder_changes_and_read_as_it_was() {
        let mut set = set("fe=2/1");
        let odd = "a<b && c>d \u{2028} \u{7f} é 🚀 \"\\ \n".to_owned();
        set.spec.template.cliques[0].annotations = [("note".to_owned(), odd)].into();
        let made = revision(&set, "h1", 1);
        let text = made.data.0["template"].as_str().unwrap();
        assert!(text.chars().all(|it| matches!(it, ' '..='~') && !"<>&".contains(it)), "{text}");
        assert_eq!(kept_template(&made), Some(serde_json::to_value(&set.spec.template).unwrap()));
    }

    #[test]
    fn what_is_no_template_is_none() {
        for data in [json!(null), json!({}), json!({ "template": {} }), json!({ "template": "{" })] {
            let revision = ControllerRevision { data: RawExtension(data), ..ControllerRevision::default() };
            assert_eq!(kept_template(&revision), None);
        }
    }
}
