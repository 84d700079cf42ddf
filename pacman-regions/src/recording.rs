//! The parallel regions of one process.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Event, ExecutionLog, Machine, Phase, Remembered, Row, Scheduling, Site, Wait, Waits};

/// All regions of one process, from the loading of the library to the end of the process.
///
/// Times are seconds of wall time. Counts are of the thread itself, never of its sibling, and of user mode
/// unless the event says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The observed process.
    pub process: Process,
    /// The OpenMP runtimes that ran regions.
    pub runtimes: Vec<Runtime>,
    /// The default team size (`omp_get_max_threads` at the first region).
    pub threads: u32,
    /// The hardware contexts that the process could use at the first region.
    pub contexts: u32,
    /// The machine; `None` if no region ran, or if its topology is not known. The command completes the recordings
    /// of its own run.
    #[serde(default)]
    pub machine: Option<Machine>,
    /// The requested events, in the order of every [`Row::counts`].
    pub events: Vec<Event>,
    /// The event sets that took turns on the counters, as indices in `events`; empty if all events were
    /// counted together. An event is in one set or in all of them.
    #[serde(default)]
    pub sets: Vec<Vec<usize>>,
    /// The cost of a count, measured in this process.
    pub overhead: Overhead,
    /// The energy of the packages during the process; `None` if it was not read.
    #[serde(default)]
    pub energy: Option<ProcessEnergy>,
    /// The threads that started regions inside no other. The times of such regions add up to at most the
    /// process's time for each of these threads.
    #[serde(default = "one")]
    pub roots: u32,
    /// Every region, in the order of first execution.
    pub regions: Vec<Region>,
    /// The phases that the program marks by calls of a tool, in the order of first execution.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// The times at which regions ran.
    pub timeline: Timeline,
    /// The waits inside regions; `None` if they were not asked for.
    #[serde(default)]
    pub waits: Option<Waits>,
    /// The first single executions of each thread; empty if they were not asked for.
    #[serde(default)]
    pub logs: Vec<ExecutionLog>,
    /// The kernel's account of the threads. The library records it if it times waits and the process
    /// exits; otherwise the command completes it for the process that it started.
    #[serde(default)]
    pub scheduling: Option<Scheduling>,
    /// Notes for the user, one line each.
    pub notes: Vec<String>,
}

/// The observed process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// The process number.
    pub pid: u32,
    /// The number of the parent process.
    pub parent: u32,
    /// The program and its arguments. A word that is not UTF-8 has the form `$'…'`, with `\xNN` for bytes.
    pub command: Vec<String>,
    /// The time at which the library was loaded or the process was forked, in seconds since 1970.
    #[serde(default)]
    pub began: f64,
    /// Seconds from `began` to the end of the process. If the process recorded no end, they run to the
    /// latest end of a region.
    pub seconds: f64,
    /// How the process ended.
    pub ending: Ending,
    /// The name of the host, if the system gives one.
    #[serde(default)]
    pub host: Option<String>,
    /// The place among the processes of an MPI program, if a launcher gave one.
    #[serde(default)]
    pub rank: Option<Rank>,
}

/// The place of a process among the processes that a launcher of MPI programs started together.
///
/// A process that a rank starts inherits the variables and has the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// The rank in `MPI_COMM_WORLD`.
    pub rank: u32,
    /// The number of ranks, if the launcher says.
    pub ranks: Option<u32>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It exited outside of regions.
    Exit,
    /// It exited inside a region. Open executions are not in the rows.
    ExitInRegion,
    /// It became another program.
    Exec,
    /// The signal of that number killed it. Open executions are not in the rows. The waiting process adds
    /// this, not the recording.
    Killed(i32),
    /// It recorded no end: a signal, `quick_exit` or the instruction of a system call ended it. Open executions are
    /// not in the rows.
    Unsaid,
    /// It was still running when the recording was read.
    Running,
}

impl Ending {
    /// The name in JSON and CSV.
    pub fn word(self) -> &'static str {
        match self {
            Ending::Exit => "exit",
            Ending::ExitInRegion => "exit-in-region",
            Ending::Exec => "exec",
            Ending::Killed(_) => "killed",
            Ending::Unsaid => "unsaid",
            Ending::Running => "running",
        }
    }
}

/// An OpenMP runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// The origin of the runtime.
    pub family: RuntimeFamily,
    /// The file of the runtime.
    pub path: PathBuf,
    /// The version, if the runtime gives one.
    pub version: Option<String>,
}

/// The family of an OpenMP runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeFamily {
    /// GCC's.
    Libgomp,
    /// LLVM's and Intel's.
    Libomp,
}

/// The cost of observing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Nanoseconds of a begin and an end on one thread: a median, measured in this process at its first
    /// region; `None` if no region ran.
    pub nanoseconds: Option<f64>,
    /// How counts are read: `rdpmc`, `read`, `none`.
    pub reads: String,
    /// The counts of an execution with an empty body, in the order of [`Recording::events`]: those of the readings
    /// themselves. Medians, measured with `nanoseconds`; `None` for an event that could not be read.
    #[serde(default)]
    pub counts: Vec<Option<u64>>,
}

/// The energy of all processor packages during a process. Other processes on them are included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessEnergy {
    /// The joules from the start of the process to the latest reading.
    pub joules: f64,
    /// The seconds from the start of the process to the latest reading.
    pub seconds: f64,
    /// The interface that was read: `powercap` or `perf`.
    pub source: String,
    /// The number of packages.
    pub packages: u32,
    /// The joules after which the counter of a package wraps.
    pub wraps_after: f64,
    /// The longest time between two readings, in seconds.
    pub longest_gap: f64,
}

