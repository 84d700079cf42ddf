//! A report for a person: the table, then details of its lines.

use std::fmt::Write;

use crate::validate::checks::{Counted, Outcome};
use pacman_core::export::grid::{Column, Grid, fitted};
use pacman_core::report::DOUBTED;
use pacman_events::{CpuModel, Overcount, overcounts};

use super::Report;

/// The whole answer in lines of at most `width` columns.
pub(super) fn report(report: &Report, width: usize) -> String {
    let mut text = processor(report);
    let mut notes = Notes::default();
    let rows = report.outcomes.iter().map(|outcome| row(outcome, &mut notes)).collect();
    text.push('\n');
    text += &table(rows).text(width);
    let mut said: Vec<&str> = Vec::new();
    for outcome in report.outcomes.iter().filter(|outcome| outcome.result.is_ok()) {
        if !said.contains(&outcome.name.as_str()) {
            behind(&mut text, outcome, said.is_empty());
            said.push(&outcome.name);
        }
    }
    silicon(&mut text, report);
    let counted = report.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
    if let Some(doubt) = counted.clone().find_map(|counted| counted.doubt) {
        text += &format!("\n{DOUBTED}  may be wrong: {doubt}\n");
    }
    if !notes.0.is_empty() {
        text.push_str("\nNot countable here:\n");
    }
    for (number, note) in notes.0.iter().enumerate() {
        text += &format!("[{}] {note}\n", number + 1);
    }
    fitted(&text, width)
}

/// Reasons, each said once.
#[derive(Debug, Default)]
struct Notes(Vec<String>);

impl Notes {
    /// The number of a reason. Reasons that differ in the event's name only are one.
    fn number(&mut self, outcome: &Outcome, reason: &str) -> usize {
        let note = without_name(&outcome.name, reason);
        let known = self.0.iter().position(|known| known == note);
        known.unwrap_or_else(|| {
            self.0.push(note.to_string());
            self.0.len() - 1
        }) + 1
    }
}

/// The reason without "cannot count INSTRUCTIONS: " and its like.
fn without_name<'a>(name: &str, reason: &'a str) -> &'a str {
    let counting = [format!("cannot count {name}: "), format!("cannot count {name:?}: ")];
    if let Some(rest) = counting.iter().find_map(|begin| reason.strip_prefix(begin.as_str())) {
        return rest;
    }
    // A sum names the one of its native events that was refused.
    match reason.split_once(" for this thread: ") {
        Some((begin, rest)) if begin.starts_with("cannot open ") => rest,
        _ => reason,
    }
}

fn processor(report: &Report) -> String {
    let (name, title) = report.table;
    let mut text = report.machine.clone();
    if let Some(id) = &report.cpu_id {
        let (family, model, stepping) = (id.family, id.model, id.stepping);
        let _ = write!(text, ", {} family {family} model {model} stepping {stepping}", id.vendor);
    }
    text.push('\n');
    text += &format!("events of {title} ({name})\n");
    text += &format!("on cpu {}, {} repeats\n", report.cpu, report.repeats);
    text
}

fn row(outcome: &Outcome, notes: &mut Notes) -> [String; 5] {
    let (truth, counted, words) = match &outcome.result {
        Ok(counted) => (truth(counted), median(counted), verdict(counted)),
        Err(error) => {
            let number = notes.number(outcome, &error.to_string());
            ("-".into(), "-".into(), format!("not countable [{number}]"))
        }
    };
    [outcome.name.clone(), outcome.kernel.to_string(), truth, counted, words]
}

/// The verdict, and how much of it may be other programs' doing.
fn verdict(counted: &Counted) -> String {
    match counted.disturbed {
        0 => counted.verdict.to_string(),
        some => format!("{} ({some} of {} disturbed)", counted.verdict, counted.samples.len()),
    }
}

/// The truth over all repeats.
fn truth(counted: &Counted) -> String {
    let truths = || counted.samples.iter().map(|sample| sample.truth);
    let low = truths().map(|truth| truth.low).min().unwrap_or(0);
    let high = truths().map(|truth| truth.high).max().unwrap_or(0);
    if low == high { low.to_string() } else { format!("{low}..{high}") }
}

