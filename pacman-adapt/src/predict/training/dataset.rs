//! One machine's programs, each with a sample at each configuration.

use pacman_events::plural::number;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::feature::{CYCLES, INSTRUCTIONS};
use super::super::fingerprint::fingerprint;
use super::super::{Configuration, Sample};
use pacman_events::{Error, ErrorKind, Result};

/// One line of a table in long form.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line number, for errors.
    pub line: u64,
    /// The machine that was measured.
    pub machine: String,
    /// The program that ran.
    pub program: String,
    /// The part of the program that was measured; `None` for the whole program.
    pub phase: Option<String>,
    /// The number of the run, if several runs at one configuration are numbered.
    pub run: Option<u64>,
    /// The measurement.
    pub sample: Sample,
}

impl Row {
    /// The name by which a model knows the program: `program`, or `program/phase`.
    pub fn name(&self) -> String {
        match &self.phase {
            None => self.program.clone(),
            Some(phase) => format!("{}/{phase}", self.program),
        }
    }
}

/// A program or one of its phases, and its samples in the order of the data set's configurations.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// [`Row::name`].
    pub name: String,
    /// The program, or the program that the phase belongs to.
    pub family: String,
    /// One for each configuration.
    pub samples: Vec<Sample>,
}

/// The training data of one machine: no holes, no repeats.
#[derive(Clone, Debug)]
pub struct Dataset {
    machine: String,
    configurations: Vec<Configuration>,
    programs: Vec<Program>,
    events: Vec<String>,
    left_out: Vec<String>,
}

/// The machines of a table, in order of appearance.
pub fn machines(rows: &[Row]) -> Vec<&str> {
    let mut machines: Vec<&str> = Vec::new();
    for row in rows {
        if !machines.contains(&row.machine.as_str()) {
            machines.push(&row.machine);
        }
    }
    machines
}

/// The programs of a machine by name, with their rows at each configuration.
type Table<'a> = Vec<(String, BTreeMap<Configuration, Vec<&'a Row>>)>;

impl Dataset {
    /// The rows of `machine`, restricted to the configurations of `only` if given.
    ///
    /// Numbered runs at one configuration count by their medians: the median time, and the median
    /// of each event over the runs that counted it. A program is left out if it lacks a
    /// configuration that most programs have; [`left_out`](Dataset::left_out) lists it.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`], with line numbers, for a configuration that was measured twice,
    /// or that most programs lack. Also for fewer than four programs, or fewer than two configurations.
    pub fn of(machine: &str, rows: &[Row], only: Option<&[Configuration]>) -> Result<Dataset> {
        let table = table(machine, rows, only)?;
        let configurations = configurations(&table)?;
        if let Some(only) = only {
            let missing = only.iter().find(|on| !configurations.contains(on));
            if let Some(missing) = missing {
                return Err(bad(format!("{machine}: no program was measured at {missing}")));
            }
        }
        let mut programs = Vec::new();
        let mut left_out = Vec::new();
        for (name, samples) in table {
            let missing: Vec<String> = configurations
                .iter()
                .filter(|on| !samples.contains_key(on))
                .map(ToString::to_string)
                .collect();
            if missing.is_empty() {
                let family = samples.values().flatten().next().map(|row| row.program.clone());
                let samples: Result<Vec<Sample>> =
                    samples.into_values().map(|runs| median(&runs)).collect();
                programs.push(Program {
                    name,
                    family: family.unwrap_or_default(),
                    samples: samples?,
                });
            } else {
                left_out.push(format!("{name} (not measured at {})", missing.join(", ")));
            }
        }
        if programs.len() < LEAST {
            let have = programs.len();
            let holes = if left_out.is_empty() { "" } else { "; left out: " };
            return Err(bad(format!(
                "{machine}: {} to learn from, and {LEAST} are the least, phases counted: measure \
                 more{holes}{}",
                number(have, "complete program"),
                left_out.join(", ")
            )));
        }
        if configurations.len() < 2 {
            let on = configurations[0];
            return Err(bad(format!(
                "{machine}: {on} is the only configuration, so nothing is to be chosen"
            )));
        }
        let events = events(&programs);
        Ok(Dataset { machine: machine.to_owned(), configurations, programs, events, left_out })
    }

    /// The measured machine.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The configurations in order; the last is the reference, all contexts.
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// The programs in the table's order.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The counts besides instructions and cycles that every program has at the reference.
    pub fn events(&self) -> &[String] {
        &self.events
    }

    /// Programs that lack a sample at some configurations, with these configurations.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The data without one program, and without data that must stay unknown for its prediction.
    ///
    /// The other phases of its family are left out too, if at least `least` other families remain.
    pub(super) fn without(&self, program: usize, least: usize) -> Dataset {
        let mut rest = self.clone();
        let out = rest.programs.remove(program);
        let families: BTreeSet<&str> =
            self.programs.iter().map(|program| program.family.as_str()).collect();
        if families.len() > least {
            rest.programs.retain(|program| program.family != out.family);
        }
        rest
    }