/// The energy of all processor packages during the executions of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RegionEnergy {
    /// The sum over the executions with energy.
    pub joules: f64,
    /// The time between the readings of these executions, in seconds.
    pub seconds: f64,
    /// The executions with energy.
    pub executions: u64,
    /// Executions outside of other regions that have none: a counter could not be read, or another
    /// thread's region was open and has the energy.
    pub unread: u64,
}

/// A parallel region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The code of the region.
    pub site: Site,
    /// The label of the Kokkos kernel that it belongs to.
    #[serde(default)]
    pub label: Option<String>,
    /// The entry of the runtime that starts it, as `GOMP_parallel`.
    pub entry: String,
    /// The index of its runtime in [`Recording::runtimes`].
    pub runtime: usize,
    /// Completed executions.
    pub executions: u64,
    /// The executions whose threads were timed, if not all were: figures of threads are estimates then.
    #[serde(default)]
    pub sampling: Option<Sampling>,
    /// The executions inside another region.
    pub nested: u64,
    /// Those of them inside another execution of the same region. No time of this region has them twice: they
    /// are in the outermost execution.
    #[serde(default)]
    pub within: u64,
    /// The threads that started it. Executions of different threads may overlap.
    #[serde(default = "one")]
    pub starters: u32,
    /// Seconds on the primary thread from before the team starts to after it ends; an exact sum over all
    /// outermost executions, timed or not.
    pub seconds: f64,
    /// The part of `seconds` that was inside no other region.
    #[serde(default)]
    pub outer: f64,
    /// The time of the shortest execution, in seconds.
    pub shortest: f64,
    /// The time of the longest execution, in seconds.
    pub longest: f64,
    /// Its teams by size.
    pub teams: Vec<Team>,
    /// The parts of each thread, by its number in the team.
    pub rows: Vec<Row>,
    /// The decisions of adaptation; `None` if the region was only observed.
    pub adaptation: Option<Adaptation>,
    /// The energy of the packages during its executions; `None` if it was never read.
    #[serde(default)]
    pub energy: Option<RegionEnergy>,
    /// The parts of an execution that had not ended when the process did. No other figure has them.
    #[serde(default)]
    pub open: Vec<OpenPart>,
}

/// A thread's part of an execution that had not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenPart {
    /// The thread's number in the team.
    pub thread: u32,
    /// Seconds from the start of the process to the begin of the part.
    pub since: f64,
    /// The waits that had ended, if waits were timed.
    pub waits: Vec<Wait>,
}

/// The sample of a region's executions whose threads were timed.
///
/// The time of the region and the number of its executions are exact. The time of single threads, and so waits,
/// teams of several sizes and imbalance, are estimates from the sample, scaled to the exact time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// The timed executions.
    pub timed: u64,
    /// Half of the interval of each estimate, as a part of the threads' time in the region, from 0 to 1. The true
    /// value is in the interval in at least 95 of 100 runs.
    pub margin: f64,
    /// The seconds that timing an execution took; `None` if too few were timed.
    pub cost: Option<f64>,
}

impl Sampling {
    /// Whether the estimates say anything: an interval of half of the threads' time or more has every value.
    pub fn is_known(&self) -> bool {
        self.margin < 0.5
    }
}

fn one() -> u32 {
    1
}

/// Executions with a team of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Team {
    /// The size of the team.
    pub threads: u32,
    /// Executions with that size.
    pub executions: u64,
    /// The sum of their times, in seconds.
    pub seconds: f64,
}

/// The controller's decisions for a region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// The state of the controller at the end of the process.
    pub state: String,
    /// The threads of the next execution.
    pub threads: u32,
    /// The configuration of the next execution, as `2x1`.
    pub configuration: String,
    /// The reason, in one line.
    pub why: String,
    /// Executions with fewer threads than without adaptation.
    pub reduced: u64,
    /// The estimated gain against the default, in seconds; negative for a loss.
    pub gained: Option<f64>,
    /// Numbers of contexts on which its threads were packed, each with the usual time over the one with all contexts.
    #[serde(default)]
    pub packed: Vec<(u32, f64)>,
    /// The rows have all that its threads do: it made no tasks, which may run after the body, and had no regions inside.
    #[serde(default)]
    pub all_in_rows: bool,
    /// The measurements for the next run of the program.
    #[serde(default)]
    pub remembered: Option<Remembered>,
}

/// The times at which regions ran, in bins of equal length over the life of the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The length of a bin, in seconds.
    pub bin: f64,
    /// A row for each region that ran outside of others.
    pub rows: Vec<TimelineRow>,
}

/// A region over time. Bins that are missing at the end of a list are 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelineRow {
    /// The index in [`Recording::regions`].
    pub region: usize,
    /// The seconds of each bin during which the region ran.
    pub seconds: Vec<f64>,
    /// The same seconds times the size of the team. Divided by `seconds`, they give the mean size.
    pub thread_seconds: Vec<f64>,
}

impl Recording {
    /// The completed executions of all regions.
    pub fn executions(&self) -> u64 {
        self.regions.iter().fold(0, |sum, region| sum.saturating_add(region.executions))
    }
}

impl Adaptation {
    /// The text in an [arena](crate::arena); `None` if a number is not finite.
    pub fn to_text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}
