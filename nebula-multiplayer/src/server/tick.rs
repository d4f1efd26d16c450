//! One step of simulated time.

use core::time::Duration;

use bevy_ecs::world::World;

use super::peer::{Link, Peer};
use super::stall::is_silent;
use super::{Disconnect, Server};
use crate::ClientId;
use crate::limits::capped;
use crate::replication::NetworkIds;

impl Server {
    /// Takes one tick: ends clients that ran out of time, finds what changed in `world`, and who
    /// must be told. What follows from it is sent by [`transmit`](Self::transmit).
    ///
    /// The same calls give the same bytes. Cost follows what changed, with a little per client.
    ///
    /// Without a `bevy_app` around the world, call [`World::clear_trackers`] at the end of a tick
    /// ([`quic::run`](crate::transport::quic) does): `bevy_ecs` keeps a note of every entity that was
    /// despawned until then.
    pub fn tick(&mut self, world: &mut World, now: Duration) {
        self.advance(now);
        self.tick = self.tick.next();
        self.judge_stalls();
        self.end_overdue();
        self.give_up_packets();
        NetworkIds::maintain(world);
        self.watcher.run(world, &mut self.interest);
        for (&client, peer) in &mut self.clients {
            let ids = world.get_resource::<NetworkIds>();
            let own = peer.player.and_then(|player| ids?.of(player));
            self.replicator.set_own(client, own);
            peer.stats.roll(self.now);
            if peer.stats.starved > peer.starved {
                peer.starved = peer.stats.starved;
                let (log, now) = (&mut self.log, self.now);
                capped!(log, now, trace, { %client, }, "a client's budget is spent");
            }
        }
        self.replicator.tick(world, &self.interest, self.tick);
        if let Some(component) = self.replicator.take_complaint() {
            let (log, now) = (&mut self.log, self.now);
            capped!(log, now, error, { component, }, "a component cannot be sent; its last value stands");
        }
    }

    /// Ends every client whose time is up.
    fn end_overdue(&mut self) {
        let overdue: Vec<(ClientId, Disconnect, bool)> = self
            .clients
            .iter()
            .filter_map(|(&client, peer)| {
                let reason = self.overdue(peer)?;
                let cut = self.is_cut_off(peer, &reason);
                Some((client, reason, cut))
            })
            .collect();
        for (client, reason, cut) in overdue {
            if cut {
                self.lose_link(client, reason);
            } else {
                self.remove(client, reason);
            }
        }
    }

    /// Returns whether a client that ran out of time may be an honest one whose link was cut: in the
    /// middle of a frame, before its acknowledgements, or before its hello. Its session waits for it.
    fn is_cut_off(&self, peer: &Peer, reason: &Disconnect) -> bool {
        let heard = peer.session.last_received();
        let comes_back = match reason {
            Disconnect::Idle | Disconnect::HelloTimeout => true,
            // One that is heard could have sent the rest.
            Disconnect::FrameTimeout | Disconnect::NeverAcks => {
                is_silent(heard, self.now, &self.settings.limits)
            }
            _ => false,
        };
        comes_back && peer.joined && peer.resumable
    }

    fn overdue(&self, peer: &Peer) -> Option<Disconnect> {
        let limits = &self.settings.limits;
        let since = |start: Duration| self.now.saturating_sub(start);
        match &peer.link {
            Link::Connecting { until } => (self.now >= *until).then_some(Disconnect::HelloTimeout),
            Link::Detached { until } => (self.now >= *until).then_some(Disconnect::Expired),
            Link::Closing { until, reason } => {
                let told = !peer.session.ordered.has_output();
                (told || self.now >= *until).then(|| reason.clone())
            }
            Link::Live if since(peer.session.last_received()) >= limits.idle_timeout => {
                Some(Disconnect::Idle)
            }
            Link::Live
                if peer
                    .session
                    .unacked_since()
                    .is_some_and(|at| since(at) >= limits.ack_timeout) =>
            {
                Some(Disconnect::NeverAcks)
            }
            Link::Live
                if peer
                    .partial_since
                    .is_some_and(|at| since(at) >= limits.hello_timeout) =>
            {
                Some(Disconnect::FrameTimeout)
            }
            Link::Live => peer.stalled(limits),
        }
    }

    /// Gives up packets that were not acknowledged in time.
    fn give_up_packets(&mut self) {
        for (&client, peer) in &mut self.clients {
            self.outcome.clear();
            peer.session.expire(self.now, &mut self.outcome);
            if !self.outcome.lost.is_empty() {
                peer.stats.note_session(&peer.session, &self.outcome);
                Self::settle(&mut self.replicator, client, &self.outcome);
            }
        }
    }
}
