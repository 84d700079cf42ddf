//! The table for people.

mod block;
mod cell;
mod figures;
mod footnotes;
pub mod grid;
mod layout;
mod quantity;
mod rate;
mod text;

use std::io;

use self::block::{Layout, Member};
use self::cell::Marks;
use self::footnotes::counted;
use self::grid::{Tone, line, rule};
use super::TableStyle;
use super::values::phase_name;
use crate::report::Report;

/// Writes a report as a table: a block for each phase, and a row for each thread in it. The phases
/// with the longest time come first.
///
/// Threads are ordered by package, core and sibling, so that siblings stand one below the other. A
/// core that several bound threads shared has a row with their sum, and the phase has its total.
///
/// The columns are:
///
/// - `runs`: finished executions
/// - `time`: wall time, summed over the runs
/// - `share`: `time` over the time that the thread was attached; nested phases count twice
/// - for each event, its count and a rate
///
/// The rate is instructions per cycle, or misses per 1000 instructions, if both events are counted
/// at the same privilege levels, and neither stayed at 0 where the machine may not count it. They are metrics of
/// [`pacman_metrics::language`]. For a clock it is a share of the wall time, otherwise events per
/// second. A clock that counted more than the wall time has no share: its count contains the reading of
/// the counters, and a note of the report has what that costs. A rate divides the figures of its own
/// row. So in a sum over siblings the time is that of both threads, and IPC is the mean of both.
///
/// Marks are explained below the table when they occur:
///
/// - `*` for a thread that the session did not bind
/// - `~` for estimates; a column has the counted share of the time
/// - a dash for absent figures
/// - `>=` for sums over fewer threads than ran
/// - `n/a` for rates that have no value
///
/// Footnotes give the reasons for absent figures and the fate of threads. If sets of events
/// rotated, they list the events of each set, and how many runs counted it on each thread. With
/// staggered sets, a sum uses the threads that counted an event as an estimate for the others.
///
/// Names are shown with control characters escaped, so that they cannot drive the terminal.
///
/// # Errors
/// The error of `out`, such as `BrokenPipe`; the part that was written stays.
///
/// ```
/// use pacman_core::{Session, export::{self, TableStyle}};
/// let session = Session::builder("doc-table").events("task-clock").start()?;
/// let thread = session.attach()?;
/// thread.run(session.phase("one")?, || ())?;
///
/// let mut style = TableStyle::default();
/// style.unicode = true;
/// let mut text = Vec::new();
/// export::table(&session.report(), &style, &mut text)?;
/// assert!(String::from_utf8(text)?.contains("── one ──"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn table(report: &Report, style: &TableStyle, out: &mut dyn io::Write) -> io::Result<()> {
    let members = by_phase(report);
    heading(report, style, out)?;
    let mut order: Vec<usize> = (0..members.len()).filter(|&p| !members[p].is_empty()).collect();
    let time: Vec<u128> = members.iter().map(|members| time(members)).collect();
    // Stable: phases of equal time stay in the order they were first named.
    order.sort_by_key(|&phase| std::cmp::Reverse(time[phase]));
    let left_out = order.split_off(order.len().min(style.top.unwrap_or(usize::MAX)));

    let layout = Layout::new(report, style);
    let mut marks = Marks::default();
    for &phase in &order {
        let grid = layout.grid(members[phase].clone(), &mut marks);
        let name = text::clean(phase_name(report, phase));
        line(out, style, Tone::Plain, "")?;
        line(out, style, Tone::Heading, &title(style, &name, grid.width(style)))?;
        grid.write(style, out)?;
    }
    if !left_out.is_empty() {
        let phases = counted(left_out.len() as u128, "more phase");
        let rest: u128 = left_out.iter().map(|&phase| time[phase]).sum();
        let all: u128 = time.iter().sum();
        let share = if all == 0 {
            String::new()
        } else {
            format!(", {} of the time in phases", quantity::percent(rest, all))
        };
        let rest = quantity::duration(rest, style.unicode);
        line(out, style, Tone::Plain, "")?;
        line(out, style, Tone::Plain, &format!("{phases} left out: {rest}{share}"))?;
    }

    let mut notes = footnotes::legend(report, &marks, style);
    notes.extend(footnotes::of_sets(report));
    notes.extend(footnotes::of_phases(report, &members));
    notes.extend(footnotes::of_threads(report));
    notes.extend(report.notes.iter().map(|note| text::clean(note)));
    if !notes.is_empty() {
        line(out, style, Tone::Plain, "")?;
    }
    for note in notes {
        for part in text::wrap(&note, style.width, "  ") {
            line(out, style, Tone::Quiet, &part)?;
        }
    }
    out.flush()
}

/// The session's name, its machine and its duration.
fn heading(report: &Report, style: &TableStyle, out: &mut dyn io::Write) -> io::Result<()> {
    let mut cores: Vec<(u32, u32)> = report
        .threads
        .iter()
        .filter_map(|thread| thread.place.map(|place| (place.package, place.core)))
        .collect();
    cores.sort_unstable();
    cores.dedup();
    let mut parts = vec![
        format!("session \"{}\"", text::clean(&report.session)),
        counted(report.threads.iter().map(|row| row.threads as u128).sum(), "thread"),
    ];
    if !cores.is_empty() {
        parts[1].push_str(&format!(" on {}", counted(cores.len() as u128, "core")));
    }
    parts.push(counted(report.phases.len() as u128, "phase"));
    parts.push(quantity::duration(report.age.into(), style.unicode));
    let between = if style.unicode { " · " } else { ", " };
    line(out, style, Tone::Heading, &parts.join(between))?;
    if report.simulated {
        line(out, style, Tone::Warning, SIMULATED)?;
    }
    if report.threads.is_empty() {
        line(out, style, Tone::Plain, "No thread has attached.")?;
    }
    Ok(())
}

/// A phase's name in a rule of its block's width.
fn title(style: &TableStyle, name: &str, width: usize) -> String {
    let name = text::clip(name, style.width.saturating_sub(8).max(8), style.unicode);
    let after = width.saturating_sub(text::width(&name) + 4).max(2);
    format!("{} {name} {}", rule(style, 2), rule(style, after))
}

/// The threads that ran each phase. A row of a phase that the report does not name is left out.
fn by_phase(report: &Report) -> Vec<Vec<Member<'_>>> {
    let mut members = vec![Vec::new(); report.phases.len()];
    for thread in &report.threads {
        for row in &thread.phases {
            if let Some(members) = members.get_mut(row.phase) {
                members.push((thread, row));
            }
        }
    }
    members
}

/// Wall time of a phase on all threads.
fn time(members: &[Member<'_>]) -> u128 {
    members.iter().map(|(_, row)| u128::from(row.time.sum)).sum()
}

const SIMULATED: &str = "SIMULATED: these counts come from a simulated machine, not from this one";
