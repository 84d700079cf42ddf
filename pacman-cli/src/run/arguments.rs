//! The arguments of `pacman-pmu run` and its help.

use std::ffi::OsString;
use std::path::PathBuf;

use pacman_regions::{Guard, Objective, Waiting};

/// Run an OpenMP program and say what its parallel regions did; with --adapt, run each region
/// with the number of threads that suits it.
///
/// COMMAND runs unmodified, with libpacman_omp.so preloaded into it: GCC's and LLVM's runtimes
/// are known, and every process that COMMAND starts is observed too. Standard input, output and
/// error are COMMAND's; the report follows on standard error, or goes to the file of -o. Times are
/// wall time; counts are of user mode, by thread.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{FORMS}"))]
pub(crate) struct RunArgs {
    /// Events to count in every region, separated by commas; else only times are taken
    #[arg(short, long, value_name = "EVENTS")]
    pub(super) events: Option<String>,

    /// Write the report to FILE, in the form of its ending: .txt, .csv, .json or .html
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Add the run's regions to this file as training data, for train and evaluate: run again at other
    /// numbers of threads for more
    #[arg(long, value_name = "DATA.csv", conflicts_with = "adapt")]
    pub(super) record: Option<PathBuf>,

    /// Choose the threads of each region by trying
    #[arg(long)]
    pub(super) adapt: bool,

    /// The cost that adaptation reduces: time, energy, edp (energy x time) or ed2p
    #[arg(long, value_name = "WHAT", requires = "adapt")]
    pub(super) objective: Option<Objective>,

    /// Predict from samples by this model (pacman-pmu train) in place of searching
    #[arg(long, value_name = "FILE", requires = "adapt")]
    pub(super) model: Option<PathBuf>,

    /// Give no region more than N threads
    #[arg(long, value_name = "N", requires = "adapt",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_threads: Option<u32>,

    #[arg(long, value_name = "GUARDS", value_delimiter = ',', requires = "adapt", help = lift())]
    pub(super) lift: Vec<Guard>,

    /// How idle threads wait: auto (no spinning beside a reduced region), keep (as the runtime
    /// does) or block (at once, from the start)
    #[arg(long, value_name = "HOW", requires = "adapt")]
    pub(super) waiting: Option<Waiting>,

    /// Do not run COMMAND if anything asked for is not possible; else it runs in any case. What only
    /// the run shows (no region seen, a model that knows no team of that size) is said after it
    #[arg(long)]
    pub(super) strict: bool,

    /// Run nothing: report what programs recorded in DIR, with the library preloaded and PACMAN_OMP_DIR=DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["events", "record", "adapt", "strict", "command"])]
    pub(super) read: Option<PathBuf>,

    /// The program to run, with its arguments; its exit status becomes this one's
    #[arg(last = true, required_unless_present = "read", value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

fn lift() -> String {
    let words: Vec<_> = Guard::ALL.iter().map(|guard| guard.word()).collect();
    format!("Adapt in spite of these guards, separated by commas: {}", words.join(", "))
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu run -- ./program 4                        times, balance and waiting by region
  pacman-pmu run -e CYCLES,INSTRUCTIONS -- ./program   with counts
  pacman-pmu run -o report.html -- ./program           a page for the browser
  pacman-pmu run --adapt -- ./program                  threads chosen by region, for time
  pacman-pmu run --adapt --objective edp --waiting block -- ./program
  pacman-pmu run --adapt --lift query -o report.json -- ./program
  pacman-pmu run -o ranks.csv -- mpirun -n 4 ./program
  for n in 1 2 4; do OMP_NUM_THREADS=$n pacman-pmu run --record data.csv -- ./program; done
                                                       training data, for pacman-pmu train

Exit status:
  COMMAND's own, or 128 and the number of the signal that ended it; and
  2    bad input, or with --strict something that is not possible; COMMAND did not run
  4    COMMAND ended well, but the report or --record's file could not be written
  126  COMMAND could not be run
  127  COMMAND was not found

The report lacks static programs, set-user-ID programs, other architectures, and regions that the
compiler made serial. A process may end in any way: the report has all executions that ended before.";

const FORMS: &str = "\
CSV, a row a thread of a region:
  pid,parent,program,region,name,file,line,module,address,entry,runtime,executions,nested,
  region_s,share,imbalance,waiting,threads_chosen,thread,thread_executions,busy_s,
  cpu,package,core,sibling,beside,moves,counted,implausible
  and a column an event, such as CYCLES [cycles], or CYCLES? [cycles] where its counts may be
  wrong; what is absent is empty

JSON:
  format, version  \"pacman-run\", 1
  command, time_s, exit_status, signal, objective, simulated, notes
  processes        a list of pid, parent, command, time_s, ending, runtimes, threads, contexts,
                   share, events, metrics, overhead, regions, timeline and notes
  docs/output.md describes every field.";
