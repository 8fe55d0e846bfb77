//! Parts of a group: those of a fixed name, and one for each item of a list or map of the workload.

use serde_json::Value;

use super::{
    scope::Scope,
    selector::Selector,
    source::{At, Count},
    topology::TopologyFrom,
};
use crate::{
    group::{SubGroup, Topology},
    metadata::{self, label},
    plugin::Refused,
    sub_groups::{self, checked_name, leaf},
};

/// A part, or those of a list.
#[derive(Debug)]
pub(super) struct Part {
    /// `spec.subGroups[2]`.
    pub(super) field: String,
    pub(super) name: Name,
    pub(super) min_members: Count,
    pub(super) selector: Option<Selector>,
    pub(super) topology: Option<TopologyFrom>,
}

/// How a part is called.
#[derive(Debug)]
pub(super) enum Name {
    Fixed(String),
    /// One for each item.
    Each {
        items: At,
        /// Where an item has its name; keys of a map are names too.
        name: Option<At>,
        /// The label by which pods name their part.
        label: String,
    },
}

/// All parts of a group, the pod in its own.
pub(super) fn parts(
    rules: &[Part],
    pod: &Value,
    owner: Scope<'_>,
    whole: Option<&Topology>,
) -> Result<Vec<SubGroup>, Refused> {
    let (mut made, mut place, mut rest) = (Vec::new(), None, None);
    for rule in rules {
        let begin = made.len();
        let mine = match &rule.name {
            Name::Fixed(name) => {
                made.push(rule.make(name, owner, whole)?);
                match &rule.selector {
                    None => {
                        rest = Some(begin);
                        None
                    }
                    Some(it) => it.fits(pod).then_some(begin),
                }
            }
            Name::Each { items, name, label } => {
                let items = entries(items, owner)?;
                sub_groups::within(made.len() + items.len(), format_args!("{}.forEach", rule.field))?;
                for (index, (key, item)) in items.into_iter().enumerate() {
                    let scope = owner.item(index, item);
                    let name = item_name(rule, name.as_ref(), key, scope)?;
                    made.push(rule.make(&name, scope, whole)?);
                }
                rule.place_by(label, pod, &made, begin)
            }
        };
        place = place.or(mine);
    }
    let mut made = sub_groups::checked(made, format_args!("spec.subGroups"))?;
    match place.or(rest).and_then(|index| made.get_mut(index)) {
        Some(part) => part.pods.push(metadata::name(pod).to_owned()),
        None => {
            return Err(Refused(format!(
                "spec.subGroups: pod {} fits none of them: correct its labels, or add a sub-group without podSelector \
                 for the rest, with minMember 0 if the others do not need it",
                metadata::name(pod)
            )));
        }
    }
    Ok(made)
}

impl Part {
    fn make(&self, name: &str, scope: Scope<'_>, whole: Option<&Topology>) -> Result<SubGroup, Refused> {
        let topology = self.topology.as_ref().map_or(Ok(None), |it| it.read(scope, whole))?;
        Ok(SubGroup { topology, ..leaf(name, self.min_members.read(scope, 0)?) })
    }

    /// The part that a pod names with a label, of those that were made since `begin`.
    fn place_by(&self, key: &str, pod: &Value, made: &[SubGroup], begin: usize) -> Option<usize> {
        if self.selector.as_ref().is_some_and(|it| !it.fits(pod)) {
            return None;
        }
        let name = label(pod, key)?.to_ascii_lowercase();
        made.iter().enumerate().skip(begin).find(|(_, it)| it.name == name).map(|(index, _)| index)
    }
}

/// Items of a list, or entries of a map with their keys. A path that finds several finds the items themselves.
fn entries<'a>(at: &At, owner: Scope<'a>) -> Result<Vec<(Option<&'a str>, &'a Value)>, Refused> {
    let found = at.find(owner)?;
    Ok(match found.as_slice() {
        [Value::Array(items)] => items.iter().map(|it| (None, it)).collect(),
        [Value::Object(fields)] if !at.path.to_string().ends_with("[*]") => {
            fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect()
        }
        [single] if !at.path.to_string().ends_with("[*]") => {
            let what = crate::fields::shown(single);
            return Err(
                at.refused(format_args!("what it finds in {owner} is {what}: let it find a list or a map"))
            );
        }
        items => items.iter().map(|it| (None, *it)).collect(),
    })
}

fn item_name(rule: &Part, at: Option<&At>, key: Option<&str>, scope: Scope<'_>) -> Result<String, Refused> {
    let (name, field) = match (at, key) {
        (Some(at), _) => {
            let name = at.text(scope)?;
            let missing = || at.refused(format_args!("finds nothing in {scope}: set it there"));
            (name.ok_or_else(missing)?, format!("{} {}: what it finds in {scope}", at.field, at.path))
        }
        (None, Some(key)) => (key.to_owned(), format!("{}.forEach: the key of {scope}", rule.field)),
        (None, None) => {
            return Err(Refused(format!(
                "{field}.forEach.name is missing: {scope} is of a list, and has no key that could be its name",
                field = rule.field
            )));
        }
    };
    let name = name.to_ascii_lowercase();
    checked_name(&name, format_args!("{field}"))?;
    Ok(name)
}
