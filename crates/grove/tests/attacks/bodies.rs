//! Bodies and headers of 64 MB, announced or not.

use std::collections::BTreeSet;

use futures::future::join_all;
use grove_api::constants::webhooks::SET_VALIDATING;
use tokio::{
    io::{AsyncWriteExt as _, split},
    time::timeout,
};

use crate::{
    client::{Kind, Port, attacker, head, read_answer},
    program::{PATIENCE, Program},
};

/// What each client sends.
const BYTES: usize = 64 << 20;
/// Clients at the same time: together a gigabyte.
const CLIENTS: usize = 16;
/// What is taken of a body before it is cut off: those of admission have up to 7 MiB, and some is in buffers of the system on its way.
const TAKEN: usize = 24 << 20;

/// Bytes of one piece of a body.
const CHUNK: usize = 64 << 10;

/// One attack: the head of the request, what is sent after it again and again, and the codes that each kind of port may answer
/// with.
struct Attack {
    name: &'static str,
    more: String,
    piece: Vec<u8>,
    plain: &'static [u16],
    admission: &'static [u16],
}

fn attacks() -> Vec<Attack> {
    let json = "Content-Type: application/json\r\n";
    vec![
        Attack {
            name: "a body of 64 MB that is announced",
            more: format!("{json}Content-Length: {BYTES}"),
            piece: vec![b'a'; CHUNK],
            plain: &[413],
            admission: &[413],
        },
        Attack {
            name: "a body of 64 MB in chunks",
            more: format!("{json}Transfer-Encoding: chunked"),
            piece: format!("{CHUNK:x}\r\n{}\r\n", "a".repeat(CHUNK)).into_bytes(),
            // Whoever wants a body gets no further than the method.
            plain: &[405],
            // 408 where it takes a second while others wait.
            admission: &[413, 408],
        },
        Attack {
            name: "a header of 64 MB",
            more: format!("{json}X-Long: {}", "a".repeat(CHUNK)),
            piece: vec![b'a'; CHUNK],
            plain: &[431],
            admission: &[431],
        },
        Attack {
            name: "two lengths",
            more: format!("{json}Content-Length: 10\r\nContent-Length: 20"),
            piece: vec![b'a'; CHUNK],
            plain: &[400],
            admission: &[400],
        },
    ]
}

/// Sends an attack while it is taken. The code of the answer, if there is one, and how many bytes were taken.
async fn carry_out(port: &Port, number: usize, attack: &Attack) -> (Option<u16>, usize) {
    let path = match port.kind {
        Kind::Admission => SET_VALIDATING.path,
        Kind::Health => "/readyz",
        Kind::Metrics => "/metrics",
        Kind::Profiles => "/debug/pprof/profile",
    };
    // One that is given up while it shakes hands gets nothing.
    let Ok(stream) = port.connect(attacker(number)).await else { return (None, 0) };
    let (mut reader, mut writer) = split(stream);
    let mut sent = 0;
    let sending = async {
        let mut piece = head("POST", path, &attack.more).into_bytes();
        while sent < BYTES && writer.write_all(&piece).await.is_ok() {
            sent += CHUNK;
            piece.clone_from(&attack.piece);
        }
    };
    // Both at once: the answer comes in the middle.
    let both = async { tokio::join!(read_answer(&mut reader), sending).0 };
    let answer = timeout(PATIENCE, both).await.expect("a body is neither taken nor refused");
    (answer.ok().map(|it| it.code), sent)
}

async fn table(program: &mut Program) {
    for port in program.ports.clone() {
        for attack in attacks() {
            let attacking = join_all((0..CLIENTS).map(|it| carry_out(&port, it, &attack)));
            let results = port.attacked(attack.name, attacking).await;
            let expected = if port.kind == Kind::Admission { attack.admission } else { attack.plain };
            // The end of a connection may overtake its answer.
            let codes: BTreeSet<u16> = results.iter().filter_map(|(code, _)| *code).collect();
            let is_expected = codes.iter().all(|it| expected.contains(it)) && !codes.is_empty();
            assert!(is_expected, "{:?}, {}: {codes:?}", port.kind, attack.name);
            for (_, sent) in results {
                assert!(sent < TAKEN, "{:?}, {}: {sent} bytes were taken", port.kind, attack.name);
            }
            program.assert_unharmed();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operator_takes_no_bodies_of_64_megabytes() {
    table(&mut Program::operator("operator-bodies").await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pod_grouper_takes_no_bodies_of_64_megabytes() {
    table(&mut Program::pod_grouper("grouper-bodies").await).await;
}
