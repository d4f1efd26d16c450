//! Bytes as connect tokens.

use core::net::{IpAddr, SocketAddr};

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use nebula_multiplayer::auth::{ConnectToken, TokenError, TokenKey, TokenLogin};

use super::{take, within};

const KEY: [u8; 32] = [7; 32];
const PROTOCOL: u64 = 3;

/// What a token may make a server hold, that has not yet seen who it is.
const HOLDS: u64 = 8 << 10;

/// Reads the bytes as a token: as it stands, or as what stands inside of a seal that is good, which no
/// stranger can make.
///
/// # Panics
/// When too much memory is held, a token without a good seal is taken, or one is taken twice.
pub(crate) fn token_parse(data: &[u8]) {
    let Some((how, rest)) = data.split_first() else {
        return;
    };
    let here = SocketAddr::from(([192, 0, 2, 1], 4_433));
    let login = TokenLogin::new(TokenKey::from_bytes(KEY), PROTOCOL, vec![here]);
    if how % 2 == 0 {
        let result = within(HOLDS, || login.check_at(rest, 10_000));
        // Made by nobody who has the key, or at another time.
        assert!(result.is_err(), "{result:?}");
        return;
    }
    let mut rest = rest;
    let nonce = take(&mut rest);
    let now = u64::from(u16::from_le_bytes(take(&mut rest)));
    let token = seal(nonce, rest);
    let opened = within(HOLDS, || {
        ConnectToken::open(&token, &TokenKey::from_bytes(KEY), PROTOCOL)
    });
    let first = within(HOLDS, || login.check_at(&token, now));
    match (opened, first) {
        (Err(_), result) => assert_eq!(result, Err(TokenError::Unreadable)),
        (Ok((opened, id)), result) => {
            assert_eq!(id, nonce);
            assert_eq!(written(&opened), rest, "there is one way to write it");
            if let Ok(account) = result {
                assert_eq!(account, opened.client);
                assert!(opened.servers.contains(&here));
                assert!(now <= opened.expires_ms && opened.expires_ms <= now + 30_000);
                assert_eq!(login.check_at(&token, now), Err(TokenError::Used));
            }
        }
    }
}

/// Seals anything, as `docs/wire-format.md` says.
pub(crate) fn seal(nonce: [u8; 24], plain: &[u8]) -> Vec<u8> {
    let mut context = b"nebula connect token\x01".to_vec();
    context.extend(PROTOCOL.to_le_bytes());
    let payload = Payload {
        msg: plain,
        aad: &context,
    };
    let cipher = XChaCha20Poly1305::new(&KEY.into());
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload);
    let mut token = vec![1];
    token.extend(nonce);
    token.extend(sealed.expect("short"));
    token
}

/// Returns what stands inside of a token's seal.
pub(crate) fn written(token: &ConnectToken) -> Vec<u8> {
    let mut plain = token.client.to_le_bytes().to_vec();
    plain.extend(token.expires_ms.to_le_bytes());
    plain.push(u8::try_from(token.servers.len()).expect("few"));
    for server in &token.servers {
        match server.ip() {
            IpAddr::V4(ip) => {
                plain.push(4);
                plain.extend(ip.octets());
            }
            IpAddr::V6(ip) => {
                plain.push(6);
                plain.extend(ip.octets());
            }
        }
        plain.extend(server.port().to_le_bytes());
    }
    plain
}
