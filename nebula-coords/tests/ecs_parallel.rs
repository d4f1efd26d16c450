//! Readers run at the same time; the maintenance runs alone among them.
#![cfg(all(feature = "bevy_app", feature = "multi_threaded"))]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use bevy_app::{App, TaskPoolOptions, TaskPoolPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::MultiThreadedExecutor;
use nebula_coords::nebula_math::WorldPosition;
use nebula_coords::{Nearby, NebulaSystems, SpatialQuery, SpatialSpace, spatial_systems};

/// A place where two must be at once; whoever waits in vain for a minute says so.
#[derive(Resource, Default)]
struct Meeting {
    here: Mutex<usize>,
    arrived: Condvar,
    met: AtomicUsize,
}

impl Meeting {
    fn meet(&self) {
        let mut here = self.here.lock().unwrap();
        *here += 1;
        self.arrived.notify_all();
        let wait = self
            .arrived
            .wait_timeout_while(here, Duration::from_secs(60), |here| *here < 2);
        if !wait.unwrap().1.timed_out() {
            self.met.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn reader(nearby: Nearby, meeting: Res<Meeting>) {
    let before = nearby.query_radius(&WorldPosition::ORIGIN, 500);
    meeting.meet();
    assert_eq!(nearby.query_radius(&WorldPosition::ORIGIN, 500), before);
}

fn other_reader(nearby: Nearby, space: Res<SpatialSpace>, meeting: Res<Meeting>) {
    assert_eq!(nearby.len(), space.index().len());
    meeting.meet();
}

/// Four threads for systems, even on a machine with one core.
fn pools() -> TaskPoolPlugin {
    TaskPoolPlugin {
        task_pool_options: TaskPoolOptions::with_num_threads(8),
    }
}

#[test]
fn two_readers_run_at_once_and_after_the_maintenance() {
    let mut app = App::new();
    app.add_plugins(pools())
        .init_resource::<Meeting>()
        .edit_schedule(Update, |schedule| {
            schedule.set_executor(MultiThreadedExecutor::new());
        })
        .add_systems(
            Update,
            (
                spatial_systems::<()>(),
                (reader, other_reader).after(NebulaSystems::Index),
            ),
        );
    app.world_mut()
        .spawn_batch((0..1000).map(|x| WorldPosition::new(-x, 0, 0)));
    app.update();
    let meeting = app.world().resource::<Meeting>();
    assert_eq!(meeting.met.load(Ordering::Relaxed), 2);
    assert_eq!(app.world().resource::<SpatialSpace>().index().len(), 1000);
}

#[test]
fn a_writer_of_positions_and_a_reader_of_the_index_run_at_once() {
    fn writer(mut all: Query<&mut WorldPosition>, meeting: Res<Meeting>) {
        meeting.meet();
        all.iter_mut().for_each(|mut at| at.y -= 1);
    }
    let mut app = App::new();
    app.add_plugins((pools(), nebula_coords::SpatialPlugin::new()))
        .init_resource::<Meeting>()
        .edit_schedule(Update, |schedule| {
            schedule.set_executor(MultiThreadedExecutor::new());
        })
        .add_systems(Update, (reader, writer));
    app.world_mut()
        .spawn_batch((0..1000).map(|x| WorldPosition::new(-x, 0, 0)));
    app.update();
    assert_eq!(
        app.world()
            .resource::<Meeting>()
            .met
            .load(Ordering::Relaxed),
        2
    );
}
