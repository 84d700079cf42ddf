//! The states of threads as stacked bars: useful time, and waits by what they are for.

use std::collections::BTreeMap;

use pacman_regions::Cause;

use super::bars::{self, Part};
use super::escape::escaped;
use crate::run::report::{ProcessReport, Reason, RegionReport, Thread, ThreadStates};
use crate::run::text::seconds;

/// A state of a thread, in the order of the bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Useful,
    /// Inside the region's body, where waits were not timed.
    Busy,
    Start,
    Barrier,
    Loop,
    Lock,
    Chunks,
    Ordered,
    Tasks,
    Mpi,
    End,
    /// Outside of the region's body, where waits were not timed.
    Waiting,
    /// Without a region.
    Serial,
}

impl State {
    fn of(reason: Reason) -> State {
        match reason {
            Reason::Start => State::Start,
            Reason::End => State::End,
            Reason::Site(_, cause) => match cause {
                Cause::Barrier => State::Barrier,
                Cause::Loop
                | Cause::Sections
                | Cause::Single
                | Cause::Worksharing
                | Cause::Reduction => State::Loop,
                Cause::Critical | Cause::Atomic | Cause::Lock => State::Lock,
                Cause::Chunks => State::Chunks,
                Cause::Ordered => State::Ordered,
                Cause::Taskwait | Cause::Taskgroup => State::Tasks,
                Cause::Mpi => State::Mpi,
            },
        }
    }

    /// The class with its colour and pattern.
    fn class(self) -> &'static str {
        match self {
            State::Useful | State::Busy => "s-useful",
            State::Start => "s-start",
            State::Barrier => "s-barrier",
            State::Loop => "s-loop",
            State::Lock => "s-lock",
            State::Chunks => "s-chunks",
            State::Ordered => "s-ordered",
            State::Tasks => "s-tasks",
            State::Mpi => "s-mpi",
            State::End | State::Waiting => "s-end",
            State::Serial => "s-serial",
        }
    }

    fn word(self) -> &'static str {
        match self {
            State::Useful => "useful",
            State::Busy => "busy",
            State::Start => "start",
            State::Barrier => "barrier",
            State::Loop => "loop end",
            State::Lock => "lock",
            State::Chunks => "chunks",
            State::Ordered => "ordered",
            State::Tasks => "tasks",
            State::Mpi => "MPI",
            State::End => "region end",
            State::Waiting => "waiting",
            State::Serial => "no region",
        }
    }
}

/// Seconds by state.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts(BTreeMap<State, f64>);

impl Parts {
    fn add(&mut self, state: State, seconds: f64) {
        *self.0.entry(state).or_default() += seconds.max(0.0);
    }

    pub(super) fn add_all(&mut self, other: &Parts, part: f64) {
        other.0.iter().for_each(|(state, seconds)| self.add(*state, part * seconds));
    }

    /// Of a thread whose waits were timed.
    fn timed(thread: &ThreadStates) -> Parts {
        let mut parts = Parts::default();
        parts.add(State::Useful, thread.useful);
        thread.by_reason().for_each(|(reason, seconds)| parts.add(State::of(reason), seconds));
        parts
    }

    fn of_thread(region: &RegionReport, thread: &Thread) -> Parts {
        let states = region.states.iter().flat_map(|states| &states.threads);
        let mut own = states.filter(|states| states.thread == thread.row.thread);
        if let Some(states) = own.next() {
            return Parts::timed(states);
        }
        let teams = region.teams.iter().filter(|team| team.threads > thread.row.thread);
        let there: f64 = teams.map(|team| team.seconds).sum();
        let mut parts = Parts::default();
        parts.add(State::Busy, thread.row.seconds);
        parts.add(State::Waiting, there - thread.row.seconds);
        parts
    }

    /// All threads of a region together.
    pub(super) fn of_region(region: &RegionReport) -> Parts {
        let mut all = Parts::default();
        for thread in &region.threads {
            all.add_all(&Parts::of_thread(region, thread), 1.0);
        }
        all
    }

    /// All threads of a process together, as parts of its wall time.
    pub(super) fn of_process(process: &ProcessReport) -> Parts {
        let seconds = process.process.seconds;
        let Some(tree) = &process.efficiency else {
            let lost = process.regions.iter().map(RegionReport::lost).sum();
            return Parts::of_times(seconds, process.in_regions, lost);
        };
        let (mut all, mut lost) = (Parts::default(), 0.0);
        let part = 1.0 / f64::from(tree.threads);
        for (reason, (uneven, common)) in &tree.losses.reasons {
            all.add(State::of(*reason), part * (uneven + common));
            lost += uneven + common;
        }
        all.add(State::Serial, part * tree.serial);
        all.add(State::Useful, part * (tree.losses.there - lost));
        all
    }

