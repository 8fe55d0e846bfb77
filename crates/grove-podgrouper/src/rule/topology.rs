//! Where a group or a part of it goes, as a rule says it.

use super::{scope::Scope, source::Text};
use crate::{group::Topology, plugin::Refused, topology_annotations::complete};

/// Where the levels are.
#[derive(Debug)]
pub(super) struct TopologyFrom {
    pub(super) field: String,
    pub(super) name: Option<Text>,
    pub(super) required: Option<Text>,
    pub(super) preferred: Option<Text>,
}

impl TopologyFrom {
    /// The levels; `None` where the workload names none. `inherited` is the topology of what it is in.
    pub(super) fn read(
        &self,
        scope: Scope<'_>,
        inherited: Option<&Topology>,
    ) -> Result<Option<Topology>, Refused> {
        let text = |it: &Option<Text>| it.as_ref().map_or(Ok(None), |it| it.read(scope));
        let (required, preferred) = (text(&self.required)?, text(&self.preferred)?);
        if required.is_none() && preferred.is_none() {
            return Ok(None);
        }
        let name = text(&self.name)?.or_else(|| inherited.map(|it| it.name.clone()));
        if name.as_ref().is_none_or(String::is_empty) {
            return Err(Refused(format!(
                "{}: {scope} names a level of no topology: set {}.name, or what it finds",
                self.field, self.field
            )));
        }
        Ok(complete(name.as_deref(), required.as_deref(), preferred.as_deref()))
    }
}
