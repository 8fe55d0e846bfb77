//! How a container is run: what its manifest says, together with what its image says.

use std::{
    collections::BTreeMap,
    env,
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::{Container, Pod};

use super::image::Image;
use crate::nodes::pod_files::{expand, field};

/// Everything that is needed to run a container once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// User and group.
    pub(super) ids: (u32, u32),
    pub(super) environment: BTreeMap<String, String>,
    /// Program and arguments.
    pub(super) command: Vec<String>,
    pub(super) read_only_root: bool,
    pub(super) no_new_privileges: bool,
    /// Name of the volume, path in the container, whether it may be written.
    pub(super) mounts: Vec<(String, String, bool)>,
}

/// The only container of a pod. What our pods do not use is an error: init containers, several containers, the host's network.
pub(super) fn only(pod: &Pod) -> Result<&Container> {
    let spec = pod.spec.as_ref().context("a pod without a spec")?;
    ensure!(spec.init_containers.as_ref().is_none_or(Vec::is_empty), "init containers are not supported");
    ensure!(spec.host_network != Some(true), "hostNetwork is not supported");
    match spec.containers.as_slice() {
        [container] => Ok(container),
        others => bail!("{} containers; only one is supported", others.len()),
    }
}

impl Plan {
    /// For a pod that has its address.
    pub(super) fn of(pod: &Pod, image: &Image, server: (Ipv4Addr, u16)) -> Result<Self> {
        let container = only(pod)?;
        let environment = environment(pod, container, image, server)?;
        let own = |words: &Option<Vec<String>>| words.clone().filter(|it| !it.is_empty());
        // As Kubernetes has it: a command replaces the image's entry point and its arguments.
        let (program, defaults) = match own(&container.command) {
            Some(command) => (command, Vec::new()),
            None => (image.entrypoint.clone(), image.arguments.clone()),
        };
        let words = program.into_iter().chain(own(&container.args).unwrap_or(defaults));
        let command: Vec<String> = words.map(|it| expand(&it, &environment, &[])).collect();
        ensure!(!command.is_empty(), "neither the pod nor the image names a program");
        let security = container.security_context.clone().unwrap_or_default();
        let mounts = container.volume_mounts.iter().flatten();
        let mounts = mounts.map(|it| {
            ensure!(it.sub_path.is_none() && it.sub_path_expr.is_none(), "subPath is not supported");
            Ok((it.name.clone(), it.mount_path.clone(), it.read_only != Some(true)))
        });
        Ok(Self {
            ids: ids(pod, container, image)?,
            environment,
            command,
            read_only_root: security.read_only_root_filesystem == Some(true),
            no_new_privileges: security.allow_privilege_escalation == Some(false),
            mounts: mounts.collect::<Result<_>>()?,
        })
    }

    /// The arguments of `container.sh`: those for the file system, then the command that runs the program in it.
    pub(super) fn words(&self, image: &Image, files: &Path) -> Result<Vec<String>> {
        let text = |it: PathBuf| it.display().to_string();
        let root = text(files.join("root"));
        let mut words = vec![
            image.root.display().to_string(),
            root.clone(),
            text(files.join("mounts")),
            if self.read_only_root { "ro" } else { "rw" }.to_owned(),
        ];
        if self.no_new_privileges {
            words.extend([tool("setpriv")?, "--no-new-privs".to_owned()]);
        }
        words.extend([tool("env")?, "--ignore-environment".to_owned()]);
        words.extend(self.environment.iter().map(|(name, value)| format!("{name}={value}")));
        // The first process of its own PID namespace, as in a container. It stays in the process group of the program that the
        // reaper starts, and the reaper signals groups. `--kill-child` would not end it: that is a parent-death signal, which
        // the kernel clears when the user changes.
        words.extend([tool("unshare")?, "--pid".to_owned(), "--fork".to_owned()]);
        words.push("--mount-proc=/proc".to_owned());
        words.extend([format!("--root={root}"), format!("--wd={}", image.folder)]);
        words.extend([format!("--setgid={}", self.ids.1), format!("--setuid={}", self.ids.0)]);
        words.push("--".to_owned());
        words.extend(self.command.iter().cloned());
        Ok(words)
    }

    /// The file that `container.sh` reads.
    pub(super) fn mounts(&self, volumes: &Path) -> String {
        let line = |(volume, path, writable): &(String, String, bool)| {
            let access = if *writable { "rw" } else { "ro" };
            format!("{}\t{path}\t{access}\n", volumes.join(volume).display())
        };
        self.mounts.iter().map(line).collect()
    }
}

/// User and group: those of the manifest, else those of the image. As a kubelet does, refuses root where `runAsNonRoot` is set.
fn ids(pod: &Pod, container: &Container, image: &Image) -> Result<(u32, u32)> {
    let pods = pod.spec.as_ref().and_then(|it| it.security_context.clone()).unwrap_or_default();
    let own = container.security_context.clone().unwrap_or_default();
    let (user, group) = image.user.split_once(':').unwrap_or((&image.user, &image.user));
    let id = |asked: Option<i64>, said: &str| {
        match asked {
        Some(asked) => u32::try_from(asked).context("the user's number"),
        None if said.is_empty() => Ok(0),
        None => said.parse().with_context(|| {
            format!("container has runAsNonRoot and image has non-numeric user ({said}), cannot verify user is non-root")
        }),
    }
    };
    let user = id(own.run_as_user.or(pods.run_as_user), user)?;
    let group = id(own.run_as_group.or(pods.run_as_group), group)?;
    let forbidden = own.run_as_non_root.or(pods.run_as_non_root) == Some(true);
    ensure!(user != 0 || !forbidden, "container has runAsNonRoot and image will run as root");
    Ok((user, group))
}

