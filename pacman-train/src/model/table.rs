//! Executions from a table in long form.

#[cfg(test)]
mod tests;

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use pacman_adapt::predict::training::{Row, machines};
use pacman_adapt::predict::{Configuration, Sample};

use pacman_cli::counts;
use pacman_cli::error::{CliError, CliResult};

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    /// Columns of words, which are not used.
    pub(super) unused: Vec<String>,
}

/// The positions of the columns.
struct Columns {
    machine: Option<usize>,
    program: Option<usize>,
    phase: Option<usize>,
    run: Option<usize>,
    threads: usize,
    time: usize,
    /// Index and event.
    counts: Vec<(usize, String)>,
}

/// The values that a file of executions leaves open.
pub(crate) struct Defaults<'a> {
    /// The machine of rows that name none.
    pub(crate) machine: Option<&'a str>,
    /// The program of rows that name none.
    pub(crate) program: Option<&'a str>,
}

impl Table {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(file: &Path, defaults: &Defaults<'_>) -> CliResult<Table> {
        let text = counts::read(file)?;
        Table::parse(&text, defaults).map_err(|error| error.within(counts::named(file)))
    }

    pub(crate) fn parse(text: &str, defaults: &Defaults<'_>) -> CliResult<Table> {
        // Spreadsheets put a byte order mark in front.
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[']) {
            return Err(CliError::bad_input(
                "it is JSON, but training data is CSV: pacman-pmu run --record DATA.csv and pacman-pmu \
                 record write it",
            ));
        }
        let mut reader =
            ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| malformed(&error))?.clone();
        if header.iter().all(str::is_empty) {
            return Err(CliError::bad_input("it is empty: no header, no lines"));
        }
        let mut columns = Columns::find(&header, defaults)?;
        let records: Result<Vec<StringRecord>, csv::Error> = reader.records().collect();
        let records = records.map_err(|error| malformed(&error))?;
        if records.is_empty() {
            return Err(CliError::bad_input("no line follows the header"));
        }
        let unused = columns.drop_words(&records);
        let rows: CliResult<Vec<Row>> = records
            .iter()
            .map(|record| {
                let line = record.position().map_or(0, csv::Position::line);
                columns
                    .row(record, line, defaults)
                    .map_err(|error| error.within(format!("line {line}")))
            })
            .collect();
        Ok(Table { rows: rows?, unused })
    }

    /// The one machine of the table, or the one that was asked for.
    pub(super) fn machine<'a>(&'a self, asked: Option<&'a str>) -> CliResult<&'a str> {
        let known = machines(&self.rows);
        match (asked, known[..].as_ref()) {
            (Some(asked), _) => Ok(asked),
            (None, [only]) => Ok(only),
            (None, several) => Err(CliError::BadInput(format!(
                "the table has machines {}: --measured-on says which",
                several.join(", ")
            ))),
        }
    }

    /// Leaves out programs.
    pub(super) fn without(&mut self, programs: &[String]) -> CliResult<()> {
        for program in programs {
            let before = self.rows.len();
            self.rows.retain(|row| row.program != *program);
            if self.rows.len() == before {
                return Err(CliError::BadInput(format!(
                    "--without {program:?}: the table has no such program"
                )));
            }
        }
        Ok(())
    }
}

