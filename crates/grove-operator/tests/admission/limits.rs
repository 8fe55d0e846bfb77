//! Clients that take more than their share.

use std::{
    io,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use futures::future::join_all;
use grove_api::constants::webhooks::SET_VALIDATING;
use grove_operator::admission::{Knowledge, Limits, Request, Snapshot};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    sync::Notify,
    time::timeout,
};

use crate::stage::{Stage, set};

const SOON: Duration = Duration::from_millis(300);
/// No test waits for this long unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

/// What comes until the other side closes.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    // A reset is an end, too.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the connection is still open");
    String::from_utf8_lossy(&bytes).into_owned()
}

fn head(more: &str) -> String {
    format!(
        "POST {} HTTP/1.1\r\nHost: grove\r\nContent-Type: application/json\r\n{more}\r\n\r\n",
        SET_VALIDATING.path
    )
}

/// Resident memory of this process in MiB: server and clients together.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[tokio::test]
async fn a_body_that_says_that_it_is_too_large_is_not_read() {
    let stage = Stage::new(Limits::default()).await;
    let mut stream = stage.client.connect().await.unwrap();
    stream.write_all(head("Content-Length: 67108864").as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.ends_with("the body is larger than 7340032 bytes"), "{answer}");
}

#[tokio::test]
async fn large_bodies_of_unknown_length_are_cut_and_memory_stays_flat() {
    let stage = Stage::new(Limits::default()).await;
    let before = memory();
    let flood = || async {
        let mut stream = stage.client.connect().await.unwrap();
        stream.write_all(head("Transfer-Encoding: chunked").as_bytes()).await.unwrap();
        let chunk = format!("10000\r\n{}\r\n", "a".repeat(0x1_0000));
        let mut sent = 0_u64;
        while sent < 64 << 20 && stream.write_all(chunk.as_bytes()).await.is_ok() {
            sent += 0x1_0000;
        }
        sent
    };
    for sent in join_all((0..32).map(|_| flood())).await {
        assert!(sent < 32 << 20, "{sent} bytes were taken");
    }
    let after = memory();
    assert!(after < before + 64, "memory grew from {before} to {after} MiB");
    let answer = stage.client.keep().await.unwrap().review(SET_VALIDATING.path, &set(1)).await.unwrap();
    assert_eq!(answer["uid"], "0000-1111", "others are served as ever");
}

