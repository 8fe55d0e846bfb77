//! A build of the operator: this one, or that of another commit, whose sources are taken from git and built in a folder of
//! their own.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use kube::Client;
use tokio::process::Command;

use crate::{cluster::repository, objects, operator};

/// The operator, and the CRDs that belong to it.
pub(super) struct Build {
    /// What to call it.
    pub(super) name: String,
    pub(super) program: PathBuf,
    crds: PathBuf,
}

impl Build {
    /// The program beside ours.
    pub(super) fn here() -> Result<Self> {
        let (program, crds) = (operator::program()?, repository().join("crds"));
        Ok(Self { name: "this build".to_owned(), program, crds })
    }

    /// That of a commit. A commit does not change, so that it is built once.
    pub(super) async fn of_commit(folder: &Path, commit: &str) -> Result<Self> {
        let full =
            output(Command::new("git").args(["rev-parse", "--verify", &format!("{commit}^{{commit}}")]))
                .await?;
        let home = folder.join(full.trim());
        let (sources, program) = (home.join("sources"), home.join("grove"));
        if !program.exists() {
            anstream::println!("building {commit} in {}", home.display());
            std::fs::create_dir_all(&sources)?;
            let archive = home.join("sources.tar");
            output(
                Command::new("git").args(["archive", "--format=tar", "-o"]).arg(&archive).arg(full.trim()),
            )
            .await?;
            output(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&sources)).await?;
            std::fs::remove_file(&archive)?;
            // One folder for all commits: what they depend on is mostly the same.
            let target = folder.join("build");
            let mut cargo = Command::new("cargo");
            cargo.args(["build", "--quiet", "--locked", "--package", "grove"]).current_dir(&sources);
            let status = cargo.env("CARGO_TARGET_DIR", &target).status().await.context("cargo")?;
            ensure!(status.success(), "{commit} cannot be built: {status}");
            std::fs::copy(target.join("debug/grove"), &program)?;
        }
        Ok(Self { name: commit.to_owned(), program, crds: sources.join("crds") })
    }

    /// Installs its CRDs, as a user does before the operator.
    pub(super) async fn install(&self, client: &Client) -> Result<()> {
        objects::install_crds_from(client, &self.crds).await
    }
}

/// What a program prints, run in the repository.
async fn output(command: &mut Command) -> Result<String> {
    command.current_dir(repository());
    let output = command.output().await.with_context(|| format!("{:?}", command.as_std()))?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?}: {told}", command.as_std());
    Ok(String::from_utf8(output.stdout)?)
}
