//! Writers: appended to a `Vec`, the mirror image of the reader.

/// Appends `value` seven bits a byte, the low ones first: 1 byte below 128, 10 at most.
///
/// ```
/// let mut out = Vec::new();
/// nebula_multiplayer::wire::put_varint(&mut out, 300);
/// assert_eq!(out, [0xAC, 0x02]);
/// ```
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = value.to_le_bytes()[0] & 0x7F;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Returns how many bytes [`put_varint`] needs for `value`.
///
/// ```
/// use nebula_multiplayer::wire::varint_len;
///
/// assert_eq!([varint_len(0), varint_len(127), varint_len(128), varint_len(u64::MAX)], [1, 1, 2, 10]);
/// ```
#[must_use]
pub const fn varint_len(value: u64) -> usize {
    let mut rest = value >> 7;
    let mut len = 1_usize;
    while rest != 0 {
        rest >>= 7;
        len = len.saturating_add(1);
    }
    len
}

/// Appends the length of `bytes` as a varint, then the bytes.
///
/// ```
/// let mut out = Vec::new();
/// nebula_multiplayer::wire::put_bytes(&mut out, b"ab");
/// assert_eq!(out, [2, b'a', b'b']);
/// ```
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, u64::try_from(bytes.len()).unwrap_or(u64::MAX));
    out.extend_from_slice(bytes);
}

/// Appends the length of `text` in bytes as a varint, then the text as UTF-8.
///
/// ```
/// let mut out = Vec::new();
/// nebula_multiplayer::wire::put_text(&mut out, "né");
/// assert_eq!(out, [3, b'n', 0xC3, 0xA9]);
/// ```
pub fn put_text(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}
