//! Tables of events that the user installed with `pacman-pmu events update`: newer than the shipped ones, and searched
//! before them.
//!
//! There is a file for each model, in `$XDG_DATA_HOME/pacman-pmu/events` or `~/.local/share/pacman-pmu/events`. A file
//! that cannot be used is no error of a session: names have the shipped table, and [`unusable`] says why.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::OnceLock;

use pacman_events::shown::shown_path;
use pacman_events::{CpuModel, InstalledTable};
use pacman_topology::input::{self, MOST_BYTES};

use crate::fork::once;

/// More than there are models.
const MOST_MODELS: usize = 128;

/// Per model, its table, or the line that says why its file cannot be used.
static TABLES: [OnceLock<Result<Option<Box<Installed>>, String>>; MOST_MODELS] =
    [const { OnceLock::new() }; MOST_MODELS];

/// An installed table.
#[derive(Debug)]
pub struct Installed {
    /// Its events, and the lists that they came from.
    pub content: InstalledTable,
    /// The file that has them.
    pub file: PathBuf,
}

/// The user's directory of tables. `None` if neither XDG_DATA_HOME nor HOME is an absolute path, and in a program with
/// more rights than the user that started it.
pub fn directory() -> Option<PathBuf> {
    // SAFETY: takes a number and returns one.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        return None;
    }
    let absolute = |name: &str| {
        let path = PathBuf::from(env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let data =
        absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("pacman-pmu/events"))
}

/// The file of a model, which need not be there.
pub fn file(cpu: CpuModel) -> Option<PathBuf> {
    Some(directory()?.join(format!("{cpu}.tsv")))
}

/// Reads the table of a model; `None` if none is installed.
///
/// # Errors
/// One line with the file, what is wrong with it and what to do.
pub fn read(cpu: CpuModel) -> Result<Option<Installed>, String> {
    let Some(file) = file(cpu) else { return Ok(None) };
    let unused = |why: String| {
        let named = shown_path(&file);
        format!(
            "cannot use the events of {named}: {why}; names of {cpu} have the built-in table: install the list \
             again, or remove it with pacman-pmu events remove {cpu}"
        )
    };
    match fs::metadata(&file) {
        Ok(found) if found.is_file() => {}
        // A pipe would keep the program waiting.
        Ok(_) => return Err(unused("it is not a file".into())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unused(error.to_string())),
    }
    let text = match input::read_text(&file, MOST_BYTES) {
        Ok(text) => text,
        // Another command has removed it since.
        Err(_) if !file.exists() => return Ok(None),
        Err(error) => return Err(unused(error.to_string())),
    };
    let content = InstalledTable::parse(cpu, &text).map_err(unused)?;
    Ok(Some(Installed { content, file }))
}

/// The installed table by which this process resolves names of a model. The first call reads it. `None` also if a file is
/// there that cannot be used: see [`unusable`].
pub fn table(cpu: CpuModel) -> Option<&'static Installed> {
    let model = CpuModel::all().position(|known| known == cpu)?;
    let read = || read(cpu).map(|found| found.map(Box::new));
    once(&TABLES[model], read).as_ref().ok()?.as_deref()
}

/// For each file that [`table`] found and could not use, a line with the file, the reason and what to do.
pub fn unusable() -> impl Iterator<Item = &'static str> {
    TABLES.iter().filter_map(|table| table.get()?.as_ref().err().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_every_model() {
        assert!(CpuModel::all().len() <= MOST_MODELS);
    }
}
