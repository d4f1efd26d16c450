//! The workloads, one file each.

mod memory;
mod w1;
mod w10;
mod w2;
mod w3;
mod w4;
mod w5;
mod w6;
mod w7;
mod w8;
mod w9;

use anyhow::Result;

use crate::{Bench, growth, huge};

/// A workload's name, what it is, and how it runs.
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut Bench) -> Result<()>,
}

/// Every workload in the order of running: those that only ask share a world with those that move
/// things about, and come before them.
pub(crate) const ALL: &[Workload] = &[
    Workload {
        name: "memory",
        run: memory::run,
    },
    Workload {
        name: "W1",
        run: w1::run,
    },
    Workload {
        name: "W5",
        run: w5::run,
    },
    Workload {
        name: "W8",
        run: w8::run,
    },
    Workload {
        name: "W2",
        run: w2::all_move,
    },
    Workload {
        name: "W2b",
        run: w2::some_move,
    },
    Workload {
        name: "W3",
        run: w3::run,
    },
    Workload {
        name: "W4",
        run: w4::run,
    },
    Workload {
        name: "W6",
        run: w6::run,
    },
    Workload {
        name: "W7",
        run: w7::run,
    },
    Workload {
        name: "W9",
        run: w9::run,
    },
    Workload {
        name: "W10",
        run: w10::run,
    },
    Workload {
        name: growth::NAME,
        run: growth::run,
    },
    Workload {
        name: huge::NAME,
        run: huge::run,
    },
];
