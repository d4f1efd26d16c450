//! Threads of our own for sockets and encryption.

use core::time::Duration;
use std::io;
use std::sync::mpsc;

use quinn::Endpoint;
use tokio::runtime::{Builder, Handle, Runtime};

/// A runtime of our own. Dropping it never waits: tokio panics where a runtime that waits for its
/// threads is dropped inside of another one, as a game's own may be.
#[derive(Debug)]
pub(super) struct Threads(Option<Runtime>, Handle);

impl Threads {
    pub(super) fn start(name: &str, count: u16) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(count.into())
            .thread_name(name)
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        Ok(Self(Some(runtime), handle))
    }

    pub(super) const fn handle(&self) -> &Handle {
        &self.1
    }

    /// Waits until the connections of an endpoint are over, but no longer than this. Blocks the
    /// thread, which is allowed inside of another runtime too.
    pub(super) fn wait_idle(&self, endpoint: &Endpoint, most: Duration) {
        // Of a runtime that ends meanwhile the sender is dropped, and that ends the wait.
        let (over, ended) = mpsc::sync_channel(1);
        let endpoint = endpoint.clone();
        self.1.spawn(async move {
            endpoint.wait_idle().await;
            // Nobody listens when it took too long.
            let _ = over.try_send(());
        });
        let _ = ended.recv_timeout(most);
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
