//! The page that a full run writes.
