//! Where the pods of a template go, as its annotations say it.

use std::fmt::Arguments;

use serde_json::Value;

use crate::{group::Topology, metadata::annotation, plugin::Refused};

/// Names a topology.
pub(crate) const NAME: &str = "kai.scheduler/topology";
/// The level that has to hold.
pub(crate) const REQUIRED: &str = "kai.scheduler/topology-required-placement";
/// The level to try for.
pub(crate) const PREFERRED: &str = "kai.scheduler/topology-preferred-placement";

/// What an annotation says, if it says something.
pub(crate) fn said<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    annotation(object, key).filter(|it| !it.is_empty())
}

/// A topology and at least one of its levels; else nothing is asked for.
pub(crate) fn complete(
    name: Option<&str>,
    required: Option<&str>,
    preferred: Option<&str>,
) -> Option<Topology> {
    let owned = |text: Option<&str>| text.filter(|it| !it.is_empty()).map(str::to_owned);
    let topology = Topology { name: owned(name)?, required: owned(required), preferred: owned(preferred) };
    (topology.required.is_some() || topology.preferred.is_some()).then_some(topology)
}

/// What a template asks for.
pub(crate) fn of(template: &Value) -> Option<Topology> {
    complete(said(template, NAME), said(template, REQUIRED), said(template, PREFERRED))
}

/// The same, where a level without a topology is an error.
pub(crate) fn checked(template: &Value, field: Arguments<'_>) -> Result<Option<Topology>, Refused> {
    let level = [REQUIRED, PREFERRED].into_iter().find(|it| said(template, it).is_some());
    match (said(template, NAME), level) {
        (None, Some(level)) => Err(Refused(format!(
            "{field}.metadata.annotations[{level}] names a level of no topology: name the topology in \
             annotation {NAME} beside it"
        ))),
        _ => Ok(of(template)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_topology_needs_a_name_and_a_level() {
        let of = |name: &str, required: &str, preferred: &str| {
            let annotations = json!({ NAME: name, REQUIRED: required, PREFERRED: preferred });
            checked(&json!({ "metadata": { "annotations": annotations } }), format_args!("template"))
        };
        let topology = |required: Option<&str>, preferred: Option<&str>| {
            let owned = |it: Option<&str>| it.map(str::to_owned);
            Ok(Some(Topology {
                name: "dc".to_owned(),
                required: owned(required),
                preferred: owned(preferred),
            }))
        };
        assert_eq!(of("dc", "rack", "host"), topology(Some("rack"), Some("host")));
        assert_eq!(of("dc", "rack", ""), topology(Some("rack"), None));
        assert_eq!(of("dc", "", "host"), topology(None, Some("host")));
        assert_eq!(of("dc", "", ""), Ok(None));
        assert_eq!(of("", "", ""), Ok(None));
        let refused = of("", "", "host").expect_err("no topology is named");
        assert_eq!(
            refused.0,
            "template.metadata.annotations[kai.scheduler/topology-preferred-placement] names a level of no \
             topology: name the topology in annotation kai.scheduler/topology beside it"
        );
    }
}
