//! The file. The format wants all samples of a family together, and processes come one at a time. So each
//! family has a buffer of its own until all processes are there.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use pacman_events::shown::command_line;

use super::family::{FAMILIES, Of, RUN};
use crate::run::report::{Efficiency, PhaseReport, ProcessReport, RegionReport, Report, Thread};
use crate::slots::CATEGORIES;

/// The file as text.
pub(in crate::run) fn write(report: &Report) -> String {
    let mut samples = FAMILIES.map(|_| Vec::new());
    for process in report.observed() {
        add(process, &mut samples).expect("memory takes everything");
    }
    let mut text = run(report);
    for (family, samples) in FAMILIES.iter().zip(samples) {
        let samples = String::from_utf8(samples).expect("all are texts");
        if !samples.is_empty() {
            text += &(family.heading() + &samples);
        }
    }
    text + END
}

/// Writes the file with these processes instead of the report's, one after the other.
pub(in crate::run) fn stream<P: Borrow<ProcessReport>>(
    report: &Report,
    processes: impl Iterator<Item = P>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut samples: Vec<BufWriter<File>> = Vec::new();
    for _ in FAMILIES {
        samples.push(BufWriter::new(tempfile::tempfile()?));
    }
    for process in processes {
        add(process.borrow(), &mut samples)?;
    }
    out.write_all(run(report).as_bytes())?;
    for (family, samples) in FAMILIES.iter().zip(samples) {
        let mut samples = samples.into_inner()?;
        if samples.stream_position()? > 0 {
            out.write_all(family.heading().as_bytes())?;
            samples.rewind()?;
            io::copy(&mut samples, out)?;
        }
    }
    out.write_all(END.as_bytes())
}

fn run(report: &Report) -> String {
    let provenance = &report.provenance;
    let labels = Labels::default()
        .with("command", &command_line(&report.command))
        .with("host", &provenance.host)
        .and("processor", provenance.processor.as_ref())
        .with("system", &provenance.system)
        .with("version", &provenance.version)
        .with("began", &provenance.date())
        .and("simulated", report.simulated.as_ref());
    RUN.heading() + &labels.line(&RUN.sample_name(), 1)
}

/// Adds the samples of a process to those of each family.
fn add<W: Write>(process: &ProcessReport, samples: &mut [W]) -> io::Result<()> {
    let about = &process.process;
    let labels = Labels::default()
        .with("program", process.program())
        .with("pid", &about.pid.to_string())
        .and("rank", about.rank.map(|rank| rank.rank))
        .and("host", about.host.as_ref());
    let mut out = Samples(samples);
    out.add(Of::ProcessSeconds, &labels, about.seconds)?;
    out.add_known(Of::ProcessorShare, &labels, process.processor_share())?;
    out.add_known(Of::UsefulProcessorShare, &labels, process.useful_processor_share())?;
    if let Some(tree) = &process.efficiency {
        for (factor, value) in Efficiency::NAMES.into_iter().zip(tree.efficiency.parts()) {
            out.add(Of::Efficiency, &labels.with("factor", factor), value)?;
        }
    }
    process.regions.iter().try_for_each(|one| region(process, one, &labels, &mut out))?;
    process.phases.iter().try_for_each(|one| phase(process, one, &labels, &mut out))
}

fn phase<W: Write>(
    process: &ProcessReport,
    phase: &PhaseReport,
    labels: &Labels,
    out: &mut Samples<'_, W>,
) -> io::Result<()> {
    let labels = labels.with("phase", &phase.name).with("kind", phase.kind.word());
    out.add(Of::PhaseExecutions, &labels, phase.executions)?;
    out.add(Of::PhaseSeconds, &labels, phase.seconds)?;
    for (thread, unended) in phase.threads.iter().zip(&phase.unended) {
        let labels = labels.with("thread", &thread.row.thread.to_string());
        out.add(Of::PhaseThreadExecutions, &labels, thread.row.executions)?;
        out.add(Of::PhaseThreadUnended, &labels, unended)?;
        out.add(Of::PhaseThreadSeconds, &labels, thread.row.seconds)?;
        events(process, thread, Of::PhaseThreadEvents, &labels, out)?;
    }
    Ok(())
}

