//! Volumes, and where containers mount them.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, PodSpec, Volume};

use super::label;
use crate::field::{Error, Errors, Path};

/// Types of volumes, in the order in which Kubernetes looks for them.
const TYPES: &[&str] = &[
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

pub(super) fn check(pod: &PodSpec, path: &Path, errors: &mut Errors) {
    let list = path.child("volumes");
    let mut names = BTreeSet::new();
    for (index, volume) in pod.volumes.iter().flatten().enumerate() {
        let path = list.index(index);
        label(&volume.name, path.child("name"), errors);
        if !volume.name.is_empty() && !names.insert(&volume.name) {
            errors.push(Error::duplicate(path.child("name"), &volume.name));
        }
        // Without a type it is an emptyDir.
        for type_ in types_of(volume).into_iter().skip(1) {
            errors.push(Error::forbidden(path.child(type_), "may not specify more than 1 volume type"));
        }
        source(volume, &path, errors);
    }
}

fn types_of(volume: &Volume) -> Vec<&'static str> {
    let value = serde_json::to_value(volume).unwrap_or_default();
    TYPES.iter().copied().filter(|it| value.get(it).is_some()).collect()
}

fn source(volume: &Volume, path: &Path, errors: &mut Errors) {
    let claim = volume.persistent_volume_claim.as_ref();
    for (field, name, value) in [
        ("hostPath", "path", volume.host_path.as_ref().map(|it| it.path.as_str())),
        (
            "secret",
            "secretName",
            volume.secret.as_ref().map(|it| it.secret_name.as_deref().unwrap_or_default()),
        ),
        ("persistentVolumeClaim", "claimName", claim.map(|it| it.claim_name.as_str())),
        ("configMap", "name", volume.config_map.as_ref().map(|it| it.name.as_str())),
    ] {
        if value.is_some_and(str::is_empty) {
            errors.push(Error::required(path.child(field).child(name), ""));
        }
    }
}

/// Checks where a container mounts volumes.
pub(super) fn mounts(pod: &PodSpec, container: &Container, path: &Path, errors: &mut Errors) {
    let exists = |name: &str| pod.volumes.iter().flatten().any(|it| it.name == name);
    let (list, mut paths) = (path.child("volumeMounts"), BTreeSet::new());
    for (index, mount) in container.volume_mounts.iter().flatten().enumerate() {
        let path = list.index(index);
        named(&mount.name, &path, exists, errors);
        if mount.mount_path.is_empty() {
            errors.push(Error::required(path.child("mountPath"), ""));
        } else if !paths.insert(&mount.mount_path) {
            errors.push(Error::invalid(path.child("mountPath"), &mount.mount_path, "must be unique"));
        }
        let (sub_path, expression) = (mount.sub_path.as_deref(), mount.sub_path_expr.as_deref());
        descending(sub_path, path.child("subPath"), errors);
        descending(expression, path.child("subPathExpr"), errors);
        if let Some(expression) = expression.filter(|it| !it.is_empty())
            && sub_path.is_some_and(|it| !it.is_empty())
        {
            let detail = "subPathExpr and subPath are mutually exclusive";
            errors.push(Error::invalid(path.child("subPathExpr"), expression, detail));
        }
    }
    let list = path.child("volumeDevices");
    for (index, device) in container.volume_devices.iter().flatten().enumerate() {
        let path = list.index(index);
        named(&device.name, &path, exists, errors);
        if device.device_path.is_empty() {
            errors.push(Error::required(path.child("devicePath"), ""));
        }
    }
}

fn named(name: &str, path: &Path, exists: impl Fn(&str) -> bool, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(Error::required(path.child("name"), ""));
    } else if !exists(name) {
        errors.push(Error::not_found(path.child("name"), name, ""));
    }
}

/// A path below the volume.
fn descending(sub_path: Option<&str>, path: Path, errors: &mut Errors) {
    let Some(text) = sub_path.filter(|it| !it.is_empty()) else { return };
    if text.starts_with('/') {
        errors.push(Error::invalid(path, text, "must be a relative path"));
    } else if text.split('/').any(|it| it == "..") {
        errors.push(Error::invalid(path, text, "must not contain '..'"));
    }
}
