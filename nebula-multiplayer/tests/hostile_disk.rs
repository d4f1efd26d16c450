//! A full disk: a part of row 44 of the hostile input table.
//!
//! A server writes no file. What a full disk can do to it is to cut the certificates short that some
//! other program renews, and to refuse the lines of its log.
#![cfg(unix)]

mod quic_common;
mod quic_hostile;

use core::sync::atomic::{AtomicU64, Ordering};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::transport::quic::{self, CertificateSource, QuicSettings};
use nebula_multiplayer::{Server, ServerSettings};
use quic_common::{Guest, Health, Host, protocol};
use quic_hostile::Witness;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A folder of this test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("nebula-full-disk-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    /// Writes as much of these bytes as the disk has room for.
    fn write(&self, name: &str, bytes: &[u8], room: usize) -> PathBuf {
        let path = self.0.join(name);
        let mut file = File::create(&path).unwrap();
        file.write_all(&bytes[..room.min(bytes.len())]).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns why a server does not start with these files.
#[track_caller]
fn problem(chain: &Path, key: &Path) -> String {
    let server = Server::new(protocol(), ServerSettings::default()).unwrap();
    let settings = QuicSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        certificate: CertificateSource::Files {
            chain: chain.to_owned(),
            key: key.to_owned(),
        },
        ..QuicSettings::default()
    };
    let error = quic::serve(&server, &settings, OpenLogin).err();
    error.expect("it cannot be used").to_string()
}

#[test]
fn hostile_44_disk_full_cuts_certificates_short_and_the_error_names_the_file() {
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let folder = Folder::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let whole = folder.write("whole.pem", chain.as_bytes(), usize::MAX);
    let whole_key = folder.write("whole-key.pem", key.as_bytes(), usize::MAX);
    // Nothing was written, a part of the first line, a part of what is in it, all but the last line.
    let last_line = "-----END CERTIFICATE-----\n".len();
    for room in [0, 10, 100, chain.len() - last_line] {
        let cut = folder.write("cut.pem", chain.as_bytes(), room);
        let error = problem(&cut, &whole_key);
        assert!(error.contains("cut.pem"), "{room} bytes: {error}");
        assert!(error.contains("certificate"), "{room} bytes: {error}");
        let cut = folder.write("cut-key.pem", key.as_bytes(), room.min(key.len() / 2));
        let error = problem(&whole, &cut);
        assert!(error.contains("cut-key.pem"), "{room} bytes: {error}");
        assert!(error.contains("private key"), "{room} bytes: {error}");
    }
    witness.notices_nothing(&mut host);
}

/// Writes each line to a disk that is full.
struct FullDisk(File);

static REFUSED: AtomicU64 = AtomicU64::new(0);

impl Subscriber for FullDisk {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("nebula_multiplayer")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let written = writeln!(&self.0, "{event:?}");
        let error = written.expect_err("the disk is full");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        REFUSED.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[test]
fn hostile_44_disk_full_of_the_log_ends_no_session() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return; // A Linux thing.
    }
    let disk = OpenOptions::new().write(true).open(full).unwrap();
    tracing::subscriber::set_global_default(FullDisk(disk)).unwrap();
    let mut host = Host::new();
    let mut witness = Witness::new(&mut host);
    let mut strangers: Vec<Guest> = (0..5).map(|_| Guest::shown(&host, vec![1, 2, 3])).collect();
    witness.until(&mut host, "all are refused", |_| {
        strangers.iter_mut().for_each(Guest::step);
        strangers.iter().all(Guest::is_down)
    });
    assert!(REFUSED.load(Ordering::Relaxed) >= 5, "lines were lost");
    witness.notices_nothing(&mut host);
    let players = host.world.query::<&Health>().iter(&host.world).count();
    assert_eq!(players, 2, "the player and the thing beside it");
}
