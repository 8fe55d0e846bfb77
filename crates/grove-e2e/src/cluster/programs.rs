//! Where the programs of the control plane are.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, bail};

/// Folders of built programs, by module: `kubernetes`, `kai`, `volcano`.
#[derive(Clone, Debug)]
pub struct Programs(BTreeMap<String, PathBuf>);

impl Programs {
    /// Builds what is missing and tells where everything is. With all in the cache it takes no time.
    pub async fn find(schedulers: &str) -> Result<Self> {
        Self::build(schedulers, "").await
    }

    /// Builds programs that few scenarios need.
    pub(crate) async fn build_tools(tools: &str) -> Result<()> {
        Self::build("kube", tools).await.map(drop)
    }

    async fn build(schedulers: &str, tools: &str) -> Result<Self> {
        let script = repository().join("e2e/cluster/build");
        let output = tokio::process::Command::new(&script)
            .env("SCHEDULERS", schedulers)
            .env("TOOLS", tools)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .await
            .with_context(|| script.display().to_string())?;
        if !output.status.success() {
            bail!("{} failed; it says above what to do", script.display());
        }
        let text = String::from_utf8(output.stdout)?;
        let folders = text.lines().filter_map(|it| it.split_once('='));
        Ok(Self(folders.map(|(module, folder)| (module.to_owned(), folder.into())).collect()))
    }

    /// None are needed.
    pub fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The program `name` of `module`.
    pub fn get(&self, module: &str, name: &str) -> PathBuf {
        self.folder(module).join(name)
    }

    /// The folder of `module`.
    pub fn folder(&self, module: &str) -> PathBuf {
        self.0.get(module).cloned().unwrap_or_else(|| PathBuf::from(format!("/no-such-module/{module}")))
    }
}

/// The root of the source tree.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
