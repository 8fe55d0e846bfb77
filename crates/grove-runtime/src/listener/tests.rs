//! Clients of health and metrics that take more than their share, over loopback.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::task::JoinHandle;

use super::*;
use crate::bearer::TokenFile;
use crate::health::{Checks, health_routes, metrics_routes};
use crate::telemetry::Metrics;

/// No test waits for this long unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);
const HONEST: Ipv4Addr = Ipv4Addr::LOCALHOST;
const BUSY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Nothing times out: a client gets in by the choice of which connection goes, or not at all.
fn patient() -> Limits {
    let hour = Duration::from_hours(1);
    Limits { first_request_time: hour, idle_time: hour, answer_time: hour, ..Limits::without_bodies() }
}

struct Served {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<io::Result<()>>,
}

fn served(routes: axum::Router, limits: Limits) -> Served {
    let listener = bind("127.0.0.1", 0).unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let serving = tokio::spawn(serve_routes(listener, "test", routes, limits, stop.clone()));
    Served { address, stop, serving }
}

fn health() -> axum::Router {
    health_routes(Checks::new(), Checks::new())
}

impl Served {
    async fn connect(&self, from: Ipv4Addr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        timeout(PATIENCE, socket.connect(self.address)).await.expect("not accepted").unwrap()
    }

    /// Sends a request head and returns what comes until the answer is whole.
    async fn ask(stream: &mut TcpStream, path: &str, more: &str) -> String {
        let head = format!("GET {path} HTTP/1.1\r\nHost: grove\r\n{more}\r\n");
        // Who is refused in the middle of a request cannot write the rest of it.
        let _ = stream.write_all(head.as_bytes()).await;
        let mut answer = Vec::new();
        let reading = async {
            while !answer.ends_with(b"ok\n") && !answer.ends_with(b"# EOF\n") && !answer.ends_with(b"d\n") {
                if matches!(stream.read_buf(&mut answer).await, Ok(0) | Err(_)) {
                    break;
                }
            }
        };
        timeout(PATIENCE, reading).await.expect("no answer");
        String::from_utf8(answer).unwrap()
    }
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    timeout(PATIENCE, async { matches!(stream.read(&mut [0; 512]).await, Ok(0) | Err(_)) }).await.unwrap()
}

#[tokio::test]
async fn slow_clients_keep_an_honest_one_from_neither_health_nor_metrics() {
    for (routes, path) in [(health(), "/readyz"), (metrics_routes(Metrics::new(), None), "/metrics")] {
        let served = served(routes, patient());
        let mut kept = served.connect(HONEST).await;
        assert!(Served::ask(&mut kept, path, "").await.starts_with("HTTP/1.1 200 "));
        let mut slow = Vec::new();
        for _ in 0..400 {
            let mut stream = served.connect(BUSY).await;
            // Headers that never end.
            let _ = stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: gr").await;
            slow.push(stream);
        }
        let mut fresh = served.connect(HONEST).await;
        assert!(Served::ask(&mut fresh, path, "").await.starts_with("HTTP/1.1 200 "), "{path}");
        let answer = Served::ask(&mut kept, path, "").await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "a connection of a peer within its share was closed");
        assert!(is_closed(&mut slow[0]).await, "the oldest of the busy peer");
    }
}

#[tokio::test]
async fn metrics_are_for_those_who_have_the_token() {
    let file = std::env::temp_dir().join(format!("grove-metrics-token-{}", std::process::id()));
    std::fs::write(&file, "s3cret\n").unwrap();
    let token = TokenFile::open(&file).unwrap();
    let served = served(metrics_routes(Metrics::new(), Some(token)), patient());
    let mut stream = served.connect(HONEST).await;
    let refused = Served::ask(&mut stream, "/metrics", "").await;
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    assert!(refused.to_lowercase().contains("www-authenticate: bearer"), "{refused}");
    let refused = Served::ask(&mut stream, "/metrics", "Authorization: Bearer wrong\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 401 ") && !refused.contains("s3cret"), "{refused}");
    let answer = Served::ask(&mut stream, "/metrics", "Authorization: Bearer s3cret\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("# EOF\n"), "{answer}");
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test]
async fn silent_clients_are_left_at_every_step() {
    let soon = Duration::from_millis(300);
    let limits = Limits { first_request_time: soon, idle_time: soon, ..Limits::without_bodies() };
    let served = served(health(), limits);
    let mut silent = served.connect(HONEST).await;
    assert!(is_closed(&mut silent).await, "no request");
    let mut slow = served.connect(HONEST).await;
    slow.write_all(b"GET /readyz HT").await.unwrap();
    assert!(is_closed(&mut slow).await, "half of a request");
    let mut idle = served.connect(HONEST).await;
    Served::ask(&mut idle, "/readyz", "").await;
    assert!(is_closed(&mut idle).await, "no second request");
}

#[tokio::test]
async fn bodies_are_bounded_and_not_read() {
    let served = served(health(), patient());
    let mut stream = served.connect(HONEST).await;
    let answer = Served::ask(&mut stream, "/readyz", "Content-Length: 1000000000\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let mut stream = served.connect(HONEST).await;
    let answer = Served::ask(&mut stream, "/readyz", "Transfer-Encoding: chunked\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close"), "{answer}");
    let mut stream = served.connect(HONEST).await;
    let header = format!("X-Long: {}\r\n", "a".repeat(8 * HEADER_BYTES));
    let answer = Served::ask(&mut stream, "/readyz", &header).await;
    assert!(!answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn serves_until_stopped() {
    let served = served(health(), Limits::without_bodies());
    let mut stream = served.connect(HONEST).await;
    assert!(Served::ask(&mut stream, "/healthz", "").await.ends_with("ok\n"));
    served.stop.cancel();
    timeout(PATIENCE, served.serving).await.expect("it does not end").unwrap().unwrap();
    bind("127.0.0.1", served.address.port()).expect("free again");
}
