//! The arguments of `pacman-pmu run` and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use pacman_regions::{MaxLoss, Objective, OverheadBudget, Waiting};

use super::threads::Threads;
use crate::typed::one_list;

/// Run an OpenMP program and report on its parallel regions; with --adapt, choose where the
/// threads of each region run, and with --narrow how many.
///
/// COMMAND runs unmodified, with libpacman_omp.so preloaded into it and into every process that it
/// starts. The library supports GCC's and LLVM's runtimes. COMMAND has the standard input, output
/// and error. The report follows on standard error, or goes to the file of -o. Times are wall time.
/// Counts are of user mode, by thread.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{CSV}\n\n{JSON}"))]
pub(crate) struct RunArgs {
    /// Events to count in every region, separated by commas; several -e are one list. TOPDOWN stands for
    /// those of issue slots [default: only times]
    #[arg(short, long, value_name = "EVENTS", action = clap::ArgAction::Append)]
    events: Vec<String>,

    /// Read the energy of the processor packages around every region. It includes everything else that
    /// runs on them. Without RAPL (powercap, or the perf PMU power) COMMAND does not run
    #[arg(long)]
    pub(super) energy: bool,

    /// Write the report to FILE. The ending gives the format: .txt, .csv, .json, .html, .pftrace (for Perfetto), .trace.json
    /// (Chrome trace), .talp.json (for TALP-Pages; includes --waits) or .prom (OpenMetrics)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Name this version of the program in JSON, such as a commit. A history (pacman-pmu report) takes the runs of one
    /// label for repeats
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(super) label: Option<String>,

    /// Give each thread of a region a line in a text report. Without it, the threads of a region with more than 16 have
    /// one line: the least, the median and the most of them
    #[arg(long)]
    pub(super) each_thread: bool,

    /// Add the run's regions to this file of training data, for train and evaluate. Run again with
    /// other numbers of threads to get more data
    #[arg(long, value_name = "DATA.csv", conflicts_with = "adapt")]
    pub(super) record: Option<PathBuf>,

    /// Time the waits inside regions: at barriers, ends of loops, critical sections, locks and tasks.
    /// The report says where the time goes, and what would help
    #[arg(long, conflicts_with = "adapt")]
    pub(super) waits: bool,

    /// Keep what observing takes below this part of the time in regions (1 by default). In
    /// shorter regions all executions are counted, and a random sample of them is timed. Times and
    /// waits are then estimates with a standard error. 100 times every execution, as -e, --energy,
    /// --record and --adapt do
    #[arg(long, value_name = "PERCENT",
          conflicts_with_all = ["adapt", "energy", "events", "record"])]
    pub(super) overhead: Option<OverheadBudget>,

    /// Choose where the threads of each region run, by trying several places. Teams keep their threads
    #[arg(long)]
    pub(super) adapt: bool,

    /// Give a region fewer threads where that is quicker. Only for a program whose results do not depend on how many
    /// threads its teams have: another one computes something else, or waits for ever
    #[arg(long, requires = "adapt")]
    pub(super) narrow: bool,

    /// The quantity that adaptation minimises: time, energy, edp (energy x time) or ed2p (energy x
    /// time x time)
    #[arg(long, value_name = "WHAT", requires = "adapt")]
    pub(super) objective: Option<Objective>,

    /// Predict from samples with this model (pacman-pmu train) instead of searching
    #[arg(long, value_name = "FILE", requires = "adapt")]
    pub(super) model: Option<PathBuf>,

    /// With --narrow: give no region more than N threads
    #[arg(long, value_name = "N", requires = "adapt",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_threads: Option<u32>,

    /// With --narrow: share the machine with other programs that run with --share. Teams have no more
    /// threads than the program's share of the contexts
    #[arg(long, requires = "adapt")]
    pub(super) share: bool,

    /// Limit the cost of adaptation to PART of the program's time without it, such as 1%
    #[arg(long, value_name = "PART", requires = "adapt")]
    pub(super) max_loss: Option<MaxLoss>,

    /// Threads of teams whose number COMMAND's environment leaves open: a number, auto (the best of earlier
    /// runs, or the contexts that a quota lets run at once) or keep [default: auto with --adapt, otherwise keep]
    #[arg(long, value_name = "HOW")]
    pub(super) threads: Option<Threads>,

    /// Do not use the measurements of earlier runs, and do not keep those of this run; see memory
    #[arg(long, requires = "adapt")]
    pub(super) no_memory: bool,

    /// How idle threads wait: auto (no spinning beside a reduced region), keep (as the runtime
    /// does) or block (at once, from the start)
    #[arg(long, value_name = "HOW", requires = "adapt")]
    pub(super) waiting: Option<Waiting>,

    /// Do not run COMMAND if an option cannot be satisfied; without this option COMMAND runs in any
    /// case. Problems that only the run shows are reported after it
    #[arg(long)]
    pub(super) strict: bool,

    /// Run nothing, and report the recordings in DIR. Programs with the library preloaded write them
    /// if PACMAN_OMP_DIR is DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["events", "energy", "label", "record", "waits", "overhead", "adapt", "strict", "threads", "command"])]
    pub(super) read: Option<PathBuf>,

    /// The program to run, with its arguments; pacman-pmu exits with its status
    #[arg(trailing_var_arg = true, required_unless_present = "read", value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

