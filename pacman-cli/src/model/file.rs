//! Model files.

use std::{fs, io, process};

use pacman_core::predict::Model;

use super::{refuse, table};

/// Reads a model; a refusal names the file.
pub(super) fn read(path: &str) -> io::Result<Model> {
    let text = table::text(path)?;
    Model::from_text(&text).map_err(|error| refuse(format!("{path}: {error}")))
}

/// Writes a model, all of it or nothing; the problem names the file.
pub(super) fn write(path: &str, model: &Model) -> Result<(), String> {
    let text = model.to_text().map_err(|error| error.to_string())?;
    // A name of this process's own beside it, so that the renaming stays on one file system.
    let unfinished = format!("{path}.{}", process::id());
    let done = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    done.map_err(|error| {
        let _ = fs::remove_file(&unfinished);
        format!("cannot write {path}: {error}")
    })
}
