//! `pacman-pmu encode`: register values and legal counters of events.

use std::io::{self, Write};

use clap::Args;
use pacman_core::platform::Platform;
use pacman_events::encode::{Kind, NetBurst, Scope, ThreadKind};
use pacman_events::shown::excerpt;
use pacman_events::{Encoding, Family, Resolved};

use super::json;
use super::provenance::EventTable;
use super::register::{counters, has_selector};
use super::tables::{Loaded, Tables};
use crate::error::{self, BAD_INPUT, CliResult};
use crate::terminal::Fitted;
use pacman_report::document;

/// Show the encoding of events: registers, counters, perf_event_attr
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  pacman-pmu encode --cpu snb STALL_CYCLES L2_MISSES
  pacman-pmu encode --cpu p4 instr_retired:NBOGUSNTAG:u 1stL_cache_load_miss_retired
  pacman-pmu encode --cpu skl UOPS_ISSUED.ANY:c=1:i r01c3010e
  pacman-pmu encode --json --cpu skl 'cpu/event=0x3c,umask=0/'

Modifiers: u user, k kernel, e edge, i invert, c=N counter mask, any siblings too;
NetBurst: thr=N threshold, cmpl complement.

Exit status:
  0  done
  2  bad input or a refused event: one line on standard error gives the reason; in JSON an object
     with the error replaces the event
  4  the answer could not be written")]
pub(crate) struct EncodeArgs {
    /// Which processor and tables
    #[command(flatten)]
    pub(crate) tables: Tables,
    /// Print JSON, one object per event
    #[arg(long)]
    pub(crate) json: bool,
    /// Presets, native names, raw codes (rXXXX) or PMU/TERM=N,…/
    #[arg(required = true, value_name = "EVENT")]
    pub(crate) names: Vec<String>,
}

/// Runs `encode` and answers the exit status.
///
/// # Errors
/// Bad input from the options, and errors of `out`.
pub(crate) fn encode(args: &EncodeArgs, machine: &dyn Platform, out: &mut dyn Write) -> CliResult {
    let loaded = args.tables.load(machine)?;
    let mut status = 0;
    let mut objects = Vec::new();
    let mut described = false;
    let names = args.names.iter().map(|name| (name, loaded.resolve(name)));
    let names: Vec<_> = names.collect();
    for (name, resolved) in &names {
        if resolved.is_err() {
            status = BAD_INPUT;
        }
        match (resolved, args.json) {
            (Ok(resolved), true) => objects.push(json::resolved(name, resolved, &loaded)),
            (Err(why), true) => objects.push(json::Answer::Refusal(json::refusal(name, why))),
            (Ok(resolved), false) => {
                if std::mem::replace(&mut described, true) {
                    writeln!(out)?;
                }
                describe(name, &loaded, resolved, &mut Fitted::stdout(out))?;
            }
            (Err(why), false) => {
                // Flush first: on a terminal the error must follow the output before it.
                out.flush()?;
                error::complain(format!("cannot encode {}: {why}", excerpt(name)));
            }
        }
    }
    if args.json {
        document::write(out, &objects)?;
    }
    Ok(status)
}

fn describe(
    asked: &str,
    loaded: &Loaded,
    resolved: &Resolved,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cpu = loaded.cpu();
    writeln!(out, "{asked} on {cpu} ({})", cpu.title())?;
    if let Some(preset) = resolved.preset() {
        let answer = preset.answer(cpu);
        writeln!(out, "  counts      {}", preset.meaning())?;
        if !answer.caveat().is_empty() {
            writeln!(out, "  caveat      {}", answer.caveat())?;
        }
        if !answer.scale().is_empty() {
            writeln!(out, "  scale       {}", answer.scale())?;
        }
    }
    for term in resolved.terms() {
        if resolved.encoding().is_none() {
            writeln!(out, "  {:+} * {}", term.coefficient, term.encoding.name)?;
        } else {
            writeln!(out, "  event       {}", term.encoding.name)?;
        }
        if let Some(table) = EventTable::of(&term.encoding, loaded) {
            writeln!(out, "  table       {table}")?;
        }
        registers(&term.encoding, out)?;
    }
    Ok(())
}

