//! Rules for the restart policy of a set.

use super::rule::{Rule, is_duration, positive, rule};
use crate::messages as say;

pub(super) fn policy() -> Vec<Rule> {
    vec![positive(".window")]
}

pub(super) fn backoff() -> Vec<Rule> {
    // What is no duration is refused for that, and not for its length too.
    let in_order = format!(
        "!has(self.initial) || !has(self.max) || !{} || !{} || duration(self.initial) <= duration(self.max)",
        is_duration(".initial"),
        is_duration(".max"),
    );
    vec![positive(".initial"), positive(".max"), rule(".initial", in_order, say::BACKOFF_UPSIDE_DOWN)]
}