    /// Whether all programs counted `event` at the reference.
    pub(super) fn has(&self, event: &str) -> bool {
        let counted = |program: &Program| program.samples.last().and_then(|s| s.count(event));
        self.programs.iter().all(|program| counted(program).is_some())
    }

    /// The events for a model: the requested ones, or all.
    pub(super) fn choose_events(&self, asked: Option<&[String]>) -> Result<Vec<String>> {
        let Some(asked) = asked else { return Ok(self.events.clone()) };
        for event in asked {
            if !self.events.contains(event) {
                let have =
                    if self.events.is_empty() { "none".into() } else { self.events.join(", ") };
                return Err(bad(format!(
                    "{}: no count of {event:?} with all contexts for every program; there is {have}",
                    self.machine
                )));
            }
        }
        Ok(asked.to_vec())
    }

    /// The fingerprint of all data that training can see: 16 hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        let mut text = format!("{:?}", self.machine);
        for program in &self.programs {
            let _ = write!(text, "\n{:?}", program.name);
            for sample in &program.samples {
                let _ = write!(text, "\n{} {:?}", sample.configuration(), sample.seconds());
                for (event, count) in sample.counts() {
                    let _ = write!(text, " {event:?} {count:?}");
                }
            }
        }
        fingerprint(text.as_bytes())
    }
}

/// The least number of programs. An evaluation leaves out one, and training leaves out one of the
/// other three.
pub(super) const LEAST: usize = 4;

fn table<'a>(machine: &str, rows: &'a [Row], only: Option<&[Configuration]>) -> Result<Table<'a>> {
    let mut table: Table<'a> = Vec::new();
    let wanted = |on: Configuration| only.is_none_or(|only| only.contains(&on));
    for row in rows.iter().filter(|row| row.machine == machine) {
        let on = row.sample.configuration();
        if !wanted(on) {
            continue;
        }
        let of = row.name();
        let place = table.iter().position(|(name, _)| *name == of).unwrap_or_else(|| {
            table.push((of, BTreeMap::new()));
            table.len() - 1
        });
        let runs = table[place].1.entry(on).or_default();
        let again =
            |first: &&&Row| first.run == row.run || first.run.is_none() || row.run.is_none();
        if let Some(first) = runs.iter().find(again) {
            return Err(bad(format!(
                "line {}: {} on {machine} at {on} stands in line {} already; number the runs in a \
                 column run, or keep one row",
                row.line,
                row.name(),
                first.line
            )));
        }
        runs.push(row);
    }
    if table.is_empty() {
        let known = machines(rows);
        let only = if only.is_some() { " at these configurations" } else { "" };
        return Err(bad(format!(
            "no row of machine {machine:?}{only}; there is {}",
            if known.is_empty() { "no row at all".into() } else { known.join(", ") }
        )));
    }
    Ok(table)
}

/// The configurations at which more than half of the programs were measured. Any other one is a
/// mistake in the table.
fn configurations(table: &Table<'_>) -> Result<Vec<Configuration>> {
    let all: BTreeSet<Configuration> =
        table.iter().flat_map(|(_, samples)| samples.keys().copied()).collect();
    let programs = table.len();
    let mut configurations = Vec::new();
    for on in all {
        let lines: Vec<u64> = table
            .iter()
            .filter_map(|(_, samples)| samples.get(&on)?.first())
            .map(|row| row.line)
            .collect();
        if 2 * lines.len() > programs {
            configurations.push(on);
        } else {
            return Err(bad(format!(
                "line {}: {on} is a configuration that {} of {programs} programs were not \
                 measured at: a slip, or choose the configurations to use",
                lines[0],
                programs - lines.len()
            )));
        }
    }
    Ok(configurations)
}

/// The median of several runs at one configuration.
fn median(runs: &[&Row]) -> Result<Sample> {
    let middle = |mut values: Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        let half = values.len() / 2;
        if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
    };
    let mut counts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (event, count) in runs.iter().flat_map(|row| row.sample.counts()) {
        counts.entry(event).or_default().push(count);
    }
    let seconds = runs.iter().map(|row| row.sample.seconds()).collect();
    let sample = Sample::new(runs[0].sample.configuration(), middle(seconds))?;
    counts.into_iter().try_fold(sample, |sample, (event, all)| sample.with(event, middle(all)))
}

fn events(programs: &[Program]) -> Vec<String> {
    let reference = |program: &Program| program.samples.last().cloned();
    let mut common: Option<BTreeSet<String>> = None;
    for sample in programs.iter().filter_map(reference) {
        let names = sample.counts().map(|(event, _)| event.to_owned()).collect::<BTreeSet<_>>();
        common = Some(match common {
            Some(before) => before.intersection(&names).cloned().collect(),
            None => names,
        });
    }
    let ours = |event: &String| event != INSTRUCTIONS && event != CYCLES;
    common.unwrap_or_default().into_iter().filter(ours).collect()
}

#[cold]
pub(super) fn bad(why: String) -> Error {
    Error::new(ErrorKind::InvalidInput, why)
}
