//! Bodies that are large, or become large: each test runs itself again in a process that may have only so much data, and that
//! ends where it wants more.

use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use futures::{StreamExt as _, stream};
use grove_apiserver::Limits;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{ADMIN, CONFIG_MAPS, Setup, Stage, read, request};

/// Longer than anything here takes on a busy machine, and shorter than what costs the square of a body.
const DEADLINE: Duration = Duration::from_mins(1);

const MEGABYTES: usize = 64;

/// Runs a test of this file in a process whose data may have so many megabytes.
fn child(name: &str, megabytes: usize) {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -d {}; exec \"$0\" \"$@\"", megabytes << 10))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &format!("flat_memory::{name}"), "--ignored", "--nocapture", "--test-threads=1"])
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
}

/// Fourteen of them are sent at a time: 896 MB.
#[test]
#[cfg(target_os = "linux")]
fn bodies_of_64_megabytes_are_refused_in_flat_memory() {
    child("in_a_child_bodies_of_64_megabytes", 128);
}

#[test]
#[cfg(target_os = "linux")]
fn bodies_that_become_large_are_refused_in_bounded_memory() {
    child("in_a_child_bombs", 384);
}

/// Each is within the limit of a body, and together they are 725 MB.
#[test]
#[cfg(target_os = "linux")]
fn bodies_of_many_streams_are_refused_in_flat_memory() {
    child("in_a_child_bodies_of_many_streams", 384);
}

