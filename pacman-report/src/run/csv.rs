//! The report as one table: a row for each thread of a region or a phase of a process.

use std::borrow::Borrow;
use std::io::{self, Write};
use std::iter;
use std::rc::Rc;

use pacman_events::shown::text_of;

use super::report::{
    Busy, Column, FIGURES, Figure, Figures, OpenThread, PhaseReport, ProcessReport, RegionReport,
    Report, Seat, THREAD_STATES, Thread, ThreadState, ThreadStates,
};
use crate::records::csv;

/// The table, with a heading.
pub(super) fn write(report: &Report) -> String {
    let events = events(report.observed());
    let rows = report.observed().flat_map(|process| {
        let busy = Busy::of(process, report.observed());
        rows(process, &events, said(busy))
    });
    csv(iter::once(heading(&events)).chain(rows))
}

/// Writes the table of these processes, one after the other, with columns for `events`.
pub(super) fn stream<P: Borrow<ProcessReport>>(
    processes: impl Iterator<Item = P>,
    events: &[Column],
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(csv(iter::once(heading(events))).as_bytes())?;
    for process in processes {
        let process = process.borrow();
        let busy = Busy::of(process, []);
        out.write_all(csv(rows(process, events, said(busy))).as_bytes())?;
    }
    Ok(())
}

/// The sentence about a busy machine, or nothing.
fn said(busy: Option<Busy>) -> String {
    busy.map_or_else(String::new, |busy| busy.sentence(""))
}

fn heading(events: &[Column]) -> Vec<String> {
    let titles = ["", "useful ", "waiting "].into_iter().flat_map(|state| {
        events.iter().map(move |event| format!("{state}{} [{}]", event.title(), event.unit))
    });
    let own = shares(events).map(|event| format!("{} counted [share]", event.name));
    let margins = shares(events).map(|event| format!("{} margin [{}]", event.name, event.unit));
    let readings = events.iter().map(|event| format!("{} readings [share]", event.name));
    let fixed = fixed(|name, _| name.to_owned(), |state| format!("{}_s", state.name));
    let fixed = fixed.into_iter().chain(FIGURES.iter().map(name));
    let all = fixed.chain(titles).chain(own).chain(margins);
    all.chain(readings).collect()
}

/// The events whose shares and margins have columns: all, if sets of some process took turns.
fn shares(events: &[Column]) -> impl Iterator<Item = &Column> {
    let rotate = events.iter().any(|event| event.rotates);
    events.iter().filter(move |_| rotate)
}

/// A row for each thread of a region, then for each of a phase.
fn rows<'a>(
    process: &'a ProcessReport,
    events: &'a [Column],
    busy: String,
) -> impl Iterator<Item = Vec<String>> + 'a {
    let regions = process.regions.iter().enumerate().flat_map(move |(number, region)| {
        let figures: Rc<[String]> = figures(|figure| (figure.of)(region));
        let line = Line { region: Some((number, region)), ..Line::of(process) };
        let states = region.states.iter().flat_map(|states| &states.threads);
        let states = move |thread: u32| states.clone().find(|states| states.thread == thread);
        let opens = region.open.iter().flat_map(|open| &open.threads.0);
        let open = move |thread: u32| opens.clone().find(|open| open.thread == thread);
        let ended = region.threads.iter().map(move |thread| {
            let number = thread.row.thread;
            Line { thread: Some(thread), states: states(number), open: open(number), ..line }
        });
        let has_ended = |open: &&OpenThread| {
            region.threads.iter().any(|thread| thread.row.thread == open.thread)
        };
        let opens = region.open.iter().flat_map(|open| &open.threads.0);
        let only_open = opens.filter(move |open| !has_ended(open));
        let only_open = only_open.map(move |open| Line { open: Some(open), ..line });
        let is_open = region.open.iter().any(|open| !open.threads.0.is_empty());
        let is_alone = region.threads.is_empty() && !is_open;
        let lines = ended.chain(only_open).chain(is_alone.then_some(line));
        lines.map(move |line| (line, Rc::clone(&figures)))
    });
    let none = figures(|_| None);
    let phases = process.phases.iter().flat_map(move |phase| {
        let threads = phase.threads.iter().zip(&phase.unended);
        let none = Rc::clone(&none);
        threads.map(move |(thread, unended)| {
            let phase = Some((phase, *unended));
            let line = Line { phase, thread: Some(thread), ..Line::of(process) };
            (line, Rc::clone(&none))
        })
    });
    regions.chain(phases).map(move |(line, figures)| {
        let line = Line { busy: &busy, ..line };
        let wait = |state: &ThreadState| text(line.states.map(|own| own.waited(state)));
        let fixed =
            fixed(|_, of| of(&line).unwrap_or_default(), |state| wait(state).unwrap_or_default());
        let figures = figures.iter().cloned();
        fixed.into_iter().chain(figures).chain(counts(process, line.thread, events)).collect()
    })
}