#[tokio::test]
async fn a_slow_client_is_left_at_every_step() {
    let limits = Limits {
        handshake_time: SOON,
        first_request_time: SOON,
        body_time: SOON,
        idle_time: SOON,
        ..Limits::default()
    };
    let stage = Stage::new(limits).await;
    // No TLS.
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    // No request, and half of its headers.
    for half in ["", "POST /webhooks/validate-podcliqueset HTTP/1.1\r\nHost: gr"] {
        let mut stream = stage.client.connect().await.unwrap();
        stream.write_all(half.as_bytes()).await.unwrap();
        let answer = rest(&mut stream).await;
        assert!(!answer.contains("200"), "{answer}");
    }
    // Half of a body.
    let mut stream = stage.client.connect().await.unwrap();
    stream.write_all((head("Content-Length: 100") + "{").as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("did not come within 0.3 s"), "{answer}");
    // No second request.
    let mut stream = stage.client.connect().await.unwrap();
    stream.write_all((head("Content-Length: 2") + "{}").as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
}

#[tokio::test]
async fn a_thousand_idle_connections_keep_nobody_out() {
    let stage = Stage::new(Limits { connections: 64, ..Limits::default() }).await;
    let mut kept = stage.client.keep().await.unwrap();
    kept.review(SET_VALIDATING.path, &set(1)).await.unwrap();
    let before = memory();
    let mut idle = Vec::new();
    for _ in 0..1_000 {
        // One that is given up while it shakes hands fails; it is not missed.
        idle.extend(stage.client.connect().await.ok());
    }
    // The one that has asked before is kept, and new ones come in.
    kept.review(SET_VALIDATING.path, &set(1)).await.expect("an API server's connection was closed");
    let mut fresh = stage.client.keep().await.unwrap();
    fresh.review(SET_VALIDATING.path, &set(1)).await.unwrap();
    let after = memory();
    assert!(after < before + 96, "memory grew from {before} to {after} MiB");
    let is_open = |stream: &mut tokio_rustls::client::TlsStream<TcpStream>| {
        let mut byte = [0];
        matches!(stream.get_ref().0.try_read(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    };
    let still = async {
        while idle.iter_mut().filter_map(|it| is_open(it).then_some(())).count() > 64 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, still).await.expect("more connections are open than there may be");
}

/// Nothing times out: an API server gets in by the choice of which connection goes.
#[tokio::test]
async fn slow_clients_keep_no_api_server_out() {
    let hour = Duration::from_hours(1);
    let limits =
        Limits { handshake_time: hour, first_request_time: hour, idle_time: hour, ..Limits::default() };
    let stage = Stage::new(limits).await;
    let mut kept = stage.client.keep().await.unwrap();
    kept.review(SET_VALIDATING.path, &set(1)).await.unwrap();
    let mut slow = Vec::new();
    for _ in 0..400 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
        // No TLS ever comes.
        slow.push(timeout(PATIENCE, socket.connect(stage.address)).await.expect("not accepted").unwrap());
    }
    let mut fresh = timeout(PATIENCE, stage.client.keep()).await.expect("no TLS").unwrap();
    fresh.review(SET_VALIDATING.path, &set(1)).await.unwrap();
    kept.review(SET_VALIDATING.path, &set(1)).await.expect("an API server's connection was closed");
}

/// Tells when it is asked, and answers when it is let.
struct Held {
    asked: Arc<Notify>,
    release: Mutex<mpsc::Receiver<()>>,
}

impl Knowledge for Held {
    fn snapshot(&self, _: &str, _: &Request) -> Snapshot {
        self.asked.notify_one();
        let _ = self.release.lock().unwrap().recv();
        Snapshot::default()
    }
}

fn held() -> (Arc<Held>, Arc<Notify>, mpsc::Sender<()>) {
    let (asked, (release, waiting)) = (Arc::new(Notify::new()), mpsc::channel());
    (Arc::new(Held { asked: Arc::clone(&asked), release: Mutex::new(waiting) }), asked, release)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_takes_too_long_is_not_waited_for() {
    let (knowledge, _asked, release) = held();
    let limits = Limits { answer_time: SOON, ..Limits::default() };
    let stage = Stage::knowing(limits, knowledge).await;
    let mut kept = stage.client.keep().await.unwrap();
    let body = crate::client::review("CREATE", &set(1), &serde_json::Value::Null);
    let (code, text) = kept.post(SET_VALIDATING.path, body).await.unwrap();
    assert_eq!((code, text.as_str()), (504, "no answer within 0.3 s"));
    drop(release);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_is_answered_before_the_server_ends() {
    let (knowledge, asked, release) = held();
    let limits = Limits { lame_duck_time: Duration::ZERO, ..Limits::default() };
    let stage = Stage::knowing(limits, knowledge).await;
    let idle = stage.client.connect().await.unwrap();
    let mut kept = stage.client.keep().await.unwrap();
    let object = set(1);
    let asking = kept.review(SET_VALIDATING.path, &object);
    let ending = async {
        asked.notified().await;
        stage.stop.cancel();
        while TcpStream::connect(stage.address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        release.send(()).unwrap();
    };
    let (answer, ()) = tokio::join!(asking, ending);
    assert_eq!(answer.unwrap()["uid"], "0000-1111");
    timeout(PATIENCE, stage.serving).await.expect("the server does not end").unwrap().unwrap();
    drop(idle);
}
