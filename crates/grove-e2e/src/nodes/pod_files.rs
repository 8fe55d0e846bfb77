//! What a kubelet gives a container: environment, downward API files. Without mounts: paths are replaced in its arguments.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use k8s_openapi::api::core::v1::{Container, DownwardAPIVolumeFile, Pod};

/// Writes the downward API files of all volumes of a pod below `folder`, each replaced as a whole.
pub(super) fn write(pod: &Pod, folder: &Path) -> Result<()> {
    for volume in pod.spec.iter().flat_map(|it| it.volumes.iter().flatten()) {
        let plain = volume.downward_api.iter().flat_map(|it| it.items.iter().flatten());
        let projected = volume
            .projected
            .iter()
            .flat_map(|it| it.sources.iter().flatten())
            .filter_map(|it| it.downward_api.as_ref())
            .flat_map(|it| it.items.iter().flatten());
        for item in plain.chain(projected) {
            let file = folder.join(&volume.name).join(&item.path);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent)?;
            }
            let temporary = file.with_extension("new");
            fs::write(&temporary, content(pod, item))?;
            fs::rename(temporary, file)?;
        }
    }
    Ok(())
}

pub(crate) fn content(pod: &Pod, item: &DownwardAPIVolumeFile) -> String {
    let path = item.field_ref.as_ref().map(|it| it.field_path.as_str()).unwrap_or_default();
    match path {
        "metadata.labels" => lines(pod.metadata.labels.as_ref()),
        "metadata.annotations" => lines(pod.metadata.annotations.as_ref()),
        path => field(pod, path),
    }
}

/// A map as kubelets write it: `key="value"`, one a line.
fn lines(map: Option<&BTreeMap<String, String>>) -> String {
    let lines: Vec<String> =
        map.into_iter().flatten().map(|(key, value)| format!("{key}={value:?}")).collect();
    lines.join("\n")
}

/// A field by the path of a fieldRef.
pub(crate) fn field(pod: &Pod, path: &str) -> String {
    let keyed = |prefix: &str| path.strip_prefix(prefix).and_then(|it| it.strip_suffix("']"));
    let metadata = &pod.metadata;
    if let Some(key) = keyed("metadata.labels['") {
        return metadata.labels.as_ref().and_then(|it| it.get(key)).cloned().unwrap_or_default();
    }
    if let Some(key) = keyed("metadata.annotations['") {
        return metadata.annotations.as_ref().and_then(|it| it.get(key)).cloned().unwrap_or_default();
    }
    let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
    match path {
        "metadata.name" => metadata.name.clone(),
        "metadata.namespace" => metadata.namespace.clone(),
        "metadata.uid" => metadata.uid.clone(),
        "spec.nodeName" => spec.and_then(|it| it.node_name.clone()),
        "spec.serviceAccountName" => spec.and_then(|it| it.service_account_name.clone()),
        "status.podIP" => status.and_then(|it| it.pod_ip.clone()),
        "status.hostIP" => status.and_then(|it| it.host_ip.clone()),
        _ => None,
    }
    .unwrap_or_default()
}

/// Where each mount path of a container really is.
pub(super) fn mounts(container: &Container, folder: &Path) -> Vec<(String, PathBuf)> {
    let mounts = container.volume_mounts.iter().flatten();
    mounts.map(|it| (it.mount_path.trim_end_matches('/').to_owned(), folder.join(&it.name))).collect()
}

/// The environment of a container.
pub(super) fn environment(pod: &Pod, container: &Container, folder: &Path) -> BTreeMap<String, String> {
    let mounts = mounts(container, folder);
    let mut environment = BTreeMap::new();
    for variable in container.env.iter().flatten() {
        let source = variable.value_from.as_ref().and_then(|it| it.field_ref.as_ref());
        let value = match source {
            Some(source) => field(pod, &source.field_path),
            None => expand(variable.value.as_deref().unwrap_or_default(), &environment, &mounts),
        };
        environment.insert(variable.name.clone(), value);
    }
    environment
}

/// `$(NAME)` by its value, and mount paths by where they really are.
pub(crate) fn expand(
    text: &str,
    environment: &BTreeMap<String, String>,
    mounts: &[(String, PathBuf)],
) -> String {
    let mut out = text.to_owned();
    for (name, value) in environment {
        out = out.replace(&format!("$({name})"), value);
    }
    for (path, real) in mounts {
        out = out.replace(path.as_str(), &real.display().to_string());
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod() -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": "p", "namespace": "n", "labels": { "a/b": "x" }, "annotations": { "k": "say \"hi\"" } },
            "spec": { "nodeName": "node-1", "containers": [] },
        }))
        .unwrap()
    }

    #[test]
    fn fields_by_path() {
        let cases = [
            ("metadata.name", "p"),
            ("metadata.labels['a/b']", "x"),
            ("metadata.labels['missing']", ""),
            ("spec.nodeName", "node-1"),
            ("no.such.path", ""),
        ];
        for (path, want) in cases {
            assert_eq!(field(&pod(), path), want, "{path}");
        }
    }

    #[test]
    fn maps_are_written_as_kubelets_do() {
        assert_eq!(lines(pod().metadata.annotations.as_ref()), "k=\"say \\\"hi\\\"\"");
    }

    #[test]
    fn variables_and_mounts_are_expanded() {
        let environment = BTreeMap::from([("A".to_owned(), "1".to_owned())]);
        let mounts = [("/var/info".to_owned(), PathBuf::from("/tmp/x"))];
        assert_eq!(
            expand("--n=$(A) --file=/var/info/f $(B)", &environment, &mounts),
            "--n=1 --file=/tmp/x/f $(B)"
        );
    }
}
