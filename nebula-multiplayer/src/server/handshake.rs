//! The hello and the welcome.

use super::peer::Link;
use super::{Disconnect, Server, ServerEvent};
use crate::ClientId;
use crate::limits::WIRE_VERSION;
use crate::message::{Hello, Resume, ServerFrame, Welcome};
use crate::session::Session;
use crate::stats::bump;

impl Server {
    /// Answers a client's hello: lets it in, back in, or not at all.
    pub(super) fn hello(&mut self, client: ClientId, hello: &Hello<'_>) {
        if let Some(text) = self.mismatch(hello) {
            self.farewell(client, Disconnect::Protocol(text));
            return;
        }
        let resumed = hello
            .resume
            .is_some_and(|resume| self.resume(client, &resume));
        if !resumed {
            self.join(client);
        }
        let Some(peer) = self.clients.get_mut(&client) else {
            return;
        };
        peer.link = Link::Live;
        peer.joined = true;
        // A welcome that goes down with its link leaves the client with the ticket before, which is
        // then as good; but not if this welcome begins another session than that ticket is for.
        peer.older = peer.ticket.filter(|_| resumed);
        let number = self.tickets.next();
        peer.ticket = Some(number);
        let ticket = if peer.resumable {
            self.tickets.issue(client, number)
        } else {
            [0; 16]
        };
        let welcome = ServerFrame::Welcome(Welcome {
            client: client.get(),
            tick: self.tick.get(),
            tick_rate: self.settings.tick_rate,
            ticket,
            resumed,
            ordered: peer.session.ordered.arrived(),
        });
        peer.session.ordered.control(|out| welcome.encode(out));
        peer.session.ordered.open();
        bump(if resumed {
            &mut self.totals.resumed
        } else {
            &mut self.totals.joined
        });
        self.push_event(ServerEvent::Connected { client, resumed });
    }

    /// Returns why this client cannot be understood, if so.
    fn mismatch(&self, hello: &Hello<'_>) -> Option<String> {
        if hello.wire_version != WIRE_VERSION {
            let theirs = hello.wire_version;
            return Some(format!(
                "wire formats differ: server version {WIRE_VERSION}, client version {theirs}"
            ));
        }
        let same = hello.name == self.protocol.name()
            && hello.version == self.protocol.version()
            && hello.hash == self.protocol.hash();
        (!same).then(|| {
            self.protocol
                .difference(hello.name, hello.version, hello.hash, &hello.parts)
        })
    }

    /// Lets a client start anew.
    fn join(&mut self, client: ClientId) {
        let Some(peer) = self.clients.get_mut(&client) else {
            return;
        };
        let frame_bytes = self.settings.limits.frame_out_bytes;
        peer.session = Session::new(&self.settings.limits, &self.protocol, frame_bytes, self.now);
        peer.inputs = crate::session::InputWindow::default();
        let (player, area) = (peer.player, peer.area);
        // What the session before sent counts by its numbers, not by those that begin now.
        self.inbox.forget(client);
        // Nobody was told that it is gone: what the game said of it holds.
        let facts = self.interest.client_facts(client);
        self.replicator.remove_client(client);
        self.watcher.remove_client(&mut self.interest, client);
        self.replicator.add_client(client);
        self.watcher.add_client(&mut self.interest, client);
        if let Some(facts) = facts {
            self.interest.add_client(client, facts);
        }
        self.watcher.set_player(client, player);
        if let Err(error) = self.watcher.set_area(client, area) {
            tracing::error!(%client, %error, "a radius that was valid is not");
        }
    }

    /// Continues a client's session if its ticket is good. If it does not hold what we think it holds,
    /// everything is sent anew.
    fn resume(&mut self, client: ClientId, resume: &Resume) -> bool {
        let Some(peer) = self
            .clients
            .get_mut(&client)
            .filter(|peer| peer.resumable && peer.joined)
        else {
            return false;
        };
        let numbers = [peer.ticket, peer.older];
        let is_good = |number| self.tickets.check(client, number, &resume.ticket);
        if !numbers.into_iter().flatten().any(is_good) {
            return false;
        }
        self.outcome.clear();
        peer.session.resume(resume, self.now, &mut self.outcome);
        peer.inputs.reopen();
        Self::settle(&mut self.replicator, client, &self.outcome);
        if self.replicator.view_hash(client) != resume.view_hash {
            // What arrived right before the link was cut was given up since: the client holds more than
            // it could say. Its session is good, its view is sent anew.
            peer.resynced = Some(self.now);
            peer.differences = 0;
            bump(&mut peer.stats.resyncs);
            self.replicator.reset_client(client);
        }
        true
    }
}
