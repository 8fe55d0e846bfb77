//! Clients that take more than their share.

use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use grove_apiserver::{Fault, Limits};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{ADMIN, CONFIG_MAPS, Setup, Stage, config_map, http2, request, rest};

const SOON: Duration = Duration::from_millis(300);

async fn with(limits: Limits) -> Stage {
    Stage::new(Setup { limits, ..Setup::default() }).await
}

fn head(more: &str) -> String {
    format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {ADMIN}\r\nContent-Type: application/json\r\n{more}\r\n\r\n"
    )
}

/// The status of the first response on a connection.
async fn status(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 12];
    tokio::time::timeout(Duration::from_secs(20), stream.read_exact(&mut bytes)).await.unwrap().unwrap();
    String::from_utf8_lossy(&bytes[9..]).into_owned()
}

#[tokio::test]
async fn slow_clients_are_cut_at_every_step() {
    let stage =
        with(Limits { first_request_time: SOON, body_time: SOON, idle_time: SOON, ..Limits::default() })
            .await;
    // Silence, half of the headers, a preface of HTTP/2 and nothing after it.
    for half in ["", "GET /version HTTP/1.1\r\nHost: kuber", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = stage.connect().await;
        stream.write_all(half.as_bytes()).await.unwrap();
        assert!(!rest(&mut stream).await.contains("200"), "{half}");
    }
    // Half of a body.
    let mut stream = stage.connect().await;
    stream.write_all((head("Content-Length: 100") + "{").as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.contains("did not arrive within 0.3 s"),
        "{answer}"
    );
    // No second request.
    let mut stream = stage.connect().await;
    let get = format!("GET /version HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {ADMIN}\r\n\r\n");
    stream.write_all(get.as_bytes()).await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_handshake_takes_no_longer_than_it_may() {
    let limits = Limits { handshake_time: SOON, ..Limits::default() };
    let stage = Stage::new(Setup { tls: true, limits, ..Setup::default() }).await;
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0x16, 3, 1, 2, 0]] {
        let mut stream = stage.connect().await;
        stream.write_all(bytes).await.unwrap();
        assert!(!rest(&mut stream).await.contains("200"));
    }
}

#[tokio::test]
async fn a_quiet_watch_is_no_slow_client() {
    // An honest client has to keep them, also on a busy machine.
    let limit = Duration::from_secs(2);
    let stage = with(Limits { idle_time: limit, first_request_time: limit, ..Limits::default() }).await;
    let mut stream = stage.connect().await;
    let watch = format!(
        "GET {CONFIG_MAPS}?watch=true HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {ADMIN}\r\n\r\n"
    );
    stream.write_all(watch.as_bytes()).await.unwrap();
    assert_eq!(status(&mut stream).await, "200");
    // Long enough that it would have been cut.
    tokio::time::sleep(2 * limit).await;
    stage.create(CONFIG_MAPS, config_map("late")).await;
    let mut bytes = vec![0; 4096];
    let mut got = String::new();
    while !got.contains("late") {
        let count =
            tokio::time::timeout(Duration::from_secs(20), stream.read(&mut bytes)).await.unwrap().unwrap();
        assert!(count > 0, "the watch was cut: {got}");
        got.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
}

#[tokio::test]
async fn bodies_that_are_announced_too_large_need_not_be_sent() {
    let stage = with(Limits::default()).await;
    let mut stream = stage.connect().await;
    stream.write_all(head("Content-Length: 67108864\r\nExpect: 100-continue").as_bytes()).await.unwrap();
    assert_eq!(status(&mut stream).await, "413");
    let (_, said) = stage.ask(ADMIN, "POST", CONFIG_MAPS, json!({"data": {"a": "x".repeat(4 << 20)}})).await;
    let expected = "Request entity too large: limit is 3145728";
    assert_eq!((&said["reason"], &said["message"]), (&json!("RequestEntityTooLarge"), &json!(expected)));
}

#[tokio::test]
async fn idle_connections_keep_nobody_out() {
    let stage = with(Limits { connections: 8, ..Limits::default() }).await;
    let mut idle = Vec::new();
    for _ in 0..50 {
        idle.push(stage.connect().await);
    }
    assert_eq!(stage.get(ADMIN, "/version").await.0, 200);
    let mut closed = 0;
    for stream in &mut idle {
        let reading = tokio::time::timeout(SOON, stream.read(&mut [0])).await;
        closed += usize::from(matches!(reading, Ok(Ok(0) | Err(_))));
    }
    assert!(closed >= 42, "only {closed} were closed");
}

#[tokio::test]
async fn one_connection_has_so_many_streams() {
    let stage = with(Limits { streams: 3, ..Limits::default() }).await;
    let sender = http2(stage.connect().await).await;
    let watch = |mut sender: hyper::client::conn::http2::SendRequest<Full<Bytes>>| async move {
        let watch = request("GET", &format!("http://kubernetes{CONFIG_MAPS}?watch=true"), ADMIN);
        sender.send_request(watch.body(Full::default()).unwrap()).await.unwrap()
    };
    let mut open = join_all((0..3).map(|_| watch(sender.clone()))).await;
    let fourth = tokio::spawn(watch(sender.clone()));
    // Other connections are not concerned.
    assert_eq!(stage.get(ADMIN, "/version").await.0, 200);
    tokio::time::sleep(SOON).await;
    assert!(!fourth.is_finished());
    drop(open.pop());
    let response = tokio::time::timeout(Duration::from_secs(20), fourth).await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn a_panic_is_an_answer() {
    let stage = with(Limits::default()).await;
    stage.server.before_write(|request| {
        assert_ne!(request.verb(), "create", "on purpose");
        Fault::None
    });
    let (code, said) = stage.ask(ADMIN, "POST", CONFIG_MAPS, config_map("a")).await;
    assert_eq!((code, &said["reason"]), (500, &json!("InternalError")));
    assert_eq!(
        stage.ask(ADMIN, "DELETE", &format!("{CONFIG_MAPS}/a"), Value::Null).await.0,
        404,
        "it goes on"
    );
}

#[tokio::test]
async fn a_write_that_is_lost_breaks_the_connection() {
    let stage = with(Limits::default()).await;
    stage.server.before_write(|_| Fault::Lose);
    let mut stream = stage.connect().await;
    let body = config_map("a").to_string();
    stream.write_all((head(&format!("Content-Length: {}", body.len())) + &body).as_bytes()).await.unwrap();
    assert_eq!(rest(&mut stream).await, "");
    assert!(stage.server.store().get("configmaps", "default", "a").is_some());
}
