//! HTTP/2 by hand: what no client sends.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Error codes.
const REFUSED_STREAM: u32 = 7;
const CANCEL: u32 = 8;
pub(crate) const ENHANCE_YOUR_CALM: u32 = 11;

/// What a server said on a connection.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Streams that have an answer.
    pub(crate) answers: usize,
    /// Streams that it refused to take.
    pub(crate) refused: usize,
    /// With which error it ended the connection, if it said so.
    pub(crate) goaway: Option<u32>,
}

/// The sending side of a connection, on which the preface was said.
pub(crate) struct Talk(OwnedWriteHalf);

pub(crate) async fn begin(stream: TcpStream) -> (Talk, OwnedReadHalf) {
    let (read, mut write) = stream.into_split();
    write.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
    write.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    (Talk(write), read)
}

impl Talk {
    /// Sends frames; whether the connection is still open.
    pub(crate) async fn say(&mut self, frames: &[u8]) -> bool {
        self.0.write_all(frames).await.is_ok()
    }
}

/// Headers of a GET with a token.
pub(crate) fn get(stream: u32, path: &str, token: &str) -> Vec<u8> {
    let authorization = format!("Bearer {token}");
    let pairs = [
        (":method", "GET"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "kubernetes"),
        ("authorization", &authorization),
    ];
    let block: Vec<u8> = pairs.iter().flat_map(|(name, value)| literal(name, value)).collect();
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &block)
}

/// Headers that do not end with this frame.
pub(crate) fn open_headers(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_STREAM, stream, &literal(":method", "GET"))
}

/// More of them, and not the end.
pub(crate) fn more_headers(stream: u32) -> Vec<u8> {
    frame(CONTINUATION, 0, stream, &literal("x-more", "1"))
}

pub(crate) fn reset(stream: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &CANCEL.to_be_bytes())
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header that no table remembers, with lengths below 127.
fn literal(name: &str, value: &str) -> Vec<u8> {
    let text = |it: &str| [&[u8::try_from(it.len()).unwrap()][..], it.as_bytes()].concat();
    assert!(name.len() < 127 && value.len() < 127);
    [vec![0], text(name), text(value)].concat()
}

/// Listens until the server closes the connection, or as long as `goes_on` says after each frame.
pub(crate) async fn listen(mut read: OwnedReadHalf, goes_on: impl Fn(&Heard) -> bool) -> Heard {
    let mut heard = Heard::default();
    let mut frame = [0; 9];
    while goes_on(&heard) && read.read_exact(&mut frame).await.is_ok() {
        let length = usize::try_from(u32::from_be_bytes([0, frame[0], frame[1], frame[2]])).unwrap();
        let mut payload = vec![0; length];
        if read.read_exact(&mut payload).await.is_err() {
            break;
        }
        let number = |at: usize| payload.get(at..at + 4).map(|it| u32::from_be_bytes(it.try_into().unwrap()));
        match frame[3] {
            HEADERS => heard.answers += 1,
            RST_STREAM if number(0) == Some(REFUSED_STREAM) => heard.refused += 1,
            GOAWAY => heard.goaway = number(4),
            _ => {}
        }
    }
    heard
}
