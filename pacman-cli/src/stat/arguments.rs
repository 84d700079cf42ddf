//! The arguments of `pacman-pmu stat` and its help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pacman_core::Placement;

/// Count what a command does, by thread, with the threads that shared a core side by side.
///
/// COMMAND runs unmodified: each of its threads, and of the processes that it starts, is stopped
/// for a moment before its first instruction and at its end (by ptrace), and has counters of its
/// own in between. Hardware events count user mode, from the program's first instruction on, the
/// dynamic linker's included. The stops cost each thread a few context switches. A table that is
/// wider than COLUMNS, or else than the terminal, is broken into several.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{FORMATS}"))]
#[command(group = clap::ArgGroup::new("by").args(["per_thread", "per_core", "all"]))]
pub(crate) struct StatArgs {
    /// Events, separated by commas; else what this machine can: hardware events if there are any,
    /// task-clock, page-faults, context-switches and cpu-migrations
    #[arg(short, long, value_name = "EVENTS")]
    pub(super) events: Option<String>,

    /// A row for each thread, which is the default
    #[arg(long)]
    pub(super) per_thread: bool,

    /// A row for each core: the sum of the threads that ran there
    #[arg(long)]
    pub(super) per_core: bool,

    /// A row for each hardware context, whoever runs there, until COMMAND ends or, without one,
    /// until Ctrl-C; needs perf_event_paranoid of 0 or less, or CAP_PERFMON
    #[arg(short, long)]
    pub(super) all: bool,

    /// Bind threads in order of their coming: compact, scatter, one-per-core, siblings-together or
    /// a list of CPUs; a process's first one as soon as there is a second, so that programs see how
    /// many CPUs they may use
    #[arg(long, value_name = "PLACEMENT", conflicts_with = "all")]
    pub(super) bind: Option<Placement>,

    /// Print what was counted in every MS milliseconds, as it comes
    #[arg(long, value_name = "MS",
          value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    pub(super) interval: Option<u64>,

    /// Print JSON: one document, with --interval one a line
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,

    /// Print a line of CSV per row, with --interval per row and interval
    #[arg(long)]
    pub(super) csv: bool,

    /// No live line on a terminal, which a COMMAND that prints would tear
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Write to FILE in place of standard error
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The program to count, with its arguments; its exit status becomes this one's
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "all")]
    pub(super) command: Vec<OsString>,
}

impl StatArgs {
    pub(super) fn interval(&self) -> Option<Duration> {
        self.interval.map(Duration::from_millis)
    }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu stat -- ./program 4
  pacman-pmu stat -e CYCLES,INSTRUCTIONS --bind compact -- ./program 4
  pacman-pmu stat --per-core --interval 1000 -- make -j8
  pacman-pmu stat -a -- sleep 10          everything that runs meanwhile
  pacman-pmu stat --json -o counts.json -- ./program

Exit status:
  COMMAND's own, or 128 and the number of the signal that ended it; and
  1    the machine does not let it be counted: permission, no such event, no ptrace; where ptrace
       fails midway, COMMAND runs on to its end
  2    bad input
  4    the answer could not be written
  126  COMMAND could not be run
  127  COMMAND was not found
  130  interrupted twice: COMMAND still runs, and is let go";

const FORMATS: &str = "\
JSON:
  format, version  \"pacman-stat\", 1
  command          a list
  by               thread, core or context
  interval         null for the whole run, or number (from 0), begin_ns and end_ns
  elapsed_ns       how long was counted
  exit_status      COMMAND's, or null
  simulated        the counts are of a simulated machine
  events           a list of name, unit, hardware and doubt: null, or why its counts may be wrong
  rows             a list of
    thread, pid, tid, name
                   of a thread, numbered in order of coming; else null
    rows           how many threads or contexts a core's row sums up; else null
    package, core, sibling, cpu
                   where it ran, or was seen last; null where unknown
    bound, moved   it could run there only; it is known to have run elsewhere too
    time_ns        how long it was there
    counts         one an event, or null where they could not be had
    ipc, stall_share, ghz
                   where their events were counted, else null
    implausible    why its counts were left out as impossible, or null
    notes          a list of lines
  total            time_ns, counts, ipc, stall_share, ghz, and missing: rows without counts
  notes            what must be known to read the figures

CSV:
  begin_ns,end_ns,by,thread,pid,tid,name,rows,package,core,sibling,cpu,bound,moved,time_ns,
  implausible
  and one column an event, such as CYCLES [cycles], or CYCLES? [cycles] where its counts may be
  wrong; what is absent is empty";
