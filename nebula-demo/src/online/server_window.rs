//! What a server's window shows: everyone, and what each player is sent.

use egui::{RichText, Ui, pos2};
use nebula_multiplayer::ClientId;

use super::herd::{HALF, MIDDLE};
use super::server::Served;
use super::stage::Stage;
use super::window::{Keys, Side};
use super::{Kind, RADIUS_MM, player_name};
use crate::hud::{self, counts, plots, quiet};
use crate::marks::Marks;
use crate::palette::{self, color32};
use crate::render::Sphere;
use crate::render::dots::{Dot, Picture};
use crate::viewer::History;

/// A server's window.
pub(super) struct ServerWindow<'a> {
    stage: &'a Stage<Served, Option<ClientId>>,
    view: Served,
    /// Through whose eyes the map is seen.
    watched: Option<ClientId>,
    marks: Marks,
    bytes: History,
    set: History,
}

impl<'a> ServerWindow<'a> {
    pub(super) fn new(stage: &'a Stage<Served, Option<ClientId>>) -> Self {
        Self {
            stage,
            view: Served::default(),
            watched: None,
            marks: Marks::default(),
            bytes: History::default(),
            set: History::default(),
        }
    }

    /// Looks through another player's eyes.
    fn watch(&mut self, client: Option<ClientId>) {
        if client != self.watched {
            self.watched = client;
            self.marks.clear();
            (self.bytes, self.set) = Default::default();
            self.stage.ask(client);
        }
    }

    fn head(&self, ui: &mut Ui) {
        let title = RichText::new(self.title()).size(22.0);
        ui.label(title.color(color32(palette::LOUD)));
        let view = &self.view;
        ui.label(quiet(format!(
            "{} creatures, tick {}; each player sees {} m",
            view.creatures.len(),
            view.tick,
            RADIUS_MM / 1_000
        )));
        ui.label(format!("listening at {}", view.address));
        let start = view.fingerprint.get(..23).unwrap_or_default();
        ui.label(quiet(format!("certificate {start}...")));
        let open = RichText::new("open login: for development only");
        ui.label(open.color(color32(palette::LEAVING)));
    }

    fn table(&mut self, ui: &mut Ui) {
        if self.view.players.is_empty() {
            ui.label("Nobody is here. In another terminal:");
            ui.monospace(format!(
                "cargo run --release -p nebula-demo -- \\\n  client --connect {}",
                from_here(&self.view.address)
            ));
            return;
        }
        let mut chosen = self.watched;
        egui::Grid::new("players")
            .num_columns(5)
            .spacing([10.0, 3.0])
            .show(ui, |ui| {
                for heading in ["", "set", "state B/s", "wire B/s", "trip ms"] {
                    ui.label(quiet(heading));
                }
                ui.end_row();
                for player in &self.view.players {
                    let name = player_name(player.client.get());
                    let watched = self.watched == Some(player.client);
                    if ui.selectable_label(watched, name).clicked() {
                        chosen = Some(player.client);
                    }
                    ui.monospace(player.set.to_string());
                    ui.monospace(player.meter.state_per_second().to_string());
                    ui.monospace(player.meter.wire_per_second().to_string());
                    let trip = player.round_trip.map_or("-".to_owned(), |trip| {
                        format!("{:.1}", trip.as_secs_f64() * 1e3)
                    });
                    ui.monospace(trip);
                    ui.end_row();
                }
            });
        self.watch(chosen);
    }

    fn plots(&self, ui: &mut Ui) {
        let Some(client) = self.watched else {
            return;
        };
        let name = player_name(client.get());
        plots::plot(
            ui,
            &format!("{:.0} B/s to {name}", self.bytes.last()),
            &[(&self.bytes, palette::NEAR)],
        );
        plots::plot(
            ui,
            &format!("{:.0} in its set", self.set.last()),
            &[(&self.set, palette::GOOD)],
        );
        ui.separator();
        counts::legend(ui, counts::STATES);
    }
}

