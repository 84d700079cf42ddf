//! The regions of the JSON report.

use pacman_events::shown::text_of;
use serde::Serialize;

use super::json_figures::{ThreadFacts, figures};
use super::report::{self, Columns, ProcessReport, RegionReport};
use super::{json_slots, json_states};
use crate::document::Seconds;
use crate::rows::Columns as InColumns;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Region<'a, F, T> {
    /// Name of the region.
    name: &'a str,
    /// Name for places without room, without types of C++ templates.
    short_name: String,
    /// Label of the Kokkos kernel that it belongs to, as the program gives it; null without.
    label: Option<&'a str>,
    /// Symbol of its code.
    symbol: Option<&'a str>,
    /// Source file.
    file: Option<&'a str>,
    /// Line in it.
    line: Option<u32>,
    /// File with the code.
    module: String,
    /// Address in the file.
    address: u64,
    /// LLVM's description of the place.
    source: Option<&'a str>,
    /// Entry of the runtime that starts it.
    entry: &'a str,
    /// Runtime that ran it.
    runtime: Option<String>,
    /// Completed executions.
    executions: u64,
    /// Sample of the timed executions, by which figures of threads are
    /// [estimates](observe.md#overhead-budget); null if the threads of every execution were timed.
    sampling: Option<json_states::Sample>,
    /// Executions inside another region.
    nested: u64,
    /// Executions inside another execution of the same region; only the outermost ones are in the
    /// times.
    within: u64,
    /// Threads that started the region; the share is at most this number.
    starters: u32,
    /// Sum of their wall times.
    time_s: Seconds,
    /// Shortest execution.
    shortest_s: Seconds,
    /// Longest execution.
    longest_s: Seconds,
    /// The figures that [`report::FIGURES`] defines.
    #[serde(flatten)]
    members: report::Members<'a>,
    /// Teams by their size.
    teams: Vec<Team>,
    /// Efficiency of the region; null without `--waits`.
    efficiency: Option<json_states::Efficiency>,
    /// Figures of all threads.
    figures: F,
    /// Figures without those of waits; null without `--waits`, without events, and if a wait could
    /// not be counted.
    useful_figures: Option<F>,
    /// Figures of waits at constructs; null like those.
    waiting_figures: Option<F>,
    /// [Issue slots](stalls-and-smt.md) of siblings side by side; null if their events were not counted.
    slots: Option<json_slots::Slots<'a>>,
    /// Energy of all processor packages during executions outside of other regions; null if none was
    /// read.
    energy: Option<report::EnergyFigures>,
    /// Threads of the team, [as columns](#conventions).
    threads: T,
    /// Choices of adaptation; null if the region was only observed.
    adaptation: Option<Adaptation<'a>>,
    /// An execution that had not ended when the process did, which no other figure has; null if there
    /// was none.
    open: Option<&'a report::OpenExecution>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Team {
    /// Size of the team.
    threads: u32,
    /// Executions with it.
    executions: u64,
    /// Sum of their wall times.
    time_s: Seconds,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Thread<'a, F> {
    #[serde(flatten)]
    facts: ThreadFacts<'a>,
    /// Time inside the body.
    busy_s: Seconds,
    /// Threads on other contexts of its core.
    beside: &'a [u32],
    /// States of the thread; null without `--waits`.
    states: Option<&'a report::ThreadStates>,
    /// Figures of this thread.
    figures: F,
    /// Figures without those of waits; null without `--waits`, without events, and if a wait could
    /// not be counted.
    useful_figures: Option<F>,
    /// Figures of waits at constructs; null like those.
    waiting_figures: Option<F>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Adaptation<'a> {
    /// State of the controller.
    state: &'a str,
    /// Threads of the next execution.
    threads: u32,
    /// Configuration of the next execution.
    configuration: &'a str,
    /// Reason for the choice.
    why: &'a str,
    /// Executions on fewer threads or contexts by choice, not by `--max-threads` alone.
    reduced: u64,
    /// Estimated gain against the default; below 0: lost.
    gained_s: Option<f64>,
}

/// A region as a reader sees it.
#[cfg(test)]
pub(crate) type Written = Region<
    'static,
    super::json_figures::Written,
    crate::rows::Rows<Thread<'static, super::json_figures::Written>>,
>;

pub(super) fn region<'a>(
    process: &'a ProcessReport,
    region: &'a RegionReport,
) -> impl Serialize + 'a {
    let (columns, by_state) = (&process.columns, region.by_state.as_ref());
    let team = |team: &pacman_regions::Team| Team {
        threads: team.threads,
        executions: team.executions,
        time_s: Seconds(team.seconds),
    };
    Region {
        name: &region.name.text,
        short_name: region.name.short(),
        label: region.label.as_deref(),
        symbol: region.name.symbol.as_deref(),
        file: region.name.file.as_deref(),
        line: region.name.line,
        module: text_of(&region.site.module),
        address: region.site.address,
        source: region.site.source.as_deref(),
        entry: &region.entry,
        runtime: process.runtimes.get(region.runtime).map(report::runtime),
        executions: region.executions,
        sampling: json_states::sample(region),
        nested: region.nested,
        within: region.within,
        starters: region.starters,
        time_s: Seconds(region.seconds),
        shortest_s: Seconds(region.shortest),
        longest_s: Seconds(region.longest),
        members: report::Members(region),
        teams: region.teams.iter().map(team).collect(),
        efficiency: json_states::efficiency(region),
        figures: figures(columns, &region.figures),
        useful_figures: by_state.map(|own| figures(columns, &own.useful)),
        waiting_figures: by_state.map(|own| figures(columns, &own.waiting)),
        slots: region.slots.as_ref().map(json_slots::slots),
        energy: region.energy,
        threads: InColumns(move || {
            region.threads.iter().map(move |one| thread(columns, region, one))
        }),
        adaptation: region.adaptation.as_ref().map(adaptation),
        open: region.open.as_ref(),
    }
}

fn thread<'a>(
    columns: &'a Columns,
    region: &'a RegionReport,
    thread: &'a report::Thread,
) -> impl Serialize + 'a {
    let by_state = thread.by_state.as_ref();
    Thread {
        facts: ThreadFacts::of(thread),
        busy_s: Seconds(thread.row.seconds),
        beside: &thread.beside,
        states: json_states::states(region, thread.row.thread),
        figures: figures(columns, &thread.figures),
        useful_figures: by_state.map(|own| figures(columns, &own.useful)),
        waiting_figures: by_state.map(|own| figures(columns, &own.waiting)),
    }
}

fn adaptation(adaptation: &pacman_regions::Adaptation) -> Adaptation<'_> {
    Adaptation {
        state: &adaptation.state,
        threads: adaptation.threads,
        configuration: &adaptation.configuration,
        why: &adaptation.why,
        reduced: adaptation.reduced,
        gained_s: adaptation.gained,
    }
}
