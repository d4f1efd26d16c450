//! A full disk that the output goes to: a part of row 44 of the hostile input table.
#![cfg(target_os = "linux")]

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

/// What the demo says, and its exit status, when its output goes to a full disk.
#[track_caller]
fn on_a_full_disk(arguments: &str) -> (String, Option<i32>) {
    let disk = OpenOptions::new().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_nebula-demo"))
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(disk.expect("every Linux has it"))
        .output()
        .expect("the demo starts");
    let text = String::from_utf8(output.stderr).expect("it is text");
    (text, output.status.code())
}

#[test]
fn hostile_44_disk_full_ends_a_server_with_an_error_that_says_what() {
    let (text, status) = on_a_full_disk("server --headless --listen 127.0.0.1:0 --seconds 20");
    assert_eq!(status, Some(1), "{text}");
    assert_eq!(
        text,
        "nebula-demo: the output cannot be written: No space left on device (os error 28)\n"
    );
}

#[test]
fn hostile_44_disk_full_ends_a_run_in_the_terminal_with_an_error_that_says_what() {
    let (text, status) = on_a_full_disk("--headless --ticks 3 --seed 7");
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("the output cannot be written: No space left"),
        "{text}"
    );
}