/// The cells of the figures: once for all threads of a region, because some are sums over these.
fn figures(of: impl Fn(&Figure) -> Option<f64>) -> Rc<[String]> {
    FIGURES.iter().map(|figure| text(of(figure)).unwrap_or_default()).collect()
}

/// Everything that a row is about.
#[derive(Clone, Copy)]
struct Line<'a> {
    process: &'a ProcessReport,
    /// The sentence about a busy machine, or nothing.
    busy: &'a str,
    /// The region with its number in the process.
    region: Option<(usize, &'a RegionReport)>,
    /// The phase, with the executions that the thread never ended.
    phase: Option<(&'a PhaseReport, u64)>,
    thread: Option<&'a Thread>,
    states: Option<&'a ThreadStates>,
    /// The thread in an execution that had not ended.
    open: Option<&'a OpenThread>,
}

impl Line<'_> {
    fn of(process: &ProcessReport) -> Line<'_> {
        Line {
            process,
            busy: "",
            region: None,
            phase: None,
            thread: None,
            states: None,
            open: None,
        }
    }
}

type Value = fn(&Line<'_>) -> Option<String>;

/// The text of a value that is there.
fn text(value: Option<impl ToString>) -> Option<String> {
    value.map(|value| value.to_string())
}

fn of_region<T: ToString>(
    line: &Line<'_>,
    of: impl Fn(&RegionReport) -> Option<T>,
) -> Option<String> {
    text(of(line.region?.1))
}

/// Of a thread, in a region or a phase.
fn of_thread<T: ToString>(line: &Line<'_>, of: impl Fn(&Thread) -> Option<T>) -> Option<String> {
    text(of(line.thread?))
}

fn seat(line: &Line<'_>, of: fn(Seat) -> u32) -> Option<String> {
    of_thread(line, |thread| thread.seat.map(of))
}

fn state(line: &Line<'_>, of: fn(&ThreadStates) -> Option<f64>) -> Option<String> {
    text(of(line.states?))
}

/// The columns that do not depend on what was counted. Those of [`FIGURES`] follow them.
const COLUMNS: [(&str, Value); 45] = [
    ("pid", |line| text(Some(line.process.process.pid))),
    ("parent", |line| text(Some(line.process.process.parent))),
    ("program", |line| text(Some(line.process.program()))),
    ("host", |line| text(line.process.process.host.as_ref())),
    ("rank", |line| text(line.process.process.rank.map(|rank| rank.rank))),
    ("region", |line| text(line.region.map(|(number, _)| number))),
    ("name", |line| match line.phase {
        Some((phase, _)) => Some(phase.name.clone()),
        None => of_region(line, |region| Some(region.name.text.clone())),
    }),
    ("file", |line| of_region(line, |region| region.name.file.clone())),
    ("line", |line| of_region(line, |region| region.name.line)),
    ("module", |line| of_region(line, |region| Some(text_of(&region.site.module)))),
    ("address", |line| of_region(line, |region| Some(format!("{:#x}", region.site.address)))),
    ("entry", |line| of_region(line, |region| Some(region.entry.clone()))),
    ("runtime", |line| {
        let runtime = line.process.runtimes.get(line.region?.1.runtime);
        runtime.map(super::report::runtime)
    }),
    ("executions", |line| match line.phase {
        Some((phase, _)) => text(Some(phase.executions)),
        None => of_region(line, |region| Some(region.executions)),
    }),
    ("timed_executions", |line| {
        of_region(line, |region| {
            Some(region.sampling.map_or(region.executions, |sampling| sampling.timed))
        })
    }),
    ("nested", |line| of_region(line, |region| Some(region.nested))),
    ("within", |line| of_region(line, |region| Some(region.within))),
    ("region_s", |line| of_region(line, |region| Some(region.seconds))),
    ("region_margin", |line| {
        of_region(line, |region| region.sampling.map(|sampling| sampling.margin))
    }),
    ("threads_chosen", |line| of_region(line, |region| Some(region.adaptation.as_ref()?.threads))),
    ("package_energy_j", |line| of_region(line, |region| Some(region.energy?.joules))),
    ("package_energy_resolution_j", |line| {
        of_region(line, |region| Some(region.energy?.resolution))
    }),
    ("package_power_w", |line| of_region(line, |region| region.energy?.watts)),
    ("energy_executions", |line| of_region(line, |region| Some(region.energy?.executions))),
    ("thread", |line| {
        text(line.thread.map(|it| it.row.thread).or_else(|| Some(line.open?.thread)))
    }),
    ("thread_executions", |line| {
        text(line.thread.map(|it| it.row.executions).or_else(|| line.open.map(|_| 0)))
    }),
    ("busy_s", |line| line.region.and_then(|_| of_thread(line, |thread| Some(thread.row.seconds)))),
    ("useful_s", |line| state(line, |states| Some(states.useful))),
    ("starting_s", |line| state(line, |states| Some(states.starting))),
    // A column for each wait is around it.
    ("end_s", |line| state(line, |states| Some(states.end))),
    ("useful_off_s", |line| state(line, |states| states.useful_off)),
    ("waiting_off_s", |line| state(line, |states| states.waiting_off)),
    ("cpu", |line| of_thread(line, |thread| thread.row.cpu)),
    ("package", |line| seat(line, |seat| seat.package)),
    ("core", |line| seat(line, |seat| seat.core)),
    ("sibling", |line| seat(line, |seat| seat.sibling)),
    ("beside", |line| {
        let beside = |thread: &Thread| {
            let all: Vec<String> = thread.beside.iter().map(u32::to_string).collect();
            all.join(" ")
        };
        line.region.and_then(|_| of_thread(line, |thread| Some(beside(thread))))
    }),
    ("moves", |line| of_thread(line, |thread| Some(thread.row.moves))),
    ("counted", |line| of_thread(line, |thread| Some(thread.row.counted))),
    ("implausible", |line| of_thread(line, |thread| thread.implausible.clone())),
    ("phase_kind", |line| text(line.phase.map(|(phase, _)| phase.kind.word()))),
    ("phase_s", |line| line.phase.and_then(|_| of_thread(line, |thread| Some(thread.row.seconds)))),
    ("phase_unended", |line| text(line.phase.map(|(_, unended)| unended))),
    ("open_s", |line| text(line.open.map(|open| open.seconds))),
    ("busy_machine", |line| Some(line.busy.to_owned())),
];

/// Each column that does not depend on what was counted, in their order: those of waits are around the end of a region,
/// at which threads meet as at barriers and ends of loops.
fn fixed(
    mut column: impl FnMut(&str, Value) -> String,
    wait: impl Fn(&ThreadState) -> String,
) -> Vec<String> {
    let mut all = Vec::with_capacity(COLUMNS.len() + THREAD_STATES.len());
    for (name, of) in COLUMNS {
        let waits = THREAD_STATES.iter().filter(|state| state.is_wait() && name == "end_s");
        let (meetings, others): (Vec<_>, Vec<_>) = waits.partition(|state| state.blame.is_none());
        all.extend(meetings.into_iter().map(&wait));
        all.push(column(name, of));
        all.extend(others.into_iter().map(&wait));
    }
    all
}

/// The names of the columns that do not depend on what was counted.
#[cfg(test)]
pub(crate) fn columns() -> Vec<String> {
    heading(&[])
}

/// The names of the columns of states, in their order.
#[cfg(test)]
pub(crate) fn columns_of_states() -> Vec<String> {
    let all = fixed(|name, _| name.to_owned(), |state| format!("{}_s", state.name)).into_iter();
    all.skip_while(|name| name != "useful_s").take_while(|name| name != "useful_off_s").collect()
}

/// The column of a figure of the region. One that a thread has by the same name says which is meant.
fn name(figure: &Figure) -> String {
    match COLUMNS.iter().any(|column| column.0 == figure.name) {
        true => format!("region_{}", figure.name),
        false => figure.name.to_owned(),
    }
}

/// The events of all processes, which were all asked for the same.
pub(super) fn events<'a>(processes: impl Iterator<Item = &'a ProcessReport>) -> Vec<Column> {
    let mut events: Vec<Column> = Vec::new();
    processes.flat_map(|process| &process.columns.events).for_each(|event| add(&mut events, event));
    events
}

