//! Which packets arrived.

use core::time::Duration;

use super::{Acks, low16, widen};

/// The newest packet that arrived and the 32 before it.
#[derive(Debug, Default)]
pub(super) struct Received {
    newest: Option<u64>,
    before: u32,
    newest_at: Duration,
    /// Whether the peer waits for an acknowledgement.
    pub(super) owed: bool,
}

impl Received {
    pub(super) const fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Notes a packet; returns whether it is new. One older than the window counts as old: its
    /// sender could not be told of it.
    pub(super) fn note(&mut self, sequence: u16, now: Duration) -> bool {
        let Some(newest) = self.newest else {
            self.newest = Some(sequence.into());
            self.newest_at = now;
            return true;
        };
        let packet = widen(sequence, newest);
        if let Some(ahead) = packet.checked_sub(newest).filter(|&ahead| ahead > 0) {
            // The old newest becomes bit `ahead - 1`.
            let shift = u32::try_from(ahead).unwrap_or(u32::MAX);
            let kept = self.before.checked_shl(shift).unwrap_or(0);
            let bit = 1_u32.checked_shl(shift.saturating_sub(1)).unwrap_or(0);
            self.before = kept | bit;
            self.newest = Some(packet);
            self.newest_at = now;
            return true;
        }
        let back = newest.saturating_sub(packet);
        let index = u32::try_from(back).unwrap_or(u32::MAX).checked_sub(1);
        let Some(bit) = index.and_then(|index| 1_u32.checked_shl(index)) else {
            return false;
        };
        let fresh = self.before & bit == 0;
        self.before |= bit;
        fresh
    }

    /// Returns the acknowledgements without their delay.
    pub(super) fn acks(&self) -> Option<(u16, u32)> {
        Some((low16(self.newest?), self.before))
    }

    /// Returns the acknowledgements for a header.
    pub(super) fn header(&self, now: Duration) -> Option<Acks> {
        let (newest, before) = self.acks()?;
        let delay = now.saturating_sub(self.newest_at).as_millis();
        Some(Acks {
            newest,
            before,
            delay_ms: u32::try_from(delay).unwrap_or(u32::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_equal_a_set_of_numbers() {
        // The slow twin: a set of everything that arrived, asked for the last 33.
        let mut twin = std::collections::BTreeSet::new();
        let mut received = Received::default();
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut head = 65_500_u64;
        received.note(low16(head), Duration::ZERO);
        // The first number anchors the window; 16 bits of it are all a receiver knows.
        twin.insert(head);
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let jump = (state >> 59) % 6;
            let packet = if state >> 63 == 0 {
                head + jump
            } else {
                head.saturating_sub((state >> 40) % 50)
            };
            let newest = *twin.last().unwrap();
            let fresh = packet > newest || (newest - packet <= 32 && !twin.contains(&packet));
            assert_eq!(
                received.note(low16(packet), Duration::ZERO),
                fresh,
                "{packet} after {newest}"
            );
            if fresh {
                twin.insert(packet);
            }
            head = head.max(packet);
            let newest = *twin.last().unwrap();
            let before = (0..32)
                .filter(|bit| twin.contains(&(newest - 1 - bit)))
                .fold(0, |all, bit| all | 1_u32 << bit);
            assert_eq!(received.acks(), Some((low16(newest), before)));
        }
    }
}
