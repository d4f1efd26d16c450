//! A perfect link inside one process: nothing is lost, and everything arrives at once.

use core::time::Duration;
use std::collections::VecDeque;

use super::{Lane, Pipe};

/// One direction of a perfect link: first in, first out, across both lanes.
///
/// ```
/// use core::time::Duration;
/// use nebula_multiplayer::transport::{Lane, Pipe, memory::MemoryPipe};
///
/// let mut pipe = MemoryPipe::default();
/// pipe.send(Lane::Stream, b"first", Duration::ZERO);
/// pipe.send(Lane::Datagram, b"second", Duration::ZERO);
/// assert_eq!(pipe.receive(Duration::ZERO), Some((Lane::Stream, b"first".to_vec())));
/// pipe.cut();
/// assert_eq!(pipe.receive(Duration::ZERO), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryPipe {
    queue: VecDeque<(Lane, Vec<u8>)>,
}

impl Pipe for MemoryPipe {
    fn send(&mut self, lane: Lane, bytes: &[u8], _now: Duration) {
        self.queue.push_back((lane, bytes.to_vec()));
    }

    fn receive(&mut self, _now: Duration) -> Option<(Lane, Vec<u8>)> {
        self.queue.pop_front()
    }

    fn cut(&mut self) {
        self.queue.clear();
    }
}
