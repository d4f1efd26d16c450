//! `Interest` against its slow twin, over random histories.

mod interest_common;

use std::collections::BTreeSet;

use interest_common::{Random, Twin, step};
use nebula_multiplayer::interest::{Change, ExitReason, Interest, Verdict};
use nebula_multiplayer::{ClientId, NetworkId};

const ENTITIES: u64 = 24;
const CLIENTS: u64 = 5;

/// Updates both and compares everything that can be asked.
fn compare(interest: &mut Interest, twin: &mut Twin, context: &str) {
    let before = twin.clients.clone();
    twin.update();
    let report = interest.update();
    assert_eq!(interest.len(), twin.entities.len(), "{context}");
    let mut changed = Vec::new();
    let mut events = interest.events().collect::<Vec<_>>();
    for (id, now) in &twin.clients {
        let old = before.get(id).cloned().unwrap_or_default();
        let set = interest.set(*id).unwrap();
        let members: BTreeSet<_> = set.iter().collect();
        assert_eq!(
            members.len(),
            set.len(),
            "{context}: {id} has members twice"
        );
        if let Some(odd) = members.symmetric_difference(&now.set).next() {
            let why = interest.explain(*id, *odd);
            panic!(
                "{context}: {why}; {:?}; {:?}; {now:?}; it was {}",
                why,
                twin.entities.get(odd),
                old.set.contains(odd)
            );
        }
        let transitions = interest.transitions(*id).unwrap();
        let entered: Vec<_> = now.set.difference(&old.set).copied().collect();
        let exited: Vec<_> = old.set.difference(&now.set).copied().collect();
        assert_eq!(transitions.entered, entered, "{context}: {id}");
        assert_eq!(transitions.exited, exited, "{context}: {id}");
        assert_eq!(set.compute_transitions(), *transitions, "{context}: {id}");
        assert_eq!(
            set.previous().collect::<BTreeSet<_>>(),
            old.set,
            "{context}: {id}"
        );

        let view = interest.view(*id).unwrap();
        let seen: BTreeSet<_> = view.members().iter().copied().collect();
        assert_eq!(seen, now.view, "{context}: the view of {id}");
        let came: Vec<_> = now.view.difference(&old.view).copied().collect();
        let went: Vec<_> = old.view.difference(&now.view).copied().collect();
        assert_eq!(view.entered(), came, "{context}: {id}");
        assert_eq!(
            view.exited().iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            went,
            "{context}"
        );
        for (entity, reason) in view.exited() {
            let stays = now.set.contains(entity);
            assert_eq!(
                *reason == ExitReason::Capacity,
                stays,
                "{context}: {entity}"
            );
            let gone = !twin.entities.contains_key(entity);
            assert_eq!(
                *reason == ExitReason::Destroyed,
                gone,
                "{context}: {entity}"
            );
        }
        let told: Vec<_> = events.extract_if(.., |event| event.client == *id).collect();
        let kind = |entered: bool| {
            let of = told
                .iter()
                .filter(|event| matches!(event.change, Change::Entered(_)) == entered);
            of.map(|event| event.entity).collect::<Vec<_>>()
        };
        assert_eq!(
            (kind(true), kind(false)),
            (entered, exited),
            "{context}: {id}"
        );
        if now.set != old.set || now.view != old.view {
            changed.push(*id);
        }
    }
    assert!(events.is_empty(), "{context}: events of nobody");
    assert_eq!(interest.changed().collect::<Vec<_>>(), changed, "{context}");
    assert_eq!(report.changed, changed.len(), "{context}");
    assert!(
        report.examined >= report.changed && report.examined <= twin.clients.len(),
        "{context}"
    );
}

/// Compares explanations and viewers with the sets.
fn compare_answers(interest: &Interest, twin: &Twin, context: &str) {
    for index in 0..u32::try_from(ENTITIES).unwrap() {
        for generation in 0..3 {
            let entity = NetworkId::new(index, generation);
            let viewers = twin
                .clients
                .iter()
                .filter(|(_, client)| client.view.contains(&entity));
            let viewers: Vec<_> = viewers.map(|(id, _)| *id).collect();
            assert_eq!(interest.viewers(entity), viewers, "{context}: {entity}");
            for (id, client) in &twin.clients {
                let why = interest.explain(*id, entity);
                let (set, view) = (client.set.contains(&entity), client.view.contains(&entity));
                let right = match why.verdict {
                    Verdict::UnknownEntity => !twin.entities.contains_key(&entity),
                    Verdict::Seen(_) => view,
                    Verdict::OverCapacity(_) => set && !view,
                    Verdict::NotSeen(_) => !set,
                    _ => false,
                };
                assert!(right, "{context}: {why} ({why:?})");
                assert_eq!(why.rank.is_some(), set, "{context}: {why}");
            }
        }
    }
    let nobody = interest.explain(ClientId::new(99), NetworkId::new(0, 0));
    assert_eq!(nobody.verdict, Verdict::UnknownClient);
}

#[test]
fn sets_equal_the_rule_after_every_history() {
    let seeds = if cfg!(debug_assertions) { 400 } else { 3_000 };
    for seed in 0..seeds {
        let mut random = Random(seed);
        let (mut interest, mut twin) = (Interest::new(), Twin::default());
        for round in 0..40 {
            for _ in 0..=random.below(6) {
                step(&mut random, &mut interest, &mut twin, ENTITIES, CLIENTS);
            }
            let context = format!("seed {seed}, round {round}");
            compare(&mut interest, &mut twin, &context);
            if round % 8 == 0 {
                compare_answers(&interest, &twin, &context);
                // Nothing happened in between: nothing is looked at, nothing changes.
                let report = interest.update();
                assert_eq!(report.examined, 0, "{context}");
                compare(&mut interest, &mut twin, &context);
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_sets_in_the_same_order() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let mut random = Random(77);
            let (mut interest, mut twin) = (Interest::new(), Twin::default());
            let mut log = Vec::new();
            for _ in 0..30 {
                for _ in 0..60 {
                    step(&mut random, &mut interest, &mut twin, 400, 60);
                }
                log.push(format!("{:?}", interest.update()));
                for client in interest.clients() {
                    let view = interest.view(client).unwrap();
                    let set: Vec<_> = interest.set(client).unwrap().iter().collect();
                    log.push(format!("{set:?} {:?} {:?}", view.entered(), view.exited()));
                }
            }
            log
        })
    };
    let one = run(1);
    assert!(one.len() > 1_000);
    assert!(one == run(2), "2 threads");
    assert!(one == run(8), "8 threads");
}
