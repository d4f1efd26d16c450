//! Tickets: proof of an earlier session that nobody can guess.

use core::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use crate::ClientId;
use crate::message::Ticket;

/// Makes tickets from a secret.
pub(super) struct Tickets {
    secret: [u8; 16],
    /// Tickets so far. Numbers are never used again, so a ticket fits one session only.
    issued: u64,
}

impl core::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        // The secret is not for logs.
        f.debug_struct("Tickets").finish_non_exhaustive()
    }
}

impl Tickets {
    pub(super) const fn new(secret: [u8; 16]) -> Self {
        Self { secret, issued: 0 }
    }

    /// Returns the number of the next ticket.
    pub(super) fn next(&mut self) -> u64 {
        self.issued = self.issued.saturating_add(1);
        self.issued
    }

    /// Returns the ticket of a client with this number.
    pub(super) fn issue(&self, client: ClientId, number: u64) -> Ticket {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write(&client.get().to_le_bytes());
        hasher.write(&number.to_le_bytes());
        hasher.finish128().as_u128().to_le_bytes()
    }

    /// Returns whether `ticket` is that of the client with this number, in a time that does not
    /// depend on how much of it is right.
    pub(super) fn check(&self, client: ClientId, number: u64, ticket: &Ticket) -> bool {
        let right = u128::from_le_bytes(self.issue(client, number));
        core::hint::black_box(right ^ u128::from_le_bytes(*ticket)) == 0
    }
}
