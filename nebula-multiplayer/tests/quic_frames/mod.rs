//! A QUIC peer that sends any frames at all: what no honest one would.
//!
//! It is quinn's own client, but for the last step before a packet is sealed: a datagram that begins
//! with [`MARK`] is opened up, so that what follows in it stands in the packet as frames.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use nebula_multiplayer::transport::quic;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey,
    Session,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

use crate::quic_common::{Host, protocol, settings};
use crate::quic_hostile::Raw;

/// What a datagram begins with whose rest is frames.
const MARK: &[u8; 16] = b"these are frames";

/// Bytes of frames that go into one packet.
const ROOM: usize = 1_000;

/// Returns a peer for whom [`packet`] makes packets.
pub(crate) fn forger(host: &Host) -> Raw {
    let mut raw = Raw::new(host);
    let tls = quic::client_tls(&protocol(), &settings(host, Vec::new())).unwrap();
    raw.config = quinn::ClientConfig::new(Arc::new(Forging(Arc::new(tls))));
    raw
}

/// Makes datagrams of frames, as many in each as fit. They are to be sent by a [`forger`].
pub(crate) fn packets(frames: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for frame in frames {
        match all.last_mut() {
            Some(last) if last.len() + frame.len() <= ROOM => last.extend(frame),
            _ => all.push([&MARK[..], &frame].concat()),
        }
    }
    for packet in &mut all {
        // Zeros are frames too, that say nothing.
        packet.resize(MARK.len() + ROOM, 0);
    }
    all
}

/// Writes a number as QUIC does, in four bytes.
pub(crate) fn number(value: u32) -> [u8; 4] {
    assert!(value < 1 << 30);
    (value | 0x8000_0000).to_be_bytes()
}

/// Opens up a marked datagram in a packet's payload.
fn open_up(payload: &mut [u8]) {
    let Some(mark) = payload
        .windows(MARK.len())
        .position(|window| window == MARK)
    else {
        return;
    };
    // The frame's type and, unless it goes to the end, its length in two bytes.
    let start = match payload.get(mark.wrapping_sub(3)) {
        Some(0x31) => mark - 3,
        _ => mark - 1,
    };
    assert!(matches!(payload[start], 0x30 | 0x31), "a datagram");
    payload[start..mark + MARK.len()].fill(0);
}

struct Forging(Arc<quinn::crypto::rustls::QuicClientConfig>);

impl ClientConfig for Forging {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let inner = Arc::clone(&self.0);
        let session = inner.start_session(version, server_name, params)?;
        Ok(Box::new(ForgingSession(session)))
    }
}

struct ForgingSession(Box<dyn Session>);

impl Session for ForgingSession {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.0.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.0.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.0.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.0.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.0.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.0.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.0.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.0.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.0.write_handshake(buf)?;
        Some(Keys {
            header: keys.header,
            packet: forging(keys.packet),
        })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.0.next_1rtt_keys().map(forging)
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.0.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.0.export_keying_material(output, label, context)
    }
}

fn forging(keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
    KeyPair {
        local: Box::new(ForgingKey(keys.local)),
        remote: keys.remote,
    }
}

struct ForgingKey(Box<dyn PacketKey>);

impl PacketKey for ForgingKey {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        open_up(&mut buf[header_len..]);
        self.0.encrypt(packet, buf, header_len);
    }

    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        self.0.decrypt(packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}
