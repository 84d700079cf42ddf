//! The headline of a run or a process: the verdict, or how much ran in regions where waits were not timed.

use serde::Serialize;

use super::sentence::Sentence;
use super::{Verdict, of};
use crate::run::report::{ProcessReport, Report};
use crate::run::text::{number, seconds, share};

/// The sentence that a reader needs first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::run) struct Headline {
    /// Greatest cost; null where waits were not timed, threads had processors and siblings do not compete.
    #[cfg_attr(test, schemars(extend("enum" = [
        "busy-machine", "more-threads-than-contexts", "shared-cores", "smt-contention", "serial", "imbalance", "lock",
        "ordered", "tasks", "mpi", "common", "little", null
    ])))]
    kind: Option<&'static str>,
    /// One or two sentences.
    text: String,
    /// Parts of `text` that matter most, in their order.
    strong: Vec<String>,
    /// Advice; null without.
    help: Option<String>,
    /// Region of the sentence, as an index into `regions` of its process; null without, and of several processes.
    region: Option<usize>,
}

impl Headline {
    /// Of all processes of a run in which something was observed.
    pub(in crate::run) fn of_run(report: &Report) -> Headline {
        let processes: Vec<&ProcessReport> = report.observed().collect();
        match processes[..] {
            [process] => Headline::of(process),
            _ => Headline::new(of(&processes), || over_all(report, &processes), None),
        }
    }

    /// Of one process.
    pub(in crate::run) fn of(process: &ProcessReport) -> Headline {
        Headline::new(of(&[process]), || of_times(process), Some(process))
    }

    fn new(
        verdict: Option<Verdict>,
        otherwise: impl Fn() -> Sentence,
        process: Option<&ProcessReport>,
    ) -> Headline {
        let Some(Verdict { kind, region, sentence, help }) = verdict else {
            let Sentence { text, strong } = otherwise();
            return Headline { kind: None, text, strong, help: None, region: None };
        };
        let region = region.zip(process).and_then(|(region, process)| {
            process.regions.iter().position(|other| std::ptr::eq(other, region))
        });
        Headline {
            kind: Some(kind.word()),
            text: sentence.text,
            strong: sentence.strong,
            help: Some(help).filter(|help| !help.is_empty()),
            region,
        }
    }
}

fn over_all(report: &Report, processes: &[&ProcessReport]) -> Sentence {
    if processes.is_empty() {
        return Sentence::default().plain("No OpenMP region ran.");
    }
    let regions: usize = processes.iter().map(|process| process.regions.len()).sum();
    let inside: f64 = processes.iter().map(|process| process.in_regions).sum();
    let all: f64 = processes.iter().map(|process| process.process.seconds).sum();
    let inside = share(if all > 0.0 { (inside / all).min(1.0) } else { 0.0 });
    Sentence::default().plain(&format!(
        "{} processes ran {} in {}; their time was {inside} inside regions.",
        processes.len(),
        number(regions, "region"),
        seconds(report.ended.seconds),
    ))
}

/// How much ran in regions, and where most is lost.
fn of_times(process: &ProcessReport) -> Sentence {
    let regions = number(process.regions.len(), "region");
    let whole = seconds(process.process.seconds);
    if process.regions.is_empty() {
        let phases = number(process.phases.len(), "phase");
        return Sentence::default().plain(&format!("{phases} in {whole}; no OpenMP region ran."));
    }
    let first = format!("{} of {whole} in {regions}; ", share(process.share()));
    let first = Sentence::default().plain(&first);
    match process.worst().filter(|region| region.lost() >= WORTH * process.process.seconds) {
        Some(region) => first.plain("the most is lost in ").strong(&region.name.short()).plain(
            &format!(": its threads wait {} of the time.", share(region.waiting.unwrap_or(0.0))),
        ),
        None => first.plain("little is lost to waiting."),
    }
}

/// The part of a run from which on waiting is worth a word.
const WORTH: f64 = 0.01;
