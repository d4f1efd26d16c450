//! See who is near whom: `cargo run --release -p nebula-demo`, or `--help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let status = nebula_demo::run(
        std::env::args_os().skip(1),
        &mut std::io::stdout().lock(),
        &mut std::io::stderr(),
    );
    ExitCode::from(status)
}
