//! The issue slots of a region's threads, siblings side by side, and what SMT off would do.

use pacman_metrics::slots::SlotShares;

use super::bars::{self, Part};
use super::escape::escaped;
use super::order;
use super::title::titled;
use crate::run::report::{CoreSlots, ProcessReport, RegionReport, RegionSlots, ThreadSlots};
use crate::run::text::smt_off_sentence;

/// Bars for each region with a panel; empty if no event of slots was counted. The headline says what SMT off would
/// do in the region `blamed`.
pub(super) fn section(process: &ProcessReport, blamed: Option<&RegionReport>) -> String {
    let part = |at: usize| {
        let region = &process.regions[at];
        let slots = region.slots.as_ref()?;
        let cores: String = slots.cores.iter().map(core).collect();
        let is_blamed = blamed.is_some_and(|blamed| std::ptr::eq(blamed, region));
        let off = slots.smt_off.as_ref().filter(|_| !is_blamed);
        let off = off.map_or_else(String::new, |off| {
            format!("<p class=\"why\">{}.</p>", escaped(&smt_off_sentence(off)))
        });
        Some(format!(
            "<div data-of=\"{at}\"><p class=\"hint\">{}</p><ol class=\"cores\">{cores}</ol>{}{off}\
             </div>",
            titled(region),
            legend(slots),
        ))
    };
    let parts: String = order::shown(process).into_iter().filter_map(part).collect();
    match &*parts {
        "" => String::new(),
        parts => format!(
            "<section class=\"slots\"><div class=\"head\"><h2>Issue slots</h2><p class=\"hint\">The \
             parts of each thread’s slots. Siblings of a core are in a bracket.</p></div>{parts}\
             </section>\n"
        ),
    }
}

fn core(core: &CoreSlots) -> String {
    let shared = core.threads.len() > 1;
    let name = match core.place {
        Some((_, number)) if shared => format!("<span class=\"core-name\">core {number}</span>"),
        _ => String::new(),
    };
    let why = core.why_absent.as_ref().map_or_else(String::new, |why| {
        format!("<p class=\"hint\">No slots: {}</p>", escaped(why))
    });
    let row = |thread: &ThreadSlots| {
        let name = format!("T{}", thread.thread);
        let parts = thread.shares.as_ref().map(parts).unwrap_or_default();
        format!("<li><span class=\"who\"><b>{name}</b></span>{}</li>", bars::bar(&name, &parts))
    };
    let rows: String = core.threads.iter().map(row).collect();
    let class = if shared { " shared" } else { "" };
    format!("<li class=\"core{class}\">{name}<ol>{rows}</ol>{why}</li>")
}

/// The categories with their classes and words.
fn categories(shares: &SlotShares) -> [(&'static str, &'static str, f64); 5] {
    [
        ("s-useful", "retiring", shares.retiring),
        ("s-barrier", "backend", shares.backend_bound),
        ("s-loop", "frontend", shares.frontend_bound),
        ("s-ordered", "bad speculation", shares.bad_speculation),
        ("s-smt", "SMT contention", shares.smt_contention.unwrap_or(0.0)),
    ]
}

fn parts(shares: &SlotShares) -> Vec<Part> {
    let shown = categories(shares).into_iter().filter(|(.., share)| *share > 0.0);
    let part = |(class, word, share): (&'static str, &'static str, f64)| Part {
        class,
        word,
        share,
        width: (100.0 * share).min(100.0),
        amount: String::new(),
    };
    shown.map(part).collect()
}

fn all_shares(slots: &RegionSlots) -> Vec<SlotShares> {
    slots.cores.iter().flat_map(|core| &core.threads).filter_map(|thread| thread.shares).collect()
}

/// The mean of all threads.
fn legend(slots: &RegionSlots) -> String {
    let all: Vec<_> = all_shares(slots).iter().map(categories).collect();
    let Some(first) = all.first() else { return String::new() };
    let mean = |place: usize| all.iter().map(|one| one[place].2).sum::<f64>() / all.len() as f64;
    bars::legend(
        first.iter().enumerate().map(|(place, (class, word, _))| (*class, *word, mean(place))),
    )
}
