//! A plugin of the pod grouper for an imaginary kind of jobs, complete and small enough to copy from.
//!
//! ```yaml
//! apiVersion: example.com/v1
//! kind: CustomJob
//! metadata: { name: train }
//! spec:
//!   replicas: 8
//!   minAvailable: 6
//! ```
//!
//! All pods of a CustomJob are one group. So many of them have to be placed together as `minAvailable` says, else all
//! `replicas`, else one. `docs/podgrouper/writing-a-plugin.md` walks through this crate.

use grove_podgrouper::{
    Found, Group, Kind, Plugin, Refused, Settings, TRAIN, Workload, count, default_group,
};

/// The kind that the plugin is for.
pub const KIND: Kind<'static> = Kind { group: "example.com", version: "v1", kind: "CustomJob" };

/// The plugin.
#[derive(Clone, Copy, Debug, Default)]
pub struct CustomJob;

impl Plugin for CustomJob {
    fn name(&self) -> &'static str {
        "CustomJob"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        // Name, owner, labels, queue, priority, topology: as for every workload.
        let group = default_group(workload, settings, TRAIN);
        // Only what is special to the kind is changed.
        let spec = &workload.top["spec"];
        let said = count(&spec["minAvailable"], format_args!("spec.minAvailable"), 0)?;
        let replicas = count(&spec["replicas"], format_args!("spec.replicas"), 0)?;
        let positive = |number: &u32| *number > 0;
        let min_members = said.filter(positive).or(replicas.filter(positive)).unwrap_or(group.min_members);
        Ok(Some(Group { min_members, ..group }))
    }
}
