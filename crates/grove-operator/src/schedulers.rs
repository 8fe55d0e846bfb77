//! Which scheduler a pod gets. A backend for each scheduler comes with the framework; until then only the name is set.

use grove_api::config::SchedulerProfiles;
use k8s_openapi::api::core::v1::Pod;

/// The schedulers that pods may have.
#[derive(Clone, Debug)]
pub struct Schedulers {
    default: String,
}

impl Schedulers {
    /// As the configuration says.
    pub fn new(profiles: &SchedulerProfiles) -> Self {
        Self { default: profiles.default_name().to_owned() }
    }

    /// The scheduler of pods that name none.
    pub(crate) fn default_name(&self) -> &str {
        &self.default
    }
}

impl grove_plan::objects::Scheduler for Schedulers {
    fn prepare(&self, pod: &mut Pod) {
        let name = &mut pod.spec.get_or_insert_default().scheduler_name;
        if name.as_deref().unwrap_or_default().is_empty() {
            *name = Some(self.default.clone());
        }
    }
}
