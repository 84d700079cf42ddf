//! The headline, the facts below it, and what must be known to read the page.

use pacman_events::shown::command_line;

use super::escape::escaped;
use super::title;
use super::verdict::{self, Verdict};
use crate::run::report::{ProcessReport, Report};
use crate::run::text::{joules, number, seconds, share, watts};

/// The top of the page.
pub(super) fn heading(report: &Report, processes: &[&ProcessReport]) -> String {
    let simulated = report.simulated.iter().map(|machine| {
        let machine = escaped(machine);
        format!(
            "<p class=\"warning\">Simulated: counts are those of {machine}, not of this machine.</p>"
        )
    });
    let outcome = match processes {
        [process] => outcome(process),
        _ => String::new(),
    };
    format!(
        "<header><p class=\"command\"><code>{}</code></p>\n{}{outcome}{}{}{}</header>\n",
        escaped(&command_line(&report.command)),
        sentence("h1", report, processes),
        about(&facts_of_run(report, processes)),
        made(report),
        simulated.collect::<String>(),
    )
}

/// The verdict, or how much ran in regions where waits were not timed.
fn sentence(tag: &str, report: &Report, processes: &[&ProcessReport]) -> String {
    if let Some(Verdict { kind, sentence, help, .. }) = verdict::of(processes) {
        let help = match &*help {
            "" => String::new(),
            help => format!("<p class=\"help\">{help}</p>\n"),
        };
        return format!("<{tag} data-verdict=\"{}\">{sentence}</{tag}>\n{help}", kind.word());
    }
    let sentence = match processes {
        [] => "No OpenMP region ran.".to_owned(),
        [process] => headline(process),
        several => {
            let regions: usize = several.iter().map(|process| process.regions.len()).sum();
            let inside: f64 = several.iter().map(|process| process.in_regions).sum();
            let all: f64 = several.iter().map(|process| process.process.seconds).sum();
            let inside = share(if all > 0.0 { (inside / all).min(1.0) } else { 0.0 });
            escaped(&format!(
                "{} processes ran {} in {}; their time was {inside} inside regions.",
                several.len(),
                number(regions, "region"),
                seconds(report.ended.seconds),
            ))
        }
    };
    format!("<{tag}>{sentence}</{tag}>\n")
}

/// Where, when and by which version the report was made.
fn made(report: &Report) -> String {
    let provenance = &report.provenance;
    let processor = provenance.processor.as_deref().unwrap_or("unknown processor");
    let version = format!("pacman-pmu {}", provenance.version);
    let date = provenance.date();
    let parts = [&*provenance.host, processor, &provenance.system, &date, &version];
    format!("<p class=\"made\">{}</p>\n", parts.map(escaped).join(" · "))
}

/// Facts about the run, in one line.
fn facts_of_run(report: &Report, processes: &[&ProcessReport]) -> Vec<(&'static str, String)> {
    let mut all = match processes {
        [] => vec![("run", seconds(report.ended.seconds))],
        [process] => [vec![("process", process.process.pid.to_string())], facts(process)].concat(),
        _ => {
            vec![("run", seconds(report.ended.seconds)), ("processes", processes.len().to_string())]
        }
    };
    if !processes.is_empty() {
        all.push(("ending", report.ended.exit.to_string()));
    }
    if let Some(objective) = &report.objective {
        all.push(("adapted for", objective.clone()));
    }
    if let Some(energy) = &report.energy {
        let power = energy.watts().map_or_else(String::new, |power| format!(", {}", watts(power)));
        all.push(("energy of the packages", joules(energy.joules) + &power));
    }
    all
}

fn about(facts: &[(&str, String)]) -> String {
    let fact = |(name, value): &(&str, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value))
    };
    format!("<dl class=\"about\">{}</dl>\n", facts.iter().map(fact).collect::<String>())
}

/// Verdict and facts of one of several processes.
pub(super) fn of_process(report: &Report, process: &ProcessReport) -> String {
    format!(
        "<div class=\"verdict\">{}</div>{}{}",
        sentence("h2", report, &[process]),
        outcome(process),
        about(&facts(process)),
    )
}

