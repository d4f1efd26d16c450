//! Text, buttons and plots over a map: the panel library, its look, and its way to pixels.

use egui::{FullOutput, PlatformOutput, RawInput, Ui};

use crate::canvas::Canvas;
use crate::palette::{self, color32};
use crate::raster::Painter;

/// The panel library with our colours, and what turns its triangles into pixels.
///
/// ```
/// use nebula_demo::{canvas::Canvas, panels::Panels};
///
/// let mut panels = Panels::new();
/// let output = panels.lay_out(egui::RawInput::default(), |ui| {
///     ui.label("Nearby: 42 entities");
/// });
/// let mut pixels = vec![0; 200 * 100];
/// panels.paint(output, &mut Canvas::new(200, 100, &mut pixels).unwrap());
/// assert!(pixels.iter().any(|pixel| *pixel != 0));
/// ```
pub struct Panels {
    context: egui::Context,
    painter: Painter,
}

impl core::fmt::Debug for Panels {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Panels").finish_non_exhaustive()
    }
}

impl Default for Panels {
    fn default() -> Self {
        Self::new()
    }
}

impl Panels {
    /// Makes them, dark.
    #[must_use]
    pub fn new() -> Self {
        let context = egui::Context::default();
        context.set_theme(egui::Theme::Dark);
        context.all_styles_mut(|style| {
            style.visuals.widgets.noninteractive.fg_stroke.color = color32(palette::LOUD);
        });
        Self {
            context,
            painter: Painter::new(),
        }
    }

    /// Returns the library's context, which a window feeds with events.
    #[must_use]
    pub const fn context(&self) -> &egui::Context {
        &self.context
    }

    /// Lays out one frame, and reads its input.
    pub fn lay_out(&mut self, input: RawInput, mut content: impl FnMut(&mut Ui)) -> FullOutput {
        let mut output = self.context.run_ui(input, |ui| content(ui));
        self.painter.update(&mut output.textures_delta);
        output
    }

    /// Paints what was laid out over what is there, and returns what the window is asked for.
    pub fn paint(&mut self, output: FullOutput, canvas: &mut Canvas<'_>) -> PlatformOutput {
        let scale = output.pixels_per_point;
        let shapes = self.context.tessellate(output.shapes, scale);
        self.painter.paint(canvas, &shapes, scale);
        output.platform_output
    }
}