/// Adds the event of another process.
pub(super) fn add(events: &mut Vec<Column>, event: &Column) {
    match events.iter_mut().find(|known| known.name == event.name) {
        Some(known) => known.rotates |= event.rotates,
        None => events.push(event.clone()),
    }
}

/// The counts of all time, of useful time and of waits, the shares that were counted, the margins, and the
/// shares of the readings.
fn counts(
    process: &ProcessReport,
    thread: Option<&Thread>,
    events: &[Column],
) -> impl Iterator<Item = String> {
    let own = &process.columns.events;
    let place = |column: &Column| own.iter().position(|event| event.name == column.name);
    let places: Vec<Option<usize>> = events.iter().map(place).collect();
    let by_state = thread.and_then(|thread| thread.by_state.as_ref());
    let figures = thread.map(|thread| &thread.figures);
    let all = [
        figures,
        by_state.map(|by_state| &by_state.useful),
        by_state.map(|by_state| &by_state.waiting),
    ];
    let count = |figures: Option<&Figures>, place: &Option<usize>| {
        figures?.counts.get((*place)?).copied().flatten()
    };
    let value = |figures, place| text(count(figures, place).map(|count| count.value));
    let mut cells: Vec<Option<String>> = all
        .iter()
        .flat_map(|figures| places.iter().map(move |place| value(*figures, place)))
        .collect();
    let estimated: Vec<_> = shares(events).zip(&places).map(|(_, place)| place).collect();
    let share = |place: &Option<usize>| figures?.shares.get((*place)?).copied();
    cells.extend(estimated.iter().map(|place| text(share(place))));
    let margin = |place: &Option<usize>| count(figures, place).map(|count| count.margin);
    cells.extend(estimated.iter().map(|place| text(margin(place))));
    let readings = |place: &Option<usize>| count(figures, place)?.readings;
    cells.extend(places.iter().map(|place| text(readings(place))));
    cells.into_iter().map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::run::tests::made::{ThreadSpec, report, timed, with_phase};

    #[test]
    fn a_phase_has_a_row_for_each_thread_behind_those_of_regions() {
        let threads = [ThreadSpec { busy: 7.5, start: 0.25, waits: 3.0, cpu: 0 }];
        let text = write(&report(&[with_phase(timed(&threads, "lock"))]));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().expect("a heading").clone();
        let rows: Vec<HashMap<&str, String>> = reader
            .records()
            .map(|row| row.expect("as many fields as columns"))
            .map(|row| heading.iter().zip(row.iter().map(str::to_owned)).collect())
            .collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert_eq!((&*rows[0]["phase_kind"], &*rows[0]["busy_s"]), ("", "7.5"));
        for (row, thread, time, count, unended) in
            [(&rows[1], "0", "1.5", "1500000000", "0"), (&rows[2], "1", "0.25", "250000000", "1")]
        {
            let own = ["pid", "name", "phase_kind", "executions", "thread_executions", "region"];
            assert_eq!(own.map(|name| &*row[name]), ["7", "assemble", "likwid", "6", "3", ""]);
            let own = ["thread", "phase_s", "task-clock [ns]", "phase_unended", "region_s"];
            assert_eq!(own.map(|name| &*row[name]), [thread, time, count, unended, ""]);
        }
    }
}
