//! One client, as the server holds it.

use core::time::Duration;

use bevy_ecs::entity::Entity;

use super::Disconnect;
use super::stall::Stall;
use crate::interest::InterestArea;
use crate::limits::Limits;
use crate::message::{FrameBuffer, ServerFrame};
use crate::protocol::Protocol;
use crate::session::{Bucket, Flood, InputWindow, Session};
use crate::stats::ClientStats;

/// Where a client's link stands.
#[derive(Debug)]
pub(super) enum Link {
    /// Its hello is awaited.
    Connecting { until: Duration },
    /// It is in.
    Live,
    /// It is told why it must go.
    Closing { until: Duration, reason: Disconnect },
    /// The link is gone, the session waits.
    Detached { until: Duration },
}

#[derive(Debug)]
pub(super) struct Peer {
    pub(super) link: Link,
    pub(super) session: Session,
    pub(super) frames: FrameBuffer,
    /// Since when a frame is incomplete.
    pub(super) partial_since: Option<Duration>,
    pub(super) flood: Flood,
    /// Whether the stream is over its rate, so that messages on it are dropped.
    pub(super) over_rate: bool,
    pub(super) budget: Bucket,
    pub(super) stats: ClientStats,
    /// How often its budget was spent when that was last said.
    pub(super) starved: u64,
    /// Whether it reads what it is sent.
    pub(super) stall: Stall,
    pub(super) inputs: InputWindow,
    pub(super) player: Option<Entity>,
    /// How far it sees, if not as far as the others.
    pub(super) area: Option<InterestArea>,
    /// Whether it may come back to its session.
    pub(super) resumable: bool,
    /// Whether a handshake was ever finished, so that there is a session to come back to.
    pub(super) joined: bool,
    /// The number of the last ticket, and of the one before while the client may not have the last.
    pub(super) ticket: Option<u64>,
    pub(super) older: Option<u64>,
    /// When a resync was last granted.
    pub(super) resynced: Option<Duration>,
    /// When a view hash was last looked at.
    pub(super) hashed: Option<Duration>,
    /// View hashes in a row that differed.
    pub(super) differences: u8,
}

impl Peer {
    pub(super) fn new(
        limits: &Limits,
        protocol: &Protocol,
        resumable: bool,
        now: Duration,
    ) -> Self {
        Self {
            link: Link::Connecting {
                until: now.saturating_add(limits.hello_timeout),
            },
            session: Session::new(limits, protocol, limits.frame_out_bytes, now),
            frames: FrameBuffer::new(limits.frame_in_bytes),
            partial_since: None,
            flood: Flood::new(limits, now),
            over_rate: false,
            budget: Bucket::new(limits.bytes_out_per_second, limits.burst_bytes, now),
            stats: ClientStats::new(protocol, now),
            starved: 0,
            stall: Stall::new(now),
            inputs: InputWindow::default(),
            player: None,
            area: None,
            resumable,
            joined: false,
            ticket: None,
            older: None,
            resynced: None,
            hashed: None,
            differences: 0,
        }
    }

    /// Starts over with a new link. The rates stay, so that coming back does not renew them.
    pub(super) fn relink(&mut self, limits: &Limits, now: Duration) {
        self.link = Link::Connecting {
            until: now.saturating_add(limits.hello_timeout),
        };
        self.frames = FrameBuffer::new(limits.frame_in_bytes);
        self.partial_since = None;
        self.stall = Stall::new(now);
        self.session.ordered.silence();
        self.session.restart_timers(now);
    }

    /// Queues the last frame and lets nothing else follow.
    pub(super) fn say_farewell(&mut self, reason: Disconnect, until: Duration) {
        let text = reason.to_string();
        let text = crate::wire::printable(&text, crate::limits::MAX_REASON);
        let frame = match &reason {
            Disconnect::Kicked(why) => ServerFrame::Kick { reason: why },
            _ => ServerFrame::Refused { reason: &text },
        };
        self.session.ordered.close();
        self.session.ordered.control(|out| frame.encode(out));
        self.link = Link::Closing { until, reason };
        self.joined = false;
    }
}
