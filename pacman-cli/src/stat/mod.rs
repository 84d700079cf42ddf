//! `pacman-pmu stat`: counts of an unmodified command, by thread, core or context.

mod affinity;
mod answer;
mod contexts;
mod csv;
mod events;
mod figures;
mod follow;
mod json;
mod launch;
mod progress;
mod ptrace;
mod run;
mod text;
mod thread;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pacman_core::backend::perf::{Sharing, backend_on};
use pacman_core::backend::{Backend, Reading, Target};
use pacman_core::{Event, Placement, Topology, platform};

use crate::error;
use crate::signals::Signals;
use affinity::ThreadPlaces;
use answer::{Answer, Sink};
use contexts::Contexts;
pub(crate) use events::named_twice;
use follow::Follower;
use launch::Held;
pub(crate) use launch::{found, has_capabilities, not_run};
pub(crate) use text::{clean, grouped};

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
    events: Option<String>,

    /// A row for each thread, which is the default
    #[arg(long)]
    per_thread: bool,

    /// A row for each core: the sum of the threads that ran there
    #[arg(long)]
    per_core: bool,

    /// A row for each hardware context, whoever runs there, until COMMAND ends or, without one,
    /// until Ctrl-C; needs perf_event_paranoid of 0 or less, or CAP_PERFMON
    #[arg(short, long)]
    all: bool,

    /// Bind threads in order of their coming: compact, scatter, one-per-core, siblings-together or
    /// a list of CPUs; a process's first one as soon as there is a second, so that programs see how
    /// many CPUs they may use
    #[arg(long, value_name = "PLACEMENT", conflicts_with = "all")]
    bind: Option<Placement>,

    /// Print what was counted in every MS milliseconds, as it comes
    #[arg(long, value_name = "MS",
          value_parser = clap::value_parser!(u64).range(10..=3_600_000))]
    interval: Option<u64>,

    /// Print JSON: one document, with --interval one a line
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print a line of CSV per row, with --interval per row and interval
    #[arg(long)]
    csv: bool,

    /// No live line on a terminal, which a COMMAND that prints would tear
    #[arg(short, long)]
    quiet: bool,

    /// Write to FILE in place of standard error
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The program to count, with its arguments; its exit status becomes this one's
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "all")]
    command: Vec<OsString>,
}

/// Why nothing is counted: a line, and the exit status that says so.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) problem: String,
    pub(crate) status: u8,
}

impl StatArgs {
    fn interval(&self) -> Option<Duration> {
        self.interval.map(Duration::from_millis)
    }
}

/// Runs the command and counts it; the exit status is the command's.
pub(crate) fn stat(args: &StatArgs) -> io::Result<u8> {
    let done = if args.all { contexts(args) } else { threads(args) };
    Ok(done.unwrap_or_else(|Refusal { problem, status }| {
        error::complain(&problem);
        status
    }))
}

fn threads(args: &StatArgs) -> Result<u8, Refusal> {
    let topology = topology()?;
    let places = match &args.bind {
        None => ThreadPlaces::none(),
        Some(placement) => {
            ThreadPlaces::of(placement, &topology).map_err(|error| Refusal::from(&error))?
        }
    };
    let chosen = events::choose(args.events.as_deref(), &THREADS_SOFTWARE, backend, counts)?;
    let doubt =
        chosen.made.open(Target::Caller).map_err(|error| Refusal::from(&error))?.caps().doubt;
    let sink = Sink::open(args.output.as_deref())?;
    let signals =
        Signals::hold().map_err(|error| Refusal { problem: error.to_string(), status: REFUSED })?;
    let held = Held::start(&args.command, &signals)?;
    held.follow()?;
    let mut follower =
        Follower::new(&*chosen.made, chosen.events.len(), places, held.pid, &topology);
    let mut answer = Answer::new(args, &chosen.events, doubt, sink);
    answer.notes.extend(chosen.footnote);
    run::run(Some(held), &mut follower, &signals, answer)
}

fn contexts(args: &StatArgs) -> Result<u8, Refusal> {
    let topology = topology()?;
    let cpus = topology.allowed();
    let mut attempts = 0;
    let attempt = |events: &[Event]| {
        // While one attempt is tried the last that worked is still open.
        attempts += 1;
        Contexts::open(&format!("stat-{attempts}"), events, &cpus, &topology)
    };
    let list = args.events.as_deref();
    let chosen = events::choose(list, &CONTEXTS_SOFTWARE, attempt, Contexts::last_counts)?;
    let sink = Sink::open(args.output.as_deref())?;
    let signals =
        Signals::hold().map_err(|error| Refusal { problem: error.to_string(), status: REFUSED })?;
    let held = match args.command.as_slice() {
        [] => None,
        command => Some(Held::start(command, &signals)?),
    };
    let mut contexts = chosen.made;
    let mut answer = Answer::new(args, &chosen.events, contexts.doubt(), sink);
    answer.notes.extend(chosen.footnote);
    run::run(held, &mut contexts, &signals, answer)
}

fn backend(events: &[Event]) -> pacman_core::Result<Box<dyn Backend>> {
    let platform = platform::current();
    let backend = backend_on(platform, events, Sharing::Exclusive, platform.permissions())?;
    // Some refusals come only when counters are to be on.
    backend.open(Target::Caller)?;
    Ok(backend)
}

/// Whether the last of `events` counts on the calling thread.
fn counts(backend: &mut Box<dyn Backend>, events: usize) -> bool {
    let counted = || -> pacman_core::Result<u64> {
        let mut counters = backend.open(Target::Caller)?;
        let (mut before, mut after) = (Reading::EMPTY, Reading::EMPTY);
        counters.read(&mut before)?;
        events::exercise();
        counters.read(&mut after)?;
        Ok(after.count_since(&before, events - 1))
    };
    counted().is_ok_and(|count| count > 0)
}

fn topology() -> Result<Topology, Refusal> {
    Topology::detect().map_err(|error| Refusal::from(&error))
}

fn system(error: &io::Error) -> Refusal {
    Refusal { problem: format!("cannot count: the system says {error}"), status: REFUSED }
}

/// The exit status when the machine does not let the command be counted.
const REFUSED: u8 = 1;

const THREADS_SOFTWARE: [&str; 4] =
    ["task-clock", "page-faults", "context-switches", "cpu-migrations"];

/// A context's clock never stops, and takes the task clock's place.
const CONTEXTS_SOFTWARE: [&str; 4] =
    ["cpu-clock", "page-faults", "context-switches", "cpu-migrations"];

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
