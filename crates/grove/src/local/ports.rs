//! Ports of the loopback interface, kept for a program until it listens on them.

use std::{io, net::Ipv4Addr};

use tokio::net::TcpSocket;

/// Reserved ports. Their sockets are bound but do not listen: on Linux a program can still listen on such a port, and no
/// other process gets it, not even for an outgoing connection. On other systems the port is only free when it is chosen; if
/// another process takes it, starting the program fails with that error.
pub(super) struct Ports<const N: usize> {
    pub(super) numbers: [u16; N],
    _kept: Vec<TcpSocket>,
}

impl<const N: usize> Ports<N> {
    pub(super) fn keep() -> io::Result<Self> {
        // All at once, so that they differ.
        let mut sockets = Vec::with_capacity(N);
        let mut numbers = [0; N];
        for number in &mut numbers {
            let socket = TcpSocket::new_v4()?;
            // Allows the program to bind the port as well.
            socket.set_reuseaddr(true)?;
            socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
            *number = socket.local_addr()?.port();
            sockets.push(socket);
        }
        if !cfg!(target_os = "linux") {
            sockets.clear();
        }
        Ok(Self { numbers, _kept: sockets })
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, net::TcpListener};

    use super::*;

    #[test]
    fn kept_ports_can_be_listened_on() {
        let ports = Ports::<3>::keep().unwrap();
        assert_eq!(BTreeSet::from(ports.numbers).len(), 3);
        for port in ports.numbers {
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn kept_ports_are_taken_for_all_others() {
        let ports = Ports::<1>::keep().unwrap();
        let address = (Ipv4Addr::LOCALHOST, ports.numbers[0]).into();
        let other = TcpSocket::new_v4().unwrap().bind(address);
        assert_eq!(other.map_err(|it| it.kind()), Err(io::ErrorKind::AddrInUse));
        drop(ports);
        TcpSocket::new_v4().unwrap().bind(address).unwrap();
    }
}