    /// Of a process of which only these times are known.
    pub(super) fn of_times(seconds: f64, in_regions: f64, waiting: f64) -> Parts {
        let mut parts = Parts::default();
        parts.add(State::Busy, in_regions - waiting);
        parts.add(State::Waiting, waiting);
        parts.add(State::Serial, seconds - in_regions);
        parts
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.values().sum()
    }

    /// A bar that fills its track if it has `whole` seconds.
    pub(super) fn bar(&self, whole: f64, who: &str) -> String {
        let all = self.sum();
        let shown = self.0.iter().filter(|(_, time)| **time > 0.0);
        let part = |(state, time): (&State, &f64)| Part {
            class: state.class(),
            word: state.word(),
            share: time / all,
            width: if whole > 0.0 { (100.0 * time / whole).min(100.0) } else { 0.0 },
            amount: seconds(*time),
        };
        bars::bar(who, &shown.map(part).collect::<Vec<_>>())
    }

    /// The states that occur, with their part of the time.
    pub(super) fn legend(&self) -> String {
        let all = self.sum();
        let shown = self.0.iter().filter(|(_, time)| **time > 0.0);
        bars::legend(shown.map(|(state, time)| (state.class(), state.word(), time / all)))
    }
}

/// A bar for each thread; those of one core stand together in a bracket.
pub(super) fn threads(region: &RegionReport) -> String {
    if region.threads.is_empty() {
        return "<p>No thread finished an execution.</p>".into();
    }
    let parts = |thread: &Thread| Parts::of_thread(region, thread);
    let whole = region.threads.iter().map(|thread| parts(thread).sum()).fold(0.0, f64::max);
    let row = |thread: &&Thread| {
        let name = format!("T{}", thread.row.thread);
        let parts = parts(thread);
        format!(
            "<li><span class=\"who\"><b>{name}</b> {}</span>{}</li>",
            escaped(&place(thread)),
            parts.bar(whole, &name),
        )
    };
    let mut rows = String::new();
    for core in by_core(region) {
        let (class, name) = match shared_place(&core) {
            Some(place) => (" shared", format!("<span class=\"core-name\">{place}</span>")),
            None => ("", String::new()),
        };
        let threads: String = core.iter().map(row).collect();
        rows.push_str(&format!("<li class=\"core{class}\">{name}<ol>{threads}</ol></li>"));
    }
    format!("<ol class=\"cores\">{rows}</ol>{}", Parts::of_region(region).legend())
}

/// The name of a place with several threads: a core, or a CPU whose threads take turns.
fn shared_place(threads: &[&Thread]) -> Option<String> {
    let seat = threads[0].seat?;
    let cpu = threads[0].row.cpu?;
    (threads.len() > 1).then(|| match threads.iter().all(|thread| thread.row.cpu == Some(cpu)) {
        true => format!("cpu {cpu}"),
        false => format!("core {}", seat.core),
    })
}

/// Threads in their order, those that share a core beside each other.
fn by_core(region: &RegionReport) -> Vec<Vec<&Thread>> {
    let mut cores: Vec<Vec<&Thread>> = Vec::new();
    for thread in &region.threads {
        let same = |core: &&mut Vec<&Thread>| {
            thread.seat.zip(core[0].seat).is_some_and(|(own, other)| own.core == other.core)
        };
        match cores.iter_mut().find(same) {
            Some(core) => core.push(thread),
            None => cores.push(vec![thread]),
        }
    }
    cores
}

fn place(thread: &Thread) -> String {
    match (thread.row.cpu, thread.row.moves) {
        (None, _) => String::new(),
        (Some(cpu), 0) => format!("cpu {cpu}"),
        (Some(_), _) => "moved".into(),
    }
}

#[cfg(test)]
mod tests {
    use pacman_core::Topology;

    use super::*;
    use crate::run::report::Seats;
    use crate::run::report::tests::{region, report, row};

    #[test]
    fn siblings_are_named_by_their_core_and_threads_that_take_turns_by_their_cpu() {
        let machine = Topology::synthetic("2 cores, 2 threads").expect("a machine");
        let page = |cpus: [u32; 2]| {
            let rows = vec![row(0, 1.0, Some(cpus[0]), 0, &[]), row(1, 1.0, Some(cpus[1]), 0, &[])];
            let region = region(&[(2, 1.0)], rows);
            let seats = Seats::on(&machine);
            threads(&report(&region, &[], &seats))
        };
        assert!(page([0, 1]).contains("<span class=\"core-name\">core 0</span>"), "siblings");
        assert!(page([2, 2]).contains("<span class=\"core-name\">cpu 2</span>"), "one context");
        assert!(!page([0, 2]).contains("core-name"), "two cores");
    }
}
