//! Connections to a port, from the address of an honest client or of an attacker, and what comes back.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::timeout,
};
use tokio_rustls::TlsConnector;

use crate::program::PATIENCE;

/// What is served on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Health,
    Metrics,
    Profiles,
    Admission,
}

/// A port of a program.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) kind: Kind,
    address: SocketAddr,
    tls: Option<TlsConnector>,
}

/// A connection on which requests can be sent.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: String,
}

/// Addresses of attackers, each with several connections. An honest client has 127.0.0.1.
pub(crate) fn attacker(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, 2 + u8::try_from(number % 8).unwrap())
}

impl Port {
    pub(crate) fn new(kind: Kind, port: u16) -> Self {
        Self { kind, address: (Ipv4Addr::LOCALHOST, port).into(), tls: None }
    }

    /// The port of admission, whose certificate was signed by these authorities.
    pub(crate) fn admission(port: u16, authorities: &[u8]) -> Self {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authorities) {
            roots.add(certificate.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let tls = Some(TlsConnector::from(Arc::new(config)));
        Self { tls, ..Self::new(Kind::Admission, port) }
    }

    /// A connection without a word on it.
    pub(crate) async fn connect_plain(&self, from: Ipv4Addr) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((from, 0).into())?;
        timeout(PATIENCE, socket.connect(self.address)).await.expect("not accepted")
    }

    /// A connection that is ready for a request.
    pub(crate) async fn connect(&self, from: Ipv4Addr) -> io::Result<Box<dyn Stream>> {
        let stream = self.connect_plain(from).await?;
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let shaking = tls.connect(ServerName::from(self.address.ip()), stream);
        Ok(Box::new(timeout(PATIENCE, shaking).await.expect("no TLS")?))
    }
}

/// The beginning of a request.
pub(crate) fn head(method: &str, path: &str, more: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: grove\r\n{more}\r\n\r\n")
}

/// Sends all of it, and reads one answer.
pub(crate) async fn exchange(stream: &mut (impl Stream + ?Sized), request: &[u8]) -> io::Result<Answer> {
    // Who is refused in the middle of a request cannot write the rest of it.
    let _ = stream.write_all(request).await;
    let _ = stream.flush().await;
    read_answer(stream).await
}

/// Reads one answer.
pub(crate) async fn read_answer(stream: &mut (impl AsyncRead + Unpin + ?Sized)) -> io::Result<Answer> {
    timeout(PATIENCE, read_whole(stream)).await.expect("no answer")
}

async fn read_whole(stream: &mut (impl AsyncRead + Unpin + ?Sized)) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    loop {
        if let Some(answer) = whole(&bytes) {
            return Ok(answer);
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn whole(bytes: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
    let length: usize = length.map_or(0, |it| it.parse().unwrap());
    let code = head.get(9..12)?.parse().ok()?;
    (body.len() >= length).then(|| Answer { code, body: body.to_owned() })
}

/// Waits until the other side has closed a connection.
pub(crate) async fn until_closed(stream: &mut (impl AsyncRead + Unpin + ?Sized)) {
    let reading = async { while !matches!(stream.read(&mut [0; 512]).await, Ok(0) | Err(_)) {} };
    timeout(PATIENCE, reading).await.expect("the connection is still open");
}
