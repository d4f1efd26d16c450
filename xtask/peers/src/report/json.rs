//! Reports as JSON, for other programs.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::Report;

/// Writes a report.
///
/// # Errors
/// When the file cannot be written.
pub fn write(report: &Report, file: &Path) -> Result<()> {
    let mut text = serde_json::to_string_pretty(report)?;
    text.push('\n');
    std::fs::write(file, text).with_context(|| format!("could not write {}", file.display()))
}

/// Reads what [`write`] wrote.
///
/// # Errors
/// When there is no such file, or it holds no report.
pub fn read(file: &Path) -> Result<Report> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} holds no report", file.display()))
}
