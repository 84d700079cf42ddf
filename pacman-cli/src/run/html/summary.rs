//! The headline, the facts below it, and what must be known to read the page.

use super::escape::escaped;
use crate::run::report::{ProcessReport, Report};
use crate::run::text::{joules, number, seconds, share, watts};

/// The top of the page.
pub(super) fn heading(report: &Report, processes: &[&ProcessReport]) -> String {
    let (headline, facts) = match processes {
        [] => {
            ("No OpenMP region ran.".to_owned(), vec![fact("run", &seconds(report.ended.seconds))])
        }
        [process] => {
            let mut facts = facts(process);
            facts.insert(0, fact("process", &process.process.pid.to_string()));
            (headline(process), facts)
        }
        several => {
            let regions: usize = several.iter().map(|process| process.regions.len()).sum();
            let inside: f64 = several.iter().map(|process| process.in_regions).sum();
            let all: f64 = several.iter().map(|process| process.process.seconds).sum();
            let inside = share(if all > 0.0 { (inside / all).min(1.0) } else { 0.0 });
            let line = format!(
                "{} processes ran {regions} regions in {}; their time was {inside} inside regions.",
                several.len(),
                seconds(report.ended.seconds),
            );
            (escaped(&line), Vec::new())
        }
    };
    let outcome = match processes {
        [process] => outcome(process),
        _ => String::new(),
    };
    let mut facts = facts;
    if !processes.is_empty() {
        facts.push(fact("ending", &report.ended.exit.to_string()));
    }
    if let Some(objective) = &report.objective {
        facts.push(fact("adapted for", objective));
    }
    if let Some(energy) = &report.energy {
        let power = energy.watts().map_or_else(String::new, |power| format!(", {}", watts(power)));
        facts.push(fact("energy of the packages", &(joules(energy.joules) + &power)));
    }
    let simulated = report.simulated.iter().map(|machine| {
        let machine = escaped(machine);
        format!(
            "<p class=\"warning\">Simulated: counts are those of {machine}, not of this machine.</p>"
        )
    });
    format!(
        "<header><p class=\"command\"><code>{}</code></p>\n<h1>{headline}</h1>\n{outcome}\
         <dl class=\"facts\">{}</dl>{}</header>\n",
        escaped(&report.command.join(" ")),
        facts.concat(),
        simulated.collect::<String>(),
    )
}

/// Headline and facts of one of several processes.
pub(super) fn of_process(process: &ProcessReport) -> String {
    let facts = facts(process).concat();
    format!(
        "<p class=\"headline\">{}</p>{}<dl class=\"facts\">{facts}</dl>",
        headline(process),
        outcome(process)
    )
}

/// One sentence on how much ran in regions, one on where most is lost.
fn headline(process: &ProcessReport) -> String {
    let regions = number(process.regions.len(), "region");
    let whole = seconds(process.process.seconds);
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
        (0, tried) => format!("{tried} of {all} tried fewer threads, and none stays with them"),
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

fn facts(process: &ProcessReport) -> Vec<String> {
    let mut facts = vec![
        fact("runtime", &process.runtimes()),
        fact(
            "threads",
            &format!("{} on {}", process.threads, number(process.contexts as usize, "context")),
        ),
        fact("run", &seconds(process.process.seconds)),
    ];
    if let Some(nanoseconds) = process.overhead.nanoseconds {
        facts
            .push(fact("observing took", &format!("{} an execution", seconds(nanoseconds * 1e-9))));
    }
    facts
}

fn fact(name: &str, value: &str) -> String {
    format!("<div><dt>{}</dt><dd>{}</dd></div>", escaped(name), escaped(value))
}

/// The bottom of the page.
pub(super) fn notes(report: &Report, processes: &[&ProcessReport]) -> String {
    let mut notes: Vec<String> = Vec::new();
    for process in processes {
        let of_process = |note: &String| match processes.len() {
            1 => note.clone(),
            _ => format!("process {}: {note}", process.process.pid),
        };
        notes.extend(process.notes.iter().map(of_process));
    }
    let silent = report.processes.len() - processes.len();
    if silent > 0 && !processes.is_empty() {
        notes.push(format!("In {silent} more processes no region ran."));
    }
    notes.extend(report.notes.iter().cloned());
    let items = notes.iter().map(|note| format!("<li>{}</li>", escaped(note))).collect::<String>();
    let own = if items.is_empty() { String::new() } else { format!("<ul>{items}</ul>") };
    format!(
        "<section class=\"notes\"><h2>To read this</h2>{own}\
         <p>Times are wall time. A thread is busy inside the region's body, waiting at barriers in \
         it included; it waits from its own end to the end of the region. Counts are each thread's \
         own, in user mode. Processes that are killed, static programs and regions that the \
         compiler made serial cannot be seen.</p></section>\n"
    )
}

/// The part of a run from which on waiting is worth a word.
const WORTH: f64 = 0.01;
