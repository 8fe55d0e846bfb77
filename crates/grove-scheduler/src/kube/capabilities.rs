//! What the stock scheduler can do, in each form.

use super::form::Form;
use crate::{
    affinity,
    capability::{
        Answer::{Emulated, Native, Pass, Reject},
        Capabilities,
    },
};

/// Why gangs are plain pods.
pub(super) const SWITCHED_OFF: &str =
    "gangScheduling is false in the operator's configuration: pods are placed one by one";
/// Why gangs are plain pods.
pub(super) const NOT_SERVED: &str = "the API server does not serve PodGroups of scheduling.k8s.io/v1beta1 (feature gate \
     GenericWorkload): pods are placed one by one";

/// Why a PodGroup has no topology.
pub(super) const NO_TOPOLOGY: &str = "the API server drops topology constraints of PodGroups (feature gate \
     TopologyAwareWorkloadScheduling is closed)";
/// Why one PodGroup is not enough.
pub(super) const NO_TREE: &str = "a PodGroup has one topology level for all of its pods; more needs CompositePodGroups of \
     scheduling.k8s.io/v1alpha3 (feature gate CompositePodGroup)";

const SPLIT: &str = "one PodGroup with the minimum of every group";
const LATER: &str =
    "pods above the minimum are in no group, and keep their scheduling gate until the minima are placed";
const GATES: &str = "the pods of a scaled gang keep their scheduling gate until the base gang is placed";
const NO_RESERVATION: &str = "kube-scheduler reserves nothing for a gang to come; the reference is a hint";
const NO_QUEUE: &str = "kube-scheduler has no queues";

pub(super) fn of(form: Form) -> Capabilities {
    match form {
        Form::Tree => TREE,
        Form::Flat { topology: false } => FLAT,
        Form::Flat { topology: true } => Capabilities {
            required_topology_gang: Native,
            required_topology_bundle: Reject(NO_TREE),
            required_topology_group: Emulated(
                "as the constraint of the gang, where that has one group only; other gangs are refused",
            ),
            nested_required_topology: Reject(NO_TREE),
            required_and_preferred_topology: affinity::BESIDE_REQUIRED,
            ..FLAT
        },
        Form::Plain(why) => plain(why),
    }
}

const TREE: Capabilities = Capabilities {
    single_group_gang: Native,
    multi_group_gang: Native,
    hierarchical_gang: Native,
    best_effort_above_minimum: Emulated(LATER),
    minimum_change: Emulated(
        "the number changes at once; which pods it is made of, only as pods are created",
    ),
    required_topology_gang: Native,
    required_topology_bundle: Native,
    required_topology_group: Native,
    nested_required_topology: Native,
    preferred_topology: affinity::PREFERRED,
    required_and_preferred_topology: affinity::BESIDE_REQUIRED,
    priority_class: Native,
    gang_preemptor: Native,
    gang_victim: Native,
    reservation_reuse: Pass(NO_RESERVATION),
    scaled_after_base: Emulated(GATES),
    queue: Pass(NO_QUEUE),
    group_status: Native,
};

const FLAT: Capabilities = Capabilities {
    multi_group_gang: Emulated(SPLIT),
    hierarchical_gang: Emulated(SPLIT),
    required_topology_gang: Reject(NO_TOPOLOGY),
    required_topology_bundle: Reject(NO_TOPOLOGY),
    required_topology_group: Reject(NO_TOPOLOGY),
    nested_required_topology: Reject(NO_TOPOLOGY),
    required_and_preferred_topology: Reject(NO_TOPOLOGY),
    ..TREE
};

const fn plain(why: &'static str) -> Capabilities {
    Capabilities {
        single_group_gang: Pass(why),
        multi_group_gang: Pass(why),
        hierarchical_gang: Pass(why),
        best_effort_above_minimum: Native,
        minimum_change: Pass(why),
        required_topology_gang: Reject(why),
        required_topology_bundle: Reject(why),
        required_topology_group: Reject(why),
        nested_required_topology: Reject(why),
        preferred_topology: affinity::PREFERRED,
        required_and_preferred_topology: Reject(why),
        priority_class: Emulated("the pods get it"),
        gang_preemptor: Pass(why),
        gang_victim: Pass(why),
        reservation_reuse: Pass(NO_RESERVATION),
        scaled_after_base: Emulated(GATES),
        queue: Pass(NO_QUEUE),
        group_status: Emulated("read from the pods"),
    }
}