impl Columns {
    fn find(header: &StringRecord, defaults: &Defaults<'_>) -> CliResult<Columns> {
        let mut names: Vec<&str> = header.iter().collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1] && !pair[0].is_empty());
        if let Some(twice) = twice {
            return Err(CliError::BadInput(format!(
                "line 1: column {} stands there twice",
                twice[0]
            )));
        }
        let at = |names: &[&str]| header.iter().position(|name| names.contains(&name));
        let missing = |what: &str, hint: &str| {
            let have: Vec<&str> = header.iter().collect();
            let have = have.join(", ");
            CliError::BadInput(format!("line 1: no column {what}{hint}; there is {have}"))
        };
        let threads = at(THREADS).ok_or_else(|| missing("threads", ""))?;
        let time = at(&[TIME]).ok_or_else(|| missing(TIME, ""))?;
        // Without a column of programs, phases are the programs.
        let (program, phase) = match (at(PROGRAM), at(&[PHASE])) {
            (None, alone) => (alone, None),
            both => both,
        };
        let run = at(&[RUN]);
        if program.is_none() && defaults.program.is_none() {
            return Err(missing("app", ""));
        }
        let machine = at(&[MACHINE]);
        if machine.is_none() && defaults.machine.is_none() {
            return Err(missing(MACHINE, ", and no --measured-on"));
        }
        let known = [Some(threads), Some(time), program, phase, run, machine, at(&[EXECUTIONS])];
        let counts = header
            .iter()
            .enumerate()
            .filter(|(index, name)| !known.contains(&Some(*index)) && is_count(name))
            .map(|(index, name)| (index, name.to_owned()))
            .collect();
        Ok(Columns { machine, program, phase, run, threads, time, counts })
    }

    /// Drops columns whose first value is not a number. Answers their names.
    fn drop_words(&mut self, records: &[StringRecord]) -> Vec<String> {
        let is_number = |index: usize| {
            let first = records.iter().map(|record| &record[index]).find(|cell| !cell.is_empty());
            first.is_none_or(|cell| cell.parse::<f64>().is_ok())
        };
        let (counts, words) =
            std::mem::take(&mut self.counts).into_iter().partition(|(index, _)| is_number(*index));
        self.counts = counts;
        words.into_iter().map(|(_, name)| name).collect()
    }

    fn row(&self, record: &StringRecord, line: u64, defaults: &Defaults<'_>) -> CliResult<Row> {
        let name = |column: Option<usize>, what: &str, default: Option<&str>| match column {
            Some(index) if !record[index].is_empty() => Ok(record[index].to_owned()),
            _ => default
                .map(str::to_owned)
                .ok_or_else(|| CliError::BadInput(format!("{what} is blank"))),
        };
        let phase = self.phase.map(|index| &record[index]).filter(|cell| !cell.is_empty());
        let run = self.run.map(|index| &record[index]).filter(|cell| !cell.is_empty());
        let run = run.map(|cell| {
            whole(cell).parse::<u64>().map_err(|_| {
                CliError::BadInput(format!("{RUN} is {cell:?}, which is not a number"))
            })
        });
        let on: Configuration = whole(&record[self.threads])
            .parse()
            .map_err(|error: pacman_adapt::Error| CliError::bad_input(error).within("threads"))?;
        let seconds = number(&record[self.time], TIME)?;
        let mut sample =
            Sample::new(on, seconds).map_err(|error| CliError::bad_input(error).within(TIME))?;
        for (index, event) in &self.counts {
            let cell = &record[*index];
            if !cell.is_empty() {
                let count = number(cell, event)?;
                sample = sample.with(event.as_str(), count).map_err(CliError::bad_input)?;
            }
        }
        Ok(Row {
            line,
            machine: name(self.machine, MACHINE, defaults.machine)?,
            program: name(self.program, "app", defaults.program)?,
            phase: phase.map(str::to_owned),
            run: run.transpose()?,
            sample,
        })
    }
}

fn number(cell: &str, column: &str) -> CliResult<f64> {
    match cell.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ if cell.is_empty() => Err(CliError::BadInput(format!("{column} is blank"))),
        _ => Err(CliError::BadInput(format!("{column} is {cell:?}, which is not a number"))),
    }
}

/// A column of whole numbers that once had a hole is written by pandas as 4.0.
fn whole(cell: &str) -> &str {
    cell.strip_suffix(".0").unwrap_or(cell)
}

/// Energies are an objective and not a feature of a phase. A column without a name is the index of
/// a data frame.
fn is_count(name: &str) -> bool {
    !(name.is_empty() || name.starts_with("Unnamed") || name.ends_with("_j"))
}

fn malformed(error: &csv::Error) -> CliError {
    let line = error.position().map_or(String::new(), |at| format!("line {}: ", at.line()));
    CliError::BadInput(match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{line}{len} fields, and the header has {expected_len}")
        }
        _ => format!("{line}{error}"),
    })
}

const MACHINE: &str = "machine";
const PROGRAM: &[&str] = &["app", "program"];
const PHASE: &str = "phase";
const RUN: &str = "run";
/// The number of executions in a row's mean. It is not a feature of one execution.
const EXECUTIONS: &str = "executions";
const THREADS: &[&str] = &["threads", "configuration"];
const TIME: &str = "time_s";
