//! How many cases, and which: the same for every file of properties.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// 2,000 cases from a fixed seed, unless the environment says otherwise.
pub(crate) fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 2_000;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(128);
    }
    config
}
