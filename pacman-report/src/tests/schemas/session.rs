//! The report of a session, which pacman-core writes.
//!
//! It writes without derived types, so that programs that count compile neither serde nor its macros.
//! Real reports are held against this.

#![expect(dead_code, reason = "nothing but their schemas is used")]

use schemars::JsonSchema;

use crate::document::ProvenanceDocument;

#[derive(JsonSchema)]
pub(super) struct Report {
    /// Name of the format.
    #[schemars(extend("const" = "pacman-report"))]
    format: &'static str,
    /// Rises where a member changes its meaning or disappears.
    #[schemars(extend("const" = 1))]
    version: u32,
    /// The session's name.
    session: String,
    /// True if the counts come from a simulated machine.
    simulated: bool,
    /// Time since the session began.
    age_ns: u64,
    /// [Where, when and by which version](#conventions).
    provenance: ProvenanceDocument<'static>,
    /// Facts that a reader of the figures must know.
    notes: Vec<String>,
    /// Events, in the order of all counts.
    events: Vec<Event>,
    /// Events that were counted together, as indices into `events`.
    sets: Vec<Vec<u64>>,
    /// Rule by which the sets rotate; null if there is one set.
    #[schemars(extend("enum" = ["per-execution", "staggered", null]))]
    rotation: Option<&'static str>,
    /// Names of the phases.
    phases: Vec<String>,
    /// Threads in the order of their numbers.
    threads: Vec<Thread>,
}

#[derive(JsonSchema)]
struct Event {
    /// Name as asked.
    name: String,
    /// Unit of one count.
    unit: String,
    /// True if a hardware counter counts it.
    hardware: bool,
    /// Reason why all counts may be wrong.
    doubt: Option<String>,
    /// Installed table that gave the event its code, with its lists; null for a code of another origin.
    table: Option<String>,
    /// PMU of the only core type that counts the event, on a hybrid processor; else null.
    core_pmu: Option<String>,
    /// Event of which this is one core type's part, as an index into `events`.
    part_of: Option<u64>,
}

#[derive(JsonSchema)]
struct Thread {
    /// The session's number of the thread, from 0.
    number: u64,
    /// 1, or the number of ended threads that share this row, the last one.
    threads: u64,
    /// The kernel's number.
    tid: u64,
    /// Name of the thread.
    name: Option<String>,
    /// Hardware context of the thread; null if it is not known.
    place: Option<Place>,
    /// State of the thread in the session.
    #[schemars(extend("enum" = ["attached", "detached", "exited"]))]
    state: &'static str,
    /// Time in the session.
    attached_ns: u64,
    /// Way by which counts are read.
    #[schemars(extend("enum" = ["rdpmc", "read"]))]
    read_path: &'static str,
    /// Samples that did not fit in the log.
    log_dropped: u64,
    /// Facts about this thread.
    notes: Vec<String>,
    /// Phases that ran on this thread.
    phases: Vec<Phase>,
    /// Logged executions.
    log: Vec<Sample>,
}

#[derive(JsonSchema)]
struct Place {
    /// The kernel's number of the hardware context.
    cpu: u64,
    /// Number of the package.
    package: u64,
    /// Number of the core in its package.
    core: u64,
    /// Number of the context on its core.
    sibling: u64,
    /// NUMA node.
    node: u64,
    /// Type of the core.
    #[schemars(extend("enum" = ["uniform", "performance", "efficiency", "low-power"]))]
    core_type: &'static str,
    /// True if the thread was bound there.
    bound: bool,
}

#[derive(JsonSchema)]
struct Phase {
    /// Index into `phases` of the document.
    phase: u64,
    /// Executions that ended and are possible.
    executions: u64,
    /// Executions inside another one of the phase.
    recursions: u64,
    /// Executions that a panic ended.
    panics: u64,
    /// Executions begun and not ended.
    open: u64,
    /// Executions with an impossible value, which no figure contains; null if there are none.
    implausible: Option<Implausible>,
    /// Time of the executions; null if no execution ended.
    time_ns: Option<Statistic>,
    /// For each set, the executions that counted it.
    sets: Vec<u64>,
    /// For each event. A count contains a part of [the reads](costs.md) at the ends of each
    /// execution, and `time_ns` does not.
    counts: Vec<Count>,
}

#[derive(JsonSchema)]
struct Implausible {
    /// Number of the executions.
    executions: u64,
    /// Index of the event; null for the time.
    event: Option<u64>,
    /// The value in the first of them, in words.
    why: String,
}

#[derive(JsonSchema)]
struct Statistic {
    /// Sum over executions.
    sum: u64,
    /// Least of an execution.
    min: u64,
    /// Greatest of an execution.
    max: u64,
}

#[derive(JsonSchema)]
struct Count {
    /// Best figure: `scaled` if there is one, else the sum of `raw`.
    value: Option<u64>,
    /// Reason for a missing value.
    #[schemars(extend("enum" = ["never-counted", "not-finished", "not-sampled", "not-recorded", null]))]
    absent: Option<&'static str>,
    /// The counts themselves.
    raw: Option<Statistic>,
    /// Executions that counted the event.
    samples: u64,
    /// Estimate for all executions; null if `raw` is exact.
    scaled: Option<u64>,
    /// Time that the group was enabled; null if it was always on.
    enabled_ns: Option<u64>,
    /// Time of it that the group counted; null if it was always on.
    running_ns: Option<u64>,
}

#[derive(JsonSchema)]
struct Sample {
    /// Index into `phases` of the document.
    phase: u64,
    /// Begin, from the begin of the session.
    begin_ns: u64,
    /// End, from the begin of the session.
    end_ns: u64,
    /// Index into `sets` of the document.
    set: u64,
    /// Counts of the events of the set.
    counts: Vec<u64>,
}
