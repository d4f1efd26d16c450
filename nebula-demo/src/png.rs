//! Writes a picture as a PNG file, uncompressed, so that it needs no library.

/// The most bytes one stored block holds.
const BLOCK_MAX: usize = 65_535;

/// Returns the bytes of a PNG file; `None` when the buffer does not hold `width * height` pixels.
///
/// ```
/// let png = nebula_demo::png::encode(2, 1, &[0xFF_00_00, 0x00_00_FF]).unwrap();
/// assert_eq!(&png[1..4], b"PNG");
/// assert!(nebula_demo::png::encode(2, 2, &[0]).is_none());
/// ```
#[must_use]
pub fn encode(width: u32, height: u32, pixels: &[u32]) -> Option<Vec<u8>> {
    let row = usize::try_from(width).ok().filter(|row| *row > 0)?;
    let area = row.checked_mul(usize::try_from(height).ok()?)?;
    (pixels.len() == area).then_some(())?;
    let mut raw = Vec::with_capacity(area * 3 + pixels.len() / row);
    for line in pixels.chunks_exact(row) {
        raw.push(0); // No filter.
        for pixel in line {
            let [_, r, g, b] = pixel.to_be_bytes();
            raw.extend([r, g, b]);
        }
    }
    let mut header = Vec::new();
    header.extend(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]); // 8 bits per channel, RGB, no interlacing.
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut file, b"IHDR", &header)?;
    chunk(&mut file, b"IDAT", &stored(&raw)?)?;
    chunk(&mut file, b"IEND", &[])?;
    Some(file)
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) -> Option<()> {
    file.extend(u32::try_from(data.len()).ok()?.to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(crc32(kind.iter().chain(data)).to_be_bytes());
    Some(())
}

/// A zlib stream of stored blocks.
fn stored(raw: &[u8]) -> Option<Vec<u8>> {
    let mut stream = vec![0x78, 0x01];
    let blocks = raw.chunks(BLOCK_MAX);
    let last = blocks.len().saturating_sub(1);
    for (i, block) in blocks.enumerate() {
        let length = u16::try_from(block.len()).ok()?;
        stream.push(u8::from(i == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(raw).to_be_bytes());
    Some(stream)
}

fn crc32<'a>(bytes: impl Iterator<Item = &'a u8>) -> u32 {
    !bytes.fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_match_their_published_examples() {
        assert_eq!(crc32(b"123456789".iter()), 0xCBF4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }
}
