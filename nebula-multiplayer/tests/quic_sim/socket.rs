//! A process's end of the simulated network, as quinn wants its sockets.

use core::net::SocketAddr;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, IoSliceMut};
use std::sync::Arc;

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, UdpPoller};
use quinn_proto::RandomConnectionIdGenerator;

use super::net::{Asked, Net};

/// The length of the ids that a server gives its connections. An initial packet for one that it has forgotten
/// cannot be read, for want of its keys; with ids of 8 bytes, which a client may choose, one in four looks
/// like a first packet all the same, by other keys in every run. Shorter ones are refused each time.
const ID_BYTES: usize = 7;

/// A socket, held by whoever plays its process.
#[derive(Clone, Debug)]
pub(crate) struct Socket {
    net: Arc<Net>,
    number: usize,
    /// The client it belongs to; the server's belongs to none.
    client: Option<usize>,
}

impl Socket {
    pub(crate) fn open(net: &Arc<Net>, client: Option<usize>) -> Self {
        Self {
            number: net.open(client),
            net: Arc::clone(net),
            client,
        }
    }

    /// Returns a QUIC endpoint over it whose random choices come from a seed.
    pub(crate) fn endpoint(
        &self,
        seed: [u8; 32],
        server: Option<ServerConfig>,
    ) -> io::Result<Endpoint> {
        let mut config = EndpointConfig::default();
        config.rng_seed(Some(seed));
        if server.is_some() {
            config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(ID_BYTES)));
        }
        let socket = Arc::new(self.clone());
        Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(TokioRuntime))
    }

    /// Ends the process: nothing more gets in or out.
    pub(crate) fn kill(&self) {
        self.net.close(self.number);
    }

    /// Lets the process stand still, or go on.
    pub(crate) fn freeze(&self, frozen: bool) {
        self.net.freeze(self.number, frozen);
    }

    /// Gives a client another address; it does not notice.
    pub(crate) fn readdress(&self) {
        if let Some(client) = self.client {
            self.net.readdress(self.number, client);
        }
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let sent = self
            .net
            .send(self.number, transmit.destination, transmit.contents);
        match sent {
            Asked::Done(()) => Ok(()),
            Asked::Later => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        match self.net.receive(self.number, cx.waker()) {
            Asked::Later => Poll::Pending,
            Asked::Done((addr, bytes)) => {
                // A datagram that is longer than the reader's buffer loses its end, as everywhere.
                let len = bytes.len().min(bufs[0].len());
                bufs[0][..len].copy_from_slice(&bytes[..len]);
                meta[0] = RecvMeta {
                    addr,
                    len,
                    stride: len,
                    ecn: None,
                    dst_ip: None,
                };
                Poll::Ready(Ok(1))
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.net.address(self.number);
        address.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

/// Waits until a socket's process goes on.
#[derive(Debug)]
struct Writable(Arc<Socket>);

impl UdpPoller for Writable {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.0.net.writable(self.0.number, cx.waker()) {
            Asked::Done(()) => Poll::Ready(Ok(())),
            Asked::Later => Poll::Pending,
        }
    }
}
