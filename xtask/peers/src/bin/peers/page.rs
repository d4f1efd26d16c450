//! The page of a run: `docs/benchmarks.md` for a full one, a copy beside the build for a partial one.

use std::path::{Path, PathBuf};

use anyhow::Result;
use nebula_peers::flags::Flags;
use nebula_peers::machine;
use nebula_peers::report::chart::{Bar, Kind};
use nebula_peers::report::markdown::{self, Page};
use nebula_peers::report::{Chart, Report};

const ABOUT: &str = "\
Nebula's indexes against other libraries and against plain code, on the same seeded data in one process. \
Contenders take turns; times are the least of several repeats, CPU time of the process (wall time where \
threads are compared). Answers were compared before any time counts: some of Nebula's with an exact check of \
every entity, everyone's with Nebula's. \"vs best peer\" says how many times faster than the fastest peer, \
\"vs limit\" how many times what the hardware needs for the same, measured in the same run. Unless a table says \
otherwise, the world is a planet of radius 6,371 km with 70 % of its entities in 200 Gaussian cities of sigma \
1 km and 30 % spread evenly.";

/// Returns what holds for all contenders.
pub(crate) fn settings() -> Vec<String> {
    let simd = if cfg!(target_feature = "avx512f") {
        "AVX-512"
    } else if cfg!(target_feature = "avx2") {
        "AVX2"
    } else {
        "the base instructions"
    };
    [
        format!("One release build for all, for the processor at hand (`-C target-cpu=native`: {simd})."),
        "Coordinates are whole millimetres: `i128` for Nebula, `f64` for the peers, exact up to 2^53.".to_owned(),
        "kiddo 6.3 with its `simd` feature: `ImmutableKdTree`, the same with SIMD stems, `MutableKdTree`.".to_owned(),
        "rstar 0.14, packed by `bulk_load`; parry3d-f64 0.31 `Bvh`, binned build, updated in place and refitted.".to_owned(),
        "big_space 0.13 `CellLookup`, cells of 2^19 mm; a `HashMap` grid (hashbrown) with cells as wide as the radius.".to_owned(),
        "The literal sector hash of Nebula's first story; brute force over three arrays of `f64`.".to_owned(),
        format!(
            "Huge pages for none (kernel policy `{}`); the section huge-pages repeats W1 and W2 with huge pages for all.",
            machine::huge_policy()
        ),
    ]
    .to_vec()
}

/// Draws the ratios and writes the page.
pub(crate) fn write(report: &mut Report, flags: &Flags) -> Result<()> {
    report.charts.insert(0, ratios(report));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here);
    let full = !flags.quick && flags.only.is_empty();
    let (shown, file) = if full {
        ("docs/benchmarks.md", root.join("docs/benchmarks.md"))
    } else {
        ("target/benchmarks/benchmarks.md", partial(root))
    };
    markdown::write(
        report,
        &Page {
            file: &file,
            notes: &here.join("notes"),
            command: "cargo xtask bench peers",
            about: ABOUT,
        },
    )?;
    let why = if full {
        ""
    } else {
        " (only a full run writes docs/benchmarks.md)"
    };
    println!("wrote {shown} and its charts{why}");
    Ok(())
}

fn partial(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("benchmarks/benchmarks.md")
}

/// Every goal against a peer, as bars.
fn ratios(report: &Report) -> Chart {
    let bar = |case: &nebula_peers::report::Case| {
        let goal = case.goal.times_peer?;
        Some(Bar {
            name: format!("{} {}", case.workload, case.name),
            value: case.times_peer(case.ours()?)?,
            goal: Some(goal),
        })
    };
    Chart {
        file: "peers.svg".to_owned(),
        title: "How many times faster than the best peer (marks: the goals)".to_owned(),
        kind: Kind::Bars(report.cases.iter().filter_map(bar).collect()),
    }
}
