//! Model files.

use std::io;
use std::path::Path;

use pacman_adapt::predict::Model;
use pacman_core::atomic_write;
use pacman_events::shown::shown_path;

use super::refusal::refuse;
use crate::counts;

/// Reads a model; a refusal names the file.
pub(super) fn read(path: &Path) -> io::Result<Model> {
    let text = counts::read(path)?;
    let named = counts::named(path);
    Model::from_text(&text).map_err(|error| refuse(format!("{named}: {error}")))
}

/// Writes a model, all of it or nothing; the problem names the file.
pub(super) fn write(path: &Path, model: &Model) -> Result<(), String> {
    let text = model.to_text().map_err(|error| error.to_string())?;
    atomic_write::write(path, text.as_bytes())
        .map_err(|error| format!("cannot write {}: {error}", shown_path(path)))
}
