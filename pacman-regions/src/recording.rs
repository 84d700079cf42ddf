//! What one process did in its parallel regions.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// All regions of one process, from the loading of the library to its end, however that came.
///
/// Times are in seconds of wall time; counts are user-mode counts of the thread itself
/// unless the event says otherwise, never its sibling's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Who ran.
    pub process: Process,
    /// The OpenMP runtimes that were met.
    pub runtimes: Vec<Runtime>,
    /// How many threads a region has by default (`omp_get_max_threads` at the first region).
    pub threads: u32,
    /// Hardware contexts that the process might use at the first region.
    pub contexts: u32,
    /// What was counted, in the order of every [`Row::counts`].
    pub events: Vec<Event>,
    /// What a count costs, measured in this process.
    pub overhead: Overhead,
    /// Every region, in the order of first execution.
    pub regions: Vec<Region>,
    /// When regions ran.
    pub timeline: Timeline,
    /// What the reader should know: one line each.
    pub notes: Vec<String>,
}

/// The process that was observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The number of the process that started it.
    pub parent: u32,
    /// The program and its arguments, with U+FFFD for bytes that are no text.
    pub command: Vec<String>,
    /// When the library was loaded, or the process forked, in seconds since 1970.
    #[serde(default)]
    pub began: f64,
    /// From then to its end; where it did not say when that was, to the latest end of a region.
    pub seconds: f64,
    /// How it came to its end.
    pub ending: Ending,
}

/// How a process came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// By itself, outside of regions.
    Exit,
    /// The same inside a region: executions under way are not in the rows.
    ExitInRegion,
    /// Replaced by another program.
    Exec,
    /// By the signal of that number: executions under way are not in the rows. Who waited for the
    /// process says so, not the recording.
    Killed(i32),
    /// Without a word: by a signal, `quick_exit` or a system call of its own. Executions under way are
    /// not in the rows.
    Unsaid,
    /// It had not when the recording was read.
    Running,
}

impl Ending {
    /// The word for programs.
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
    /// Whose it is.
    pub family: RuntimeFamily,
    /// The file.
    pub path: PathBuf,
    /// What it says of itself, where it does.
    pub version: Option<String>,
}

/// Whose OpenMP runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeFamily {
    /// GCC's.
    Libgomp,
    /// LLVM's and Intel's.
    Libomp,
}

/// An event that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// As it was asked for.
    pub name: String,
    /// Why it was not counted, if it was not; every row has no count of it then.
    pub uncounted: Option<String>,
}

/// What observing costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Nanoseconds that a begin and an end take on one thread, a median measured in this process
    /// when it was first needed; `None` if no region ran.
    pub nanoseconds: Option<f64>,
    /// How counts are read: `rdpmc`, `read`, `none`.
    pub reads: String,
}

/// A parallel region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Where its code is.
    pub site: Site,
    /// The runtime's entry that starts it, as `GOMP_parallel`.
    pub entry: String,
    /// Which of [`Recording::runtimes`] ran it.
    pub runtime: usize,
    /// How often it ran, and ended.
    pub executions: u64,
    /// How many of these were inside another region.
    pub nested: u64,
    /// Sum over executions, from before the team starts to after it ended, on the thread that
    /// started it.
    pub seconds: f64,
    /// The shortest execution.
    pub shortest: f64,
    /// The longest execution.
    pub longest: f64,
    /// The sizes that its teams had.
    pub teams: Vec<Team>,
    /// What each thread of the team did, by its number in the team.
    pub rows: Vec<Row>,
    /// What adaptation did with it; `None` if only observed.
    pub adaptation: Option<Adaptation>,
}

/// The code of a region: of the function that the compiler made of its body, or, where OMPT told of
/// it, of the call that starts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The file that has it; empty for code outside of any file.
    pub module: PathBuf,
    /// Its address as the file's symbol table has it (less the address that the module was
    /// loaded at, if the module can be loaded anywhere).
    pub address: u64,
    /// What the compiler left beside the call: `;file;function;line;column;;` of LLVM.
    pub source: Option<String>,
}

/// Executions with a team of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Team {
    /// Threads that took part.
    pub threads: u32,
    /// How many executions.
    pub executions: u64,
    /// Their time.
    pub seconds: f64,
}

/// What one thread of the team did in a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number in the team.
    pub thread: u32,
    /// How often it took part.
    pub executions: u64,
    /// Time inside the body, waiting at barriers inside included; the wait for the others at
    /// the end of the region is not.
    pub seconds: f64,
    /// The hardware context that it was on when that was looked at last: the first time it takes
    /// part, and every 16th time after that.
    pub cpu: Option<u32>,
    /// How often it was found on another context than when looked at before.
    pub moves: u64,
    /// Executions with counts: fewer than `executions` where a read failed.
    pub counted: u64,
    /// What each event counted over these, by [`Recording::events`]; `None` if it was not.
    pub counts: Vec<Option<u64>>,
}

/// What the controller did with a region.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    /// What the controller was at when the process ended.
    pub state: String,
    /// Threads it would run with next.
    pub threads: u32,
    /// Its configuration, as `2x1`.
    pub configuration: String,
    /// Why, in one line.
    pub why: String,
    /// Executions on fewer threads than without adaptation.
    pub narrowed: u64,
    /// Seconds that the controller reckons it gained (below 0: lost) against the default.
    pub gained: Option<f64>,
    /// Guards that acted.
    pub guards: Vec<Guarded>,
    /// Loops inside it that got threads of their own number.
    pub loops: Vec<Loop>,
}

/// A guard that kept a region as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    /// The guard's word, as `--lift` takes it.
    pub guard: String,
    /// What it saw, in one line.
    pub why: String,
    /// How many executions it decided.
    pub executions: u64,
}

/// A stretch of worksharing loops between two barriers of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// Where: the first loop's `;file;function;line;column;;`, or its address.
    pub source: String,
    /// How often it ran.
    pub executions: u64,
    /// Threads that get iterations, at the end.
    pub threads: u32,
    /// Why, in one line; also why it cannot be adapted.
    pub why: String,
}

/// When regions ran: bins of equal length over the life of the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Length of a bin in seconds.
    pub bin: f64,
    /// A row for each region that ran outside of others, by its index in [`Recording::regions`].
    pub rows: Vec<TimelineRow>,
}

/// A region over time. Both lists are as long as the process lived in bins, or shorter: what is
/// missing at the end is 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelineRow {
    /// Which of [`Recording::regions`].
    pub region: usize,
    /// Seconds of each bin during which it ran.
    pub seconds: Vec<f64>,
    /// The same times the size of the team: divided by `seconds` it is how wide the region was.
    pub thread_seconds: Vec<f64>,
}

impl Recording {
    /// How often its regions ran, and ended.
    pub fn executions(&self) -> u64 {
        self.regions.iter().fold(0, |sum, region| sum.saturating_add(region.executions))
    }
}

impl Adaptation {
    /// As an [arena](crate::arena) has it; `None` if a figure of it is none.
    pub fn to_text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}
