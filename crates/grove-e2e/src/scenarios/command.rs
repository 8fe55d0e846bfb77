//! The program as a user of the scenario's cluster runs it.

use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tokio::{process::Command, time::timeout};

use crate::{
    operator,
    scenario::{Context, DEADLINE},
};

/// Runs `grove` in the scenario's namespace: what it prints. An exit code other than 0 is an error.
pub(super) async fn grove(context: &Context, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(operator::program()?);
    command.args(arguments).args(["-n", context.namespace.as_str(), "--kubeconfig"]);
    command.arg(&context.cluster.kubeconfig).stdin(Stdio::null());
    let output = timeout(DEADLINE, command.output()).await.context("it does not end")??;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "grove {arguments:?} ends with {:?}: {errors}", output.status.code());
    Ok(String::from_utf8(output.stdout)?)
}
