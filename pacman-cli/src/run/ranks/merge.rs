//! `pacman-pmu merge`: one report on all ranks.
//!
//! One recording is in memory at a time. Text and page show the first ranks in full, and all at a glance;
//! JSON and CSV have everything.

use pacman_events::plural;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;

use super::gather::{EXTENSION, FILE_EXTENSION, RUNNING, TURN, Turn};
use super::groups::Groups;
use super::rank_file::{RankReader, RankRun};
use crate::error::{self, CliError, CliResult};
use crate::exit::Exit;
use crate::run::csv;
use crate::run::destination::{Destination, Form};
use crate::run::names::Names;
use crate::run::report::{Column, Overview, ProcessReport, Report, named_ranks};

/// Merge the recordings of MPI ranks into one report.
///
/// `mpirun -n 4 pacman-pmu run -o report.json -- ./program` leaves the directory report.json.ranks if a
/// rank was killed or never began: a line on standard error names it. Otherwise the command of the rank that
/// ends last merges it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// The directory of the ranks
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Write the report to FILE (.txt, .csv, .json, .html, .pftrace, .trace.json, .talp.json or .prom) [default: DIR without .ranks]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Give each thread of a region a line in a text report, also where a region has more than 16
    #[arg(long)]
    each_thread: bool,
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu merge report.json.ranks
  pacman-pmu merge report.json.ranks -o report.html

Exit status:
  0  done
  2  bad input: DIR has no recording of a rank
  4  the report could not be written";

/// Merges the directory and keeps it.
pub(crate) fn merge(args: &MergeArgs) -> CliResult {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.directory.extension() == Some(OsStr::new(EXTENSION)) => {
            args.directory.with_extension("")
        }
        None => {
            let directory = shown_path(&args.directory);
            let why = format!("{directory} does not end in .{EXTENSION}: name a report with -o");
            return Err(CliError::BadInput(why));
        }
    };
    let destination =
        Destination::file(&output, Form::of(&output)?)?.with_each_thread(args.each_thread);
    let ranks = Ranks::found_in(&args.directory)?;
    ranks.write(destination).map(|()| 0)
}

/// Writes the report of a directory whose ranks are all there, and removes the directory.
pub(in crate::run) fn merge_all(turn: &Turn, destination: Destination) -> CliResult<()> {
    let directory = &turn.directory;
    let kept = |why: CliError| {
        let shown = shown_path(directory);
        CliError::Unwritable(format!("{why}; the recordings stay in {shown} for pacman-pmu merge"))
    };
    let ranks = Ranks::found_in(directory).map_err(kept)?;
    ranks.write(destination.whoever_wrote()).map_err(kept)?;
    remove(directory).map_err(|error| {
        let directory = shown_path(directory);
        CliError::Unwritable(format!("cannot remove {directory}, whose report is written: {error}"))
    })
}

/// Removes the directory with the files that commands make in it, those of earlier runs, too.
fn remove(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        if [FILE_EXTENSION, RUNNING, DRAFT].contains(&ending) {
            fs::remove_file(path)?;
        }
    }
    // Commands of an earlier version made a directory.
    let _ = fs::remove_dir(directory.join("merging"));
    // A command that waits for its turn sees that the file is gone.
    fs::remove_file(directory.join(TURN))?;
    fs::remove_dir(directory)
}

/// The file name extension of what a killed command was writing.
const DRAFT: &str = "partial";

/// The files of one run, by rank.
struct Ranks {
    files: Vec<RankPath>,
}

struct RankPath {
    path: PathBuf,
    run: RankRun,
}

