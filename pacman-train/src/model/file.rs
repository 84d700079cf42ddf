//! Model files.

use std::path::Path;

use pacman_adapt::predict::Model;
use pacman_core::atomic_write;
use pacman_events::shown::shown_path;

use pacman_cli::counts;
use pacman_cli::error::{CliError, CliResult};

/// Reads a model; a refusal names the file.
pub(super) fn read(path: &Path) -> CliResult<Model> {
    let text = counts::read(path)?;
    let named = counts::named(path);
    Model::from_text(&text).map_err(|error| CliError::BadInput(format!("{named}: {error}")))
}

/// Writes a model, all of it or nothing; the problem names the file.
pub(super) fn write(path: &Path, model: &Model) -> CliResult<()> {
    let text = model.to_text().map_err(CliError::refused)?;
    atomic_write::write(path, text.as_bytes())
        .map_err(|error| CliError::Refused(format!("cannot write {}: {error}", shown_path(path))))
}
