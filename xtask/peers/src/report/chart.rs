//! Charts as SVG.

/// A drawing.
#[derive(Clone, Debug, Default)]
pub struct Chart;