impl Side for ServerWindow<'_> {
    fn look(&mut self) {
        let before = self.view.tick;
        self.view = self.stage.look();
        let view = &self.view;
        let first = view.players.first().map(|player| player.client);
        let here = |client: &ClientId| view.players.iter().any(|p| p.client == *client);
        let watched = self.watched.filter(here).or(first);
        self.watch(watched);
        let view = &self.view;
        let player = view.players.iter().find(|p| Some(p.client) == watched);
        if let (Some(player), true) = (player, view.tick != before) {
            let near = (0_u32..).zip(&view.creatures);
            let near: Vec<u32> = near
                .filter(|(_, at)| at.is_within(&player.at, RADIUS_MM))
                .map(|(number, _)| number)
                .collect();
            self.marks
                .update(view.tick, view.creatures.len(), &view.set, &near);
            let number = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
            self.bytes.push(number(player.meter.wire_per_second()));
            self.set
                .push(number(u64::try_from(player.set).unwrap_or(u64::MAX)));
        }
    }

    fn picture(&self) -> Picture {
        let view = &self.view;
        let mut marks = self.marks.all(view.tick);
        let mut dots: Vec<Dot> = (0_u32..)
            .zip(&view.creatures)
            .map(|(number, at)| Dot {
                name: Kind::Creature(number).to_string(),
                at: *at,
                mark: Some(marks.next().unwrap_or(crate::marks::Mark::Far)),
            })
            .collect();
        dots.extend(view.players.iter().map(|player| Dot {
            name: Kind::Player(player.client.get()).to_string(),
            at: player.at,
            mark: None,
        }));
        let (watched, others): (Vec<_>, Vec<_>) = view
            .players
            .iter()
            .partition(|player| Some(player.client) == self.watched);
        let sphere = |player: &super::server::PlayerRow| Sphere {
            at: player.at,
            radius_mm: RADIUS_MM,
            margin_mm: RADIUS_MM / 10,
        };
        Picture {
            middle: MIDDLE,
            half_mm: HALF.into(),
            dots,
            sphere: watched.first().map(|player| sphere(player)),
            others: others.into_iter().map(sphere).collect(),
        }
    }

    fn title(&self) -> String {
        match self.view.players.len() {
            1 => "Serving 1 player".to_owned(),
            players => format!("Serving {players} players"),
        }
    }

    fn panels(&mut self, ui: &mut Ui, keys: &mut Keys) {
        hud::panel(ui, "server", pos2(14.0, 14.0), |ui| {
            self.head(ui);
            ui.separator();
            self.table(ui);
            ui.separator();
            self.plots(ui);
            let counted = &self.view.transport;
            ui.label(quiet(format!(
                "{} logins, {} refused; datagrams: {} in, {} out",
                counted.accepted,
                counted.refused_full + counted.refused_address + counted.refused_logins,
                counted.datagrams_in,
                counted.datagrams_out
            )));
            buttons(ui, keys);
        });
    }
}

/// What can be done with the map.
pub(super) fn buttons(ui: &mut Ui, keys: &mut Keys) {
    ui.horizontal(|ui| {
        ui.toggle_value(&mut keys.follow, "Follow (F)");
        keys.reset |= ui.button("Reset view (R)").clicked();
        keys.quit |= ui.button("Quit (Q)").clicked();
    });
}

/// Returns where a client on this machine finds a server: one that listens everywhere is no place to go.
fn from_here(address: &str) -> String {
    let everywhere = address
        .strip_prefix("0.0.0.0:")
        .map(|port| ("127.0.0.1", port));
    let everywhere = everywhere.or(address.strip_prefix("[::]:").map(|port| ("[::1]", port)));
    everywhere.map_or_else(
        || address.to_owned(),
        |(here, port)| format!("{here}:{port}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_found_here() {
        for (listens, found) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:2", "[::1]:2"),
            ("192.0.2.7:3", "192.0.2.7:3"),
        ] {
            assert_eq!(from_here(listens), found);
        }
    }
}
