//! A program of Grove's in this process: with the service account that it has in production, through a kubeconfig, and asked by HTTP whether it
//! is ready, as a kubelet asks.

use std::{io, net::Ipv4Addr, path::PathBuf, time::Duration};

use grove_sandbox::ControlPlane;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{Api, Client, api::PostParams};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::watch,
    task::JoinHandle,
    time::sleep,
};

use super::{credentials, folder::Folder};

/// Where the programs are installed.
pub(super) const NAMESPACE: &str = "grove-system";
/// Longer than anyone keeps a sandbox running.
const TOKEN_SECONDS: i64 = 365 * 24 * 60 * 60;
/// It takes under a second; this only ends the wait if something is broken.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Between two probes.
const PROBE_PERIOD: Duration = Duration::from_millis(20);

/// A program that runs.
pub(super) struct Component {
    /// As in `the operator`.
    name: &'static str,
    task: JoinHandle<()>,
    /// Why it ended.
    ended: watch::Receiver<Option<String>>,
}

impl Component {
    /// Starts a program, which says why it ended, and waits until it is ready.
    pub(super) async fn start(
        name: &'static str,
        health_port: u16,
        run: impl Future<Output = String> + Send + 'static,
    ) -> io::Result<Self> {
        let (end, ended) = watch::channel(None);
        let task = tokio::spawn(async move {
            end.send_replace(Some(run.await));
        });
        let this = Self { name, task, ended };
        tokio::select! {
            ready = tokio::time::timeout(TIMEOUT, until_ready(health_port)) => match ready {
                Ok(()) => Ok(this),
                Err(_) => Err(io::Error::other(format!("{name} is not ready after {TIMEOUT:?}"))),
            },
            error = this.ended() => Err(error),
        }
    }

    /// Resolves when it has ended: why.
    pub(super) async fn ended(&self) -> io::Error {
        let mut ended = self.ended.clone();
        let why = match ended.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            // Its task ended without a word.
            Err(_) => "it panicked".to_owned(),
        };
        io::Error::other(format!("{} ended: {why}", self.name))
    }

    /// Ends it at once: its cluster ends with it, so that there is no request to answer and no lease to release.
    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Component {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Why a program ended.
pub(super) fn why(result: Result<(), impl std::fmt::Display>) -> String {
    match result {
        Ok(()) => "it was stopped".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Writes a kubeconfig with a token of a service account of [`NAMESPACE`].
pub(super) async fn write_kubeconfig(
    client: &Client,
    control_plane: &ControlPlane,
    account: &str,
    file: PathBuf,
) -> io::Result<PathBuf> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let answer = accounts.create_token_request(account, &PostParams::default(), &request).await;
    let status = answer.map_err(io::Error::other)?.status;
    let token = status.and_then(|it| it.token);
    let token = token.ok_or_else(|| io::Error::other("the API server gave out no token"))?;
    let (address, authority) = (control_plane.address(), control_plane.authority());
    let text = credentials::kubeconfig(address, authority, account, &token, NAMESPACE);
    Folder::write_private(&file, &text)?;
    Ok(file)
}

/// Asks as a kubelet does.
async fn until_ready(port: u16) {
    while !is_ready(port).await.unwrap_or(false) {
        sleep(PROBE_PERIOD).await;
    }
}

async fn is_ready(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

#[cfg(test)]
mod tests {
    use super::{super::ports::Ports, *};

    #[tokio::test]
    async fn a_program_that_ends_before_it_is_ready_says_why() {
        let ports = Ports::keep().unwrap();
        let [port] = ports.numbers;
        let started = Component::start("the program", port, async { why(Err("no luck")) }).await;
        assert_eq!(started.err().unwrap().to_string(), "the program ended: no luck");
        assert_eq!(why(Ok::<(), String>(())), "it was stopped");
    }
}
