//! What the panels show: counts, times, and what each client is sent.

use std::collections::VecDeque;
use std::time::Duration;

use nebula_coords::SectorCoord;
use nebula_math::WorldPosition;

use crate::in_process::{Badge, Differences};
use crate::world::{Extra, Seen};
use crate::{Reading, Scenario, Show};

/// How many ticks the plots show, and how many timings the mean and the p99 are of.
const KEPT: usize = 200;

/// The last values of something, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct History(VecDeque<f64>);

impl History {
    pub(crate) fn push(&mut self, value: f64) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// Returns the values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.0.iter().copied()
    }

    /// Returns the last value; 0 when there is none.
    #[must_use]
    pub fn last(&self) -> f64 {
        self.0.back().copied().unwrap_or(0.0)
    }

    /// Returns the mean; 0 when there is no value.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let count = u32::try_from(self.0.len()).unwrap_or(u32::MAX).max(1);
        self.0.iter().sum::<f64>() / f64::from(count)
    }

    /// Returns the value that one in a hundred exceeds; 0 when there is none.
    #[must_use]
    pub fn p99(&self) -> f64 {
        let mut sorted: Vec<f64> = self.0.iter().copied().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
        sorted.get(at).copied().unwrap_or(0.0)
    }
}

/// A line of the table of clients.
#[derive(Clone, Debug)]
pub struct ClientRow {
    /// Whether it has a session.
    pub connected: bool,
    /// Entities in its set.
    pub set: usize,
    /// Entities in its own world.
    pub sees: usize,
    /// Bytes of state that it was sent in the last second.
    pub state_per_second: u64,
    /// Bytes on the wire that it was sent in the last second.
    pub wire_per_second: u64,
    /// How its world differs from the truth at this moment.
    pub differences: Differences,
    /// The smoothed round trip.
    pub round_trip: Option<Duration>,
}

/// An entity that was clicked.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Its id.
    pub id: u32,
    /// Where it is.
    pub at: WorldPosition,
    /// How far from the watched player, rounded down to a millimetre.
    pub distance_mm: u128,
    /// Its sector and the place in it.
    pub sector: SectorCoord,
    /// Which clients see it.
    pub viewers: Vec<usize>,
    /// Why it is or is not sent to the watched client.
    pub why: String,
}

/// What the panels show.
#[derive(Clone, Debug)]
pub struct Figures {
    /// What is shown.
    pub scenario: Scenario,
    /// The last count.
    pub reading: Reading,
    /// Whether every count so far agreed.
    pub always_identical: bool,
    /// What the scenario counts besides.
    pub extra: Option<Extra>,
    /// Microseconds of a query by the index.
    pub index_us: History,
    /// Microseconds of a query by asking everyone.
    pub brute_us: History,
    /// Milliseconds of a tick of the server and its clients.
    pub tick_ms: History,
    /// Leaves that the query's ball meets, and the entities in them.
    pub visited: (usize, usize),
    /// The clients.
    pub clients: Vec<ClientRow>,
    /// Whose neighbours are counted.
    pub watched: usize,
    /// Bytes a second, entities in the set, and entities that came and went, of the watched client.
    pub plots: [History; 4],
    /// Where the player is, in full.
    pub player: WorldPosition,
    /// Where the player is drawn, in pixels from the middle, and the radius in pixels.
    pub ring_px: (f64, f64, f64),
    /// The entity under the cursor.
    pub seen: Option<Seen>,
    /// The entity that was clicked.
    pub chosen: Option<Chosen>,
    /// The scale of the map.
    pub mm_per_px: f64,
}

impl Figures {
    pub(super) fn new(show: &mut Show) -> Self {
        let mut figures = Self {
            scenario: show.scenario(),
            reading: Reading::default(),
            always_identical: true,
            extra: None,
            index_us: History::default(),
            brute_us: History::default(),
            tick_ms: History::default(),
            visited: (0, 0),
            clients: Vec::new(),
            watched: 0,
            plots: Default::default(),
            player: show.world().player(),
            ring_px: (0.0, 0.0, 0.0),
            seen: None,
            chosen: None,
            mm_per_px: 1.0,
        };
        figures.count(show);
        figures
    }

    /// Takes what one tick brought.
    pub(super) fn note_tick(&mut self, show: &Show) {
        self.tick_ms.push(show.tick_time().as_secs_f64() * 1e3);
        let watched = show.world().watched();
        if watched != self.watched {
            self.plots = Default::default();
        }
        let meter = show.network().meter(watched);
        let (last, number) = (meter.last(), |n: usize| {
            f64::from(u32::try_from(n).unwrap_or(u32::MAX))
        });
        let bytes = u32::try_from(meter.wire_per_second()).unwrap_or(u32::MAX);
        let set = show.network().set_len(watched);
        // Whoever has just joined finds everyone new: that is no news, and would dwarf all other.
        let entered = if last.entered == set { 0 } else { last.entered };
        let values = [
            f64::from(bytes),
            number(set),
            number(entered),
            number(last.exited),
        ];
        for (plot, value) in self.plots.iter_mut().zip(values) {
            plot.push(value);
        }
    }

    /// Counts neighbours, and looks at every client.
    pub(super) fn count(&mut self, show: &mut Show) {
        let reading = show.measure();
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        self.reading = reading;
        self.extra = show.extra();
        self.always_identical &=
            reading.identical && self.extra.as_ref().is_none_or(|extra| extra.identical);
        self.index_us.push(micros(reading.index_time));
        self.brute_us.push(micros(reading.brute_force_time));
        self.player = show.world().player();
        self.watched = show.world().watched();
        self.visited = show.world().visited();
        let network = show.network();
        self.clients = (0..network.clients())
            .map(|client| ClientRow {
                connected: network.is_connected(client),
                set: network.set_len(client),
                sees: network.sight_len(client),
                state_per_second: network.meter(client).state_per_second(),
                wire_per_second: network.meter(client).wire_per_second(),
                differences: network.differences(client),
                round_trip: network.round_trip(client),
            })
            .collect();
    }

    /// Looks up everything about the entity that was clicked.
    pub(super) fn explain(&mut self, show: &Show, chosen: Option<u32>) {
        let world = show.world();
        self.chosen = chosen.and_then(|id| {
            let at = *world.places().get(usize::try_from(id).ok()?)?;
            Some(Chosen {
                id,
                at,
                distance_mm: world.distance_mm(&at),
                sector: SectorCoord::from_world(&at),
                viewers: show.network().viewers(Badge(id)),
                why: show.network().explain(world.watched(), Badge(id))?,
            })
        });
    }
}
