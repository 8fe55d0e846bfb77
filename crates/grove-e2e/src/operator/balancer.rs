//! What a Service is to webhooks: each connection goes to one of the operators that are ready. As with a Service, it takes a moment until
//! one that is not ready any more gets no new connections; those that it has stay.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Result;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{Operator, Port, get};

/// Between two looks at who is ready; an answer may take as long.
const PERIOD: Duration = Duration::from_secs(1);

/// An operator that connections may go to.
#[derive(Clone, Copy, Debug)]
struct Backend {
    webhooks: u16,
    health: u16,
    is_ready: bool,
}

#[derive(Clone, Default)]
struct Backends(Arc<Mutex<Vec<Backend>>>);

impl Backends {
    fn get(&self) -> MutexGuard<'_, Vec<Backend>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one that is ready.
    fn next(&self) -> Option<u16> {
        let mut all = self.get();
        let at = all.iter().position(|it| it.is_ready)?;
        let next = all.remove(at);
        all.push(next);
        Some(next.webhooks)
    }

    async fn probe(self) {
        loop {
            let all: Vec<Backend> = self.get().clone();
            for Backend { health, .. } in all {
                let answer = timeout(PERIOD, get(health, "/readyz")).await;
                let is_ready = matches!(answer, Ok(Ok((200, _))));
                for backend in self.get().iter_mut().filter(|it| it.health == health) {
                    backend.is_ready = is_ready;
                }
            }
            sleep(PERIOD).await;
        }
    }

    async fn pass_on(self, listener: TcpListener) {
        // They end with it.
        let mut connections = JoinSet::new();
        while let Ok((mut client, _)) = listener.accept().await {
            while connections.try_join_next().is_some() {}
            let Some(port) = self.next() else { continue };
            connections.spawn(async move {
                if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
                    // Either side may hang up.
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    }
}

/// Passes connections on until it is dropped.
pub struct Balancer {
    port: u16,
    backends: Backends,
    _tasks: JoinSet<()>,
}

impl Balancer {
    /// Listens; there is nobody to pass connections on to yet.
    pub async fn open() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (port, backends) = (listener.local_addr()?.port(), Backends::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(backends.clone().pass_on(listener));
        tasks.spawn(backends.clone().probe());
        Ok(Self { port, backends, _tasks: tasks })
    }

    /// Where it listens on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Passes connections on to this operator, too. To be called again when it was started again: its port for health is another.
    pub fn add(&self, operator: &Operator) {
        let (webhooks, health) = (operator.port(Port::Webhooks), operator.port(Port::Health));
        let mut all = self.backends.get();
        all.retain(|it| it.webhooks != webhooks);
        all.push(Backend { webhooks, health, is_ready: false });
    }
}
