//! Counting all programs on each hardware context while the command runs.

use std::io;
use std::time::{Duration, Instant};

use pacman_core::session::{Sample, SystemWide};
use pacman_core::topology::CpuSet;
use pacman_core::{Event, Result, Session, Topology};

use super::ptrace;
use super::run::{Advance, Collector};
use crate::signals::Signals;
use pacman_events::plural::number;
use pacman_report::stat::{Count, Figures, Row, Seat, Who};

/// All contexts with their counters and readings.
pub(super) struct Contexts {
    wide: SystemWide,
    contexts: Vec<Context>,
    began: Instant,
    marked: Instant,
    looked: Instant,
}

struct Context {
    seat: Option<Seat>,
    first: Sample,
    mark: Sample,
    last: Sample,
    /// Why it was given up.
    note: Option<String>,
}

impl Contexts {
    pub(super) fn open(
        name: &str,
        events: &[Event],
        cpus: &CpuSet,
        topology: &Topology,
    ) -> Result<Contexts> {
        let builder = events
            .iter()
            .cloned()
            .fold(Session::builder(name), |builder, event| builder.event(event));
        let mut wide = builder.system_wide(cpus)?;
        let places: Vec<Option<Seat>> =
            wide.places().map(|place| topology.context(place.cpu()).map(Seat::of)).collect();
        let samples = wide.sample().into_iter().collect::<Result<Vec<Sample>>>()?;
        let context = |(seat, first): (Option<Seat>, Sample)| Context {
            seat,
            first,
            mark: first,
            last: first,
            note: None,
        };
        let contexts = places.into_iter().zip(samples).map(context).collect();
        let now = Instant::now();
        Ok(Contexts { wide, contexts, began: now, marked: now, looked: now })
    }

    /// Why hardware counts may be wrong, if they may.
    pub(super) fn doubt(&self) -> Option<&'static str> {
        self.wide.report().events.iter().find_map(|event| event.doubt)
    }

    /// Whether the last of `events` counts on any context.
    pub(super) fn last_counts(&mut self, events: usize) -> bool {
        self.start();
        super::events::exercise();
        self.look();
        let counted = |context: &Context| context.last.count_since(&context.first, events - 1);
        self.contexts.iter().any(|context| counted(context) > 0)
    }

    fn rows_from(&self, begin: Instant, from: impl Fn(&Context) -> Sample) -> Vec<Row> {
        let events = self.wide.events().len();
        let time = self.looked.saturating_duration_since(begin);
        let row = |context: &Context| Row {
            who: Who::Context,
            seat: context.seat,
            bound: true,
            moved: false,
            figures: Figures {
                counts: context.note.is_none().then(|| {
                    let since = from(context);
                    let count = |event| Count::exact(context.last.count_since(&since, event));
                    (0..events).map(count).collect()
                }),
                time,
                missing: usize::from(context.note.is_some()),
                derived: None,
            },
            notes: context.note.iter().cloned().collect(),
            implausible: None,
        };
        self.contexts.iter().map(row).collect()
    }
}

impl Collector for Contexts {
    fn start(&mut self) {
        self.look();
        for context in &mut self.contexts {
            (context.first, context.mark) = (context.last, context.last);
        }
        (self.began, self.marked) = (self.looked, self.looked);
    }

    fn advance(&mut self) -> io::Result<Advance> {
        let ended = ptrace::next_stop()?.and_then(|(_, stop)| stop.exit());
        Ok(ended.map_or(Advance::Waiting, Advance::Ended))
    }

    fn look(&mut self) {
        for (context, sample) in self.contexts.iter_mut().zip(self.wide.sample()) {
            match sample {
                Ok(sample) => context.last = sample,
                Err(error) => context.note = Some(error.to_string()),
            }
        }
        self.looked = Instant::now();
    }

    fn whole(&mut self) -> Vec<Row> {
        self.rows_from(self.began, |context| context.first)
    }

    fn since_mark(&mut self) -> Vec<Row> {
        let rows = self.rows_from(self.marked, |context| context.mark);
        self.contexts.iter_mut().for_each(|context| context.mark = context.last);
        self.marked = self.looked;
        rows
    }

    fn running(&self) -> String {
        let left = self.contexts.iter().filter(|context| context.note.is_none()).count();
        number(left, "context")
    }

    fn let_go(&mut self, _: &Signals) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }

    // Contexts are counted without ptrace, so nothing is ever lost.
    fn abandon(&mut self, _: &Signals) -> io::Result<()> {
        Ok(())
    }

    fn follows_command(&self) -> bool {
        false
    }

    fn is_simulated(&self) -> bool {
        self.wide.report().simulated
    }

    fn time(&self) -> Duration {
        self.began.elapsed()
    }
}