/// One sentence on how much ran in regions, one on where most is lost.
fn headline(process: &ProcessReport) -> String {
    let regions = number(process.regions.len(), "region");
    let whole = seconds(process.process.seconds);
    if process.regions.is_empty() {
        let phases = number(process.phases.len(), "phase");
        return escaped(&format!("{phases} in {whole}; no OpenMP region ran."));
    }
    let first = format!("{} of {whole} in {regions}", share(process.share()));
    let worst = process.worst().filter(|region| region.lost() >= WORTH * process.process.seconds);
    let second = match worst {
        Some(region) => format!(
            "the most is lost in <em>{}</em>: its threads wait {} of the time.",
            escaped(&region.name.short()),
            share(region.waiting.unwrap_or(0.0))
        ),
        None => "little is lost to waiting.".to_owned(),
    };
    format!("{}; {second}", escaped(&first))
}

/// The result of adaptation, in a sentence; empty if it only observed.
fn outcome(process: &ProcessReport) -> String {
    if !process.is_adapted() {
        return String::new();
    }
    let adapted = || process.regions.iter().filter_map(|region| region.adaptation.as_ref());
    let fewer = adapted().filter(|adaptation| adaptation.threads < process.threads).count();
    let reduced = adapted().filter(|adaptation| adaptation.reduced > 0).count();
    let all = number(process.regions.len(), "region");
    let chosen = match (fewer, reduced) {
        (0, 0) => format!("all of {all} kept their threads"),
        (0, tried) => format!(
            "{tried} of {all} ran on fewer threads or contexts, and none stays with fewer threads"
        ),
        (fewer, _) => {
            format!("{fewer} of {all} ended up on fewer than {} threads", process.threads)
        }
    };
    let known = adapted().filter_map(|adaptation| adaptation.gained);
    let gained = known.fold(None, |sum: Option<f64>, gained| Some(sum.unwrap_or(0.0) + gained));
    let gained = match gained.filter(|_| reduced > 0) {
        None => String::new(),
        Some(gained) => {
            let (class, word) = if gained < 0.0 { ("loss", "lost") } else { ("gain", "gained") };
            let amount = escaped(&seconds(gained.abs()));
            format!(" <b class=\"{class}\">About {amount} {word}</b> in all, trying included.")
        }
    };
    format!("<p class=\"outcome\">Adaptation: {}.{gained}</p>\n", escaped(&chosen))
}

fn facts(process: &ProcessReport) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("runtime", process.runtimes()),
        (
            "threads",
            format!("{} on {}", process.threads, number(process.contexts as usize, "context")),
        ),
        ("run", seconds(process.process.seconds)),
        (
            "in regions",
            format!("{} in {}", share(process.share()), number(process.regions.len(), "region")),
        ),
    ];
    if let Some(nanoseconds) = process.overhead.nanoseconds {
        let each = seconds(nanoseconds * 1e-9);
        facts.push(("observing took", format!("{each} an execution")));
    }
    facts
}

/// The bottom of the page.
pub(super) fn notes(report: &Report, processes: &[&ProcessReport]) -> String {
    let mut notes: Vec<String> = Vec::new();
    for process in processes {
        let of_process = |note: &String| match processes.len() {
            1 => note.clone(),
            _ => format!("{}: {note}", title::process(process)),
        };
        notes.extend(process.notes.iter().map(of_process));
    }
    let silent = report.processes.len() - processes.len();
    if silent > 0 && !processes.is_empty() {
        notes.push(format!("In {} no region ran.", number(silent, "more process")));
    }
    notes.extend(report.remarks().into_iter().map(str::to_owned));
    let items = notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect::<String>();
    let own = if items.is_empty() { String::new() } else { format!("<ul>{items}</ul>") };
    format!(
        "<section class=\"notes\"><h2>To read this</h2>{own}\
         <p>Times are wall time. A thread is busy inside the region's body; without \
         <code>--waits</code> that includes waits in it. It waits from its own end to the end of the \
         region. A loop of GCC without a schedule ends in a barrier. Counts are each thread's own, in \
         user mode. Processes that are killed, static programs and regions that the compiler made \
         serial cannot be seen.</p></section>\n"
    )
}

/// The part of a run from which on waiting is worth a word.
const WORTH: f64 = 0.01;
