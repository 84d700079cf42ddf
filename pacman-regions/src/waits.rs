//! The waits of threads inside regions.

use serde::{Deserialize, Serialize};

use crate::Site;

/// The waits of a process whose user asked for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// The waiting constructs that threads met.
    pub sites: Vec<WaitSite>,
    /// Several threads started regions that were inside no other.
    #[serde(default)]
    pub several_roots: bool,
    /// The MPI calls outside of regions, by thread.
    #[serde(default)]
    pub outside: Vec<OutsideWaits>,
}

/// The MPI calls of one thread outside of regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutsideWaits {
    /// The thread's number, in the order of first MPI calls outside of regions or first regions. A later
    /// thread may get the number of a thread that has ended.
    pub thread: u32,
    /// Whether the thread is the first that started a region inside no other. The threads of its teams
    /// wait for its MPI calls.
    pub starts_regions: bool,
    /// The calls by their place.
    pub waits: Vec<Wait>,
    /// Calls that the thread left without their end, as by `longjmp`. No figure has them.
    #[serde(default)]
    pub dropped: u64,
}

/// A waiting construct: the call of the runtime or of MPI in which threads wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitSite {
    /// The code of the call.
    pub site: Site,
    /// The kind of the construct.
    pub cause: Cause,
    /// The name of an MPI call, as `MPI_Recv`; `None` for other constructs.
    #[serde(default)]
    pub call: Option<String>,
}

/// The kernel's account of threads: of all threads at the exit, or of the first thread only.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    /// Seconds on processors.
    pub ran: f64,
    /// Seconds in which threads could run and had no processor.
    pub delayed: f64,
}

impl Scheduling {
    /// The part of the time in which threads could run that they ran; `None` if they hardly ran.
    pub fn processor_share(&self) -> Option<f64> {
        let able = self.ran + self.delayed;
        (able >= SHORTEST).then(|| self.ran / able)
    }

    /// Whether threads got clearly less than a processor each.
    pub fn lacks_processors(&self) -> bool {
        self.processor_share().is_some_and(|share| share < ENOUGH)
    }
}

/// A thread with at least this share of a processor counts as having one to itself.
const ENOUGH: f64 = 0.95;
/// Seconds of all threads. Below this, one time slice of another process decides the share.
const SHORTEST: f64 = 0.05;

/// The states of one thread in a region, outside of its plain work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct States {
    /// Seconds from the start of the region to the start of the thread's part.
    #[serde(default)]
    pub starting: f64,
    /// Seconds in tasks that the thread ran after its part, in the wait at the region's end.
    #[serde(default)]
    pub late_tasks: f64,
    /// Waits that the thread left without their end, as by `longjmp`. No figure has them.
    #[serde(default)]
    pub dropped: u64,
    /// Tasks that the library could not follow. Their time counts as waiting if they ran in a wait.
    #[serde(default)]
    pub unseen_tasks: u64,
    /// Seconds of useful time in which the thread was on no processor; `None` if the kernel's clock could not
    /// be read.
    #[serde(default)]
    pub useful_off: Option<f64>,
    /// The same of waits at constructs.
    #[serde(default)]
    pub waiting_off: Option<f64>,
    /// Waits by construct.
    #[serde(default)]
    pub waits: Vec<Wait>,
    /// The executions with counts of all waits.
    #[serde(default)]
    pub counted: u64,
    /// The sums of the counts in waits over `counted` executions, in the order of
    /// [`Recording::events`](crate::Recording::events); `None` for an event without counts.
    #[serde(default)]
    pub counts: Vec<Option<u64>>,
}

/// The waits of one thread in a region at one construct.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The index in [`Waits::sites`].
    pub site: usize,
    /// The number of waits.
    pub count: u64,
    /// Their time in seconds, without the tasks that the thread ran meanwhile.
    pub seconds: f64,
}

macro_rules! causes {
    ($($(#[$about:meta])+ $name:ident = $number:literal, $word:literal;)+) => {
        /// The kind of a waiting construct.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[repr(u32)]
        pub enum Cause { $($(#[$about])+ $name = $number),+ }

        impl Cause {
            /// All causes.
            pub const ALL: &'static [Cause] = &[$(Cause::$name),+];

            /// The name in JSON and CSV.
            pub fn word(self) -> &'static str {
                match self { $(Cause::$name => $word),+ }
            }
        }
    };
}

causes! {
    /// A barrier. GCC ends loops without a schedule, and `single`, by the same call.
    Barrier = 1, "barrier";
    /// The end of a loop.
    Loop = 2, "loop";
    /// The end of sections.
    Sections = 3, "sections";
    /// The end of a `single`, or its `copyprivate`.
    Single = 4, "single";
    /// The end of a worksharing construct whose kind is not known.
    Worksharing = 5, "worksharing";
    /// A reduction.
    Reduction = 6, "reduction";
    /// A critical section.
    Critical = 7, "critical";
    /// An atomic operation that takes a lock.
    Atomic = 8, "atomic";
    /// A lock of the OpenMP API.
    Lock = 9, "lock";
    /// An ordered construct.
    Ordered = 10, "ordered";
    /// A `taskwait`.
    Taskwait = 11, "taskwait";
    /// The end of a `taskgroup`.
    Taskgroup = 12, "taskgroup";
    /// A call of MPI.
    Mpi = 13, "mpi";
    /// Requests for the next chunk of a loop.
    Chunks = 14, "chunks";
}

impl Cause {
    /// The cause of that number.
    pub fn numbered(number: u64) -> Option<Cause> {
        Cause::ALL.iter().copied().find(|cause| u64::from(*cause as u32) == number)
    }
}
