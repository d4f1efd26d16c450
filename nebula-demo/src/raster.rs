//! Paints the panel library's triangles into the pixel buffer: no GPU, no C library.

use std::collections::BTreeMap;

use egui::epaint::{ImageData, Mesh, Primitive, Vertex};
use egui::{ClippedPrimitive, ColorImage, TextureId, TexturesDelta};

use crate::canvas::Canvas;
use crate::lossy;

/// The textures of the panel library: above all its font.
#[derive(Debug, Default)]
pub struct Painter {
    textures: BTreeMap<TextureId, ColorImage>,
}

impl Painter {
    /// Makes a painter without textures.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over the new and changed textures of a frame; call it before [`paint`](Self::paint).
    #[expect(
        clippy::iter_over_hash_type,
        reason = "textures are independent: any order gives the same pictures"
    )]
    pub fn update(&mut self, delta: &mut TexturesDelta) {
        for (id, images) in delta.set.drain() {
            for image in images {
                let ImageData::Color(pixels) = &image.image;
                match image.pos {
                    None => {
                        self.textures.insert(id, pixels.as_ref().clone());
                    }
                    Some(at) => {
                        if let Some(texture) = self.textures.get_mut(&id) {
                            copy_into(texture, pixels, at);
                        }
                    }
                }
            }
        }
        for id in delta.free.drain() {
            self.textures.remove(&id);
        }
    }

    /// Paints the triangles in order, each clipped to its rectangle.
    pub fn paint(&self, canvas: &mut Canvas<'_>, shapes: &[ClippedPrimitive], px_per_point: f32) {
        for shape in shapes {
            let Primitive::Mesh(mesh) = &shape.primitive else {
                continue; // Callbacks are for GPU code; we make none.
            };
            let Some(texture) = self.textures.get(&mesh.texture_id) else {
                continue;
            };
            let edge = |v: f32| lossy::pixel(f64::from(v * px_per_point).round());
            let clip = Clip {
                left: edge(shape.clip_rect.min.x).max(0),
                top: edge(shape.clip_rect.min.y).max(0),
                right: edge(shape.clip_rect.max.x).min(canvas.width()),
                bottom: edge(shape.clip_rect.max.y).min(canvas.height()),
            };
            paint_mesh(canvas, mesh, texture, &clip, px_per_point);
        }
    }
}

/// Copies a picture into a texture, as far as it fits.
fn copy_into(texture: &mut ColorImage, part: &ColorImage, [x, y]: [usize; 2]) {
    let [width, height] = texture.size;
    let [part_width, _] = part.size;
    let fits = part_width.min(width.saturating_sub(x));
    for (row, line) in part.pixels.chunks_exact(part_width.max(1)).enumerate() {
        if y + row >= height {
            return;
        }
        let start = (y + row) * width + x;
        texture.pixels[start..start + fits].copy_from_slice(&line[..fits]);
    }
}

/// The pixels that may change; right and bottom are excluded.
struct Clip {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

fn paint_mesh(canvas: &mut Canvas<'_>, mesh: &Mesh, texture: &ColorImage, clip: &Clip, scale: f32) {
    for corners in mesh.indices.chunks_exact(3) {
        let corner = |i: usize| {
            usize::try_from(corners[i])
                .ok()
                .and_then(|i| mesh.vertices.get(i))
        };
        if let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) {
            triangle(
                canvas,
                [a, b, c].map(|v| Corner::new(v, scale)),
                texture,
                clip,
            );
        }
    }
}

/// A corner of a triangle in pixels, with what is interpolated: r, g, b, a, u, v.
#[derive(Clone, Copy)]
struct Corner {
    x: f32,
    y: f32,
    values: [f32; 6],
}

impl Corner {
    fn new(v: &Vertex, scale: f32) -> Self {
        let [r, g, b, a] = v.color.to_array().map(f32::from);
        Self {
            x: v.pos.x * scale,
            y: v.pos.y * scale,
            values: [r, g, b, a, v.uv.x, v.uv.y],
        }
    }
}