fn median(counted: &Counted) -> String {
    let mut counts: Vec<i64> = counted.samples.iter().map(|sample| sample.counted).collect();
    counts.sort_unstable();
    let mark = if counted.doubt.is_some() { DOUBTED } else { "" };
    counts.get(counts.len() / 2).map_or_else(String::new, |count| format!("{count}{mark}"))
}

/// The hardware's form of a name, and the doubts about it.
fn behind(text: &mut String, outcome: &Outcome, first: bool) {
    let Some(native) = &outcome.native else { return };
    if first {
        text.push('\n');
    }
    let mut words = format!("{}: {}", outcome.name, native.expression);
    if !native.caveat.is_empty() {
        let _ = write!(words, "; {}", native.caveat);
    }
    if !native.errata.is_empty() {
        let _ = write!(words, "; errata {}", native.errata.join(", "));
    }
    *text += &format!("{words}\n");
}

/// The counts of real processors of this table beyond the truth, for the events that were counted.
fn silicon(text: &mut String, report: &Report) {
    let Some(cpu) = CpuModel::named(report.table.0) else { return };
    let counted = |row: &Overcount| {
        let named = |outcome: &Outcome| outcome.name == row.event && outcome.result.is_ok();
        report.outcomes.iter().any(named)
    };
    for (at, row) in overcounts(cpu).filter(counted).enumerate() {
        if at == 0 {
            text.push_str("\nMeasured on real processors of this table:\n");
        }
        *text += &format!("{}\n", measured(&row));
    }
}

/// A measurement in words.
fn measured(row: &Overcount) -> String {
    let off = row.overcount.unsigned_abs();
    let way = if row.overcount < 0 { "under" } else { "over" };
    let mut words = match off {
        0 => format!("{}: {} counted {} exactly", row.event, row.processor, row.expected),
        _ => format!("{}: {} counted {off} {way} of {}", row.event, row.processor, row.expected),
    };
    if let Some(interrupts) = row.interrupts {
        let _ = write!(words, ", with {interrupts} interrupts");
    }
    let _ = write!(words, " (spread {} in {} runs)", row.spread, row.runs);
    words
}

/// Names on the left, numbers on the right, the verdict as long as it is.
fn table(rows: Vec<[String; 5]>) -> Grid {
    let (left, right) = (Column::left, |name| Column::right(name, ""));
    let mut grid = Grid::new(vec![
        left("EVENT"),
        left("KERNEL"),
        right("TRUE COUNT"),
        right("COUNTED"),
        Column::label("VERDICT"),
    ]);
    grid.ruled = false;
    rows.into_iter().for_each(|row| grid.row(row.into()));
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::snapshot::snapshot;

    #[test]
    fn reasons_lose_the_name_that_the_row_has() {
        for (reason, rest) in [
            ("cannot count LOADS: no PMU", "no PMU"),
            ("cannot count \"LOADS\": LOADS is nothing here", "LOADS is nothing here"),
            ("cannot open LS_DISPATCH:LD for this thread: no PMU; enable it", "no PMU; enable it"),
            ("cannot run the kernel loads: no memory", "cannot run the kernel loads: no memory"),
        ] {
            assert_eq!(without_name("LOADS", reason), rest);
        }
    }

    #[test]
    fn a_measurement_says_how_far_off_which_way_and_with_how_many_interrupts() {
        let words = |table, event| {
            let cpu = CpuModel::named(table).unwrap();
            measured(&overcounts(cpu).find(|row| row.event == event).unwrap())
        };
        let all = [("skl", "INSTRUCTIONS"), ("core2", "STORES"), ("nhm-ep", "LOADS")];
        let lines = all.map(|(table, event)| words(table, event) + "\n");
        snapshot("validate-published.txt", &lines.concat());
    }

    #[test]
    fn numbers_stand_on_the_right() {
        let row = |cells: [&str; 5]| cells.map(str::to_owned);
        let text = table(vec![
            row(["CYCLES", "dependent-adds", "640000..670000", "640015", "within 4.49 %"]),
            row(["LOADS", "loads", "-", "-", "not countable [1]"]),
        ]);
        snapshot("validate.txt", &text.text(usize::MAX));
    }
}
