//! Counts of JSON reports as lines of `event,count`.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::document;
use crate::run::VERSION;

/// A line about counts that are estimates, if there are any.
pub fn estimates(text: &str, phase: Option<&str>) -> Option<String> {
    let Heading { format, .. } = parsed(text).ok()?;
    let shares: BTreeMap<String, f64> = match format.as_str() {
        "pacman-stat" => {
            let Stat { events, total, .. } = parsed(text).ok()?;
            events.into_iter().map(|event| event.name).zip(total.counted_shares?).collect()
        }
        "pacman-run" => parsed::<Run>(text).ok()?.shares(phase),
        _ => return None,
    };
    let estimated = shares.iter().filter(|(_, share)| **share < 1.0);
    let names: Vec<&str> = estimated.map(|(event, _)| event.as_str()).collect();
    let least = shares.values().copied().fold(1.0, f64::min);
    (!names.is_empty()).then(|| {
        format!(
            "the counts of {} are estimates: event sets rotated, and each was counted in {:.1}% of \
             the {} or more",
            names.join(", "),
            100.0 * least,
            if format == "pacman-run" { "executions" } else { "time" }
        )
    })
}

/// Sums by event, in the report's order; None where a part was not counted.
type Sums = Vec<(String, Option<u64>)>;

/// The counts of a JSON report; the error has no name of a file.
///
/// `phase` names a region of `run` or a phase of a session. It may be missing if the report has one.
///
/// # Errors
/// For a report without complete counts, and for a phase that is missing or that is not there.
pub fn of_report(text: &str, phase: Option<&str>) -> Result<String, String> {
    let heading: Heading = parsed(text)?;
    document::check(text.as_bytes()).map_err(|error| error.to_string())?;
    let (sums, known) = match (heading.format.as_str(), heading.version) {
        ("pacman-stat", 1) if phase.is_some() => {
            return Err("a report of stat has no phases, so --phase has no meaning".into());
        }
        ("pacman-stat", 1) => parsed::<Stat>(text)?.sums()?,
        ("pacman-run", VERSION) => parsed::<Run>(text)?.sums(phase)?,
        ("pacman-report", 1) => parsed::<Session>(text)?.sums(phase)?,
        ("pacman-stat" | "pacman-run" | "pacman-report", version) => {
            return Err(format!("version {version} of {} is not known", heading.format));
        }
        (format, _) => {
            return Err(format!(
                "a report of format {format:?} has no counts by event; those of stat, run and \
                 sessions have"
            ));
        }
    };
    if let Some((event, why)) = known.iter().find_map(|it| Some((&it.name, it.doubt.as_ref()?))) {
        return Err(format!("counts of {event} may be wrong: {why}"));
    }
    let mut lines = String::new();
    for (event, count) in sums {
        let count = count.ok_or_else(|| {
            format!("{event} was not counted in every execution and thread: there is no sum")
        })?;
        if event.contains(['"', '\n']) {
            return Err(format!("{event:?} is not the name of an event"));
        }
        let _ = writeln!(lines, "\"{event}\",{count}");
    }
    if lines.is_empty() {
        return Err("the report has no counts; -e names the events to count".into());
    }
    Ok(lines)
}

fn parsed<Document: DeserializeOwned>(text: &str) -> Result<Document, String> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter();
    let first = documents.next().unwrap_or_else(|| serde_json::from_str(""));
    let first = first.map_err(|error| error.to_string())?;
    match documents.next() {
        None => Ok(first),
        Some(_) => Err("it has several documents: run stat without --interval".into()),
    }
}

