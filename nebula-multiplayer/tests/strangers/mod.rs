//! Any bytes, as what a stranger sends: frames, tokens, and a whole conversation with a server.
//! Memory is counted in each.

pub(crate) mod conversation;
pub(crate) mod frames;
pub(crate) mod tokens;

/// Runs something and checks that it never holds more than so many bytes beyond what it began with.
#[track_caller]
fn within<T>(most: u64, run: impl FnOnce() -> T) -> T {
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(run()));
    assert!(
        info.bytes_max <= most,
        "{} bytes held, {most} allowed",
        info.bytes_max
    );
    result.expect("it ran")
}

/// Takes a number out of the first bytes, low byte first; zero beyond the end.
fn take<const N: usize>(data: &mut &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let (head, rest) = data.split_at(N.min(data.len()));
    bytes[..head.len()].copy_from_slice(head);
    *data = rest;
    bytes
}
