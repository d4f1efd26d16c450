//! The C library brings the start code, which calls `main`.

fn main() {
    println!("cargo::rustc-link-lib=c");
    println!("cargo::rerun-if-changed=build.rs");
}
