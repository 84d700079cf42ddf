//! `pacman-pmu merge`: one report on all ranks.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pacman_events::shown::shown_path;
use pacman_report::run::ranks::{EXTENSION as FILE_EXTENSION, Ranks};

use super::gather::{EXTENSION, RUNNING, TURN, Turn};
use crate::error::{self, CliError, CliResult};
use crate::run::destination::{Destination, form_of};

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
        Destination::file(&output, form_of(&output)?)?.with_each_thread(args.each_thread);
    write(&args.directory, destination).map(|()| 0)
}

/// Writes the report of a directory whose ranks are all there, and removes the directory.
pub(in crate::run) fn merge_all(turn: &Turn, destination: Destination) -> CliResult<()> {
    let directory = &turn.directory;
    let kept = |why: CliError| {
        let shown = shown_path(directory);
        CliError::Unwritable(format!("{why}; the recordings stay in {shown} for pacman-pmu merge"))
    };
    write(directory, destination.whoever_wrote()).map_err(kept)?;
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

/// Writes the report of the latest run in a directory.
fn write(directory: &Path, destination: Destination) -> CliResult<()> {
    let (ranks, lines) = Ranks::found_in(directory)?;
    lines.iter().for_each(error::complain);
    let mut merged = ranks.merged();
    merged.damaged.iter().for_each(error::complain);
    if !destination.is_standard_error() {
        merged.report.overview.killed().iter().for_each(error::complain);
    }
    if destination.streams(&merged.report) {
        return destination.stream(&mut merged);
    }
    destination.write(&merged.report)
}
