//! What a PodClique says of lost nodes.

use grove_api::{
    constants::conditions::node_lost,
    wire::{LostNode, PodCliqueStatus},
};
use k8s_openapi::jiff::Timestamp;

use super::conditions::{Now, find, is_true, put, remove};
use crate::facts::Tally;

/// Names that a message has room for.
const SHOWN: usize = 3;

/// Notes the nodes. The condition stays until the minimum is bound again: that it is missing is because of them.
pub(super) fn note(
    status: &mut PodCliqueStatus,
    nodes: &[LostNode],
    tally: &Tally,
    minimum: u32,
    now: Timestamp,
) {
    status.lost_nodes = nodes.to_vec();
    let lost: Vec<&LostNode> = nodes.iter().filter(|it| it.lost_at.is_some()).collect();
    let conditions = &mut status.conditions;
    let still = is_true(conditions, node_lost::TYPE) && tally.scheduled < minimum;
    if lost.is_empty() && !still {
        remove(conditions, node_lost::TYPE);
        return;
    }
    // When the last pod is gone from there, the nodes are still what it was about.
    let said = find(conditions, node_lost::TYPE).map(|it| it.message.clone()).unwrap_or_default();
    let message = if lost.is_empty() { said } else { words(&lost) };
    let condition = Now { type_: node_lost::TYPE, status: Some(true), reason: node_lost::PODS_GONE, message };
    put(conditions, condition, None, now);
}

/// `pods on a (Unreachable), b (Gone) count as gone`.
fn words(lost: &[&LostNode]) -> String {
    let names: Vec<String> =
        lost.iter().take(SHOWN).map(|it| format!("{} ({})", it.name, it.reason.as_str())).collect();
    let more = if lost.len() > SHOWN { format!(" and {} more", lost.len() - SHOWN) } else { String::new() };
    format!("pods on {}{more} count as lost", names.join(", "))
}
