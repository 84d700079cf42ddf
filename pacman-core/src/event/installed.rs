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

use pacman_events::encode::Kind;
use pacman_events::plural::has;
use pacman_events::shown::shown_path;
use pacman_events::{CpuModel, Encoding, InstalledTable, ListSource};
use pacman_topology::input::{self, MOST_BYTES};

use super::resolved::{Event, Source};
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

impl Installed {
    /// `skl, installed: skylake_core.json, version 2 of 1/1/2027`
    fn title(&self, cpu: CpuModel) -> String {
        let lists: Vec<String> = self.content.sources.iter().map(ListSource::to_string).collect();
        format!("{cpu}, installed: {}", lists.join("; "))
    }
}

impl Event {
    /// The installed table that gave the event its code, such as `skl, installed: skylake_core.json, version 2 of
    /// 1/1/2027`, or those of a sum's terms. `None` for a code of the built-in table, of the kernel, or of the caller.
    pub fn installed_table(&self) -> Option<String> {
        let Source::Hardware(terms) = self.source() else { return None };
        let title = |encoding: &Encoding| {
            let has_own_code = encoding.kind != Kind::Perf && !encoding.name.is_shipped();
            let installed = table(encoding.cpu).filter(|_| has_own_code)?;
            let has = installed.content.table.has(&encoding.name.to_string());
            has.then(|| installed.title(encoding.cpu))
        };
        let mut titles: Vec<String> = Vec::new();
        for title in terms.iter().filter_map(|term| title(&term.encoding)) {
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        (!titles.is_empty()).then(|| titles.join("; "))
    }
}

/// A line for the head of a report with the events whose codes installed tables gave, each with its table. `None` where
/// no event has one.
pub fn note<'a>(events: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Option<String> {
    let mut by_table: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, table) in events {
        let Some(table) = table else { continue };
        match by_table.iter_mut().find(|(known, _)| *known == table) {
            Some((_, names)) => names.push(name),
            None => by_table.push((table, vec![name])),
        }
    }
    let line = |(table, names): &(&str, Vec<&str>)| {
        let codes = if names.len() == 1 { "its code" } else { "their codes" };
        format!("{} {} {codes} from the table {table}", names.join(", "), has(names.len()))
    };
    let lines: Vec<String> = by_table.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
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