fn region<W: Write>(
    process: &ProcessReport,
    region: &RegionReport,
    labels: &Labels,
    out: &mut Samples<'_, W>,
) -> io::Result<()> {
    // Regions may have one name; address and entry tell them apart.
    let labels = labels
        .with("region", &region.name.text)
        .and("file", region.name.file.as_ref())
        .and("line", region.name.line)
        .with("address", &format!("{:#x}", region.site.address))
        .with("entry", &region.entry);
    out.add(Of::Executions, &labels, region.executions)?;
    out.add(Of::Seconds, &labels, region.seconds)?;
    out.add_known(Of::Margin, &labels, region.sampling.map(|sampling| sampling.margin))?;
    out.add_known(Of::Waiting, &labels, region.waiting)?;
    out.add_known(Of::Energy, &labels, region.energy.map(|energy| energy.joules))?;
    for one in &region.threads {
        let labels = labels.with("thread", &one.row.thread.to_string());
        thread(process, region, one, &labels, out)?;
    }
    let Some(slots) = &region.slots else { return Ok(()) };
    for thread in slots.cores.iter().flat_map(|core| &core.threads) {
        let Some(shares) = thread.shares else { continue };
        let labels = labels.with("thread", &thread.thread.to_string());
        for ((metric, _), share) in CATEGORIES.iter().zip(shares.parts()) {
            let category = metric.trim_start_matches("topdown-").replace('-', "_");
            out.add_known(Of::Slots, &labels.with("category", &category), share)?;
        }
    }
    if let Some(off) = &slots.smt_off {
        for (bound, speed) in [("low", off.speed.low), ("high", off.speed.high)] {
            out.add(Of::SmtOff, &labels.with("bound", bound), speed)?;
        }
    }
    Ok(())
}

fn thread<W: Write>(
    process: &ProcessReport,
    region: &RegionReport,
    thread: &Thread,
    labels: &Labels,
    out: &mut Samples<'_, W>,
) -> io::Result<()> {
    out.add(Of::ThreadExecutions, labels, thread.row.executions)?;
    out.add(Of::Busy, labels, thread.row.seconds)?;
    let states = region.states.iter().flat_map(|states| &states.threads);
    if let Some(own) = states.clone().find(|states| states.thread == thread.row.thread) {
        let mut by_state = BTreeMap::from([("useful", own.useful)]);
        for (reason, seconds) in own.by_reason() {
            *by_state.entry(reason.word()).or_default() += seconds;
        }
        for (state, seconds) in by_state {
            out.add(Of::States, &labels.with("state", state), seconds)?;
        }
        for (state, off) in [("useful", own.useful_off), ("waiting", own.waiting_off)] {
            out.add_known(Of::OffProcessor, &labels.with("state", state), off)?;
        }
    }
    events(process, thread, Of::Events, labels, out)
}

/// The counts of a thread in a region or phase.
fn events<W: Write>(
    process: &ProcessReport,
    thread: &Thread,
    family: Of,
    labels: &Labels,
    out: &mut Samples<'_, W>,
) -> io::Result<()> {
    for (event, count) in process.columns.events.iter().zip(&thread.figures.counts) {
        let Some(count) = count else { continue };
        let labels = labels.with("event", &event.name).with("unit", &event.unit);
        let labels = labels
            .and("doubt", event.doubt.as_ref().map(|_| "true"))
            .and("complete", (!count.is_complete).then_some("false"))
            .and("estimate", (count.share < 1.0).then_some("true"))
            .and("mostly_readings", count.is_mostly_readings().then_some("true"));
        out.add(family, &labels, count.value)?;
    }
    Ok(())
}

/// Where the samples of each family go.
struct Samples<'a, W>(&'a mut [W]);

impl<W: Write> Samples<'_, W> {
    fn add(&mut self, family: Of, labels: &Labels, value: impl Display) -> io::Result<()> {
        let place = family as usize;
        self.0[place].write_all(labels.line(&FAMILIES[place].sample_name(), value).as_bytes())
    }

    fn add_known(&mut self, family: Of, labels: &Labels, value: Option<f64>) -> io::Result<()> {
        value.map_or(Ok(()), |value| self.add(family, labels, value))
    }
}

const END: &str = "# EOF\n";

/// Labels of a sample, escaped, without the braces.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(String);

impl Labels {
    /// These labels and one more.
    pub(super) fn with(&self, name: &str, value: &str) -> Labels {
        let comma = if self.0.is_empty() { "" } else { "," };
        Labels(format!("{}{comma}{name}=\"{}\"", self.0, escaped(value)))
    }

    /// These labels and one more, if it is known. An empty label is the same as none.
    pub(super) fn and(&self, name: &str, value: Option<impl Display>) -> Labels {
        value.map_or_else(|| self.clone(), |value| self.with(name, &value.to_string()))
    }

    /// The line of a sample.
    pub(super) fn line(&self, name: &str, value: impl Display) -> String {
        format!("{name}{{{}}} {value}\n", self.0)
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