fn registers(event: &Encoding, out: &mut dyn Write) -> io::Result<()> {
    if has_selector(event.kind) {
        let register = match event.kind {
            Kind::Amd => "PERF_CTL",
            Kind::Niagara => "PCR",
            Kind::Code if event.cpu.facts().family == Family::Arm => "PMEVTYPER",
            Kind::Code => "code",
            _ => "PERFEVTSEL",
        };
        writeln!(out, "  {register:<11} {}", fields(event))?;
    }
    if let Some(setup) = &event.netburst {
        netburst(event, setup, out)?;
    }
    if let Some(extra) = &event.extra {
        let registers: Vec<_> = extra
            .choices()
            .iter()
            .map(|c| format!("{:#x} (select {:#06x})", c.msr, c.select))
            .collect();
        let shared =
            if extra.scope == Scope::Core { ", shared by the core's contexts" } else { "" };
        writeln!(out, "  extra MSR   {:#x} in {}{shared}", extra.value, registers.join(" or "))?;
    }
    if event.kind != Kind::Perf {
        writeln!(out, "  counters    {}", counters(event))?;
    }
    for note in notes(event) {
        writeln!(out, "  note        {note}")?;
    }
    match &event.perf {
        Some(perf) => {
            let pmu = perf.pmu.map_or(String::new(), |pmu| format!(" (the number in {pmu}/type)"));
            writeln!(
                out,
                "  perf        type {}{pmu}, config {:#x}, config1 {:#x}",
                perf.kind, perf.config, perf.config1,
            )
        }
        None => writeln!(out, "  perf        cannot express it"),
    }
}

fn netburst(event: &Encoding, setup: &NetBurst, out: &mut dyn Write) -> io::Result<()> {
    let kernel = event.rings.kernel;
    let user = event.rings.user || !kernel;
    for (lp, half) in setup.halves.iter().enumerate() {
        let place = match half {
            Some(choice) => {
                format!("{} ({:#x}), counters {}", choice.escr, choice.escr.msr(), choice.counters)
            }
            None => "no ESCR of this half selects it".to_owned(),
        };
        writeln!(out, "  half {lp}      {place}")?;
    }
    writeln!(
        out,
        "  ESCR        {:#010x} for thread 0, {:#010x} for thread 1",
        setup.escr(0, user, kernel),
        setup.escr(1, user, kernel),
    )?;
    writeln!(out, "  CCCR        {:#010x}", setup.cccr())?;
    if let Some(companion) = &setup.companion {
        let escrs: Vec<_> = companion.halves.iter().flatten().map(|c| c.escr.to_string()).collect();
        writeln!(
            out,
            "  beside      {} in {}: ESCR {:#010x} for thread 0",
            companion.event,
            escrs.join(" or "),
            companion.escr(0, user, kernel),
        )?;
    }
    if let Some(replay) = setup.replay {
        writeln!(
            out,
            "  replay      PEBS_ENABLE {:#x}, PEBS_MATRIX_VERT {:#x}: one setting for the core",
            replay.pebs_enable, replay.matrix_vert,
        )?;
    }
    Ok(())
}

/// A selector's value with its fields in words.
fn fields(event: &Encoding) -> String {
    let value = event.evtsel;
    if matches!(event.kind, Kind::Niagara | Kind::Code) {
        return format!("{value:#x}");
    }
    let mut text = format!("{value:#010x}  event {:#04x}", value & 0xff | value >> 24 & 0xf00);
    if event.kind == Kind::Arch {
        text = format!("{value:#010x}  event {:#04x}", value & 0xff);
    }
    let mut add = |name: &str, field: u64| {
        if field != 0 {
            text.push_str(&format!(", {name} {field:#04x}"));
        }
    };
    add("umask", value >> 8 & 0xff);
    if event.kind == Kind::Arch {
        add("second umask", value >> 40 & 0xff);
    }
    add("cmask", value >> 24 & 0xff);
    for (bit, name) in [(18, "edge"), (21, "any"), (23, "inv"), (16, "usr"), (17, "os")] {
        if value >> bit & 1 == 1 {
            text.push_str(", ");
            text.push_str(name);
        }
    }
    text
}

fn notes(event: &Encoding) -> Vec<String> {
    let mut notes = Vec::new();
    let mut add = |holds: bool, note: &str| {
        if holds {
            notes.push(note.to_owned());
        }
    };
    let limits = event.limits;
    let independent =
        event.netburst.is_some_and(|setup| setup.thread_kind == ThreadKind::Independent);
    add(independent, "the T bits cannot tell the logical processors apart: it counts both");
    add(
        limits.counts == Scope::Core && !independent,
        "counts for the whole core: do not add siblings",
    );
    add(limits.counts == Scope::Node, "counts for the whole node, on one core's counter");
    add(limits.taken_alone, "must be alone on the general counters");
    add(
        limits.sibling_exclusive,
        "with SMT on it closes this counter to the sibling (BJ122, BV98, HSD29)",
    );
    add(limits.counter_pair, "takes an even counter and the odd one after it");
    add(event.needs.privilege, "needs CAP_PERFMON or root, for it counts siblings too");
    add(
        event.needs.tagging,
        "counts nothing until an upstream event tags; the metrics bring theirs",
    );
    add(event.needs.smt_off, "no counter can count it while siblings are enabled");
    if !event.errata.is_empty() {
        notes.push(format!("errata of the vendor: {}", event.errata));
    }
    notes
}