fn environment(
    pod: &Pod,
    container: &Container,
    image: &Image,
    (host, port): (Ipv4Addr, u16),
) -> Result<BTreeMap<String, String>> {
    let of_image = image.environment.iter().filter_map(|it| it.split_once('='));
    let mut all: BTreeMap<String, String> =
        of_image.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    all.insert("HOSTNAME".to_owned(), pod.metadata.name.clone().unwrap_or_default());
    all.insert("KUBERNETES_SERVICE_HOST".to_owned(), host.to_string());
    all.insert("KUBERNETES_SERVICE_PORT".to_owned(), port.to_string());
    for variable in container.env.iter().flatten() {
        let value = match &variable.value_from {
            None => expand(variable.value.as_deref().unwrap_or_default(), &all, &[]),
            Some(source) => {
                let path = source.field_ref.as_ref().map(|it| it.field_path.as_str());
                field(
                    pod,
                    path.with_context(|| {
                        format!("the source of variable {} is not supported", variable.name)
                    })?,
                )
            }
        };
        all.insert(variable.name.clone(), value);
    }
    Ok(all)
}

/// Full path of a program of the machine: a container's PATH need not lead to it.
pub(super) fn tool(name: &str) -> Result<String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
    let found = found.with_context(|| format!("{name} is missing: install util-linux and iproute2"))?;
    Ok(found.display().to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 127, 0, 1), 6443);

    fn plan(container: &Value, image: &Image) -> Result<Plan> {
        let mut pod = json!({
            "metadata": { "name": "p" },
            "spec": { "serviceAccountName": "grove", "securityContext": { "runAsNonRoot": true }, "containers": [{ "name": "c" }] },
        });
        json_patch::merge(&mut pod["spec"]["containers"][0], container);
        Plan::of(&serde_json::from_value(pod).unwrap(), image, SERVER)
    }

    #[test]
    fn a_command_replaces_the_entry_point_and_arguments_follow() {
        let image = Image::example();
        let rows = [
            (json!({}), "/usr/local/bin/grove"),
            (json!({ "args": ["a"] }), "/usr/local/bin/grove a"),
            (json!({ "command": ["other"] }), "other"),
            (
                json!({ "command": ["other"], "args": ["$(WHO)"], "env": [{ "name": "WHO", "value": "me" }] }),
                "other me",
            ),
        ];
        for (container, want) in rows {
            assert_eq!(plan(&container, &image).unwrap().command.join(" "), want, "{container}");
        }
    }

    #[test]
    fn the_environment_is_that_of_image_kubelet_and_manifest() {
        let account = json!({ "fieldRef": { "fieldPath": "spec.serviceAccountName" } });
        let container = json!({ "env": [{ "name": "ACCOUNT", "valueFrom": account }] });
        let all = plan(&container, &Image::example()).unwrap().environment;
        let all: Vec<String> = all.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let want = "ACCOUNT=grove HOSTNAME=p KUBERNETES_SERVICE_HOST=10.127.0.1 KUBERNETES_SERVICE_PORT=6443 PATH=/usr/local/bin";
        assert_eq!(all.join(" "), want);
    }

    #[test]
    fn root_is_refused_where_the_manifest_forbids_it() {
        let as_user = |user: &str| Image { user: user.to_owned(), ..Image::example() };
        assert_eq!(plan(&json!({}), &as_user("7:8")).unwrap().ids, (7, 8));
        for user in ["", "0", "0:5", "nonroot"] {
            let error = plan(&json!({}), &as_user(user)).unwrap_err().to_string();
            assert!(error.contains("runAsNonRoot"), "{user:?}: {error}");
        }
        let asked = json!({ "securityContext": { "runAsUser": 9 } });
        assert_eq!(plan(&asked, &as_user("0:5")).unwrap().ids, (9, 5));
    }

    #[test]
    fn read_only_root_and_mounts_and_no_new_privileges_follow_the_manifest() {
        let security = json!({ "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false });
        let mounts = json!([{ "name": "v", "mountPath": "/etc/v", "readOnly": true }]);
        let image = Image::example();
        let plan = plan(&json!({ "securityContext": security, "volumeMounts": mounts }), &image).unwrap();
        let words = plan.words(&image, Path::new("/files")).unwrap();
        assert_eq!(words[..4], ["/unpacked", "/files/root", "/files/mounts", "ro"]);
        assert!(words[4].ends_with("/setpriv") && words[5] == "--no-new-privs", "{words:?}");
        assert_eq!(plan.mounts(Path::new("/volumes")), "/volumes/v\t/etc/v\tro\n");
    }
}
