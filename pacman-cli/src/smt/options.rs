//! The options of `pacman-pmu smt`, its help and its exit status.

use std::ffi::OsString;
use std::time::Duration;

use crate::error::{CliError, CliResult};

/// Show how often no, one or several contexts of each core are active.
///
/// Measures until COMMAND ends, until --duration is over or until interrupted, and prints a summary.
/// The counters method compares each context's reference cycles with one count for the core. It
/// requires CAP_PERFMON or perf_event_paranoid <= 0, and an Intel processor from Nehalem on. On an NVIDIA Olympus
/// it takes the kernel's idle times, and each context's count of slots, which are half as many beside another. The idle
/// method reads the kernel's idle time of every context, and requires neither. On cores with one
/// context it is exact. On other cores it gives bounds for the time that contexts ran together; short
/// intervals give narrower bounds. The shown value within the bounds assumes independent contexts.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}\n\n{CSV}"))]
pub(crate) struct SmtArgs {
    /// The length of an interval, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    pub(super) interval: u64,

    /// Whether to count or to read idle times; auto counts if possible
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    pub(super) method: MethodArg,

    /// Stop measuring after S seconds; a COMMAND still runs to its end
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(super) duration: Option<Duration>,

    /// Print the summary and every interval as JSON
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,

    /// Print a line of CSV for each core and interval, during the run
    #[arg(long)]
    pub(super) csv: bool,

    /// Show only the summary and no live bars on a terminal; output of COMMAND would break the bars
    #[arg(long)]
    pub(super) quiet: bool,

    /// Write to FILE, and leave standard output to COMMAND
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<std::path::PathBuf>,

    /// The program to run during the measurement, with its arguments; pacman-pmu exits with its status
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

/// The method to measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MethodArg {
    /// Counters, or else idle times
    Auto,
    /// Counts of every context, beside one for the core or the kernel's idle times
    Counters,
    /// The kernel's idle times of every context
    Idle,
}

pub(super) fn seconds(text: &str) -> CliResult<Duration> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=1e9).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| CliError::bad_input("seconds from 0.1 are needed"))
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu smt                              live, until Ctrl-C
  pacman-pmu smt --duration 10 --json
  pacman-pmu smt --method counters            fail without counters
  pacman-pmu --machine haswell smt --duration 2
  pacman-pmu smt --interval 200 -- make -j8   while a program runs
  pacman-pmu smt --csv -o activity.csv -- ./program

Exit status:
  0    done; with a COMMAND its own, or 128 and the number of the signal that ended it
  1    this system does not list its contexts, or the requested method cannot measure them
  2    bad input
  4    the answer could not be written
  126  COMMAND could not be run
  127  COMMAND was not found
  130  interrupted twice: COMMAND still runs, and the activity until then is printed";

const JSON: &str = include_str!("../help/smt.txt");

const CSV: &str = "\
CSV:
  until_s,core,cpus,idle,only_0,...,shared,uncertainty,skew_s,step_s,method";