/// Paints the pixels whose middle lies in the triangle.
///
/// The side of an edge is found from its corners sorted by height, so two triangles that share an edge
/// compute the same crossing: no pixel is painted twice and none is left out.
fn triangle(canvas: &mut Canvas<'_>, mut corners: [Corner; 3], texture: &ColorImage, clip: &Clip) {
    let doubled_area = {
        let [a, b, c] = &corners;
        (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
    };
    if !doubled_area.is_normal() {
        return; // A line, or not a number.
    }
    let plane = Plane::new(&corners, doubled_area);
    corners.sort_by(|a, b| {
        (a.y, a.x)
            .partial_cmp(&(b.y, b.x))
            .unwrap_or(core::cmp::Ordering::Equal)
    });
    let [top, middle, bottom] = &corners;
    let first = first_pixel(top.y).max(clip.top);
    let end = first_pixel(bottom.y).min(clip.bottom);
    let flat = plane
        .is_flat()
        .then(|| plane.color_at(top.x, top.y, texture));
    for y in first..end {
        let center = center(y);
        let long = crossing(top, bottom, center);
        let short = if center < middle.y {
            crossing(top, middle, center)
        } else {
            crossing(middle, bottom, center)
        };
        let from = first_pixel(long.min(short)).max(clip.left);
        let to = first_pixel(long.max(short)).min(clip.right);
        if from >= to {
            continue;
        }
        match flat {
            Some(color) => {
                for pixel in canvas.row(y, from, to) {
                    *pixel = over(*pixel, color);
                }
            }
            None => {
                for (x, pixel) in (from..to).zip(canvas.row(y, from, to)) {
                    *pixel = over(*pixel, plane.color_at(self::center(x), center, texture));
                }
            }
        }
    }
}

/// The first pixel whose middle is at or beyond `v`.
fn first_pixel(v: f32) -> i32 {
    lossy::pixel(f64::from((v - 0.5).ceil()))
}

/// The middle of a pixel.
fn center(pixel: i32) -> f32 {
    lossy::f32_from_f64(f64::from(pixel) + 0.5)
}

/// Where the edge crosses the height `y`; `a` is the upper corner.
fn crossing(a: &Corner, b: &Corner, y: f32) -> f32 {
    let height = b.y - a.y;
    if height <= 0.0 {
        return a.x;
    }
    a.x + (b.x - a.x) * ((y - a.y) / height)
}

/// The linear functions of x and y that give colour and texture position inside a triangle.
struct Plane {
    x: f32,
    y: f32,
    base: [f32; 6],
    per_x: [f32; 6],
    per_y: [f32; 6],
}

impl Plane {
    fn new([a, b, c]: &[Corner; 3], doubled_area: f32) -> Self {
        let mut plane = Self {
            x: a.x,
            y: a.y,
            base: a.values,
            per_x: [0.0; 6],
            per_y: [0.0; 6],
        };
        for i in 0..6 {
            let (ab, ac) = (b.values[i] - a.values[i], c.values[i] - a.values[i]);
            plane.per_x[i] = (ab * (c.y - a.y) - ac * (b.y - a.y)) / doubled_area;
            plane.per_y[i] = (ac * (b.x - a.x) - ab * (c.x - a.x)) / doubled_area;
        }
        plane
    }

    /// Whether the whole triangle has one colour.
    fn is_flat(&self) -> bool {
        self.per_x.iter().chain(&self.per_y).all(|v| *v == 0.0)
    }

    /// The premultiplied colour of a pixel: interpolated colour times texture.
    fn color_at(&self, x: f32, y: f32, texture: &ColorImage) -> [f32; 4] {
        let (dx, dy) = (x - self.x, y - self.y);
        let at = |i: usize| self.base[i] + self.per_x[i] * dx + self.per_y[i] * dy;
        let texel = sample(texture, at(4), at(5));
        core::array::from_fn(|i| at(i) * texel[i] / 255.0)
    }
}

/// Returns the texture's colour between its four nearest texels. Text lies on whole pixels and comes
/// out as it is; small discs are drawn from scaled pictures and would be ragged without this.
fn sample(texture: &ColorImage, u: f32, v: f32) -> [f32; 4] {
    let [width, height] = texture.size;
    let (left, right, mix_x) = texels(u, width);
    let (top, bottom, mix_y) = texels(v, height);
    let at = |x: usize, y: usize| {
        texture
            .pixels
            .get(y * width + x)
            .map_or([0.0; 4], |t| t.to_array().map(f32::from))
    };
    let upper = blend(at(left, top), at(right, top), mix_x);
    if top == bottom {
        return upper;
    }
    blend(
        upper,
        blend(at(left, bottom), at(right, bottom), mix_x),
        mix_y,
    )
}

/// The two texels along one axis, and how much of the second is seen; the border repeats.
fn texels(uv: f32, size: usize) -> (usize, usize, f32) {
    let size_f = f32::from(u16::try_from(size).unwrap_or(u16::MAX));
    let at = (uv * size_f - 0.5).clamp(0.0, (size_f - 1.0).max(0.0));
    let first = lossy::index(lossy::pixel(f64::from(at)));
    (
        first,
        (first + 1).min(size.saturating_sub(1)),
        at - at.floor(),
    )
}

fn blend(a: [f32; 4], b: [f32; 4], mix: f32) -> [f32; 4] {
    core::array::from_fn(|i| a[i] + (b[i] - a[i]) * mix)
}

/// Lays a premultiplied colour over a pixel.
fn over(under: u32, [r, g, b, a]: [f32; 4]) -> u32 {
    let keep = 1.0 - a / 255.0;
    let [_, under_r, under_g, under_b] = under.to_be_bytes().map(f32::from);
    u32::from_be_bytes([
        0,
        lossy::byte(r + under_r * keep),
        lossy::byte(g + under_g * keep),
        lossy::byte(b + under_b * keep),
    ])
}
