//! How bad the links are, and what a client may cost.

use core::time::Duration;

use nebula_multiplayer::transport::sim::Faults;

/// How the links and the server are set.
///
/// ```
/// use nebula_demo::in_process::Conditions;
///
/// let bad = Conditions { loss_percent: 20, ..Conditions::USUAL };
/// assert_eq!(bad.faults().drop, 2_000); // in parts of 10,000
/// let bare = Conditions { without_margin: Some(1), ..Conditions::USUAL };
/// assert_eq!([0, 1].map(|client| bare.margin_percent_of(client)), [10, 0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// The margin, in hundredths of the radius.
    pub margin_percent: u32,
    /// A client that has none.
    pub without_margin: Option<usize>,
    /// How many datagrams in a hundred are lost, each way.
    pub loss_percent: u16,
    /// How long everything takes, each way.
    pub latency_ms: u64,
    /// How many bytes a second a client may be sent.
    pub budget_bytes: u32,
    /// How many entities of its set a client is sent.
    pub max_visible: usize,
}

impl Conditions {
    /// A home connection on a good day.
    pub const USUAL: Self = Self {
        margin_percent: 10,
        without_margin: None,
        loss_percent: 0,
        latency_ms: 30,
        budget_bytes: 128 * 1_024,
        max_visible: 4_096,
    };

    /// Returns the margin of a client, in hundredths of the radius.
    #[must_use]
    pub fn margin_percent_of(&self, client: usize) -> u32 {
        if self.without_margin == Some(client) {
            0
        } else {
            self.margin_percent
        }
    }

    /// Returns what a link does to what it carries. A delay that is not constant reorders, too.
    #[must_use]
    pub fn faults(&self) -> Faults {
        let latency = Duration::from_millis(self.latency_ms);
        Faults {
            latency,
            jitter: latency / 4,
            drop: self.loss_percent.min(100) * 100,
            ..Faults::NONE
        }
    }
}