/// Whether the limit is one at all.
#[test]
#[cfg(target_os = "linux")]
#[should_panic = "memory allocation of 268435456 bytes failed"]
fn a_process_that_wants_more_data_ends() {
    child("in_a_child_too_much", 128);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn in_a_child_too_much() {
    assert_eq!(vec![1_u8; 256 << 20].len(), 256 << 20);
}

fn head(more: &str) -> String {
    format!(
        "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {ADMIN}\r\nContent-Type: application/json\r\n{more}\r\n\r\n"
    )
}

/// Sends a large body, announced or in chunks; the status of the answer.
async fn send(mut stream: impl AsyncRead + AsyncWrite + Unpin, chunk: Bytes, announced: bool) -> u16 {
    let sending = async {
        if announced {
            stream.write_all(head(&format!("Content-Length: {}", MEGABYTES << 20)).as_bytes()).await?;
            for _ in 0..MEGABYTES {
                stream.write_all(&chunk).await?;
            }
        } else {
            stream.write_all(head("Transfer-Encoding: chunked").as_bytes()).await?;
            for _ in 0..MEGABYTES {
                stream.write_all(b"100000\r\n").await?;
                stream.write_all(&chunk).await?;
                stream.write_all(b"\r\n").await?;
            }
            stream.write_all(b"0\r\n\r\n").await?;
        }
        stream.flush().await
    };
    // A server that has no more patience answers before the end.
    drop(sending.await);
    let mut answer = [0; 12];
    tokio::time::timeout(DEADLINE, stream.read_exact(&mut answer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&answer[9..]).parse().unwrap()
}

/// Sends two large bodies over one connection of HTTP/2.
async fn send_two(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, chunk: &Bytes) -> Vec<u16> {
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let one = || {
        let (mut sender, chunk) = (sender.clone(), chunk.clone());
        async move {
            let frames = (0..MEGABYTES).map(move |_| Ok::<_, std::io::Error>(Frame::data(chunk.clone())));
            let post = request("POST", &format!("https://kubernetes{CONFIG_MAPS}"), ADMIN);
            let sent = sender.send_request(post.body(StreamBody::new(stream::iter(frames))).unwrap());
            sent.await.unwrap().status().as_u16()
        }
    };
    let (one, two) = tokio::join!(one(), one());
    vec![one, two]
}

#[tokio::test]
#[ignore = "run by a test above, in a process of its own"]
async fn in_a_child_bodies_of_64_megabytes() {
    let (plain, tls) = (Stage::plain().await, Stage::new(Setup { tls: true, ..Setup::default() }).await);
    let chunk = Bytes::from(vec![b'a'; 1 << 20]);
    let over_tcp = async |announced| send(plain.connect().await, chunk.clone(), announced).await;
    let over_tls =
        async |announced| send(tls.connect_tls(&["http/1.1"], None).await, chunk.clone(), announced).await;
    let (mut codes, more, last) = tokio::join!(
        join_all((0..8).map(|it| over_tcp(it % 2 == 0))),
        join_all((0..4).map(|it| over_tls(it % 2 == 0))),
        async { send_two(tls.connect_tls(&["h2"], None).await, &chunk).await },
    );
    codes.extend(more);
    codes.extend(last);
    assert_eq!(codes, [413; 14]);
    for stage in [&plain, &tls] {
        assert!(stage.server.store().list("configmaps", None).is_empty());
    }
}

#[tokio::test]
#[ignore = "run by a test above, in a process of its own"]
async fn in_a_child_bodies_of_many_streams() {
    // A busy machine may take long for that much.
    let limits = Limits { body_time: 4 * DEADLINE, ..Limits::default() };
    let stage = Stage::new(Setup { limits, ..Setup::default() }).await;
    let streams = usize::try_from(limits.streams).unwrap();
    let io = TokioIo::new(stage.connect().await);
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let chunk = Bytes::from(vec![b'a'; 100_000]);
    // None of them ends before all have come so far, or were refused.
    let (coming, mut all_came) = mpsc::channel::<()>(1);
    let end = CancellationToken::new();
    let send = |coming: mpsc::Sender<()>| {
        let (mut sender, chunk, end) = (sender.clone(), chunk.clone(), end.clone());
        async move {
            let frames = stream::iter((0..29).map(move |_| chunk.clone()));
            let last = stream::once(async move {
                drop(coming);
                end.cancelled().await;
                Bytes::from_static(b"a")
            });
            let frames = frames.chain(last).map(|it| Ok::<_, std::io::Error>(Frame::data(it)));
            let post = request("POST", &format!("https://kubernetes{CONFIG_MAPS}"), ADMIN)
                .header("content-type", "application/json");
            let answer = sender.send_request(post.body(StreamBody::new(Box::pin(frames))).unwrap());
            let answer = answer.await.unwrap();
            (answer.status().as_u16(), answer.headers().get("retry-after").cloned())
        }
    };
    let answers = join_all((0..streams).map(|_| send(coming.clone())));
    drop(coming);
    let ending = async {
        assert_eq!(all_came.recv().await, None);
        end.cancel();
    };
    let both = async { tokio::join!(answers, ending).0 };
    let answers = tokio::time::timeout(4 * DEADLINE, both).await.unwrap();
    let (read, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(code, _)| *code == 400);
    // It is no JSON, of which as many as fit into 64 MiB are read.
    assert!((1..=23).contains(&read.len()), "{} of {streams} were read", read.len());
    for (code, retry_after) in refused {
        assert_eq!((code, retry_after.unwrap().as_bytes()), (429, &b"1"[..]));
    }
    // Nothing of it stays taken.
    stage.create(CONFIG_MAPS, json!({"metadata": {"name": "a"}, "data": {"a": "x".repeat(1 << 20)}})).await;
    assert_eq!(stage.server.store().list("configmaps", None).len(), 1);
}

#[tokio::test]
#[ignore = "run by a test above, in a process of its own"]
async fn in_a_child_bombs() {
    let stage = Stage::plain().await;
    let create = json!({"metadata": {"name": "there"}, "data": {"a": "x".repeat(1_000)}});
    stage.create(CONFIG_MAPS, create).await;
    for (name, content_type, body, expected) in bombs() {
        let path = format!("{CONFIG_MAPS}/there?fieldManager=a");
        let (method, path) =
            if content_type.contains("patch") { ("PATCH", path.as_str()) } else { ("POST", CONFIG_MAPS) };
        let sent = request(method, path, ADMIN).header("content-type", content_type);
        let answer = async { read(stage.send(sent.body(Full::from(body)).unwrap()).await).await };
        let (code, said) =
            tokio::time::timeout(DEADLINE, answer).await.unwrap_or_else(|_| panic!("{name}: no answer"));
        let length = said.to_string().len();
        assert_eq!((code, &said["kind"]), (expected, &json!("Status")), "{name}");
        assert!(length < 1 << 20, "{name}: the answer has {length} bytes");
    }
    // One after the other, each copies what the last one made, until the object is too large to be stored.
    let mut last = (200, Value::Null);
    for at in 0..20 {
        let steps = json!([{"op": "copy", "from": "/data", "path": "/binaryData"},
            {"op": "add", "path": format!("/data/b{at}"), "value": "y".repeat(1 << 18)}]);
        let there = format!("{CONFIG_MAPS}/there");
        let patch = request("PATCH", &there, ADMIN).header("content-type", "application/json-patch+json");
        last = read(stage.send(patch.body(Full::from(steps.to_string())).unwrap()).await).await;
        if last.0 != 200 {
            break;
        }
    }
    assert_eq!((last.0, &last.1["message"]), (500, &json!("etcdserver: request is too large")));
}

/// Bodies within the limit that become more, and with which code each is refused.
fn bombs() -> Vec<(&'static str, &'static str, String, u16)> {
    const JSON: &str = "application/json";
    const YAML: &str = "application/yaml";
    const APPLY: &str = "application/apply-patch+yaml";
    let lines =
        |count: usize, line: &dyn Fn(usize) -> String| (1..=count).map(line).collect::<Vec<_>>().concat();
    let laughs = lines(20, &|at| format!("a{at}: &a{at} [{}]\n", vec![format!("*a{}", at - 1); 9].join(",")));
    let laughs = format!("a0: &a0 [ha]\n{laughs}");
    let large = "x".repeat(1 << 20);
    let repeated = format!("data:\n  a: &a {large}\n{}", lines(40, &|at| format!("  b{at}: *a\n")));
    // As many anchors as it takes for as many aliases as there may be.
    let anchors = lines(6_000, &|at| format!("- &a{at} x\n"));
    let many = format!("- &a {large}\n{anchors}{}", "- *a\n".repeat(45_000));
    let merged = lines(200, &|at| format!("m{at}: &m{at}\n  <<: *m{}\n  k{at}: x\n", at - 1));
    let merged = format!("m0: &m0\n  k: x\n{merged}");
    let long = "k".repeat(1_400_000);
    let zeros = "0,".repeat(700_000);
    let doubling: Vec<Value> =
        (0..200).map(|at| json!({"op": "copy", "from": "/data", "path": format!("/data/{at}")})).collect();
    let steps = vec![json!({"op": "test", "path": "/data/a", "value": 1}); 10_001];
    let mut bombs = vec![
        ("a patch that doubles", "application/json-patch+json", Value::from(doubling).to_string(), 422),
        ("a patch of 10,001 steps", "application/json-patch+json", Value::from(steps).to_string(), 413),
        ("a long name above many values", JSON, format!(r#"{{"data":{{"{long}":[{zeros}0]}}}}"#), 422),
        (
            "a long name above many fields that come twice",
            JSON,
            format!(r#"{{"metadata":{{}},"data":{{"{long}":{{{}"a":0}}}}}}"#, r#""a":0,"#.repeat(200_000)),
            422,
        ),
        (
            "many long names that are not known",
            JSON,
            format!(
                r#"{{"metadata":{{}},{}"a":0}}"#,
                lines(50, &|at| format!(r#""{at}{}":0,"#, "k".repeat(50_000)))
            ),
            422,
        ),
        ("many small values", JSON, format!("[{}0]", "0,".repeat(1_500_000)), 400),
        ("many small values that are none", JSON, format!("[{}", "{},".repeat(1_000_000)), 400),
        ("documents", YAML, "---\n".repeat(500_000), 400),
    ];
    for (name, body) in
        [("laughs", laughs), ("a large value, repeated", repeated), ("aliases", many), ("merge keys", merged)]
    {
        bombs.extend([(name, YAML, body.clone(), 400), (name, APPLY, body, 400)]);
    }
    bombs
}
