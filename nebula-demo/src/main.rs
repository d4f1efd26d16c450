//! See who is near whom.
fn main() {}
