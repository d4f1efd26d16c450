//! The smaller parts of sessions: clock, reader, frames, broadcasts, areas.

mod common;

use core::time::Duration;

use common::{Health, Hit, MAX, Pair, protocol};
use nebula_math::WorldPosition;
use nebula_multiplayer::client::Clock;
use nebula_multiplayer::interest::{InterestArea, InterestConfig};
use nebula_multiplayer::message::FrameBuffer;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::server::SettingsError;
use nebula_multiplayer::wire::{Codec, DecodeError, Reader, put_text};
use nebula_multiplayer::{Identity, ServerSettings, Tick};

#[test]
fn a_reader_gives_back_what_was_written() {
    let mut bytes = vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
    put_text(&mut bytes, "né");
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.left(), bytes.len());
    assert_eq!(reader.u32(), Ok(0x0403_0201));
    assert_eq!(reader.u64(), Ok(0x0C0B_0A09_0807_0605));
    assert_eq!(reader.bytes(1), Ok(&[13][..]));
    assert_eq!(reader.array(), Ok([14]));
    assert_eq!(reader.text("a name", 3), Ok("né"));
    assert_eq!(
        reader.bytes(1),
        Err(DecodeError::Truncated { needed: 1, left: 0 })
    );
    let mut again = Reader::new(&bytes);
    again.bytes(14).unwrap();
    assert_eq!(
        again.text("a name", 2),
        Err(DecodeError::TooLong {
            what: "a name",
            len: 3,
            max: 2
        })
    );
}

#[test]
fn a_codec_reads_one_value_and_leaves_the_rest() {
    let codec = Codec::<u16>::serde();
    let mut reader = Reader::new(&[0xAC, 0x02, 9]);
    assert_eq!(codec.read(&mut reader), Ok(300));
    assert_eq!(reader.rest(), [9]);
}

#[test]
fn frames_come_out_whole_however_the_stream_is_cut() {
    let stream = [1, 0, 0, 0, 7, 3, 0, 0, 0, 8, 9, 10, 2, 0, 0, 0, 11, 12];
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            let mut frames = FrameBuffer::new(3);
            let mut seen = Vec::new();
            for piece in [&stream[..first], &stream[first..second], &stream[second..]] {
                frames
                    .feed::<DecodeError>(piece, |body| {
                        seen.push(body.to_vec());
                        Ok(())
                    })
                    .unwrap();
            }
            assert_eq!(seen, [vec![7], vec![8, 9, 10], vec![11, 12]]);
            assert!(!frames.is_partial());
        }
    }
}

#[test]
fn the_clock_bears_jitter_and_never_goes_back() {
    let mut clock = Clock::default();
    assert_eq!(clock.latest(), None);
    clock.start(Tick::new(u32::MAX - 50), 20, Duration::from_millis(1_040));
    let mut state = 1_u64;
    let mut last = None;
    for number in 1..400_u32 {
        // Sent at each tick; on the way 40 to 140 ms.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let jitter = Duration::from_millis(40 + (state >> 40) % 100);
        let sent = Duration::from_millis(1_000 + 50 * u64::from(number));
        let tick = Tick::new((u32::MAX - 50).wrapping_add(number));
        clock.sample(tick, sent + jitter);
        let time = clock
            .estimate(
                sent + Duration::from_millis(140),
                Some(Duration::from_millis(80)),
            )
            .unwrap();
        // The truth at that moment is 2.8 ticks after this one was made.
        let ahead = time.tick.since(tick);
        assert!(
            (2..=3).contains(&ahead),
            "{ahead} ticks after tick {number}"
        );
        assert!((0.0..1.0).contains(&time.fraction));
        let now = (u64::from(time.tick.get().wrapping_add(51)), time.fraction);
        assert!(last.is_none_or(|last| last <= now), "{last:?} then {now:?}");
        last = Some(now);
        assert_eq!(clock.latest(), Some(tick));
    }
}

#[test]
fn a_broadcast_reaches_everyone_who_is_there() {
    let mut pair = Pair::connected();
    let other = pair.server.connect(Identity::Account(8), pair.now).unwrap();
    assert_eq!(
        pair.server.broadcast(&Hit(5)),
        Ok(1),
        "the other has not said hello yet"
    );
    pair.server
        .receive_stream(other, &Pair::hello(), pair.now)
        .unwrap();
    assert_eq!(pair.server.broadcast(&Hit(6)), Ok(2));
    pair.steps(2);
    assert_eq!(
        pair.client.messages::<Hit>().collect::<Vec<_>>(),
        [Hit(5), Hit(6)]
    );
    let mut bytes = Vec::new();
    assert!(pair.server.transmit(other, MAX, &mut bytes));
    assert_eq!(pair.server.protocol().hash(), protocol().hash());
}

#[test]
fn an_area_decides_what_is_mirrored() {
    let mut pair = Pair::connected();
    let player = pair
        .world
        .spawn((Replicate, WorldPosition::new(-5, 0, 0), Health(1)))
        .id();
    pair.world
        .spawn((Replicate, WorldPosition::new(-300_005, 0, 0), Health(2)));
    pair.server.set_player(pair.id, Some(player));
    assert_eq!(
        pair.server
            .set_area(pair.id, Some(InterestArea { radius: 200.0 })),
        Ok(true)
    );
    pair.steps(4);
    assert_eq!(pair.client.mirrored(), 1);
    assert!(
        pair.server
            .set_area(pair.id, Some(InterestArea { radius: f64::NAN }))
            .is_err()
    );
    pair.server.set_area(pair.id, None).unwrap();
    pair.steps(4);
    assert_eq!(pair.client.mirrored(), 2, "the server's 500 m");
    assert!(pair.client.mirrored_bytes() > 0);
    assert!(pair.client.entity_of(0).is_some() && pair.client.entity_of(99).is_none());
    let heard = pair.client.latest_tick().expect("a tick was heard");
    assert!(!heard.is_newer_than(pair.server.current_tick()));
    assert!(pair.server.interest_issues().is_empty());
    assert_eq!(pair.server.interest_mut().update().changed, 0);
}

#[test]
fn bad_settings_are_named() {
    assert!(ServerSettings::default().validate().is_ok());
    let rate = ServerSettings {
        tick_rate: 0,
        ..ServerSettings::default()
    };
    assert_eq!(rate.validate(), Err(SettingsError::TickRate(0)));
    let area = InterestArea { radius: -1.0 };
    let interest = InterestConfig {
        area,
        ..InterestConfig::default()
    };
    let radius = ServerSettings {
        interest,
        ..ServerSettings::default()
    };
    assert!(matches!(radius.validate(), Err(SettingsError::Radius(_))));
}
