//! The colours: Okabe and Ito's set, which people with any colour vision can tell apart.

/// A colour as `0xRRGGBB`, the layout of the pixel buffer.
pub type Rgb = u32;

/// Outside the planet.
pub const SPACE: Rgb = 0x06_08_0E;
/// The planet's ground.
pub const GROUND: Rgb = 0x11_18_22;
/// Grid lines.
pub const GRID: Rgb = 0x1C_26_34;
/// The planet's edge.
pub const LIMB: Rgb = 0x4A_62_7E;
/// Entities outside the radius: sky blue.
pub const FAR: Rgb = 0x56_B4_E9;
/// Entities within the radius: orange.
pub const NEAR: Rgb = 0xE6_9F_00;
/// Entities that came into the set a moment ago: yellow.
pub const ENTERED: Rgb = 0xF0_E4_42;
/// Entities in the margin, or out of the set since a moment ago: reddish purple.
pub const LEAVING: Rgb = 0xCC_79_A7;
/// Leaves of the index.
pub const LEAF: Rgb = 0x3E_7D_6B;
/// Where many are: blue.
pub const HEAT: Rgb = 0x00_72_B2;
/// Edges of sectors.
pub const SECTOR: Rgb = 0x6A_5A_8A;
/// Other players.
pub const OTHER: Rgb = 0x9F_D8_C6;
/// The player.
pub const PLAYER: Rgb = 0xFF_FF_FF;
/// Good news: bluish green, a little lighter so that small text stays readable.
pub const GOOD: Rgb = 0x2F_C4_98;
/// Bad news: vermillion.
pub const BAD: Rgb = 0xF2_6B_1D;
/// Quiet text.
pub const QUIET: Rgb = 0x93_A4_B8;
/// Loud text.
pub const LOUD: Rgb = 0xEC_F1_F7;

/// Returns the colour for the panel library.
#[must_use]
pub const fn color32(rgb: Rgb) -> egui::Color32 {
    let [_, r, g, b] = rgb.to_be_bytes();
    egui::Color32::from_rgb(r, g, b)
}
