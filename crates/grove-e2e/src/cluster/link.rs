//! A line to the API server that can be cut: whoever uses it loses its watches, as behind a load balancer that restarts.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Passes connections on to the API server until it is dropped.
pub struct Link {
    /// For clients that use the link.
    pub kubeconfig: PathBuf,
    forwarder: Forwarder,
}

impl Link {
    /// Listens, and writes a kubeconfig that leads here beside `kubeconfig`, which leads to the API server.
    pub async fn open(kubeconfig: &Path, name: &str) -> Result<Self> {
        let server = server(kubeconfig)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let here = listener.local_addr()?.to_string();
        let own = kubeconfig.with_file_name(format!("{name}.kubeconfig"));
        std::fs::write(&own, std::fs::read_to_string(kubeconfig)?.replace(&server, &here))?;
        Ok(Self { kubeconfig: own, forwarder: Forwarder::start(listener, server) })
    }

    /// Ends every connection; new ones are taken.
    pub fn cut(&self) {
        self.forwarder.cut();
    }
}

/// Address and port of the API server that a kubeconfig leads to.
pub(crate) fn server(kubeconfig: &Path) -> Result<String> {
    let text = std::fs::read_to_string(kubeconfig)?;
    let port = text.split("https://127.0.0.1:").nth(1).and_then(|it| it.split('"').next());
    Ok(format!("127.0.0.1:{}", port.context("no port in the kubeconfig")?))
}

/// Passes connections on until it is dropped.
pub(crate) struct Forwarder {
    connections: Arc<Mutex<JoinSet<()>>>,
    accepting: tokio::task::JoinHandle<()>,
}

impl Forwarder {
    /// Forwards connections to `listener` to `server`.
    pub(crate) fn start(listener: TcpListener, server: String) -> Self {
        let connections: Arc<Mutex<JoinSet<()>>> = Arc::default();
        let all = Arc::clone(&connections);
        let accepting = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let server = server.clone();
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                // Those that ended need not be kept.
                while all.try_join_next().is_some() {}
                all.spawn(async move {
                    if let Ok(mut server) = TcpStream::connect(server).await {
                        // Either side may hang up.
                        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self { connections, accepting }
    }

    fn cut(&self) {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}
