//! API documentation, with every warning an error.

use anyhow::Result;

use crate::run::{cargo, run};

pub(crate) fn docs() -> Result<()> {
    let mut command = cargo("doc --locked --workspace --no-deps --all-features");
    run(command.env("RUSTDOCFLAGS", "-D warnings"))
}
