//! What the installed KAI understands, read from its CRD.

use crate::{backend::Example, probe::Probed};

use super::{VERSION, topology::served};

/// The CRD that has to be there.
pub(super) const DEFINITION: &str = "podgroups.scheduling.run.ai";

/// Forms of the PodGroup, older ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Sub-groups with parents and placement. KAI's own pod grouper leaves no pod alone.
    SubGroups,
    /// Parents say how many of their sub-groups they need.
    MinSubGroup,
    /// A gang says for how long it waits before it evicts others or is evicted itself.
    Delays,
}

/// Fields that each form has more than the one before it.
const FIELDS: [(Form, &[&str]); 3] = [
    (Form::SubGroups, &["spec.subGroups[].parent", "spec.subGroups[].topologyConstraint"]),
    (Form::MinSubGroup, &["spec.minSubGroup", "spec.subGroups[].minSubGroup"]),
    (Form::Delays, &["spec.preemptionDelay", "spec.stalenessGracePeriod"]),
];

/// One CRD for each form, and the newest without topologies.
pub(super) fn examples() -> Vec<Example> {
    let with = |form: Form| {
        let fields: Vec<&str> =
            FIELDS.iter().filter(|it| it.0 <= form).flat_map(|it| it.1.iter().copied()).collect();
        Probed::default().with_fields(DEFINITION, VERSION, &fields)
    };
    let whole =
        |form: Form| Example { title: form.version(), cluster: with(form).with_served(&served(), true) };
    let mut examples: Vec<Example> = FIELDS.iter().map(|it| whole(it.0)).collect();
    examples.push(Example { title: "0.17 or newer, without Topologies", cluster: with(Form::Delays) });
    examples
}

/// The smallest number that a PodGroup may ask for: 1 up to 0.17.0, 0 afterwards.
pub(super) fn least(cluster: &Probed) -> u32 {
    let schema = cluster.schema(DEFINITION, VERSION);
    let minimum = schema.and_then(|it| it.pointer("/properties/spec/properties/minMember/minimum"));
    // Some tools write it as 1.0.
    u32::from(minimum.and_then(serde_json::Value::as_f64).is_some_and(|it| it > 0.0))
}

impl Form {
    /// The form of the installed CRD, or what is missing.
    pub(super) fn of(cluster: &Probed) -> Result<Self, String> {
        let has = |path: &[&str]| cluster.has_field(DEFINITION, VERSION, path);
        if cluster.schema(DEFINITION, VERSION).is_none() {
            return Err(format!(
                "the cluster has no CRD {DEFINITION} that serves {VERSION}: install KAI 0.12 or newer"
            ));
        }
        let sub_group = |field| has(&["spec", "subGroups", "[]", field]);
        if !(sub_group("parent") && sub_group("topologyConstraint")) {
            return Err(format!(
                "the CRD {DEFINITION} has no sub-groups with parents and placement: update KAI to 0.12 or newer"
            ));
        }
        if !(has(&["spec", "minSubGroup"]) && sub_group("minSubGroup")) {
            return Ok(Self::SubGroups);
        }
        let delays = has(&["spec", "preemptionDelay"]) && has(&["spec", "stalenessGracePeriod"]);
        Ok(if delays { Self::Delays } else { Self::MinSubGroup })
    }

    /// The releases that have this form.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::SubGroups => "0.12 to 0.14",
            Self::MinSubGroup => "0.15 or 0.16",
            Self::Delays => "0.17 or newer",
        }
    }
}
