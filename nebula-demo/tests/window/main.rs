//! The window on a real X server: counts, sliders and events. Needs Xvfb, xdotool and xprop; where one
//! of them is missing each test says "skipped" and why.
#![cfg(target_os = "linux")]

use std::time::Duration;

use nebula_demo::Scenario;
use nebula_demo::args::Limit;
use nebula_demo::offscreen::Offscreen;
use nebula_demo::online::{MIDDLE, RADIUS_MM, creatures};

mod server;

use server::{Demo, Server};

/// Starts an X server, or says why not.
macro_rules! server_or_skip {
    () => {
        match Server::start() {
            Ok(server) => server,
            Err(missing) => {
                eprintln!("skipped: {missing}");
                return;
            }
        }
    };
}

#[test]
fn title_is_the_logged_count_and_changes_with_time() {
    let server = server_or_skip!();
    let counts = [20, 400].map(|ticks| {
        let mut demo = server.demo(&["--ticks", &ticks.to_string(), "--hold"]);
        let logged = demo.held_count(ticks);
        assert!(logged > 0, "nobody near at tick {ticks}");
        demo.wait_for_title(&format!("Nearby: {logged} entities"));
        logged
    });
    assert_ne!(counts[0], counts[1], "nothing moved between the ticks");
}

#[test]
fn window_shows_what_the_terminal_prints() {
    let server = server_or_skip!();
    let mut demo = server.demo(&["--ticks", "60", "--hold", "--seed", "7"]);
    let mut world = Scenario::Counter.build(7);
    for _ in 0..60 {
        world.step();
    }
    assert_eq!(demo.held_count(60), world.measure().brute_force);
}

#[test]
fn dragging_the_radius_slider_changes_the_title() {
    let server = server_or_skip!();
    let mut demo = server.demo(&["--ticks", "50", "--hold"]);
    let before = format!("Nearby: {} entities", demo.held_count(50));
    demo.wait_for_title(&before);
    // The same panel laid out without a window says where the slider is.
    let mut twin = Offscreen::new(Scenario::Counter.show(1), Limit::None);
    twin.frame(Vec::new());
    twin.frame(Vec::new());
    let slider = twin
        .viewer()
        .radius_slider()
        .expect("the panel has a radius slider");
    let y = slider.center().y;
    demo.mouse(&format!(
        "mousemove {} {y} mousedown 1",
        slider.left() + 60.0
    ));
    demo.mouse(&format!("mousemove {} {y}", slider.left() + 100.0));
    demo.mouse(&format!(
        "mousemove {} {y} mouseup 1",
        slider.left() + 130.0
    ));
    demo.wait_for_other_title(&before);
}

#[test]
fn resize_pan_zoom_and_keys_do_no_harm() {
    let server = server_or_skip!();
    let mut demo = server.demo(&[]);
    demo.wait_for_other_title("Nearby: 0 entities");
    for size in ["900 500", "480 320", "1270 790"] {
        demo.xdotool(&format!("windowsize {} {size}", demo.window()));
        demo.mouse("mousemove 420 260 mousedown 1");
        demo.mouse("mousemove 460 200 mousemove 400 300 mouseup 1");
        demo.mouse(&"click 4 ".repeat(12));
        demo.mouse(&"click 5 ".repeat(40));
    }
    demo.xdotool(&format!("windowfocus {}", demo.window()));
    demo.xdotool("key h key space key n key f key r keydown w");
    std::thread::sleep(Duration::from_millis(200));
    demo.xdotool("keyup w key q");
    assert_eq!(demo.wait_for_end(), Some(0), "{}", demo.log());
    assert!(demo.log().contains("identical: yes"), "{}", demo.log());
}

#[test]
fn dead_wayland_display_falls_back_to_x11() {
    let server = server_or_skip!();
    let mut demo = Demo::start(
        server
            .command(&["--ticks", "5"])
            .env("WAYLAND_DISPLAY", "/nonexistent/wayland-0"),
    );
    assert_eq!(demo.wait_for_end(), Some(0));
    assert!(
        demo.log().starts_with("Closed at tick 5: index "),
        "{}",
        demo.log()
    );
}

#[test]
fn seconds_close_the_window() {
    let server = server_or_skip!();
    let mut demo = server.demo(&["--seconds", "1"]);
    assert_eq!(demo.wait_for_end(), Some(0));
    assert!(demo.log().starts_with("Closed at tick "), "{}", demo.log());
}

#[test]
fn a_server_and_a_client_have_windows() {
    let server = server_or_skip!();
    let mut served = server.demo(&["server", "--still", "--listen", "127.0.0.1:0"]);
    let line = served.read_line();
    let address = line.trim().trim_start_matches("listening at ").to_owned();
    served.wait_for_window("^Serving 0 players$");
    let mut client = server.demo(&["client", "--connect", &address, "--account", "7"]);
    let near = creatures().filter(|at| at.is_within(&MIDDLE, RADIUS_MM));
    client.wait_for_window(&format!("^Nearby: {} entities$", near.count()));
    let window = served.wait_for_window("^Serving 1 player$");

    // The player walks east, and those in the west fall behind: nobody else moves.
    let id = client.window();
    client.xdotool(&format!("windowfocus --sync {id} keydown d"));
    client.wait_for_line("- creature");
    client.xdotool("keyup d key q");
    assert_eq!(client.wait_for_end(), Some(0), "{}", client.log());
    assert!(client.log().contains("left; "), "{}", client.log());
    served.wait_for_window("^Serving 0 players$");
    served.xdotool(&format!("windowfocus --sync {window} key q"));
    assert_eq!(served.wait_for_end(), Some(0), "{}", served.log());
    assert!(served.log().contains("the server ends after"));
}

#[test]
fn missing_client_library_runs_in_the_terminal() {
    let server = server_or_skip!();
    // Empty files that are found first stand for libraries that are not there.
    let dir = std::env::temp_dir().join(format!("nebula-demo-no-xkb-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    for name in ["libxkbcommon-x11.so.0", "libxkbcommon-x11.so"] {
        std::fs::write(dir.join(name), []).unwrap();
    }
    let output = server
        .command(&["--ticks", "3"])
        .env("LD_LIBRARY_PATH", &dir)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.starts_with("No window: "), "{message}");
    assert_eq!(
        message.lines().count(),
        1,
        "one sentence, no backtrace: {message}"
    );
    assert!(output.stdout.starts_with(b"Nearby: "));
}