impl Ranks {
    /// The files of the latest run in a directory. Standard error has a line for each other file, and for
    /// ranks that are missing.
    fn found_in(directory: &Path) -> CliResult<Ranks> {
        let shown = shown_path(directory);
        let unread =
            |error: std::io::Error| CliError::BadInput(format!("cannot read {shown}: {error}"));
        let (mut files, mut wrong) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(directory).map_err(unread)? {
            let path = entry.map_err(unread)?.path();
            if path.extension() == Some(OsStr::new(FILE_EXTENSION)) {
                match RankReader::open(&path) {
                    Ok(reader) => files.push(RankPath { path, run: reader.run }),
                    Err(why) => wrong.push(format!("{} {why}", shown_path(&path))),
                }
            }
        }
        let Some(latest) =
            files.iter().max_by(|one, other| one.run.began.total_cmp(&other.run.began))
        else {
            let why =
                wrong.first().map_or_else(|| "it has no recording of a rank".into(), String::clone);
            return Err(CliError::BadInput(format!("cannot merge {shown}: {why}")));
        };
        let run = (latest.run.job.clone(), latest.run.rank.ranks);
        files.retain(|file| {
            let is_own = (&file.run.job, file.run.rank.ranks) == (&run.0, run.1);
            if !is_own {
                wrong.push(format!("{} is of another run", shown_path(&file.path)));
            }
            is_own
        });
        for line in wrong {
            error::complain(format!("a recording is left out: {line}"));
        }
        files.sort_by_key(|file| file.run.rank.rank);
        let there: BTreeSet<u32> = files.iter().map(|file| file.run.rank.rank).collect();
        let missing = (0..run.1.unwrap_or(0)).filter(|rank| !there.contains(rank));
        let missing: Vec<u32> = missing.collect();
        if !missing.is_empty() {
            let is = plural::is(missing.len());
            let missing = named_ranks(missing);
            error::complain(format!("{missing} {is} missing in {shown} and in the report"));
        }
        Ok(Ranks { files })
    }

    fn write(self, destination: Destination) -> CliResult<()> {
        let mut names = Names::default();
        let (mut kept, mut left_out) = (Vec::new(), 0);
        let (mut overview, mut events) = (Overview::default(), Vec::<Column>::new());
        let mut damaged = Vec::new();
        let mut groups = Groups::of(self.files.iter().map(|file| &file.run));
        for mut process in self.processes(&mut names, &mut damaged) {
            groups.add(&process);
            process.throttled = groups.throttled(&process);
            overview.add(&process);
            process.columns.events.iter().for_each(|event| csv::add(&mut events, event));
            if kept.len() < KEPT {
                kept.push(process);
            } else {
                left_out += 1;
            }
        }
        damaged.iter().for_each(error::complain);
        let run = self.run();
        let mut report =
            Report::with(run, kept, overview.finished(), std::mem::take(&mut names.notes));
        report.busy.splice(0..0, groups.lines());
        report.notes.extend(self.failed());
        if !destination.is_standard_error() {
            report.overview.killed().iter().for_each(error::complain);
        }
        report.left_out = left_out;
        if left_out == 0 {
            return destination.write(&report);
        }
        // The lines above name the faults.
        let again = self.processes(&mut names, &mut damaged).map(|mut process| {
            process.throttled = groups.throttled(&process);
            process
        });
        destination.stream(&report, again, &events)
    }

    /// The processes of all ranks, one at a time.
    fn processes<'a>(
        &'a self,
        names: &'a mut Names,
        damaged: &'a mut Vec<String>,
    ) -> impl Iterator<Item = ProcessReport> + 'a {
        let recordings = self.files.iter().flat_map(|file| {
            let open = RankReader::open(&file.path);
            let (reader, error) = match open {
                Ok(reader) => (Some(reader), None),
                Err(error) => (None, Some(Err(error))),
            };
            reader.into_iter().flatten().chain(error).map(move |recording| (file, recording))
        });
        recordings.filter_map(move |(file, recording)| match recording {
            Ok(mut recording) => {
                recording.process.host.get_or_insert_with(|| file.run.host.clone());
                recording.process.rank.get_or_insert(file.run.rank);
                let run = file.run.clone().into_run();
                Some(ProcessReport::of(&recording, names, run.energy.as_ref()))
            }
            Err(why) => {
                damaged.push(format!("{} {why}", shown_path(&file.path)));
                None
            }
        })
    }

    /// The whole run: from the first begin to the last end, on the host of the first rank.
    fn run(&self) -> crate::run::report::Run {
        let began = self.files.iter().map(|file| file.run.began).fold(f64::INFINITY, f64::min);
        let end = self.files.iter().map(|file| file.run.end()).fold(0.0, f64::max);
        let mut run = self.files[0].run.clone().into_run();
        run.ended.seconds = end - began;
        // Energy is of a host. Ranks of one host read the same packages.
        run.energy = None;
        // So is a quota, which has lines of its own.
        run.quota = None;
        let mut exits = self.files.iter().map(|file| file.run.exit());
        run.ended.exit = exits.find(|exit| *exit != Exit::Status(0)).unwrap_or(Exit::Status(0));
        run
    }

    /// A line for each rank that failed.
    fn failed(&self) -> impl Iterator<Item = String> + '_ {
        let failed = self.files.iter().filter(|file| file.run.exit() != Exit::Status(0));
        failed.map(|file| format!("rank {}: {}", file.run.rank.rank, file.run.exit()))
    }
}

/// Ranks that text and page show in full.
const KEPT: usize = 16;
