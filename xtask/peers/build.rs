//! Notes the compiler's version, which belongs beside every figure.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let version = output
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "rustc unknown".to_owned());
    println!("cargo:rustc-env=PEERS_RUSTC={}", version.trim());
    println!("cargo:rerun-if-changed=build.rs");
}
