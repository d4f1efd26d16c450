//! The workloads, one file each.

mod w1;
mod w2;

use anyhow::Result;

use crate::Bench;

/// A workload's name, what it is, and how it runs.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut Bench) -> Result<()>,
}

/// Every workload in the order of running. Those that only ask share a world; those that move things
/// come after them.
pub(crate) const ALL: &[Workload] = &[
    Workload {
        name: "W1",
        run: w1::run,
    },
    Workload {
        name: "W2",
        run: w2::all_move,
    },
    Workload {
        name: "W2b",
        run: w2::some_move,
    },
];
