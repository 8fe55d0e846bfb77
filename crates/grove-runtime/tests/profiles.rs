//! CPU profiles over HTTP. In a process of their own: the profiler's signal interrupts all threads of a process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, also in its functions"
)]

use std::hint::spin_loop;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use futures::future::select;
use grove_runtime::{listener, profiles};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// No test waits for this long unless something is wrong.
const PATIENCE: Duration = Duration::from_mins(1);
/// Seconds of a profile whose end no test waits for.
const LONG: u64 = 120;

/// Fields of a profile, as `profile.proto` numbers them.
const SAMPLE: u64 = 2;
const STRING_TABLE: u64 = 6;
const DURATION: u64 = 10;

/// Held by each test: a process takes one profile at a time.
static ALONE: Mutex<()> = Mutex::const_new(());

fn serve() -> (SocketAddr, CancellationToken) {
    let listener = listener::bind("localhost", 0).unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let routes = profiles::routes(stop.clone());
    tokio::spawn(listener::serve_routes(listener, "profiles", routes, profiles::limits(), stop.clone()));
    (address, stop)
}

/// Head and body of the answer.
async fn ask(address: SocketAddr, seconds: u64) -> (String, Vec<u8>) {
    let asking = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /debug/pprof/profile?seconds={seconds} HTTP/1.1\r\nHost: grove\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    };
    let mut answer = timeout(PATIENCE, asking).await.expect("no answer");
    let end = answer.windows(4).position(|it| it == b"\r\n\r\n").expect("no head") + 4;
    let body = answer.split_off(end);
    (String::from_utf8(answer).unwrap(), body)
}

/// What a field of a protocol buffer has.
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Field {
    fn number(&self) -> u64 {
        match self {
            Self::Number(it) => *it,
            Self::Bytes(_) => panic!("bytes are no number"),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(it) => it,
            Self::Number(_) => panic!("a number is no bytes"),
        }
    }
}

/// Reads a protocol buffer: numbers of fields, and what they have.
fn fields(mut rest: &[u8]) -> Vec<(u64, Field)> {
    fn varint(rest: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, after) = rest.split_first().unwrap();
            *rest = after;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
        }
        panic!("a number without end")
    }
    let mut fields = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest);
        let value = varint(&mut rest);
        let field = match tag & 7 {
            0 => Field::Number(value),
            2 => {
                let (bytes, after) = rest.split_at(usize::try_from(value).unwrap());
                rest = after;
                Field::Bytes(bytes.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, field));
    }
    fields
}

#[inline(never)]
fn burn_cpu(done: &AtomicBool) {
    while !done.load(Ordering::Relaxed) {
        spin_loop();
    }
}

#[tokio::test]
async fn a_profile_shows_what_the_processor_did() {
    let _alone = ALONE.lock().await;
    let (address, _stop) = serve();
    let done = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&done);
    let burning = thread::spawn(move || burn_cpu(&flag));
    let (head, body) = ask(address, 1).await;
    done.store(true, Ordering::Relaxed);
    burning.join().unwrap();

    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(head.contains("content-type: application/octet-stream\r\n"), "{head}");
    let profile = fields(&body);
    let of = |number: u64| profile.iter().filter(move |it| it.0 == number).map(|it| &it.1);
    let strings: Vec<_> =
        of(STRING_TABLE).map(|it| String::from_utf8(it.bytes().to_vec()).unwrap()).collect();
    assert!(strings.iter().any(|it| it.contains("burn_cpu")), "{strings:?}");
    let duration = of(DURATION).next().unwrap().number();
    assert!(duration >= 1_000_000_000, "{duration}");
    assert!(of(SAMPLE).count() > 0, "no samples");
}

#[tokio::test]
async fn the_second_of_two_is_refused_and_the_first_ends_with_the_server() {
    let _alone = ALONE.lock().await;
    let (address, stop) = serve();
    let (one, other) = (Box::pin(ask(address, LONG)), Box::pin(ask(address, LONG)));
    // Whichever comes second is answered first.
    let ((head, body), taken) = select(one, other).await.factor_first();
    assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    assert_eq!(body, b"another CPU profile is being taken\n");
    stop.cancel();
    let (head, body) = taken.await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(fields(&body).iter().any(|it| it.0 == DURATION));
}

#[tokio::test]
async fn a_profile_ends_when_its_client_leaves() {
    let _alone = ALONE.lock().await;
    let (address, _stop) = serve();
    let (one, other) = (Box::pin(ask(address, LONG)), Box::pin(ask(address, LONG)));
    let ((head, _), taken) = select(one, other).await.factor_first();
    assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    // Closes the connection, which the server notices when it gets to it.
    drop(taken);
    let asking = async {
        loop {
            let (head, _) = ask(address, 1).await;
            if !head.starts_with("HTTP/1.1 429 ") {
                return head;
            }
        }
    };
    let head = timeout(PATIENCE, asking).await.expect("the profile goes on");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
}
