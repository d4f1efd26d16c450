//! The viewer without a window: mouse and keys in, pixels and counts out.

use egui::epaint::{Mesh, Primitive, Vertex};
use egui::{Color32, Event, Key, Modifiers, MouseWheelUnit, PointerButton, Pos2, Rect, pos2, vec2};
use nebula_demo::args::Limit;
use nebula_demo::camera::{Camera, MM_PER_PX_MAX, MM_PER_PX_MIN};
use nebula_demo::canvas::{Canvas, Stamp};
use nebula_demo::marks::Marks;
use nebula_demo::offscreen::Offscreen;
use nebula_demo::raster::Painter;
use nebula_demo::render::{Map, length_text, round_length_mm};
use nebula_demo::world::{Ground, PLANET_CENTER, PLANET_RADIUS_MM};
use nebula_demo::{Scenario, palette};
use nebula_math::WorldPosition;

fn screen() -> Offscreen {
    let limit = Limit::Ticks {
        ticks: 50,
        hold: true,
    };
    let mut screen = Offscreen::new(Scenario::Counter.show(1), limit);
    while !screen.frame(Vec::new()).reached_limit {}
    screen.frame(Vec::new());
    screen
}

fn button(pos: Pos2, pressed: bool) -> Event {
    Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }
}

fn key(key: Key, pressed: bool) -> Event {
    Event::Key {
        key,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::NONE,
    }
}

fn drag(screen: &mut Offscreen, from: Pos2, to: Pos2) {
    screen.frame(vec![Event::PointerMoved(from)]);
    screen.frame(vec![button(from, true)]);
    for part in [0.3, 0.7, 1.0] {
        screen.frame(vec![Event::PointerMoved(from + (to - from) * part)]);
    }
    screen.frame(vec![button(to, false)]);
    screen.frame(Vec::new());
}

#[test]
fn tick_limit_pauses_at_its_tick_and_space_goes_on() {
    let mut screen = screen();
    assert!(screen.viewer().is_paused());
    assert_eq!(screen.viewer().world().tick(), 50);
    for _ in 0..5 {
        screen.frame(Vec::new());
    }
    assert_eq!(screen.viewer().world().tick(), 50);
    screen.frame(vec![key(Key::N, true), key(Key::N, false)]);
    assert_eq!(screen.viewer().world().tick(), 51);
    screen.frame(vec![key(Key::Space, true), key(Key::Space, false)]);
    for _ in 0..5 {
        screen.frame(Vec::new());
    }
    assert!(screen.viewer().world().tick() > 51);
}

#[test]
fn radius_slider_changes_the_count() {
    let mut screen = screen();
    let before = screen.frame(Vec::new()).reading.index;
    let slider = screen.viewer().radius_slider().expect("a slider");
    let from = pos2(slider.left() + 80.0, slider.center().y);
    drag(&mut screen, from, from + vec2(90.0, 0.0));
    let after = screen.frame(Vec::new()).reading;
    assert!(after.index > before, "{before} to {}", after.index);
    assert!(after.identical);
    let middle = screen.viewer().camera().expect("a camera").middle;
    assert_eq!(
        middle,
        Ground::POLE.at(0, 0),
        "the map stays while a slider moves"
    );
}

#[test]
fn dragging_moves_the_map_with_the_cursor() {
    let mut screen = screen();
    let before = *screen.viewer().camera().expect("a camera");
    drag(&mut screen, pos2(700.0, 300.0), pos2(760.0, 280.0));
    let after = screen.viewer().camera().expect("a camera").middle;
    let (x, y) = before.to_px(&after);
    // The library takes the first few pixels of a drag as a click that trembles.
    assert!((x + 60.0).abs() < 8.0 && (y - 20.0).abs() < 8.0, "{x} {y}");
}

