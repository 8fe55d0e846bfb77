//! Clients that say nothing, or only half of what they have to, or do not read their answers: more of them than a port has
//! connections.

use std::io;

use futures::{
    future::join_all,
    stream::{self, StreamExt as _},
};
use grove_api::constants::webhooks::SET_VALIDATING;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use crate::{
    client::{Kind, Port, Stream, attacker, head, until_closed},
    honest::review,
    program::{Program, set},
};

/// A port has 256 connections.
const CLIENTS: usize = 300;
/// Those that shake hands cost processor time on both sides, and the operator gives them five seconds for it.
const CLIENTS_WITH_TLS: usize = 48;
/// So many begin at the same time.
const BEGUN_AT_ONCE: usize = 8;

/// What is sent before silence.
struct Attack {
    name: &'static str,
    text: Vec<u8>,
    /// Whether it is sent as it is where there is TLS.
    without_tls: bool,
}

fn attacks(kind: Kind) -> Vec<Attack> {
    let attack = |name, text: &[u8]| Attack { name, text: text.to_vec(), without_tls: false };
    let silent = Attack { without_tls: true, ..attack("silent connections", b"") };
    let half = attack("half a request line", b"GET /rea");
    let headers = attack("headers that do not end", b"GET /readyz HTTP/1.1\r\nHost: grove\r\nX-Slow: ");
    let mut attacks = vec![silent, half, headers];
    let path = match kind {
        Kind::Admission => {
            // The beginning of a ClientHello of 512 bytes.
            let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
            attacks.push(Attack { without_tls: true, ..attack("half a TLS handshake", hello) });
            let large = "Content-Type: application/json\r\nContent-Length: 1000000";
            let large = head("POST", SET_VALIDATING.path, large) + "{";
            attacks.push(attack("large bodies that do not end", large.as_bytes()));
            return attacks;
        }
        Kind::Health => "/readyz",
        Kind::Metrics => "/metrics",
        Kind::Profiles => "/debug/pprof/heap",
    };
    let body = head("POST", path, "Content-Length: 1000") + "{";
    attacks.push(attack("bodies that do not end", body.as_bytes()));
    let requests = head("GET", path, "Accept: */*").repeat(200);
    attacks.push(attack("answers that are not read", requests.as_bytes()));
    attacks
}

async fn begin(port: &Port, number: usize, attack: &Attack) -> io::Result<Box<dyn Stream>> {
    let from = attacker(number);
    let mut stream: Box<dyn Stream> = if attack.without_tls {
        Box::new(port.connect_plain(from).await?)
    } else {
        port.connect(from).await?
    };
    stream.write_all(&attack.text).await?;
    stream.flush().await?;
    Ok(stream)
}

async fn table(program: &mut Program) {
    for port in program.ports.clone() {
        for attack in attacks(port.kind) {
            let beginning = async {
                // Those that are given up while they begin are not missed.
                let has_tls = port.kind == Kind::Admission && !attack.without_tls;
                let clients = if has_tls { CLIENTS_WITH_TLS } else { CLIENTS };
                let begun = stream::iter((0..clients).map(|it| begin(&port, it, &attack)));
                let begun: Vec<io::Result<_>> = begun.buffer_unordered(BEGUN_AT_ONCE).collect().await;
                begun.into_iter().filter_map(Result::ok).collect::<Vec<_>>()
            };
            let slow = port.attacked(attack.name, beginning).await;
            // They are still open, as far as the program lets them.
            port.attacked(attack.name, std::future::ready(())).await;
            assert!(!slow.is_empty(), "{:?}, {}: there was no attack", port.kind, attack.name);
            drop(slow);
            program.assert_unharmed();
        }
    }
}

/// Who sends a large review slowly holds one of the few places for them, and loses it to others.
async fn slow_bodies_lose_their_place(program: &Program) {
    let port = program.port(Kind::Admission);
    let more = "Content-Type: application/json\r\nContent-Length: 1000000";
    let text = (head("POST", SET_VALIDATING.path, more) + "{").into_bytes();
    let attack = Attack { name: "large bodies", text, without_tls: false };
    let mut slow = Vec::new();
    for number in 0..16 {
        slow.push(begin(port, number, &attack).await.unwrap());
    }
    port.attacked(attack.name, std::future::ready(())).await;
    for stream in &mut slow {
        until_closed(&mut **stream).await;
    }
}

/// Answers may be as long as what is asked: they wait in memory until they are read.
async fn long_answers_that_are_not_read(program: &Program) {
    let port = program.port(Kind::Admission);
    let mut wrong = set("wrong", "default");
    wrong["spec"]["template"]["cliques"][0]["spec"]["roleName"] = "R".repeat(1 << 20).into();
    let body = review("CREATE", &wrong, &Value::Null).to_string();
    let more = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
    let attack = Attack {
        name: "long answers that are not read",
        text: (head("POST", SET_VALIDATING.path, &more) + &body).into_bytes(),
        without_tls: false,
    };
    let beginning = async { join_all((0..16).map(|it| begin(port, it, &attack))).await };
    let slow = port.attacked(attack.name, beginning).await;
    assert!(slow.iter().any(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_keep_no_honest_one_from_the_operator() {
    let mut program = Program::operator("operator-slow").await;
    table(&mut program).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_reviews_that_are_slow_keep_no_other_large_one_out() {
    let mut program = Program::operator("operator-slow-reviews").await;
    slow_bodies_lose_their_place(&program).await;
    long_answers_that_are_not_read(&program).await;
    program.assert_unharmed();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_keep_no_honest_one_from_the_pod_grouper() {
    table(&mut Program::pod_grouper("grouper-slow").await).await;
}