/// The one with this name, or the only one.
fn choose<'n>(phase: Option<&'n str>, names: &[&'n str], what: &str) -> Result<&'n str, String> {
    let listed = || {
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        names.join(", ")
    };
    match (phase, names) {
        (_, []) => Err(format!("the report has no {what}")),
        (None, [only]) => Ok(only),
        (None, _) => Err(format!("choose a {what} with --phase: {}", listed())),
        (Some(phase), _) if names.contains(&phase) => Ok(phase),
        (Some(phase), _) => Err(format!("there is no {what} {phase:?}, but {}", listed())),
    }
}

/// Adds without wrapping; missing if one of them is.
fn plus(sum: Option<u64>, count: Option<u64>) -> Option<u64> {
    sum?.checked_add(count?)
}

#[derive(Deserialize)]
struct Heading {
    format: String,
    version: u32,
}

/// An event, as all three formats have it.
#[derive(Clone, Deserialize)]
struct Event {
    name: String,
    doubt: Option<String>,
}

#[derive(Deserialize)]
struct Stat {
    by: String,
    events: Vec<Event>,
    total: Total,
}

#[derive(Deserialize)]
struct Total {
    counts: Option<Vec<Option<u64>>>,
    counted_shares: Option<Vec<f64>>,
    missing: u64,
}

impl Stat {
    fn sums(self) -> Result<(Sums, Vec<Event>), String> {
        if self.by == "run" {
            return Err("its total is that of several runs: run stat without --repeat".into());
        }
        if self.total.missing > 0 {
            return Err(format!("{} of its rows have no counts", self.total.missing));
        }
        let counts = self.total.counts.unwrap_or_default();
        let names = self.events.iter().map(|event| event.name.clone());
        Ok((names.zip(counts).collect(), self.events))
    }
}

#[derive(Deserialize)]
struct Run {
    processes: Vec<Process>,
}

#[derive(Deserialize)]
struct Process {
    events: Vec<Event>,
    regions: Vec<Region>,
}

#[derive(Deserialize)]
struct Region {
    name: String,
    figures: Figures,
}

#[derive(Deserialize)]
struct Figures {
    counts: BTreeMap<String, Option<u64>>,
    #[serde(default)]
    counted_shares: Option<BTreeMap<String, f64>>,
    complete: bool,
}

impl Run {
    /// The least counted share of each event in a region, or in all of them.
    fn shares(&self, region: Option<&str>) -> BTreeMap<String, f64> {
        let regions = self.processes.iter().flat_map(|process| &process.regions);
        let regions = regions.filter(|own| region.is_none_or(|name| own.name == name));
        let mut least = BTreeMap::new();
        for (event, share) in regions.flat_map(|own| own.figures.counted_shares.iter().flatten()) {
            let known = least.entry(event.clone()).or_insert(1.0);
            *known = f64::min(*known, *share);
        }
        least
    }

    /// The sums over all processes, such as the ranks of an MPI program.
    fn sums(self, phase: Option<&str>) -> Result<(Sums, Vec<Event>), String> {
        let mut names: Vec<&str> = Vec::new();
        for region in self.processes.iter().flat_map(|process| &process.regions) {
            if !names.contains(&region.name.as_str()) {
                names.push(&region.name);
            }
        }
        let name = choose(phase, &names, "region")?;
        let (mut sums, mut known) = (Sums::new(), Vec::new());
        for process in &self.processes {
            for region in process.regions.iter().filter(|region| region.name == name) {
                if !region.figures.complete {
                    return Err(format!("executions of region {name:?} lack counts"));
                }
                for event in &process.events {
                    let count = region.figures.counts.get(&event.name).copied().flatten();
                    match sums.iter_mut().find(|(known, _)| *known == event.name) {
                        Some((_, sum)) => *sum = plus(*sum, count),
                        None => sums.push((event.name.clone(), count)),
                    }
                }
            }
            known.extend(process.events.iter().cloned());
        }
        Ok((sums, known))
    }
}

#[derive(Deserialize)]
struct Session {
    events: Vec<Event>,
    phases: Vec<String>,
    threads: Vec<Thread>,
}

#[derive(Deserialize)]
struct Thread {
    phases: Vec<Phase>,
}

#[derive(Deserialize)]
struct Phase {
    phase: usize,
    implausible: Option<serde::de::IgnoredAny>,
    counts: Vec<Count>,
}

#[derive(Deserialize)]
struct Count {
    value: Option<u64>,
}

impl Session {
    /// The sums over all threads.
    fn sums(self, phase: Option<&str>) -> Result<(Sums, Vec<Event>), String> {
        let names: Vec<&str> = self.phases.iter().map(String::as_str).collect();
        let name = choose(phase, &names, "phase")?;
        let mut sums = vec![Some(0); self.events.len()];
        let mut found = false;
        for part in self.threads.iter().flat_map(|thread| &thread.phases) {
            if self.phases.get(part.phase).is_none_or(|own| own != name) {
                continue;
            }
            if part.implausible.is_some() {
                return Err(format!("executions of phase {name:?} have impossible counts"));
            }
            found = true;
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum = plus(*sum, part.counts.get(at).and_then(|count| count.value));
            }
        }
        if !found {
            return Err(format!("no thread ran phase {name:?}"));
        }
        let names = self.events.iter().map(|event| event.name.clone());
        Ok((names.zip(sums).collect(), self.events))
    }
}
