//! The arguments of `pacman-pmu stat` and its help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use pacman_core::Placement;

use crate::typed::one_list;

/// Count the events of a command by thread, and show threads that shared a core side by side.
///
/// COMMAND runs unmodified. ptrace stops each thread of COMMAND and of its child processes for a
/// moment before its first instruction and at its end. In between the thread has its own counters.
/// The stops cost each thread a few context switches. Hardware events count user mode from the
/// program's first instruction on, with the dynamic linker's. A table wider than COLUMNS becomes
/// several tables. Without COLUMNS, the width of the terminal applies.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}\n\n{CSV}"))]
#[command(group = clap::ArgGroup::new("by").args(["per_thread", "per_core", "per_command"]))]
pub(crate) struct StatArgs {
    /// Events, separated by commas; several -e are one list [default: hardware events if the machine has
    /// any, task-clock, page-faults, context-switches and cpu-migrations]. If they do not fit on the
    /// counters at once, the kernel rotates sets of them: a percentage marks estimates. If the machine
    /// refuses each hardware event of the list, its software events are counted, or else the time on a
    /// processor, and a line gives the reason
    #[arg(short, long, value_name = "EVENTS", action = clap::ArgAction::Append)]
    events: Vec<String>,

    /// Print a row for each thread: the default for up to 8 processes
    #[arg(long)]
    pub(super) per_thread: bool,

    /// Print a row for each core: the sum of the threads that ran there, with --all of its contexts
    #[arg(long)]
    pub(super) per_core: bool,

    /// Print a row for each command: the sum of its processes. The default for more than 8 processes
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(super) per_command: bool,

    /// Print only the N rows with the largest counts of the first event, in their usual order. Without
    /// that event, the longest times decide
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "csv", "repeat"],
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) top: Option<u32>,

    /// Count all programs, with a row for each hardware context, until COMMAND ends or until Ctrl-C.
    /// Requires perf_event_paranoid <= 0 or CAP_PERFMON
    #[arg(short, long, conflicts_with_all = ["per_thread", "per_command"])]
    pub(super) all: bool,

    /// Count the running process PID: its threads, and all threads and processes that they start from
    /// now on. Counting ends with PID, with COMMAND or at Ctrl-C. PID continues to run
    #[arg(short, long, value_name = "PID", conflicts_with_all = ["all", "repeat", "bind"],
          value_parser = clap::value_parser!(i32).range(1..))]
    pub(super) pid: Option<i32>,

    /// Bind threads in order of their start: compact, scatter, one-per-core, siblings-together or a
    /// list of CPUs. A process's first thread is bound when the second starts, so that the program
    /// sees all CPUs that it may use
    #[arg(long, value_name = "PLACEMENT", conflicts_with = "all")]
    pub(super) bind: Option<Placement>,

    /// Print the counts of every MS milliseconds during the run
    #[arg(short = 'I', long, value_name = "MS",
          value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    pub(super) interval: Option<u64>,

    /// Run COMMAND N times: a row for each run, then the median, minimum and maximum of each figure.
    /// A run that fails counts, and the first exit status that is not 0 is passed on. Ctrl-C leaves
    /// the interrupted run out
    #[arg(short, long, value_name = "N", conflicts_with_all = ["by", "all", "interval"],
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) repeat: Option<u32>,

    /// Print JSON: one document, or with --interval one on each line
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,

    /// Print CSV: a line for each row, with --interval for each row and interval
    #[arg(long)]
    pub(super) csv: bool,

    /// Show no live line on a terminal; output of COMMAND would break the line
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Write to FILE instead of standard error
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The program to count, with its arguments; pacman-pmu exits with its status
    #[arg(trailing_var_arg = true, value_name = "COMMAND", required_unless_present_any = ["all", "pid"])]
    pub(super) command: Vec<OsString>,
}

impl StatArgs {
    /// The list of events, if there is one.
    pub(super) fn events(&self) -> Option<String> {
        one_list(&self.events)
    }

    pub(super) fn interval(&self) -> Option<Duration> {
        self.interval.map(Duration::from_millis)
    }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu stat -- ./program 4
  pacman-pmu stat -e CYCLES,INSTRUCTIONS --bind compact -- ./program 4
  pacman-pmu stat --per-core --interval 1000 -- make -j8
  pacman-pmu stat --per-command --top 5 -- make -j8
  pacman-pmu stat --repeat 5 -- ./program 4
  pacman-pmu stat -p 1234 -- sleep 10     process 1234, for 10 s
  pacman-pmu stat -a -- sleep 10          all programs, for 10 s
  pacman-pmu stat --json -o counts.json -- ./program

Exit status:
  COMMAND's own, or 128 and the number of the signal that ended it; 0 without COMMAND; and
  1    COMMAND cannot be counted: permission, no counters, no ptrace. If ptrace fails during
       the run, COMMAND still runs to its end
  2    bad input, such as an unknown event; nothing runs
  4    the answer could not be written
  126  COMMAND could not be run
  127  COMMAND was not found
  130  interrupted twice: COMMAND goes on without being counted";

const JSON: &str = include_str!("../help/stat.txt");

const CSV: &str = "\
CSV:
  begin_ns,end_ns,by,thread,pid,tid,name,rows,package,core,sibling,cpu,bound,moved,time_ns,
  implausible,command_user_ns,command_system_ns,command_cpus_used
  and a column for each event, such as CYCLES [cycles], or CYCLES? [cycles] if its counts may be
  wrong. If sets rotated, also a column for each event such as CYCLES counted [share]. Absent
  values are empty. With --repeat, name is the run's number or median, minimum or maximum, and
  command_user_ns and the like are the run's.";
