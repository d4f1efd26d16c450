//! I3: the difference of two sets of 1,000 members of which 1 % were exchanged.

use std::collections::HashSet;
use std::hint::black_box;

use anyhow::{Result, ensure};
use nebula_coords::SpatialIndex;
use nebula_math::WorldPosition;
use nebula_multiplayer::interest::ClientInterestSet;
use nebula_multiplayer::{ClientId, NetworkId};
use nebula_peers::clock::{Best, cpu};
use nebula_peers::random::Random;
use nebula_peers::report::{Case, Goal, Role, Row};

use crate::RADIUS_MM;

const MEMBERS: usize = 1_000;
const CHURN: usize = 10;
/// Few enough that both contenders' sets stay in the second-level cache.
const ROUNDS: usize = 16;

pub(crate) fn run(quick: bool) -> Result<Vec<Case>> {
    let lists = lists();
    let mut ours = Vec::new();
    let mut peer = Vec::new();
    for pair in lists.windows(2) {
        let mut set = ClientInterestSet::new(ClientId::new(0));
        set.rotate(pair[0].iter().copied());
        set.rotate(pair[1].iter().copied());
        ours.push(set);
        let hashed = |ids: &[NetworkId]| ids.iter().copied().collect::<HashSet<_>>();
        peer.push((hashed(&pair[0]), hashed(&pair[1])));
    }
    for (set, sets) in ours.iter().zip(&peer) {
        let transitions = set.compute_transitions();
        let (entered, exited) = differences(sets);
        ensure!(
            transitions.entered == entered && transitions.exited == exited,
            "differences differ"
        );
        ensure!(entered.len() == CHURN && exited.len() == CHURN, "1 % churn");
    }

    let (mut our_best, mut peer_best) = (Best::default(), Best::default());
    let rounds = u32::try_from(ours.len()).expect("few");
    for _ in 0..if quick { 100 } else { 1_000 } {
        let time = cpu(|| {
            for set in &ours {
                black_box(set.compute_transitions());
            }
        });
        our_best.note(time / rounds);
        let time = cpu(|| {
            for sets in &peer {
                black_box(differences(sets));
            }
        });
        peer_best.note(time / rounds);
    }
    Ok(vec![Case {
        workload: "I3".to_owned(),
        name: "difference of two sets, 1,000 visible, 1 % churn".to_owned(),
        per: "difference".to_owned(),
        goal: Goal {
            times_peer: Some(30.0),
            ..Goal::default()
        },
        rows: vec![
            Row::timed("nebula ClientInterestSet", Role::Ours, our_best.ns()),
            Row::timed("two HashSet differences", Role::Peer, peer_best.ns()),
        ],
        notes: vec![
            "members in the order in which the index gives them; both sort their results"
                .to_owned(),
        ],
        ..Case::default()
    }])
}

fn differences(
    (previous, current): &(HashSet<NetworkId>, HashSet<NetworkId>),
) -> (Vec<NetworkId>, Vec<NetworkId>) {
    let mut entered: Vec<_> = current.difference(previous).copied().collect();
    let mut exited: Vec<_> = previous.difference(current).copied().collect();
    entered.sort_unstable();
    exited.sort_unstable();
    (entered, exited)
}

/// Returns the answers of an index around one place, while in every round some entities step out of
/// the sphere and as many step in.
fn lists() -> Vec<Vec<NetworkId>> {
    let mut random = Random(0xD1FF);
    let mut place = |inside: bool| {
        let reach = if inside { 280_000 } else { 2_000_000 };
        loop {
            let mut by = || i128::from(random.around(reach));
            let at = WorldPosition::new(by(), by(), by());
            if WorldPosition::ORIGIN.is_within(&at, 500_000) == inside {
                return at;
            }
        }
    };
    let mut index = SpatialIndex::new();
    for id in 0..4 * MEMBERS {
        let id = NetworkId::new(u32::try_from(id).expect("few") * 251, 0);
        index.insert(id, place(id.index() < 251 * 1_000));
    }
    let radius = i128::try_from(RADIUS_MM).expect("small");
    let mut pick = Random(0x91C);
    let mut lists = vec![index.query_radius(&WorldPosition::ORIGIN, radius)];
    for _ in 0..ROUNDS {
        let inside = lists.last().expect("one at least").clone();
        let members: HashSet<_> = inside.iter().copied().collect();
        let outside: Vec<_> = index
            .iter()
            .map(|(id, _)| id)
            .filter(|id| !members.contains(id))
            .collect();
        for (list, enters) in [(inside, false), (outside, true)] {
            let mut chosen = list;
            pick.shuffle(&mut chosen);
            for id in &chosen[..CHURN] {
                index.update(*id, place(enters));
            }
        }
        lists.push(index.query_radius(&WorldPosition::ORIGIN, radius));
    }
    lists
}