#[test]
fn wheel_zooms_at_the_cursor_and_r_returns() {
    let mut screen = screen();
    let start = *screen.viewer().camera().expect("a camera");
    screen.frame(vec![Event::PointerMoved(pos2(900.0, 200.0))]);
    screen.frame(vec![Event::MouseWheel {
        unit: MouseWheelUnit::Line,
        delta: vec2(0.0, 3.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    }]);
    for _ in 0..30 {
        screen.frame(Vec::new());
    }
    let closer = *screen.viewer().camera().expect("a camera");
    assert!(closer.mm_per_px() < start.mm_per_px() * 0.9);
    screen.frame(vec![key(Key::R, true), key(Key::R, false)]);
    assert_eq!(*screen.viewer().camera().expect("a camera"), start);
}

#[test]
fn walking_by_key_moves_the_player_north() {
    let mut screen = Offscreen::new(Scenario::Counter.show(3), Limit::None);
    screen.frame(Vec::new());
    let before = screen.viewer().world().player();
    screen.frame(vec![key(Key::W, true)]);
    for _ in 0..20 {
        screen.frame(Vec::new());
    }
    let after = screen.viewer().world().player();
    assert_eq!(after.x, before.x);
    assert!(after.y > before.y);
}

#[test]
fn pointing_at_an_entity_names_it_and_its_distance() {
    let mut screen = screen();
    let camera = *screen.viewer().camera().expect("a camera");
    let places = screen.viewer().world().places();
    // One that is not under the panel, and whose neighbours are far enough away.
    let (id, at) = (0_u32..)
        .zip(places)
        .find(|(_, at)| {
            let crowd = places.iter().filter(|other| at.is_within(other, 25_000));
            at.x > PLANET_CENTER.x && crowd.count() == 1
        })
        .expect("someone stands apart");
    let at = *at;
    let (x, y) = camera.to_px(&at);
    let cursor = pos2(
        nebula_demo::lossy::f32_from_f64(640.0 + x),
        nebula_demo::lossy::f32_from_f64(360.0 + y),
    );
    screen.frame(vec![Event::PointerMoved(cursor)]);
    screen.frame(Vec::new());
    let seen = screen.viewer().seen().expect("someone is under the cursor");
    assert_eq!((seen.id, seen.at), (id, at));
    let player = screen.viewer().world().player();
    let reach = i128::try_from(seen.distance_mm).expect("a short way");
    assert!(player.is_within(&at, reach + 1) && !player.is_within(&at, reach - 1));
    screen.frame(vec![Event::PointerMoved(pos2(1_270.0, 10.0))]);
    screen.frame(Vec::new());
    assert!(screen.viewer().seen().is_none(), "nobody is in the corner");
}

#[test]
fn zooming_keeps_the_point_under_the_cursor() {
    let mut camera = Camera::new(Ground::POLE.at(-120_345, 77), 1_500.0);
    for (factor, x, y) in [(1.7, 300.0, -200.0), (0.2, -640.0, 360.0), (9.0, 5.0, 5.0)] {
        let before = camera.from_px(x, y);
        camera.zoom(factor, x, y);
        let (now_x, now_y) = camera.to_px(&before);
        // The middle is a whole millimetre: at most one pixel at the closest scale.
        assert!(
            (now_x - x).abs() <= 1.0 && (now_y - y).abs() <= 1.0,
            "{now_x} {now_y}"
        );
    }
}

#[test]
fn camera_survives_everything() {
    let mut camera = Camera::new(WorldPosition::MAX, f64::NAN);
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300] {
        camera.zoom(factor, 1e9, f64::NAN);
        camera.drag(f64::MAX, f64::NEG_INFINITY);
        let (x, y) = camera.to_px(&WorldPosition::MIN);
        assert!(!x.is_nan() && !y.is_nan());
    }
    let mut wide = Camera::new(Ground::POLE.at(0, 0), 1e300);
    assert_eq!(wide.mm_per_px().to_bits(), MM_PER_PX_MAX.to_bits());
    wide.drag(1e12, 1e12);
    let leash = 2 * i128::from(PLANET_RADIUS_MM);
    assert_eq!(PLANET_CENTER.x - wide.middle.x, leash);
    assert_eq!(
        Camera::new(WorldPosition::ORIGIN, 0.0)
            .mm_per_px()
            .to_bits(),
        MM_PER_PX_MIN.to_bits()
    );
}

