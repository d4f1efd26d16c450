//! The bounded reader: what is there, what is missing, and nothing read after an error.

use nebula_multiplayer::message::FrameBuffer;
use nebula_multiplayer::wire::{Codec, DecodeError, Reader};

#[test]
fn numbers_are_read_low_byte_first() {
    let bytes = [1, 0, 0, 0x80, 2, 0, 0, 0, 0, 0, 0, 0xFF, 9];
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.u32(), Ok(0x8000_0001));
    assert_eq!(reader.u64(), Ok(0xFF00_0000_0000_0002));
    assert_eq!(reader.left(), 1);
    assert_eq!(reader.array::<1>(), Ok([9]));
    assert!(reader.is_empty());
}

#[test]
fn a_short_read_takes_nothing() {
    let mut reader = Reader::new(&[1, 2, 3]);
    let short = DecodeError::Truncated { needed: 4, left: 3 };
    assert_eq!(reader.u32(), Err(short.clone()));
    assert_eq!(reader.bytes(4), Err(short));
    assert_eq!(reader.rest(), [1, 2, 3]);
    assert_eq!(reader.bytes(3), Ok(&[1, 2, 3][..]));
}

#[test]
fn text_is_capped_and_clean() {
    let mut reader = Reader::new(b"\x03abc\x01\n");
    assert_eq!(reader.text("a name", 3), Ok("abc"));
    assert!(matches!(
        reader.text("a name", 3),
        Err(DecodeError::BadText { what: "a name" })
    ));
    let mut reader = Reader::new(b"\x03abc");
    assert!(matches!(
        reader.text("a name", 2),
        Err(DecodeError::TooLong { len: 3, max: 2, .. })
    ));
}

#[test]
fn a_codec_reads_one_value_and_leaves_the_rest() {
    let codec = Codec::<u16>::serde();
    let mut bytes = Vec::new();
    codec.encode(&300, &mut bytes).expect("a number");
    bytes.push(7);
    let mut reader = Reader::new(&bytes);
    assert_eq!(codec.read(&mut reader), Ok(300));
    assert_eq!(reader.rest(), [7]);
    assert_eq!(codec.decode(&bytes), Err(DecodeError::Trailing(1)));
}

#[test]
fn a_frame_is_partial_until_its_last_byte() {
    let mut frames = FrameBuffer::new(16);
    let mut seen = Vec::new();
    for (at, byte) in [2, 0, 0, 0, 5, 6].into_iter().enumerate() {
        let fed = frames.feed::<DecodeError>(&[byte], |frame| {
            seen.push(frame.to_vec());
            Ok(())
        });
        assert_eq!(fed, Ok(()));
        assert_eq!(frames.is_partial(), at < 5, "byte {at}");
    }
    assert_eq!(seen, [[5, 6]]);
}
