//! Who must be told? Per-client interest sets and replication for large worlds.
//!
//! This crate is still empty: it will decide, for each connected client, which entities it hears
//! of, and turn that into bytes. Until then it holds this page and nothing that pretends to work.
//! `docs/architecture.md` in the repository shows where it will stand.