#[test]
fn every_scale_of_the_map_is_drawn() {
    let mut show = Scenario::Counter.show(1);
    show.measure();
    let world = show.world();
    let mut marks = Marks::default();
    marks.update(world.tick(), world.entities(), world.near(), world.near());
    let mut scale = MM_PER_PX_MIN;
    while scale < MM_PER_PX_MAX * 10.0 {
        let mut pixels = vec![0; 200 * 100];
        let mut canvas = Canvas::new(200, 100, &mut pixels).unwrap();
        Map::default().draw(
            &mut canvas,
            &show,
            &marks,
            &Camera::new(world.player(), scale),
        );
        assert_eq!(
            pixels[50 * 200 + 100],
            palette::PLAYER,
            "at {scale} mm per pixel"
        );
        scale *= 7.0;
    }
}

#[test]
fn players_on_the_far_side_of_the_planet_are_not_drawn_among_us() {
    let show = Scenario::Counter.show(1);
    let players = show.world().players();
    let middle_color = |player: usize| {
        let spot = WorldPosition::new(players[player].x, players[player].y, players[0].z);
        let mut pixels = vec![0; 201 * 101];
        let mut canvas = Canvas::new(201, 101, &mut pixels).unwrap();
        let camera = Camera::new(spot, MM_PER_PX_MIN);
        Map::default().draw(&mut canvas, &show, &Marks::default(), &camera);
        pixels[50 * 201 + 100]
    };
    assert_eq!(middle_color(1), palette::OTHER);
    assert_ne!(middle_color(2), palette::OTHER);
}

#[test]
fn a_client_that_joins_is_no_spike_in_the_plot() {
    let screen = screen();
    let [_, set, entered, _] = &screen.viewer().figures().plots;
    assert!(set.last() > 20.0);
    assert!(
        entered.values().all(|n| n < 10.0),
        "only those who came later"
    );
}

#[test]
fn shapes_far_outside_cost_nothing_and_harm_nothing() {
    let mut pixels = vec![7; 16 * 9];
    let mut canvas = Canvas::new(16, 9, &mut pixels).unwrap();
    for far in [-1e300, -1e9, 1e9, 1e300, f64::NAN] {
        canvas.disc(far, far, 3.0, 0xFF, 255);
        canvas.ring(far, 4.0, 2.0, 2.0, 0xFF, 255);
        Stamp::new(3.0).draw(&mut canvas, far, far, 0xFF);
    }
    canvas.ring(8.0, 4.0, 1e12, 2.0, 0xFF, 255);
    assert!(pixels.iter().all(|p| *p == 7));
    assert!(Canvas::new(16, 10, &mut pixels).is_none());
}

