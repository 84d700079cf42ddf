//! Training data as a file: CSV in long form, whole at any time.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::{fs, io};

use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use pacman_adapt::predict::Configuration;
use pacman_core::input::{self, MOST_BYTES};
use pacman_events::shown::shown_path;

use pacman_core::atomic_write;

use crate::error::{CliError, CliResult};
use crate::turn::Turn;

/// One run's measurement of one phase: a mean over its executions.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// [`pacman_adapt::predict::machine_name`], or the user's name for it.
    pub machine: String,
    /// Name of the program.
    pub program: String,
    /// Name of the phase.
    pub phase: String,
    /// Cores and threads that it ran on.
    pub configuration: Configuration,
    /// From 1.
    pub run: u64,
    /// Of one execution.
    pub seconds: f64,
    /// Executions in the mean.
    pub executions: u64,
    /// Of one execution, summed over threads; an event that was not counted is left out.
    pub counts: Vec<(String, f64)>,
}

/// Adds rows to a file of training data, which is made if it is not there.
///
/// # Errors
/// One line that names the file.
pub fn append(path: &Path, rows: &[Measurement]) -> CliResult<()> {
    add(path, |file| rows.iter().for_each(|row| file.push(row)))
}

/// Adds the rows of one run of a program, with the number after the highest that the file has.
///
/// # Errors
/// As [`append`].
pub(crate) fn append_run(path: &Path, rows: Vec<Measurement>) -> CliResult<()> {
    add(path, |file| {
        let last = rows.first().map_or(0, |row| file.runs_of(&row.machine, &row.program));
        rows.into_iter().for_each(|row| file.push(&Measurement { run: last + 1, ..row }));
    })
}

fn add(path: &Path, rows: impl FnOnce(&mut TrainingCsv)) -> CliResult<()> {
    let is_special = fs::metadata(path).is_ok_and(|about| !about.is_file());
    let _turn = (!is_special).then(|| Turn::wait(path));
    let mut file = TrainingCsv::read(path)?;
    rows(&mut file);
    file.save()
}

/// The highest number of a run of `program` on `machine` that a file has; 0 if there is none.
///
/// # Errors
/// As [`append`], which will not fail after that for a reason that is there already.
pub fn runs(path: &Path, machine: &str, program: &str) -> CliResult<u64> {
    let file = TrainingCsv::read(path)?;
    atomic_write::check(path).map_err(|error| file.unwritten(&error))?;
    Ok(file.runs_of(machine, program))
}

/// A file of training data in memory.
#[derive(Debug)]
struct TrainingCsv {
    path: PathBuf,
    /// Lines that begin with `#`.
    comments: Vec<String>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl TrainingCsv {
    /// The content of a file, to add to it; nothing if there is none.
    fn read(path: &Path) -> CliResult<TrainingCsv> {
        let special = fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir());
        if special {
            return Err(CliError::BadInput(format!(
                "cannot add to {}: it is not a regular file",
                shown_path(path)
            )));
        }
        let text = match input::read_text(path, MOST_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(TrainingCsv::empty(path));
            }
            Err(error) => {
                let why = format!("cannot read {}: {error}", shown_path(path));
                return Err(CliError::BadInput(why));
            }
        };
        let mut file = TrainingCsv::empty(path);
        let text = text.trim_start_matches('\u{feff}');
        file.comments = text.lines().filter(|line| line.starts_with('#')).map(owned).collect();
        let mut reader = ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let wrong =
            |why: String| CliError::BadInput(format!("cannot add to {}: {why}", shown_path(path)));
        let header = reader.headers().map_err(|error| wrong(error.to_string()))?;
        let names: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        // An empty file has no header.
        if names.iter().all(String::is_empty) {
            return Ok(file);
        }
        if let Some(missing) = [THREADS, TIME].iter().find(|name| !names.iter().any(|n| n == *name))
        {
            return Err(wrong(format!(
                "line 1: no column {missing}, so it is not a table of measured programs"
            )));
        }
        file.header = names;
        for record in reader.records() {
            let record: StringRecord = record.map_err(|error| wrong(error.to_string()))?;
            file.rows.push(record.iter().map(owned).collect());
        }
        OWN.iter().for_each(|name| {
            file.column(name);
        });
        Ok(file)
    }

    fn empty(path: &Path) -> TrainingCsv {
        let header = OWN.iter().copied().map(owned).collect();
        TrainingCsv { path: path.to_owned(), comments: Vec::new(), header, rows: Vec::new() }
    }

    fn runs_of(&self, machine: &str, program: &str) -> u64 {
        let at = |name: &str| self.header.iter().position(|known| known == name);
        let (Some(of), Some(app), Some(run)) = (at(MACHINE), at(APP), at(RUN)) else { return 0 };
        let same = self.rows.iter().filter(|row| row[of] == machine && row[app] == program);
        same.filter_map(|row| row[run].parse().ok()).max().unwrap_or(0)
    }

    fn push(&mut self, measured: &Measurement) {
        let mut cells = vec![
            (MACHINE, measured.machine.clone()),
            (APP, measured.program.clone()),
            (PHASE, measured.phase.clone()),
            (THREADS, measured.configuration.to_string()),
            (RUN, measured.run.to_string()),
            (TIME, measured.seconds.to_string()),
            (EXECUTIONS, measured.executions.to_string()),
        ];
        let counts = measured.counts.iter();
        cells.extend(counts.map(|(event, count)| (event.as_str(), count.to_string())));
        let columns: Vec<usize> = cells.iter().map(|(name, _)| self.column(name)).collect();
        let mut row = vec![String::new(); self.header.len()];
        for (column, (_, cell)) in columns.into_iter().zip(cells) {
            row[column] = cell;
        }
        self.rows.push(row);
    }

    /// The column of that name, which is new and blank in all rows if there was none.
    fn column(&mut self, name: &str) -> usize {
        let known = self.header.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.header.push(name.to_owned());
            self.rows.iter_mut().for_each(|row| row.push(String::new()));
            self.header.len() - 1
        })
    }

    fn save(&self) -> CliResult<()> {
        let done = self.text().and_then(|text| atomic_write::write(&self.path, &text));
        done.map_err(|error| self.unwritten(&error))
    }

    fn unwritten(&self, error: &io::Error) -> CliError {
        CliError::Unwritable(format!("cannot write {}: {error}", shown_path(&self.path)))
    }

    fn text(&self) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        for comment in &self.comments {
            text.extend_from_slice(comment.as_bytes());
            text.push(b'\n');
        }
        let mut writer = WriterBuilder::new().from_writer(&mut text);
        writer.write_record(&self.header)?;
        self.rows.iter().try_for_each(|row| writer.write_record(row))?;
        writer.flush()?;
        drop(writer);
        Ok(text)
    }
}

fn owned(text: &str) -> String {
    text.to_owned()
}

const MACHINE: &str = "machine";
const APP: &str = "app";
const PHASE: &str = "phase";
const THREADS: &str = "threads";
const RUN: &str = "run";
const TIME: &str = "time_s";
const EXECUTIONS: &str = "executions";
const OWN: [&str; 7] = [MACHINE, APP, PHASE, THREADS, RUN, TIME, EXECUTIONS];
