//! What a client's window shows: what it was told, and nothing else.

use egui::{RichText, Ui, pos2};
use nebula_math::WorldPosition;

use super::client::Visited;
use super::herd::MIDDLE;
use super::server_window::buttons;
use super::stage::Stage;
use super::window::{Keys, Side};
use super::{Kind, RADIUS_MM, Walk, player_name};
use crate::headless::{metres, title};
use crate::hud::{self, counts, plots, quiet};
use crate::palette::{self, color32};
use crate::render::Sphere;
use crate::render::dots::{Dot, Picture};
use crate::viewer::History;

/// A client's window.
pub(super) struct ClientWindow<'a> {
    stage: &'a Stage<Visited, Walk>,
    view: Visited,
    nearby: History,
    came: History,
    went: History,
    trip_ms: History,
}

impl<'a> ClientWindow<'a> {
    pub(super) fn new(stage: &'a Stage<Visited, Walk>) -> Self {
        Self {
            stage,
            view: Visited::default(),
            nearby: History::default(),
            came: History::default(),
            went: History::default(),
            trip_ms: History::default(),
        }
    }

    fn head(&self, ui: &mut Ui) {
        let view = &self.view;
        let title = RichText::new(self.title()).size(22.0);
        ui.label(title.color(color32(palette::LOUD)));
        let color = if view.connected {
            palette::GOOD
        } else {
            palette::BAD
        };
        ui.label(RichText::new(&view.link).color(color32(color)));
        if let Some(player) = view.player {
            ui.label(quiet(format!(
                "we are {}, and see {} m",
                player_name(player),
                RADIUS_MM / 1_000
            )));
        }
        ui.label(quiet(format!(
            "{} came, {} went; {} bytes known",
            view.came, view.went, view.known_bytes
        )));
        ui.label("This is all that the server told us.");
    }

    fn plots(&self, ui: &mut Ui) {
        let nearby = format!("{:.0} entities nearby", self.nearby.last());
        plots::plot(ui, &nearby, &[(&self.nearby, palette::NEAR)]);
        plots::plot(
            ui,
            "entering and leaving",
            &[
                (&self.came, palette::ENTERED),
                (&self.went, palette::LEAVING),
            ],
        );
        let trip = format!(
            "round trip {:.1} ms, the next tick included",
            self.trip_ms.last()
        );
        plots::plot(ui, &trip, &[(&self.trip_ms, palette::FAR)]);
    }
}

impl Side for ClientWindow<'_> {
    fn look(&mut self) {
        let view = self.stage.look();
        let number = |n: u64| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        if view.frame != self.view.frame {
            self.came
                .push(number(view.came.saturating_sub(self.view.came)));
            self.went
                .push(number(view.went.saturating_sub(self.view.went)));
            self.nearby
                .push(number(u64::try_from(view.nearby).unwrap_or(u64::MAX)));
            let trip = view.round_trip.map_or(0.0, |trip| trip.as_secs_f64() * 1e3);
            self.trip_ms.push(trip);
        }
        self.view = view;
    }

    fn picture(&self) -> Picture {
        let here = self.view.at;
        let dots = self.view.others.iter().map(|(kind, at, mark)| Dot {
            name: here.map_or_else(|| kind.to_string(), |here| name(*kind, at, &here)),
            at: *at,
            mark: matches!(kind, Kind::Creature(_)).then_some(*mark),
        });
        Picture {
            middle: MIDDLE,
            half_mm: RADIUS_MM * 3 / 2,
            dots: dots.collect(),
            sphere: here.map(|at| Sphere {
                at,
                radius_mm: RADIUS_MM,
                margin_mm: RADIUS_MM / 10,
            }),
            others: Vec::new(),
        }
    }

    fn title(&self) -> String {
        title(self.view.nearby)
    }

    fn panels(&mut self, ui: &mut Ui, keys: &mut Keys) {
        hud::panel(ui, "client", pos2(14.0, 14.0), |ui| {
            self.head(ui);
            ui.separator();
            self.plots(ui);
            ui.separator();
            counts::legend(
                ui,
                &[
                    (palette::NEAR, "near"),
                    (palette::ENTERED, "entering"),
                    (palette::LEAVING, "leaving"),
                    (palette::OTHER, "player"),
                ],
            );
            ui.label(quiet("W A S D walk; drag and wheel move the map"));
            buttons(ui, keys);
        });
    }

    fn walk(&mut self, east: i8, north: i8) {
        self.stage.ask(Walk(east, north));
    }
}

/// Who it is, and how far away.
fn name(kind: Kind, at: &WorldPosition, here: &WorldPosition) -> String {
    let squared = here.distance_squared(at).to_u128();
    let distance = squared.and_then(|squared| i128::try_from(squared.isqrt()).ok());
    match distance {
        Some(mm) => format!("{kind}, {} m away", metres(mm)),
        None => kind.to_string(),
    }
}
