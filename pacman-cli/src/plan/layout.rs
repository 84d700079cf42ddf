//! Plans and refusals for people: counters down, threads across.

use std::collections::BTreeMap;
use std::io::{self, Write};

use pacman_core::export::grid::{Column, Grid};
use pacman_events::allocate::{Assignment, Conflict, Placement, Pmu};
use pacman_events::partition::{CorePlan, Schedule};

use super::request::Request;
use crate::terminal::Terminal;

/// Marks an event whose count covers the whole core.
const CORE: &str = " *";

/// Writes all sets of a schedule.
pub(super) fn plan(
    title: &str,
    schedule: &Schedule,
    request: &Request,
    threads: usize,
    spread: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{title}")?;
    let sets = schedule.sets();
    for (at, set) in sets.iter().enumerate() {
        writeln!(out)?;
        if sets.len() > 1 {
            let (first, step) = (at + 1, sets.len());
            writeln!(
                out,
                "set {first}: executions {first}, {}, {} …",
                first + step,
                first + 2 * step
            )?;
        }
        let own = &set.contexts()[..threads];
        table(own, request, spread, out)?;
        notes(own, out)?;
    }
    if sets.iter().any(counts_core) {
        writeln!(
            out,
            "\n* counts the whole core, whichever thread hosts it: do not add the threads up"
        )?;
    }
    Ok(())
}

fn counts_core(set: &CorePlan) -> bool {
    set.contexts().iter().any(|own| own.placements().iter().any(Placement::counts_core))
}

/// A row per counter, two columns per thread: the event and the register it goes
/// through, the latter only where some event needs one.
fn table(
    contexts: &[Assignment],
    request: &Request,
    spread: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let through = contexts
        .iter()
        .any(|own| own.placements().iter().any(|it| it.registers().next().is_some()));
    let width = if through { 2 } else { 1 };
    let mut rows: BTreeMap<(u8, usize), Vec<String>> = BTreeMap::new();
    for (at, own) in contexts.iter().enumerate() {
        for (nth, placement) in own.placements().iter().enumerate() {
            // Events without a counter come last, a row each.
            let key = placement.counter().map_or((u8::MAX, nth), |counter| (counter.number(), 0));
            let row = rows.entry(key).or_insert_with(|| {
                let mut row = vec![String::new(); 1 + contexts.len() * width];
                row[0] = placement.counter().map_or_else(|| "none".to_owned(), |it| it.to_string());
                row
            });
            let list = if spread { 0 } else { at };
            row[1 + at * width] = name(request.asked(list, placement.event()), placement);
            if through {
                row[2 + at * width] = register(placement);
            }
        }
    }
    let mut columns = vec![Column::left("")];
    for at in 0..contexts.len() {
        columns.push(Column::left(&format!("thread {at}")));
        columns.extend(through.then(|| Column { joined: true, ..Column::left("through") }));
    }
    let mut grid = Grid::new(columns);
    grid.ruled = false;
    rows.into_values().for_each(|row| grid.row(row));
    grid.keys = 1;
    let width = Terminal::stdout().width().saturating_sub(2);
    grid.text(width)
        .lines()
        .try_for_each(|line| writeln!(out, "{}", format!("  {line}").trim_end()))
}

/// The name as requested, with the canonical name if that differs.
fn name(asked: &str, placement: &Placement) -> String {
    let mark = if placement.counts_core() { CORE } else { "" };
    if asked.eq_ignore_ascii_case(placement.name()) {
        format!("{}{mark}", placement.name())
    } else {
        format!("{asked} = {}{mark}", placement.name())
    }
}

/// The event's own ESCR, or the first other register that it needs.
fn register(placement: &Placement) -> String {
    let numbered = placement.claims().iter().find(|claim| claim.register.number().is_some());
    numbered.map_or_else(String::new, |claim| claim.register.to_string())
}

/// An event's needs beside its counter and its own register.
fn notes(contexts: &[Assignment], out: &mut dyn Write) -> io::Result<()> {
    for own in contexts {
        for placement in own.placements() {
            let more: Vec<String> = placement
                .claims()
                .iter()
                .filter(|claim| claim.register.number().is_some())
                .skip(1)
                .map(|claim| format!("{} = {:#x}", claim.register, claim.value))
                .collect();
            if !more.is_empty() {
                let needs = more.join(", ");
                write!(
                    out,
                    "  {} of thread {} also needs {needs}",
                    placement.name(),
                    own.context()
                )?;
                if let Some(awake) = placement.awake() {
                    write!(out, " and {awake} enabled")?;
                }
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

/// Says which expressions are counted piecemeal.
pub(super) fn parted(
    schedule: &Schedule,
    request: &Request,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (thread, bundle) in schedule.parted() {
        let name = request.bundle(*thread, *bundle);
        writeln!(
            out,
            "\n{name} of thread {thread} does not fit into one set: its terms come from \
             different executions"
        )?;
    }
    Ok(())
}

/// Says why there is more than one set.
pub(super) fn turns(conflict: &Conflict, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nwhy not at once: {}", sentence(conflict.reason()))
}

/// Writes a refusal the way a colleague would put it.
pub(super) fn conflict(
    conflict: &Conflict,
    request: &Request,
    pmu: &Pmu,
    out: &mut dyn Write,
) -> io::Result<()> {
    match conflict.events() {
        [_] => writeln!(out, "{} cannot count this event as asked:", pmu.name())?,
        more => writeln!(out, "{} cannot count these {} events at once:", pmu.name(), more.len())?,
    }
    for event in conflict.events() {
        let asked = request.asked(usize::from(event.thread()), event.event());
        if asked.eq_ignore_ascii_case(event.name()) {
            writeln!(out, "  thread {}  {asked}", event.thread())?;
        } else {
            writeln!(out, "  thread {}  {asked} = {}", event.thread(), event.name())?;
        }
    }
    writeln!(out, "\nfought over  {}", conflict.resource())?;
    for (at, held) in conflict.holders().iter().enumerate() {
        let label = if at == 0 { "held by" } else { "" };
        writeln!(out, "{label:<11}  {} has {}", held.who, held.what)?;
    }
    writeln!(out, "why          {}", sentence(conflict.cause()))?;
    writeln!(out, "what helps   {}", sentence(conflict.remedy()))
}

/// A full stop, but no capital: the first word may be an event's name.
fn sentence(text: &str) -> String {
    format!("{text}.")
}
