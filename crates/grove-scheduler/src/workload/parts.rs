//! The parts of a group, checked: a tree in which every part is found once.
//!
//! Nothing here calls itself: a chain of 10,000 parts must not need a stack of that height.

use std::collections::BTreeMap;

use grove_api::limits::MAX_LABEL_LENGTH;

use crate::backend::RenderError;

use super::{Group, SubGroup};

/// Parts that a group may have.
const MOST: usize = 10_000;

/// The parts of a group.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    group: &'a Group,
    /// Parts without a parent.
    roots: Vec<usize>,
    /// Of each part the parts in it.
    children: Vec<Vec<usize>>,
    /// All of them, parents before their children.
    order: Vec<usize>,
}

impl<'a> Parts<'a> {
    /// Reads them, or says which one is wrong.
    pub(crate) fn of(group: &'a Group) -> Result<Self, RenderError> {
        let parts = &group.sub_groups;
        if parts.len() > MOST {
            return Err(RenderError(format!(
                "the group has {} parts, more than {MOST}: ask for fewer",
                parts.len()
            )));
        }
        let mut numbers = BTreeMap::new();
        for (number, part) in parts.iter().enumerate() {
            if !is_dns_label(&part.name) {
                return Err(RenderError(format!(
                    "{:?} cannot name a part of the group, which pods carry as a label: use at most \
                     {MAX_LABEL_LENGTH} lower case letters, digits and dashes, with no dash at either end",
                    part.name
                )));
            }
            if numbers.insert(part.name.as_str(), number).is_some() {
                return Err(RenderError(format!("two parts of the group are named {:?}", part.name)));
            }
        }
        let (mut roots, mut children) = (Vec::new(), vec![Vec::new(); parts.len()]);
        for (number, part) in parts.iter().enumerate() {
            let Some(parent) = &part.parent else {
                roots.push(number);
                continue;
            };
            let siblings = numbers.get(parent.as_str()).and_then(|it| children.get_mut(*it));
            let unknown = || {
                RenderError(format!("part {:?} of the group is in {parent:?}, which is no part", part.name))
            };
            siblings.ok_or_else(unknown)?.push(number);
        }
        let mut tree = Self { group, order: roots.clone(), roots, children };
        tree.walk()?;
        Ok(tree)
    }

    /// Brings them into order. What cannot be reached from above is in a circle.
    fn walk(&mut self) -> Result<(), RenderError> {
        let mut next = 0;
        while let Some(number) = self.order.get(next) {
            self.order.extend(self.children.get(*number).into_iter().flatten());
            next += 1;
        }
        let mut is_reached = vec![false; self.group.sub_groups.len()];
        for number in &self.order {
            is_reached[*number] = true;
        }
        let mut all = self.group.sub_groups.iter().zip(&is_reached);
        if let Some((part, _)) = all.find(|it| !it.1) {
            return Err(RenderError(format!("part {:?} of the group is inside of itself", part.name)));
        }
        let mut leaves = (0..).zip(&self.group.sub_groups).filter(|(number, _)| self.is_leaf(*number));
        match leaves.find(|(_, part)| part.min_sub_groups.is_some()) {
            Some((_, part)) => Err(RenderError(format!(
                "part {:?} of the group needs parts, and has none: say how many pods it needs",
                part.name
            ))),
            None => Ok(()),
        }
    }

    /// Numbers of the parts that have no parent.
    pub(crate) fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// Numbers of the parts in a part.
    pub(crate) fn children(&self, part: usize) -> &[usize] {
        self.children.get(part).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether pods are in a part, and no parts.
    pub(crate) fn is_leaf(&self, part: usize) -> bool {
        self.children(part).is_empty()
    }

    /// The parts that have pods.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = &'a SubGroup> {
        (0..).zip(&self.group.sub_groups).filter(|(number, _)| self.is_leaf(*number)).map(|it| it.1)
    }

    /// What needs fewer parts than it has, in words.
    pub(crate) fn spare(&self) -> Option<String> {
        self.first_where(|min, parts| min < parts)
    }

    /// What needs more parts than it has, in words: it is never complete.
    pub(crate) fn lacking(&self) -> Option<String> {
        self.first_where(|min, parts| min > parts)
    }

    fn first_where(&self, holds: impl Fn(usize, usize) -> bool) -> Option<String> {
        let holds = |min: Option<u32>, parts: &[usize]| min.is_some_and(|it| holds(it as usize, parts.len()));
        if holds(self.group.min_sub_groups, &self.roots) {
            return Some("the group".to_owned());
        }
        let mut parts = self.group.sub_groups.iter().zip(&self.children);
        let found = parts.find(|(part, children)| holds(part.min_sub_groups, children));
        found.map(|(part, _)| format!("part {:?}", part.name))
    }

    /// Pods without which the group is not complete, whichever parts they are in. Where not all parts are needed the
    /// smallest count: more would hold back a group that is complete.
    pub(crate) fn needed(&self) -> u32 {
        if self.group.min_sub_groups.is_none() {
            return self.group.min_members;
        }
        let mut needed: Vec<u32> = self.group.sub_groups.iter().map(|it| it.min_members).collect();
        for number in self.order.iter().rev().filter(|it| !self.is_leaf(**it)) {
            let min = self.group.sub_groups[*number].min_sub_groups;
            needed[*number] = smallest(self.children(*number), &needed, min);
        }
        smallest(&self.roots, &needed, self.group.min_sub_groups)
    }
}

/// The sum of the smallest so many, or of all.
fn smallest(parts: &[usize], needed: &[u32], count: Option<u32>) -> u32 {
    let mut sizes: Vec<u32> = parts.iter().map(|it| needed[*it]).collect();
    sizes.sort_unstable();
    let count = count.map_or(sizes.len(), |it| it as usize);
    sizes.iter().take(count).fold(0, |sum, it| sum.saturating_add(*it))
}

/// Whether the text is a label of a host name: it can be the value of a label, too.
pub(crate) fn is_dns_label(text: &str) -> bool {
    let is_inner = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
    (1..=MAX_LABEL_LENGTH).contains(&text.len())
        && text.chars().all(is_inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
