//! The options of `pacman-pmu smt`, its help and its exit status.

use std::ffi::OsString;
use std::time::Duration;

use crate::error::{CliError, CliResult};

/// Show how often no, one or several contexts of each core are active.
///
/// Measures until COMMAND ends, until --duration is over or until interrupted, and then sums up.
/// Counters tell how often siblings run together: each context's reference cycles beside one
/// count for the core. That takes CAP_PERFMON or a perf_event_paranoid of 0 or less, and an Intel
/// processor from Nehalem on. The kernel's idle times of every context need neither. On cores
/// with one context they are exact; with more, they bound how long contexts ran together, short
/// intervals more tightly, and the figure shown within the bounds is that of contexts that do not
/// heed each other.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{FORMATS}"))]
pub(crate) struct SmtArgs {
    /// How often to look, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    pub(super) interval: u64,

    /// Whether to count or to ask for idle times; auto counts where that can be done
    #[arg(long, value_enum, default_value_t = MethodArg::Auto)]
    pub(super) method: MethodArg,

    /// Stop measuring after S seconds; a COMMAND still runs to its end
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(super) duration: Option<Duration>,

    /// Print the summary and every interval as JSON
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,

    /// Print a line of CSV per core and interval, as they come
    #[arg(long)]
    pub(super) csv: bool,

    /// Only the summary: no live bars on a terminal, which a COMMAND that prints would tear
    #[arg(long)]
    pub(super) quiet: bool,

    /// Write to FILE, which leaves standard output to COMMAND
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<std::path::PathBuf>,

    /// The program to measure beside, with its arguments; its exit status becomes this one's
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
}

/// The method to measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MethodArg {
    /// Counters, or else idle times
    Auto,
    /// Reference cycles of every context beside a count for the core
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
  pacman-pmu smt --method counters            the counters or nothing
  pacman-pmu --machine haswell smt --duration 2
  pacman-pmu smt --interval 200 -- make -j8   beside a program, until it ends
  pacman-pmu smt --csv -o activity.csv -- ./program

Exit status:
  0    done; with a COMMAND its own, or 128 and the number of the signal that ended it
  1    this system does not tell its contexts, or not what they do by the method asked for
  2    bad input
  4    the answer could not be written
  126  COMMAND could not be run
  127  COMMAND was not found
  130  interrupted twice: COMMAND still runs, and the activity until then is told";

const FORMATS: &str = "\
JSON:
  source, method   the file or event that the figures are from, and what is made of it
  choice           why this method and not the other, or null if one was asked for
  simulated        the simulated machine, or null
  step_s           the step in which the source counts
  time_s           how long was measured
  cores            a list of core, package, cpus, active (a list: how much of the time each
                   context was, alone or not) and the states below
  intervals        a list of until_s (at the end, since the begin) and cores, as above
  notes            what must be known to read the figures
  exit_status      COMMAND's, or null
  A core's states, as parts of the time:
  idle             no context was active
  only             a list: this context was active and no other
  shared           two contexts or more were active
  bounds           the same fields, each with the least and the most it can be
  uncertainty      by how much steps and reading times may have moved any of them
  skew_s           how far apart the readings of the core's contexts may have been

CSV:
  until_s,core,cpus,idle,only_0,...,shared,uncertainty,skew_s,step_s,method";
