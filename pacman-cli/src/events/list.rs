//! `pacman-pmu list`: the tables, or the events of one.

use std::io::Write;

use clap::Args;
use pacman_core::platform::Platform;
use pacman_events::{AnyThread, CatalogEntry, CpuModel, EntryKind, Family, Preset, catalog};
use serde::Serialize;

use super::provenance::EventTable;
use super::register::{code, counters};
use super::tables::{Loaded, Tables};
use crate::columns;
use crate::error::{self, BAD_INPUT, CliResult};
use pacman_events::plural::number;
use pacman_report::document;

/// List the events of a processor, or the processors
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:
  pacman-pmu list                      the events of this machine
  pacman-pmu list --cpu skl 'stall'    names of Skylake that contain \"stall\"
  pacman-pmu list --cpu p4 'bsq_*'     a pattern with * stands for the whole name
  pacman-pmu list --cpus               all tables, with their aliases

Exit status:
  0  done
  2  bad input, or no matching name: one line on standard error gives it; in JSON an empty list
  4  the answer could not be written")]
pub(crate) struct ListArgs {
    /// The processor and the tables
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// List the processors that have a table of events
    #[arg(long)]
    pub(crate) cpus: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// List only names that contain PATTERN, or that match it if it has a *
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: Option<String>,
}

/// With `--cpus`, a table of events.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Processor {
    /// Name of the table.
    cpu: &'static str,
    /// Other names.
    aliases: &'static [&'static str],
    /// Processors of the table.
    title: &'static str,
    /// Contexts of a core.
    smt: u8,
    /// General counters of a context.
    counters: u32,
    /// The same with SMT off.
    counters_smt_off: u32,
    /// Fixed counters.
    fixed: Vec<u8>,
    /// Number of events.
    events: usize,
}

/// An event of the table.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Event<'a> {
    /// Name of the event.
    event: &'a str,
    /// Name of the table.
    cpu: &'a str,
    /// Origin of the event.
    source: &'a str,
    /// Value of the selector, or empty.
    code: &'a str,
    /// Legal counters, or empty.
    counters: &'a str,
    /// Note or description.
    text: &'a str,
}

/// Runs `list` and returns the exit status.
///
/// # Errors
/// Only those of `out`.
pub(crate) fn list(args: &ListArgs, machine: &dyn Platform, out: &mut dyn Write) -> CliResult {
    let pattern = Pattern::new(args.pattern.as_deref().unwrap_or(""));
    if args.cpus {
        return cpus(&pattern, args.json, out);
    }
    let loaded = args.tables.load(machine)?;
    events(&loaded, &pattern, args.json, out)
}

fn cpus(pattern: &Pattern, as_json: bool, out: &mut dyn Write) -> CliResult {
    let fits = |cpu: &CpuModel| {
        std::iter::once(cpu.name()).chain(cpu.aliases().iter().copied()).any(|n| pattern.fits(n))
            || pattern.fits(cpu.title())
    };
    let cpus: Vec<_> = CpuModel::all().filter(fits).collect();
    let status = if cpus.is_empty() { BAD_INPUT } else { 0 };
    if cpus.is_empty() {
        error::complain(format!(
            "no table has {:?} in its names or its title; pacman-pmu list --cpus shows all",
            pattern.0
        ));
    }
    let native = |cpu: CpuModel| {
        catalog(cpu).filter(|e| matches!(e.kind, EntryKind::Native | EntryKind::Metric)).count()
    };
    if as_json {
        let list = cpus.iter().map(|cpu| {
            let facts = cpu.facts();
            Processor {
                cpu: cpu.name(),
                aliases: cpu.aliases(),
                title: cpu.title(),
                smt: facts.smt_ways,
                counters: facts.general.len(),
                counters_smt_off: facts.general_smt_off.len(),
                fixed: facts.fixed.iter().collect(),
                events: native(*cpu),
            }
        });
        document::write(out, &list.collect::<Vec<_>>())?;
        return Ok(status);
    }
    if cpus.is_empty() {
        return Ok(status);
    }
    let rows: Vec<_> = cpus
        .iter()
        .map(|cpu| {
            let facts = cpu.facts();
            let (on, off) = (facts.general.len(), facts.general_smt_off.len());
            let counters = match facts.family {
                Family::NetBurst => format!("{on} a core"),
                Family::Generic | Family::S390x => String::new(),
                _ if on == off => on.to_string(),
                _ => format!("{on}, SMT off {off}"),
            };
            [
                cpu.name().to_owned(),
                cpu.aliases().join(" "),
                facts.smt_ways.to_string(),
                counters,
                facts.fixed.len().to_string(),
                native(*cpu).to_string(),
                cpu.title().to_owned(),
            ]
        })
        .collect();
    columns::words(
        out,
        ["TABLE", "ALIASES", "SMT", "COUNTERS", "FIXED", "EVENTS", "PROCESSORS"],
        &rows,
    )?;
    Ok(status)
}

