//! Ten thousand connections on each port, from several addresses, all of them kept open by their clients.

use std::{io, sync::Arc};

use futures::stream::{StreamExt as _, iter};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpStream;

use crate::{
    client::{Port, attacker, until_closed},
    program::Program,
};

const CONNECTIONS: usize = 10_000;
/// More than the connections of a port, so that the ones before are closed by then.
const BEGUN_AT_ONCE: usize = 500;
/// What this process has open besides.
const OTHER_FILES: u64 = 2_000;

/// Lets this process have a file for each connection.
fn raise_limit_of_files() {
    let needed = CONNECTIONS as u64 + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|it| it >= needed) {
        return;
    }
    assert!(
        maximum.is_none_or(|it| it >= needed),
        "this test needs {needed} open files, and the hard limit is {maximum:?}: raise it (ulimit -Hn, LimitNOFILE=)"
    );
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).unwrap();
}

/// Opens all connections and keeps them.
async fn flood(port: Port) -> Vec<TcpStream> {
    let port = Arc::new(port);
    let connecting = (0..CONNECTIONS).map(|number| {
        let port = Arc::clone(&port);
        async move { port.connect_plain(attacker(number)).await }
    });
    let all: Vec<io::Result<TcpStream>> = iter(connecting).buffer_unordered(BEGUN_AT_ONCE).collect().await;
    all.into_iter().filter_map(Result::ok).collect()
}

async fn table(program: &mut Program) {
    raise_limit_of_files();
    for port in program.ports.clone() {
        let flooding = tokio::spawn(flood(port.clone()));
        let mut open = port.attacked("10,000 connections", flooding).await.unwrap();
        let count = open.len();
        assert!(count > CONNECTIONS * 9 / 10, "{:?}: only {count} connections were accepted", port.kind);
        // All that are above the limit of the port.
        until_closed(&mut open[0]).await;
        let mut closed = 0;
        for stream in &open {
            let is_open =
                matches!(stream.try_read(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            closed += usize::from(!is_open);
        }
        assert!(closed > CONNECTIONS / 2, "{:?}: only {closed} were closed", port.kind);
        program.assert_unharmed();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_connections_keep_no_honest_client_from_the_operator() {
    table(&mut Program::operator("operator-connections").await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_connections_keep_no_honest_client_from_the_pod_grouper() {
    table(&mut Program::pod_grouper("grouper-connections").await).await;
}