#[test]
fn triangles_that_share_an_edge_cover_each_pixel_once() {
    let half = Color32::from_rgba_premultiplied(128, 0, 0, 128);
    let corner = |x: f32, y: f32| Vertex::untextured(pos2(x, y), half);
    let vertices = vec![
        corner(1.3, 0.6),
        corner(11.2, 2.1),
        corner(12.7, 9.4),
        corner(0.2, 8.8),
    ];
    let mesh = Mesh {
        indices: vec![0, 1, 2, 0, 2, 3],
        vertices,
        ..Mesh::default()
    };
    let mut painter = Painter::new();
    let mut textures = egui::TexturesDelta::default();
    let white = egui::ColorImage::filled([1, 1], Color32::WHITE);
    let image = egui::epaint::ImageDelta::full(white, egui::TextureOptions::default());
    textures.push(egui::TextureId::default(), image);
    painter.update(&mut textures);
    let mut pixels = vec![0; 16 * 12];
    let mut canvas = Canvas::new(16, 12, &mut pixels).unwrap();
    let shape = egui::ClippedPrimitive {
        clip_rect: Rect::EVERYTHING,
        primitive: Primitive::Mesh(mesh),
    };
    painter.paint(&mut canvas, &[shape], 1.0);
    let painted: Vec<_> = pixels.iter().filter(|p| **p != 0).collect();
    assert!(painted.len() > 70);
    // A pixel painted twice would be 0xC0; one left out on the diagonal would show in the count.
    assert!(painted.iter().all(|p| **p == 0x80_00_00), "{painted:x?}");
    for y in 3..8 {
        let row = &pixels[y * 16 + 3..y * 16 + 10];
        assert!(row.iter().all(|p| *p != 0), "a gap in row {y}: {row:x?}");
    }
}

#[test]
fn lengths_are_round_and_readable() {
    for (mm, round) in [
        (f64::NAN, 0),
        (0.0, 1),
        (1.1, 2),
        (3.0, 5),
        (5.1, 10),
        (2e9, 2_000_000_000),
    ] {
        let length = round_length_mm(mm);
        assert!(mm.is_nan() || length == round, "{mm}: {length}");
    }
    assert!(round_length_mm(f64::INFINITY) > 10_i128.pow(18));
    assert_eq!(length_text(-7), "-7 mm");
}

#[test]
fn clicking_an_entity_says_why_it_is_sent() {
    let mut screen = screen();
    let near = screen.viewer().world().near()[0];
    screen.viewer_mut().controls_mut().chosen = Some(near);
    screen.frame(Vec::new());
    let chosen = screen.viewer().figures().chosen.as_ref().expect("chosen");
    assert!(chosen.viewers.contains(&0), "{chosen:?}");
    assert!(chosen.why.contains("is sent to client 0"), "{}", chosen.why);
}

#[test]
fn keys_choose_scenarios_clients_and_overlays() {
    let mut screen = Offscreen::new(Scenario::Counter.show(1), Limit::None);
    let press = |screen: &mut Offscreen, pressed: Key| {
        screen.frame(vec![key(pressed, true), key(pressed, false)]);
        screen.frame(Vec::new());
    };
    for toggle in [Key::L, Key::M, Key::E, Key::K, Key::H] {
        let before = screen.pixels().to_vec();
        press(&mut screen, toggle);
        assert_ne!(before, screen.pixels(), "{toggle:?} changes nothing");
    }
    press(&mut screen, Key::C);
    assert_eq!(screen.viewer().world().watched(), 1);
    press(&mut screen, Key::Num4);
    assert_eq!(screen.viewer().show().scenario(), Scenario::Border);
    press(&mut screen, Key::Num0);
    assert_eq!(screen.viewer().show().scenario(), Scenario::Lossy);
}

#[test]
fn sliders_reach_the_network() {
    let mut screen = Offscreen::new(Scenario::Counter.show(1), Limit::None);
    screen.frame(Vec::new());
    let controls = screen.viewer_mut().controls_mut();
    (controls.clients, controls.loss_percent, controls.latency_ms) = (5, 30, 200);
    (controls.margin_percent, controls.budget_kib) = (50, 16);
    for _ in 0..200 {
        screen.frame(Vec::new());
    }
    let viewer = screen.viewer_mut();
    assert_eq!(viewer.show().network().clients(), 5);
    assert_eq!(viewer.show().margin_mm(0), 50_000);
    assert!(viewer.show().network().is_connected(4));
    viewer.controls_mut().clients = 1;
    screen.frame(Vec::new());
    assert_eq!(screen.viewer().show().network().clients(), 1);
    assert!(screen.viewer_mut().verdict().settled.is_some());
}
