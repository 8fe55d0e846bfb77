//! Files of the downward API as a container sees them. Only fields of metadata: nothing else is asked for by those who wait.

use std::path::Path;

use k8s_openapi::api::core::v1::{Container, DownwardAPIVolumeFile, Pod, Volume};

/// What a file of a container says; nothing where the file is not of the downward API.
pub(super) fn content(pod: &Pod, container: &Container, file: &str) -> Option<String> {
    let volumes = pod.spec.as_ref()?.volumes.as_deref().unwrap_or_default();
    container.volume_mounts.iter().flatten().find_map(|mount| {
        let below = Path::new(file).strip_prefix(&mount.mount_path).ok()?;
        let volume = volumes.iter().find(|it| it.name == mount.name)?;
        let path = match &mount.sub_path {
            Some(whole) if below.as_os_str().is_empty() => Path::new(whole).to_owned(),
            Some(folder) => Path::new(folder).join(below),
            None => below.to_owned(),
        };
        let item = items(volume).find(|it| Path::new(&it.path) == path)?;
        Some(field(pod, item.field_ref.as_ref()?.field_path.as_str()))
    })
}

fn items(volume: &Volume) -> impl Iterator<Item = &DownwardAPIVolumeFile> {
    let plain = volume.downward_api.iter().flat_map(|it| it.items.iter().flatten());
    let projected = volume.projected.iter().flat_map(|it| it.sources.iter().flatten());
    let projected = projected.filter_map(|it| it.downward_api.as_ref());
    plain.chain(projected.flat_map(|it| it.items.iter().flatten()))
}

/// A field by the path of a fieldRef; empty where it does not exist.
fn field(pod: &Pod, path: &str) -> String {
    let metadata = &pod.metadata;
    let keyed = |prefix: &str| path.strip_prefix(prefix)?.strip_suffix("']");
    if let Some(key) = keyed("metadata.annotations['") {
        return metadata.annotations.as_ref().and_then(|it| it.get(key)).cloned().unwrap_or_default();
    }
    if let Some(key) = keyed("metadata.labels['") {
        return metadata.labels.as_ref().and_then(|it| it.get(key)).cloned().unwrap_or_default();
    }
    let all = match path {
        "metadata.annotations" => metadata.annotations.as_ref(),
        "metadata.labels" => metadata.labels.as_ref(),
        _ => None,
    };
    if let Some(all) = all {
        let lines: Vec<String> = all.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
        return lines.join("\n");
    }
    let field = match path {
        "metadata.name" => &metadata.name,
        "metadata.namespace" => &metadata.namespace,
        "metadata.uid" => &metadata.uid,
        _ => &None,
    };
    field.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

    use serde_json::{Value, json};

    use super::*;

    fn content_of(mount: Value, volume: Value, file: &str) -> Option<String> {
        let pod = json!({
            "metadata": { "name": "p", "annotations": { "a": "x \"y\"" }, "labels": { "l": "v" } },
            "spec": { "containers": [], "volumes": [volume] },
        });
        let container = json!({ "name": "c", "volumeMounts": [mount] });
        let (pod, container) =
            (serde_json::from_value(pod).unwrap(), serde_json::from_value(container).unwrap());
        content(&pod, &container, file)
    }

    #[test]
    fn files_by_mount_and_item() {
        let items = json!([
            { "path": "name", "fieldRef": { "fieldPath": "metadata.name" } },
            { "path": "deep/a", "fieldRef": { "fieldPath": "metadata.annotations['a']" } },
            { "path": "labels", "fieldRef": { "fieldPath": "metadata.labels" } },
            { "path": "missing", "fieldRef": { "fieldPath": "metadata.annotations['none']" } },
        ]);
        let volumes = [
            json!({ "name": "v", "downwardAPI": { "items": items } }),
            json!({ "name": "v", "projected": { "sources": [{ "downwardAPI": { "items": items } }] } }),
        ];
        for volume in volumes {
            let plain =
                |file: &str| content_of(json!({ "name": "v", "mountPath": "/info/" }), volume.clone(), file);
            assert_eq!(plain("/info/name").as_deref(), Some("p"));
            assert_eq!(plain("/info/deep/a").as_deref(), Some("x \"y\""));
            assert_eq!(plain("/info/labels").as_deref(), Some("l=\"v\""));
            assert_eq!(plain("/info/missing").as_deref(), Some(""));
            assert_eq!(plain("/info/none"), None);
            assert_eq!(plain("/information/name"), None);
            let one = json!({ "name": "v", "mountPath": "/one", "subPath": "deep/a" });
            assert_eq!(content_of(one, volume.clone(), "/one").as_deref(), Some("x \"y\""));
            let folder = json!({ "name": "v", "mountPath": "/f", "subPath": "deep" });
            assert_eq!(content_of(folder, volume.clone(), "/f/a").as_deref(), Some("x \"y\""));
            let other = json!({ "name": "other", "mountPath": "/info" });
            assert_eq!(content_of(other, volume, "/info/name"), None);
        }
    }
}
