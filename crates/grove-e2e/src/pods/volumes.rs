//! Fills the volumes of a pod as a kubelet does: ConfigMaps, Secrets, tokens, fields of the pod, empty folders.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Component, Path},
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{
    authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec},
    core::v1::{
        ConfigMap, DownwardAPIVolumeFile, KeyToPath, Pod, Secret, ServiceAccount,
        ServiceAccountTokenProjection, Volume, VolumeProjection,
    },
};
use kube::{Api, Client, api::PostParams};

use crate::nodes::pod_files::content;

/// Lifetime of a token whose volume does not set one.
const TOKEN_SECONDS: i64 = 3600;

/// Contents of files by key.
type Contents = Vec<(String, Vec<u8>)>;

/// Fills the volumes of a pod.
pub(super) struct Volumes<'a> {
    pub(super) client: &'a Client,
    pub(super) pod: &'a Pod,
    /// Each volume has a folder of its name in it.
    pub(super) folder: &'a Path,
}

impl Volumes<'_> {
    /// Writes all volumes, replacing what is there. A missing object is an error: the container is not started.
    pub(super) async fn write(&self) -> Result<()> {
        for volume in self.pod.spec.iter().flat_map(|it| it.volumes.iter().flatten()) {
            let folder = self.folder.join(&volume.name);
            let files = self.files(volume).await.with_context(|| format!("volume {}", volume.name))?;
            if folder.exists() && volume.empty_dir.is_none() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)?;
            // Any user may write into an empty folder, and none into the others.
            let mode = if volume.empty_dir.is_some() { 0o777 } else { 0o755 };
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode))?;
            for (path, bytes) in files {
                let is_plain = Path::new(&path).components().all(|it| matches!(it, Component::Normal(_)));
                ensure!(is_plain, "{path:?} leads out of its volume");
                let file = folder.join(path);
                if let Some(parent) = file.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::write(file, bytes)?;
            }
        }
        Ok(())
    }

    async fn files(&self, volume: &Volume) -> Result<Contents> {
        if let Some(source) = &volume.config_map {
            return self.config_map(&source.name, source.items.as_ref(), source.optional).await;
        }
        if let Some(source) = &volume.secret {
            let name = source.secret_name.as_deref().unwrap_or_default();
            return self.secret(name, source.items.as_ref(), source.optional).await;
        }
        if let Some(source) = &volume.projected {
            let mut files = Vec::new();
            for source in source.sources.iter().flatten() {
                files.extend(self.projection(source).await?);
            }
            return Ok(files);
        }
        if let Some(source) = &volume.downward_api {
            return Ok(self.downward(source.items.as_ref()));
        }
        ensure!(volume.empty_dir.is_some(), "this kind of volume is not supported");
        Ok(Vec::new())
    }

    async fn projection(&self, source: &VolumeProjection) -> Result<Contents> {
        if let Some(token) = &source.service_account_token {
            return Ok(vec![(token.path.clone(), self.token(token).await?.into_bytes())]);
        }
        if let Some(source) = &source.config_map {
            return self.config_map(&source.name, source.items.as_ref(), source.optional).await;
        }
        if let Some(source) = &source.secret {
            return self.secret(&source.name, source.items.as_ref(), source.optional).await;
        }
        if let Some(source) = &source.downward_api {
            return Ok(self.downward(source.items.as_ref()));
        }
        bail!("this kind of projected source is not supported")
    }

    fn namespace(&self) -> &str {
        self.pod.metadata.namespace.as_deref().unwrap_or_default()
    }

    fn downward(&self, items: Option<&Vec<DownwardAPIVolumeFile>>) -> Contents {
        items.into_iter().flatten().map(|it| (it.path.clone(), content(self.pod, it).into_bytes())).collect()
    }

    async fn config_map(
        &self,
        name: &str,
        items: Option<&Vec<KeyToPath>>,
        optional: Option<bool>,
    ) -> Result<Contents> {
        let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), self.namespace());
        let found = api.get_opt(name).await?.map(|it| {
            let text = it.data.unwrap_or_default().into_iter().map(|(key, it)| (key, it.into_bytes()));
            let bytes = it.binary_data.unwrap_or_default().into_iter().map(|(key, it)| (key, it.0));
            text.chain(bytes).collect()
        });
        select(found, items, optional == Some(true), name)
    }

    async fn secret(
        &self,
        name: &str,
        items: Option<&Vec<KeyToPath>>,
        optional: Option<bool>,
    ) -> Result<Contents> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), self.namespace());
        let found = api.get_opt(name).await?;
        let found =
            found.map(|it| it.data.unwrap_or_default().into_iter().map(|(key, it)| (key, it.0)).collect());
        select(found, items, optional == Some(true), name)
    }

    /// A token that ends with the pod, as kubelets ask for it.
    async fn token(&self, asked: &ServiceAccountTokenProjection) -> Result<String> {
        let account = self.pod.spec.as_ref().and_then(|it| it.service_account_name.clone());
        let (name, uid) = (self.pod.metadata.name.clone(), self.pod.metadata.uid.clone());
        let bound = BoundObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            name,
            uid,
        };
        let spec = TokenRequestSpec {
            audiences: asked.audience.clone().map(|it| vec![it]),
            bound_object_ref: Some(bound),
            expiration_seconds: Some(asked.expiration_seconds.unwrap_or(TOKEN_SECONDS)),
            ..TokenRequestSpec::default()
        };
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let api: Api<ServiceAccount> = Api::namespaced(self.client.clone(), self.namespace());
        let account = account.context("no service account")?;
        let answer = api.create_token_request(&account, &PostParams::default(), &request).await?;
        answer.status.and_then(|it| it.token).context("no token")
    }
}

/// All keys of an object, or those that `items` selects, under the paths that it gives them.
fn select(
    found: Option<Contents>,
    items: Option<&Vec<KeyToPath>>,
    optional: bool,
    name: &str,
) -> Result<Contents> {
    let Some(all) = found else {
        ensure!(optional, "{name:?} not found");
        return Ok(Vec::new());
    };
    let Some(items) = items.filter(|it| !it.is_empty()) else { return Ok(all) };
    let mut files = Vec::new();
    for item in items {
        match all.iter().find(|it| it.0 == item.key) {
            Some((_, bytes)) => files.push((item.path.clone(), bytes.clone())),
            None => ensure!(optional, "{name:?} has no key {:?}", item.key),
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_keys_get_their_paths_and_missing_ones_are_errors() {
        let all = || Some(vec![("a".to_owned(), b"1".to_vec()), ("b".to_owned(), b"2".to_vec())]);
        let item = |key: &str| {
            vec![KeyToPath { key: key.to_owned(), path: "x/y".to_owned(), ..KeyToPath::default() }]
        };
        assert_eq!(select(all(), None, false, "n").unwrap().len(), 2);
        assert_eq!(select(all(), Some(&item("b")), false, "n").unwrap(), [("x/y".to_owned(), b"2".to_vec())]);
        let error = select(all(), Some(&item("c")), false, "n").unwrap_err().to_string();
        assert_eq!(error, "\"n\" has no key \"c\"");
        assert_eq!(select(None, None, false, "n").unwrap_err().to_string(), "\"n\" not found");
        assert!(select(None, Some(&item("c")), true, "n").unwrap().is_empty());
    }
}
