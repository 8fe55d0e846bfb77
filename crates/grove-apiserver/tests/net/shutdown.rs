//! How a server ends.

use std::time::Duration;

use bytes::Bytes;
use grove_apiserver::Limits;
use http_body_util::{BodyExt as _, Full};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::support::{ADMIN, CONFIG_MAPS, Setup, Stage, config_map, http2, request, rest};

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn watches_end_cleanly() {
    let stage = Stage::plain().await;
    stage.create(CONFIG_MAPS, config_map("a")).await;
    let path = format!("{CONFIG_MAPS}?watch=true");
    let watch = request("GET", &path, ADMIN).body(Full::<Bytes>::default()).unwrap();
    let mut one = stage.send(watch).await.into_body();
    let watch = request("GET", &format!("http://kubernetes{path}"), ADMIN).body(Full::default()).unwrap();
    let mut sender = http2(stage.connect().await).await;
    let mut two = sender.send_request(watch).await.unwrap().into_body();
    for lines in [&mut one, &mut two] {
        lines.frame().await.unwrap().unwrap();
    }
    timeout(PATIENCE, stage.handle.shutdown()).await.unwrap();
    for lines in [one, two] {
        // The end of the body, and no broken connection.
        let rest = timeout(PATIENCE, lines.collect()).await.unwrap().unwrap();
        assert!(rest.to_bytes().is_empty());
    }
    assert!(TcpStream::connect(stage.address).await.is_err());
}

#[tokio::test]
async fn a_request_in_flight_is_answered() {
    let stage = Stage::plain().await;
    let body = config_map("a").to_string();
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {ADMIN}\r\nContent-Length: {}\r\nExpect: 100-continue\r\n\r\n",
        body.len()
    );
    let mut stream = stage.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server reads the body, so the request is in flight.
    let mut answer = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    let ending = tokio::spawn(stage.handle.shutdown());
    // It is on its way: nobody is let in any more.
    while TcpStream::connect(stage.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(body.as_bytes()).await.unwrap();
    let answer = rest(&mut stream).await;
    assert!(answer.contains("HTTP/1.1 201 ") && answer.contains("connection: close"), "{answer}");
    timeout(PATIENCE, ending).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_cut() {
    let limits = Limits { drain_time: Duration::from_millis(200), ..Limits::default() };
    let stage = Stage::new(Setup { limits, ..Setup::default() }).await;
    let mut stream = stage.connect().await;
    let head = format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {ADMIN}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.read_exact(&mut [0; 12]).await.unwrap();
    let start = Instant::now();
    timeout(PATIENCE, stage.handle.shutdown()).await.unwrap();
    assert!(start.elapsed() >= limits.drain_time);
    assert!(!rest(&mut stream).await.contains("201"));
}
