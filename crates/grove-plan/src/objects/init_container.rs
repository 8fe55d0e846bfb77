//! What holds a pod back until its parents are ready: an init container that reads one annotation of the pod from a file.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::constants::{annotations, start_order as names};
use k8s_openapi::{
    api::core::v1::{
        Capabilities, Container, DownwardAPIVolumeFile, DownwardAPIVolumeSource, ObjectFieldSelector,
        PodSpec, ResourceRequirements, SeccompProfile, SecurityContext, Volume, VolumeMount,
    },
    apimachinery::pkg::api::resource::Quantity,
};

use crate::layout::Parent;

/// What it may take, which is what it asks for too: a pod that is Guaranteed stays so. More than the program needs,
/// because what sets the container up runs within these limits, and is slow or ends where they are tighter. A pod as a
/// whole asks for the larger of its init containers and its containers, so that it hardly ever asks for more than before.
const RESOURCES: [(&str, &str); 2] = [("cpu", "100m"), ("memory", "32Mi")];
/// The user of the image, where the pod says that its containers run as root.
const USER: i64 = 65532;

/// How a pod starts.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Image of the init container.
    pub image: &'a str,
    /// The cliques that have to be ready first. Where there are none, there is no init container.
    pub parents: &'a [Parent],
    /// Whether they are, now.
    pub may_start: bool,
}

impl Start<'_> {
    pub(super) fn add_to(self, spec: &mut PodSpec, notes: &mut BTreeMap<String, String>) {
        if self.parents.is_empty() {
            return;
        }
        if self.may_start {
            notes.insert(annotations::PARENTS_READY.to_owned(), annotations::PARENTS_READY_VALUE.to_owned());
        }
        let pod_is_root = spec.security_context.as_ref().and_then(|it| it.run_as_user) == Some(0);
        let volumes = spec.volumes.get_or_insert_default();
        let volume = free(names::VOLUME, volumes.iter().map(|it| it.name.as_str()));
        volumes.push(file(volume.clone()));
        let containers = spec.init_containers.get_or_insert_default();
        let taken = containers.iter().chain(&spec.containers).map(|it| it.name.as_str());
        let name = free(names::INIT_CONTAINER, taken);
        containers.push(self.container(name, volume, pod_is_root));
    }

    fn container(self, name: String, volume: String, pod_is_root: bool) -> Container {
        let file = format!("--file={}/{}", names::MOUNT_PATH, names::FILE);
        // The program only tells them: who is ready is for the operator to see.
        let parents = self.parents.iter().map(|it| format!("--podcliques={}:{}", it.name, it.minimum));
        Container {
            name,
            image: Some(self.image.to_owned()),
            args: Some(std::iter::once(file).chain(parents).collect()),
            volume_mounts: Some(vec![VolumeMount {
                name: volume,
                mount_path: names::MOUNT_PATH.to_owned(),
                read_only: Some(true),
                ..VolumeMount::default()
            }]),
            resources: Some(ResourceRequirements {
                requests: Some(resources()),
                limits: Some(resources()),
                ..ResourceRequirements::default()
            }),
            security_context: Some(restricted(pod_is_root)),
            // Why it ended is then in the pod's status.
            termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
            ..Container::default()
        }
    }
}

/// `name`, or, where that is taken, the first of `name-1`, `name-2`, … that is not: what the user called so stays.
fn free<'a>(name: &str, taken: impl Iterator<Item = &'a str>) -> String {
    let taken: BTreeSet<&str> = taken.collect();
    let numbered = (1..).map(|it| format!("{name}-{it}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|it| !taken.contains(it.as_str())).unwrap_or_default()
}

fn file(name: String) -> Volume {
    let item = DownwardAPIVolumeFile {
        path: names::FILE.to_owned(),
        field_ref: Some(ObjectFieldSelector {
            api_version: None,
            field_path: format!("metadata.annotations['{}']", annotations::PARENTS_READY),
        }),
        ..DownwardAPIVolumeFile::default()
    };
    let source = DownwardAPIVolumeSource { items: Some(vec![item]), ..DownwardAPIVolumeSource::default() };
    Volume { name, downward_api: Some(source), ..Volume::default() }
}

fn resources() -> BTreeMap<String, Quantity> {
    RESOURCES.map(|(name, amount)| (name.to_owned(), Quantity(amount.to_owned()))).into()
}

/// All that Pod Security "restricted" asks for, and nothing that could be written to.
///
/// The user is that of the image or of the pod, or one that OpenShift chooses: its `restricted-v2` refuses a pod that names one outside
/// of the range of its namespace. Only root cannot be taken over from the pod, because a kubelet does not start root with `runAsNonRoot`.
fn restricted(pod_is_root: bool) -> SecurityContext {
    SecurityContext {
        run_as_non_root: Some(true),
        run_as_user: pod_is_root.then_some(USER),
        allow_privilege_escalation: Some(false),
        privileged: Some(false),
        read_only_root_filesystem: Some(true),
        capabilities: Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), add: None }),
        seccomp_profile: Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        }),
        ..SecurityContext::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_user_are_left_to_them() {
        let rows = [
            (&[][..], "v"),
            (&["w", "v-1"][..], "v"),
            (&["v"][..], "v-1"),
            (&["v-2", "v", "v-1"][..], "v-3"),
        ];
        for (taken, want) in rows {
            assert_eq!(free("v", taken.iter().copied()), want, "{taken:?}");
        }
    }
}