impl RunArgs {
    /// The list of events, if there is one.
    pub(super) fn events(&self) -> Option<String> {
        one_list(&self.events)
    }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu run -- ./program 4                        times, balance and waiting by region
  pacman-pmu run -e CYCLES,INSTRUCTIONS -- ./program   with counts
  pacman-pmu run -e TOPDOWN -- ./program               issue slots, and whether SMT off would pay
  pacman-pmu run --energy -- ./program                 with joules and watts of the packages
  pacman-pmu run --waits -- ./program                  where threads wait, and the efficiency
  pacman-pmu run --overhead 100 -- ./program           every execution timed, whatever it costs
  pacman-pmu run -o report.html -- ./program           a page for the browser
  pacman-pmu run --waits -o run.pftrace -- ./program   a trace, to open in Perfetto
  pacman-pmu run -o run.talp.json -- ./program         TALP's figures, for TALP-Pages
  pacman-pmu run -o run.prom -- ./program              metrics, for Prometheus and others
  pacman-pmu run --threads 4 -- ./program              with OMP_NUM_THREADS=4
  pacman-pmu run --adapt -- ./program                  the places of threads chosen for time
  pacman-pmu run --adapt --narrow -- ./program         the number of threads of each region as well
  pacman-pmu run --adapt --narrow --objective edp --waiting block -- ./program
  pacman-pmu run --adapt --narrow --share -- ./program next to others that run with --share
  pacman-pmu run --adapt --narrow -o report.json -- ./program
  pacman-pmu run -o ranks.csv -- mpirun -n 4 ./program
  mpirun -n 4 pacman-pmu run -o ranks.html -- ./program
                                                       one report on all ranks, either way
  for n in 1 2 4; do OMP_NUM_THREADS=$n pacman-pmu run --record data.csv -- ./program; done
                                                       training data, for pacman-pmu train

Exit status:
  COMMAND's own, or 128 and the number of the signal that ended it; and
  2    bad input, --energy without RAPL, or with --strict an option that cannot be satisfied;
       COMMAND did not run
  4    COMMAND succeeded, but the report or --record's file could not be written
  126  COMMAND could not be run
  127  COMMAND was not found

The report lacks static programs, set-user-ID programs, other architectures, and regions that the
compiler made serial. A process may end in any way: the report has all executions that had ended.";

const CSV: &str = include_str!("../help/run-csv.txt");

const JSON: &str = include_str!("../help/run.txt");
