//! What the scheduler can do. A feature without an answer does not compile.

use grove_scheduler::{
    Answer::{Emulated, Native, Pass, Reject},
    Capabilities,
};

/// Why a bundle has no level.
pub(crate) const NO_BUNDLES: &str =
    "a herd has folds, and folds have no parts: only the whole herd and its folds can have a level";
/// Why a fold has no level.
pub(crate) const OLD_RELEASE: &str =
    "this release of the herd scheduler knows a level for the whole herd only";

/// The answers of a release that has levels for folds, or not.
pub(crate) fn of(fold_levels: bool) -> Capabilities {
    let of_folds = if fold_levels { Native } else { Reject(OLD_RELEASE) };
    Capabilities {
        single_group_gang: Native,
        multi_group_gang: Native,
        hierarchical_gang: Emulated("all folds of a herd are needed, whatever they are bundled in"),
        best_effort_above_minimum: Native,
        minimum_change: Native,
        required_topology_gang: Native,
        required_topology_bundle: Reject(NO_BUNDLES),
        required_topology_group: of_folds,
        nested_required_topology: of_folds,
        preferred_topology: Pass("herds are kept together or not at all"),
        required_and_preferred_topology: Pass(
            "the required level is kept, the preferred one is not looked at",
        ),
        priority_class: Native,
        gang_preemptor: Native,
        gang_victim: Native,
        reservation_reuse: Pass("the herd scheduler reserves nothing"),
        scaled_after_base: Emulated(
            "the pods of a scaled gang keep their scheduling gate until the base gang is placed",
        ),
        queue: Pass("the herd scheduler has no queues"),
        group_status: Native,
    }
}
