//! A run's regions as training data: what `train` and `evaluate` read.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use pacman_events::shown::{shown_path, text_of};

use pacman_adapt::predict::{Configuration, machine_name};
use pacman_core::{Topology, platform};
use pacman_regions::Team;

use crate::error::{self, CliError, CliResult};
use crate::training_csv::{self, Measurement};
use pacman_events::plural::number;
use pacman_report::exit::Exit;
use pacman_report::run::{Columns, ProcessReport, RegionReport, Report, names};

/// The file, and whose rows it gets.
#[derive(Debug)]
pub(super) struct Training {
    path: PathBuf,
    machine: String,
    program: String,
}

impl Training {
    /// Looks at the file, so that an unwritable one is known before the run.
    pub(super) fn begin(path: &Path, program: &OsStr) -> CliResult<Training> {
        let words =
            |error: pacman_topology::Error| CliError::bad_input(error).within("cannot record");
        if let Some(machine) = platform::current().simulation() {
            return Err(CliError::BadInput(format!(
                "cannot record on simulated machine {}: times would be those of this one",
                machine.name
            )));
        }
        let topology = Topology::detect().map_err(words)?;
        topology.caveats().iter().for_each(error::complain);
        let machine = machine_name(&topology);
        let program = names::last(&text_of(program)).to_owned();
        training_csv::runs(path, &machine, &program)?;
        Ok(Training { path: path.to_owned(), machine, program })
    }

    /// Adds a row for each region. Answers lines about regions and counts that the rows lack.
    pub(super) fn add(&self, report: &Report) -> CliResult<Vec<String>> {
        let shown = shown_path(&self.path);
        if report.ended.exit != Exit::Status(0) {
            return Ok(vec![format!("nothing is added to {shown}: {}", report.ended.exit)]);
        }
        let (mut rows, mut left_out, mut varied) = (Vec::new(), Vec::new(), Vec::new());
        for process in report.observed() {
            let threads = threads(process);
            for region in &process.regions {
                match self.row(region, threads, &process.columns) {
                    Ok(row) => longest(&mut rows, row),
                    Err(why) => left_out.push(format!("{}: {why}", region.name.text)),
                }
                let taken = widest(region).is_some_and(|team| team.threads == threads);
                if taken && region.teams.len() > 1 && !varied.contains(&region.name.text.as_str()) {
                    varied.push(&region.name.text);
                }
            }
        }
        let mut lines: Vec<String> = estimates(report).into_iter().collect();
        if !left_out.is_empty() {
            lines.push(format!("not in {shown}: {}", left_out.join("; ")));
        }
        if !varied.is_empty() {
            lines.push(format!(
                "teams varied, so that {shown} has executions of the widest only, and no counts, \
                 of {}",
                varied.join("; ")
            ));
        }
        if rows.is_empty() {
            lines.push(format!("nothing is added to {shown}: no region is there to add"));
            return Ok(lines);
        }
        training_csv::append_run(&self.path, rows)?;
        Ok(lines)
    }

    fn row(
        &self,
        region: &RegionReport,
        threads: u32,
        columns: &Columns,
    ) -> CliResult<Measurement> {
        if region.nested == region.executions {
            return Err(CliError::refused(
                "it ran inside another region, whose time includes its own",
            ));
        }
        let widest =
            widest(region).ok_or_else(|| CliError::refused("it did not come to its end"))?;
        if widest.threads != threads {
            let team = widest.threads;
            return Err(CliError::Refused(format!(
                "its team had {}, the run's {threads}",
                number(team, "thread")
            )));
        }
        let seconds = widest.seconds / widest.executions as f64;
        if seconds <= 0.0 {
            return Err(CliError::refused("it took no time that the clock could see"));
        }
        // Rows of threads do not distinguish teams of several sizes.
        let counts = if region.teams.len() == 1 { counts(region, columns) } else { Vec::new() };
        Ok(Measurement {
            machine: self.machine.clone(),
            program: self.program.clone(),
            phase: region.name.text.clone(),
            configuration: Configuration::new(threads).map_err(CliError::refused)?,
            // The file has the number when the row is added.
            run: 0,
            seconds,
            executions: widest.executions,
            counts,
        })
    }
}

/// The number of threads that the run's data are for.
///
/// A region with its own fixed number of threads would be the only one with its configuration. A
/// table of a whole program has no such configuration.
fn threads(process: &ProcessReport) -> u32 {
    let widest = || process.regions.iter().filter_map(widest).map(|team| team.threads);
    // Programs with a clause at every region do not go by the runtime's default.
    match widest().any(|threads| threads == process.threads) {
        true => process.threads,
        false => widest().max().unwrap_or(process.threads),
    }
}

fn widest(region: &RegionReport) -> Option<&Team> {
    let ran = region.teams.iter().filter(|team| team.executions > 0);
    ran.max_by_key(|team| team.threads)
}

/// Of one execution, summed over threads; only of whole counts.
fn counts(region: &RegionReport, columns: &Columns) -> Vec<(String, f64)> {
    let of_one = |(at, count): (usize, &Option<pacman_report::run::Count>)| {
        let count = count.filter(|count| count.is_complete)?;
        let name = columns.events[at].title().to_ascii_lowercase();
        Some((name, count.value as f64 / region.executions as f64))
    };
    region.figures.counts.iter().enumerate().filter_map(of_one).collect()
}

/// A line about counts that are estimates.
fn estimates(report: &Report) -> Option<String> {
    let rotates = report.observed().any(|process| process.columns.rotate());
    rotates.then(|| {
        "counts are estimates: the events do not fit on the counters at once, so sets took turns".into()
    })
}

/// Processes of one program run the same regions beside each other: the longest counts.
fn longest(rows: &mut Vec<Measurement>, row: Measurement) {
    let same = |known: &&mut Measurement| {
        known.phase == row.phase && known.configuration == row.configuration
    };
    match rows.iter_mut().find(same) {
        None => rows.push(row),
        Some(known) if known.seconds < row.seconds => *known = row,
        Some(_) => {}
    }
}
