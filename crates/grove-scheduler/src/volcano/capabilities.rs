//! What Volcano does about each feature, as far as it is installed.

use crate::{
    affinity,
    capability::{Answer, Capabilities},
};

use super::form::{Form, TOO_OLD_FOR_GROUPS};

const PREEMPTION: &str = "Volcano moves whole gangs from 1.15 on, where its configuration has the actions gangpreempt and gangreclaim; \
     otherwise pod by pod, or not at all";

pub(super) fn capabilities(form: &Form) -> Capabilities {
    let required = form.lacks_levels().map_or(Answer::Native, Answer::Reject);
    let below = if form.sub_groups { required } else { Answer::Reject(TOO_OLD_FOR_GROUPS) };
    let bundle = match below {
        Answer::Native => Answer::Emulated("a bundle is one sub-group; minTaskMember keeps the minima in it"),
        missing => missing,
    };
    let both = match required {
        Answer::Native => affinity::BESIDE_REQUIRED,
        missing => missing,
    };
    let several = if form.sub_groups {
        Answer::Native
    } else {
        Answer::Emulated("minTaskMember keeps the minimum of each group")
    };
    Capabilities {
        single_group_gang: Answer::Native,
        multi_group_gang: several,
        hierarchical_gang: Answer::Emulated(
            "all parts of a bundle are needed, so that the gang needs each of them",
        ),
        best_effort_above_minimum: Answer::Native,
        minimum_change: Answer::Native,
        required_topology_gang: required,
        required_topology_bundle: bundle,
        required_topology_group: below,
        nested_required_topology: below,
        preferred_topology: affinity::PREFERRED,
        required_and_preferred_topology: both,
        priority_class: Answer::Native,
        gang_preemptor: Answer::Pass(PREEMPTION),
        gang_victim: Answer::Pass(PREEMPTION),
        reservation_reuse: Answer::Pass("Volcano keeps no capacity for a gang that comes later"),
        scaled_after_base: Answer::Emulated("pods of a scaled gang stay gated until its base gang is placed"),
        queue: Answer::Native,
        group_status: Answer::Native,
    }
}
