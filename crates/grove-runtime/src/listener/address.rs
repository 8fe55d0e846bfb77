//! Where to listen.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that the system keeps until they are accepted; it may have a lower limit of its own. Where there is no room, a client
/// tries again after a second, and then after longer: a flood must not keep an honest one there.
const BACKLOG: u32 = 4096;

/// An address on which we cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The host is not an IP address.
    #[error("cannot listen on {host:?}: neither an IP address nor localhost")]
    Host {
        /// What was configured.
        host: String,
    },
    /// The system refuses, mostly because another process listens there.
    #[error("cannot listen on address {host}, port {port}: {source}")]
    Refused {
        /// Address.
        host: IpAddr,
        /// Port.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
}

/// Listens on `host` (an IP address, `localhost` for 127.0.0.1, `""` for all addresses) and `port` (0 for any free one).
/// To be called within a runtime of Tokio, to which the socket then belongs.
pub fn bind(host: &str, port: u16) -> Result<TcpListener, BindError> {
    let host = match host.trim_start_matches('[').trim_end_matches(']') {
        "" => match listen((Ipv6Addr::UNSPECIFIED, port).into()) {
            // One socket for both families.
            Ok(listener) => return Ok(listener),
            Err(source) if source.kind() == ErrorKind::AddrInUse => {
                return Err(BindError::Refused { host: Ipv6Addr::UNSPECIFIED.into(), port, source });
            }
            // There is no IPv6 here.
            Err(_) => IpAddr::from([0, 0, 0, 0]),
        },
        "localhost" => Ipv4Addr::LOCALHOST.into(),
        host => host.parse().map_err(|_| BindError::Host { host: host.to_owned() })?,
    };
    listen((host, port).into()).map_err(|source| BindError::Refused { host, port, source })
}

/// As [`TcpListener::bind`] does, with a longer queue.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_that_is_taken_is_named() {
        let taken = bind("127.0.0.1", 0).unwrap();
        let port = taken.local_addr().unwrap().port();
        let error = bind("127.0.0.1", port).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot listen on address 127.0.0.1, port {port}: ")), "{error}");
        drop(taken);
        bind("127.0.0.1", port).expect("free again");
    }

    #[tokio::test]
    async fn hosts_are_addresses_or_all_of_them() {
        assert!(bind("", 0).unwrap().local_addr().unwrap().ip().is_unspecified());
        assert!(bind("localhost", 0).unwrap().local_addr().unwrap().ip().is_loopback());
        assert_eq!(
            bind("localhost:", 0).unwrap_err().to_string(),
            "cannot listen on \"localhost:\": neither an IP address nor localhost"
        );
    }
}
