//! Parts of a group: rules that hold for those of every workload.

use std::{collections::BTreeSet, fmt::Arguments};

use serde_json::Value;

use crate::{fields::shown, group::SubGroup, metadata, plugin::Refused};

/// Parts that a group may have.
pub(crate) const MOST: u32 = 10_000;
/// Pods say their part in a label.
const LONGEST: usize = 63;

/// A part without parts.
pub(crate) fn leaf(name: impl Into<String>, min_members: u32) -> SubGroup {
    SubGroup { name: name.into(), min_members, ..SubGroup::default() }
}

/// A part of which so many parts have to be placed.
pub(crate) fn parent(name: impl Into<String>, min_sub_groups: u32) -> SubGroup {
    SubGroup { name: name.into(), min_sub_groups: Some(min_sub_groups), ..SubGroup::default() }
}

/// Says that a pod is in a part; `false` where there is no such part.
pub(crate) fn place(pod: &Value, name: &str, parts: &mut [SubGroup]) -> bool {
    let part = parts.iter_mut().find(|it| it.name == name);
    part.map(|it| it.pods.push(metadata::name(pod).to_owned())).is_some()
}

/// A name that schedulers take for a part: a DNS label.
pub(crate) fn checked_name<'a>(name: &'a str, field: Arguments<'_>) -> Result<&'a str, Refused> {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    let is_right = !name.is_empty()
        && name.len() <= LONGEST
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_right {
        return Ok(name);
    }
    Err(Refused(format!(
        "{field} is {}: it names a part of the group, so use at most {LONGEST} lower case letters, digits and \
         dashes, with no dash at either end",
        shown(&Value::from(name))
    )))
}

/// Parts, if there are not too many of them, and no two of one name.
pub(crate) fn checked(parts: Vec<SubGroup>, field: Arguments<'_>) -> Result<Vec<SubGroup>, Refused> {
    within(parts.len(), field)?;
    let mut names = BTreeSet::new();
    match parts.iter().find(|it| !names.insert(it.name.as_str())) {
        Some(twice) => Err(Refused(format!(
            "{field} make two parts of the group that are named {}: give one of them another name",
            twice.name
        ))),
        None => Ok(parts),
    }
}

/// Whether a group may have so many parts.
pub(crate) fn within(parts: usize, field: Arguments<'_>) -> Result<(), Refused> {
    if parts <= MOST as usize {
        return Ok(());
    }
    Err(Refused(format!("{field} make {parts} parts of the group, more than {MOST}: ask for fewer")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dns_labels() {
        let longest = "a".repeat(63);
        for name in ["a", "0", "a-b", "a--b", &longest] {
            assert_eq!(checked_name(name, format_args!("spec.name")), Ok(name));
        }
        let too_long = "a".repeat(64);
        for name in ["", "-a", "a-", "A", "a_b", "a.b", "ä", &too_long] {
            let refused = checked_name(name, format_args!("spec.name")).expect_err(name);
            assert!(refused.0.starts_with(&format!("spec.name is \"{name}\": ")), "{refused}");
        }
    }

    #[test]
    fn names_differ_and_have_an_end() {
        let parts = |count: u32| (0..count).map(|it| leaf(format!("part-{it}"), 1)).collect::<Vec<_>>();
        assert_eq!(checked(parts(10_000), format_args!("spec.a")).map(|it| it.len()), Ok(10_000));
        let too_many = "spec.a make 10001 parts of the group, more than 10000: ask for fewer";
        assert_eq!(checked(parts(10_001), format_args!("spec.a")), Err(Refused(too_many.to_owned())));
        let twice = "spec.a make two parts of the group that are named b: give one of them another name";
        let parts = vec![leaf("b", 1), parent("a", 1), leaf("b", 2)];
        assert_eq!(checked(parts, format_args!("spec.a")), Err(Refused(twice.to_owned())));
    }
}
