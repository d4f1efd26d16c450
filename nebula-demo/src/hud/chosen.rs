//! Everything about the entity that was clicked.

use egui::{RichText, Ui};

use super::quiet;
use crate::headless::metres;
use crate::palette::{self, color32};
use crate::viewer::Chosen;

pub(super) fn show(ui: &mut Ui, chosen: &Chosen) {
    ui.label(RichText::new(format!("entity {}", chosen.id)).color(color32(palette::LOUD)));
    let distance = i128::try_from(chosen.distance_mm).unwrap_or(i128::MAX);
    ui.label(quiet(format!("{} m away", metres(distance))));
    let (index, offset) = (chosen.sector.sector, chosen.sector.offset);
    let small = |words: String| RichText::new(words).size(10.5).monospace();
    ui.label(small(format!(
        "x {}\ny {}\nz {} mm",
        chosen.at.x, chosen.at.y, chosen.at.z
    )));
    ui.label(small(format!("sector {index}\noffset {offset}")));
    let viewers: Vec<_> = chosen.viewers.iter().map(usize::to_string).collect();
    let seen = if viewers.is_empty() {
        "seen by no client".to_owned()
    } else {
        format!("seen by client {}", viewers.join(", "))
    };
    ui.label(seen);
    ui.label(quiet(chosen.why.clone()));
}
