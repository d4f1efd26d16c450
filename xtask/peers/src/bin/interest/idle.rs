//! I2: a tick in which nothing moves, in a world of 10,000 and of 1,000,000 entities.

use anyhow::{Result, ensure};
use nebula_ecs::world::World;
use nebula_multiplayer::ClientId;
use nebula_multiplayer::interest::{Interest, InterestConfig, SpatialInterestSystem};
use nebula_multiplayer::replication::{NetworkIds, Replicate};
use nebula_peers::clock::{Best, cpu};
use nebula_peers::report::{Case, Goal, Limit, Role, Row};

use crate::{CLIENTS, data};

const FEW: usize = 10_000;
const MANY: usize = 1_000_000;
/// Ticks of one repeat.
const TICKS: u32 = 200;

pub(crate) fn run(quick: bool) -> Result<Vec<Case>> {
    let (mut few, mut many) = (Game::new(FEW), Game::new(MANY));
    let (mut few_best, mut many_best) = (Best::default(), Best::default());
    for _ in 0..if quick { 5 } else { 25 } {
        few_best.note(few.idle()? / TICKS);
        many_best.note(many.idle()? / TICKS);
    }
    Ok(vec![Case {
        workload: "I2".to_owned(),
        name: "idle, 1,000 clients, 1,000,000 entities, ECS included".to_owned(),
        per: "tick".to_owned(),
        limit: Some(Limit {
            what: "the same with 10,000 entities".to_owned(),
            ns: few_best.ns(),
        }),
        goal: Goal {
            times_limit: Some(1.2),
            ..Goal::default()
        },
        rows: vec![Row::timed(
            "nebula SpatialInterestSystem",
            Role::Ours,
            many_best.ns(),
        )],
        notes: vec![
            "changed ids, positions, areas and components are looked for; none is found, so no area is \
             read and no client examined"
                .to_owned(),
        ],
    }])
}

struct Game {
    world: World,
    interest: Interest,
    system: SpatialInterestSystem,
}

impl Game {
    fn new(entities: usize) -> Self {
        let mut world = World::new();
        let mut interest = Interest::new();
        let mut system =
            SpatialInterestSystem::new(InterestConfig::default()).expect("a valid radius");
        let players: Vec<_> = data::planet(entities)
            .into_iter()
            .map(|(_, at)| world.spawn((at, Replicate)).id())
            .take(entities)
            .collect();
        for (number, player) in (0..).zip(&players[..CLIENTS]) {
            let client = ClientId::new(number);
            system.add_client(&mut interest, client);
            system.set_player(client, Some(*player));
        }
        let mut game = Self {
            world,
            interest,
            system,
        };
        for _ in 0..3 {
            game.tick();
        }
        game
    }

    fn tick(&mut self) -> usize {
        NetworkIds::maintain(&mut self.world);
        let report = self.system.run(&mut self.world, &mut self.interest);
        self.world.increment_change_tick();
        report.examined
    }

    fn idle(&mut self) -> Result<std::time::Duration> {
        let mut examined = 0;
        let time = cpu(|| {
            for _ in 0..TICKS {
                examined += self.tick();
            }
        });
        ensure!(
            examined == 0,
            "{examined} clients were looked at in idle ticks"
        );
        Ok(time)
    }
}