fn events(loaded: &Loaded, pattern: &Pattern, as_json: bool, out: &mut dyn Write) -> CliResult {
    let cpu = loaded.cpu();
    let mut rows = Vec::new();
    let kind = if loaded.installed().is_some() { "installed" } else { "own" };
    let user = loaded.user_names().filter(|name| pattern.fits(name));
    for name in user {
        rows.push(row(loaded, name, kind, "", ""));
    }
    // An event of both tables is the one that names are searched in first.
    let is_replaced = |entry: &CatalogEntry| {
        matches!(entry.kind, EntryKind::Native) && loaded.replaces(&entry.name)
    };
    let shipped = catalog(cpu).filter(|entry| !is_replaced(entry));
    for entry in shipped.filter(|entry| pattern.fits(&entry.name)) {
        let text = match entry.kind {
            EntryKind::Preset => {
                let answer = Preset::named(&entry.name).map(|preset| preset.answer(cpu));
                answer.and_then(|answer| answer.expression()).unwrap_or_default()
            }
            _ => entry.text,
        };
        let kind = match entry.kind {
            EntryKind::Preset => "preset",
            EntryKind::Metric => "metric",
            EntryKind::Software => "linux",
            _ if entry.deprecated && cpu.facts().family == Family::NetBurst => "reserved",
            _ if entry.deprecated => "old",
            _ => "native",
        };
        rows.push(row(loaded, &entry.name, kind, text, entry.errata));
    }
    let none = rows.is_empty();
    if none {
        error::complain(format!(
            "no event of {cpu} ({}) has {:?} in its name; pacman-pmu list --cpu {cpu} shows all",
            cpu.title(),
            pattern.0
        ));
    }
    if as_json {
        let list = rows.iter().map(|[event, source, code, counters, text]| Event {
            event,
            cpu: cpu.name(),
            source,
            code,
            counters,
            text,
        });
        document::write(out, &list.collect::<Vec<_>>())?;
        return Ok(if none { BAD_INPUT } else { 0 });
    }
    if none {
        return Ok(BAD_INPUT);
    }
    let facts = cpu.facts();
    writeln!(out, "{cpu}: {}", cpu.title())?;
    if facts.family == Family::S390x {
        let contexts = number(facts.smt_ways, "context");
        writeln!(out, "a counter of {} bits for each event, {contexts} a core", facts.width)?;
    } else if facts.family != Family::Generic {
        let any = if facts.any_thread == AnyThread::Yes { ", AnyThread" } else { "" };
        writeln!(
            out,
            "counters {} of {} bits (SMT off {}), fixed {}, {} a core{any}",
            facts.general,
            facts.width,
            facts.general_smt_off,
            facts.fixed,
            number(facts.smt_ways, "context"),
        )?;
    }
    for table in [EventTable::brought(loaded), EventTable::built_in(loaded)].into_iter().flatten() {
        writeln!(out, "{table}")?;
    }
    writeln!(out)?;
    columns::words(out, ["EVENT", "KIND", "CODE", "COUNTERS", "NOTE"], &rows)?;
    Ok(0)
}

fn row(loaded: &Loaded, name: &str, kind: &str, text: &str, errata: &str) -> [String; 5] {
    let (code, counters) = match loaded.resolve(name) {
        Ok(resolved) => match resolved.encoding() {
            Some(event) => (code(event), counters(event)),
            None => (String::new(), "expression".to_owned()),
        },
        Err(_) => (String::new(), String::new()),
    };
    let note = match (text, errata) {
        (text, "") => text.to_owned(),
        ("", errata) => errata.to_owned(),
        (text, errata) => format!("{text}; {errata}"),
    };
    [name.to_owned(), kind.to_owned(), code, counters, note]
}

/// A part of a name, or a whole name in which `*` stands for any text. Case does not matter.
struct Pattern(String);

impl Pattern {
    fn new(text: &str) -> Self {
        Pattern(text.to_ascii_lowercase())
    }

    fn fits(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        if !self.0.contains('*') {
            return name.contains(&self.0);
        }
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or("");
        let Some(mut rest) = name.strip_prefix(first) else { return false };
        let parts: Vec<_> = parts.collect();
        let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
        for part in middle {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything_and_anchors_the_rest() {
        let fits = |pattern: &str, name| Pattern::new(pattern).fits(name);
        assert!(fits("stall", "UOPS_ISSUED.STALL_CYCLES"));
        assert!(fits("uops_*.stall*", "UOPS_ISSUED.STALL_CYCLES"));
        assert!(!fits("stall*", "UOPS_ISSUED.STALL_CYCLES"));
        assert!(!fits("uops*any", "UOPS_ISSUED.ANY_P"));
        assert!(!fits("aa*aa", "aaa"));
    }
}
