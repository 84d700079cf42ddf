//! The panel of one region: its figures, its threads, what adaptation made of it.

use pacman_events::shown::text_of;
use pacman_regions::Adaptation;

use super::colour::colour;
use super::escape::escaped;
use crate::run::report::{ProcessReport, RegionReport, Thread};
use crate::run::text::{number, seconds, share};
use crate::stat::grouped;

/// The panel.
pub(super) fn panel(
    process: &ProcessReport,
    region: &RegionReport,
    at: usize,
    place: usize,
) -> String {
    let runtime = process.runtimes.get(region.runtime).map(crate::run::report::runtime);
    let range = format!("{} to {}", seconds(region.shortest), seconds(region.longest));
    let mut facts = vec![
        ("executions", grouped(region.executions)),
        ("each", region.mean.map_or_else(|| "–".into(), seconds)),
        ("shortest to longest", range),
        ("threads", region.team_sizes()),
        ("imbalance", region.imbalance.map_or_else(|| "–".into(), |value| format!("{value:.2}"))),
        ("waiting", region.waiting.map_or_else(|| "–".into(), share)),
        ("observing", region.overhead.map_or_else(|| "–".into(), share)),
    ];
    if region.nested > 0 {
        facts.push(("inside others", grouped(region.nested)));
    }
    let facts = facts
        .iter()
        .map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value)));
    let file = region.name.file.as_ref().map(|file| match region.name.line {
        Some(line) => format!("{file}:{line}"),
        None => file.clone(),
    });
    let module = format!("{}+{:#x}", text_of(&region.site.module), region.site.address);
    let origin = [file, Some(module), Some(region.entry.clone()), runtime];
    let origin: Vec<String> = origin.iter().flatten().map(|part| escaped(part)).collect();
    format!(
        "<article class=\"panel\" id=\"panel-{place}-{at}\" data-region=\"{at}\"><h3{}>\
         <i class=\"swatch {}\"></i>{}</h3><p class=\"origin\">{}</p><dl class=\"facts\">{}</dl>\
         {}{}</article>",
        if region.name.short() == region.name.text { "" } else { " class=\"long\"" },
        colour(at),
        escaped(&region.name.text),
        origin.join(" · "),
        facts.collect::<String>(),
        threads(region, at),
        region.adaptation.as_ref().map_or_else(String::new, adapted),
    )
}

/// A bar for each thread: its busy time, and the rest of its time in teams.
fn threads(region: &RegionReport, at: usize) -> String {
    if region.threads.is_empty() {
        return "<p>No thread finished an execution.</p>".into();
    }
    let longest = region.threads.iter().map(|thread| thread.row.seconds).fold(0.0, f64::max);
    let whole = longest.max(region.seconds);
    let row = |thread: &Thread| {
        let busy = if whole > 0.0 { 100.0 * thread.row.seconds / whole } else { 0.0 };
        let there: f64 = region
            .teams
            .iter()
            .filter(|team| team.threads > thread.row.thread)
            .map(|team| team.seconds)
            .sum();
        let waits = (there - thread.row.seconds).max(0.0);
        let waits = if whole > 0.0 { (100.0 * waits / whole).min(100.0 - busy) } else { 0.0 };
        format!(
            "<li><span class=\"who\"><b>T{}</b> <span>{}</span></span><span class=\"track\">\
             <span class=\"busy {}\" style=\"width:{busy:.2}%\"></span>\
             <span class=\"idle {}\" style=\"width:{waits:.2}%\"></span></span>\
             <span class=\"amount\">{}</span></li>",
            thread.row.thread,
            escaped(&seat(thread)),
            colour(at),
            colour(at),
            escaped(&seconds(thread.row.seconds)),
        )
    };
    let rows: String = region.threads.iter().map(row).collect();
    format!("<h4>Threads</h4><ol class=\"threads\">{rows}</ol>")
}

/// `cpu 3, beside T1`: where a thread was, and with whom it shared the core.
fn seat(thread: &Thread) -> String {
    let Some(cpu) = thread.row.cpu else { return String::new() };
    match thread.row.moves {
        0 => {}
        1 => return "moved once".into(),
        moves => return format!("moved {} times", grouped(moves)),
    }
    let beside: Vec<String> = thread.beside.iter().map(|other| format!("T{other}")).collect();
    match beside.as_slice() {
        [] => format!("cpu {cpu}"),
        others => format!("cpu {cpu}, beside {}", others.join(", ")),
    }
}

fn adapted(adaptation: &Adaptation) -> String {
    let gained = adaptation.gained.filter(|_| adaptation.reduced > 0).map(|gained| {
        let (class, word) = if gained < 0.0 { ("loss", "lost") } else { ("gain", "gained") };
        let words = format!(
            "About {} {word}, with {} executions on fewer threads",
            seconds(gained.abs()),
            grouped(adaptation.reduced)
        );
        format!("<p class=\"why\"><b class=\"{class}\">{}</b></p>", escaped(&words))
    });
    let mut lines: Vec<String> = gained.into_iter().collect();
    lines.push(format!("<p class=\"why\">{}</p>", escaped(&adaptation.why)));
    for guarded in &adaptation.guards {
        lines.push(format!(
            "<p class=\"guard\"><b>guard {}</b> {} ({} executions)</p>",
            escaped(&guarded.guard),
            escaped(&guarded.why),
            grouped(guarded.executions)
        ));
    }
    for inner in &adaptation.loops {
        lines.push(format!(
            "<p class=\"loop\"><b>loop {}</b> {} threads get iterations: {}</p>",
            escaped(&inner.source),
            inner.threads,
            escaped(&inner.why)
        ));
    }
    format!(
        "<h4>Adaptation: {}, {}</h4>{}",
        number(adaptation.threads as usize, "thread"),
        escaped(&adaptation.configuration),
        lines.concat()
    )
}
