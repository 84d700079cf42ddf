//! The outcome of a packed region, for reports.

use pacman_adapt::predict::Configuration;
use pacman_regions::Adaptation;

use super::crew;
use super::setup;
use super::state::{Decided, RegionPacking, Target};

/// Only the outermost regions of the first thread that starts any are packed.
const NOT_ENDED: &str =
    "no execution outside of other regions, by the first thread that starts any, has ended";

/// The facts of the record; `None` while another thread decides about the region.
pub(crate) fn adaptation(packing: &RegionPacking) -> Option<Adaptation> {
    let as_it_is = |why: &str| Some(Adaptation { why: why.to_owned(), ..Adaptation::default() });
    let Some(setup) = setup::get() else {
        return as_it_is(if crew::is_prepared() { "nothing is adapted here" } else { NOT_ENDED });
    };
    let inner = packing.inner.try_lock()?;
    let Some(decided) = inner.as_ref() else {
        return as_it_is(match packing.size() {
            0 => NOT_ENDED,
            1 => "one thread has one place",
            size if setup.targets(size).is_empty() => "its team has one set of contexts only",
            _ => "ran too few times: the first execution shows what a region does",
        });
    };
    let (figures, controller) = (decided.controller.figures(), &decided.controller);
    let forced = setup.forced.is_some().then_some(0);
    let held = controller.held_at().or(forced);
    let contexts = setup.contexts();
    let (threads, configuration, mut why) = match held {
        Some(on) => {
            let on = decided.targets[on].0;
            let of = on.threads().min(contexts);
            (decided.size, on.to_string(), format!("packed on {of} of {contexts} contexts"))
        }
        None => (decided.size, String::new(), format!("on all {contexts} contexts")),
    };
    let micros = |nanos: u64| nanos as f64 / 1e3;
    if let Some((Some(full), Some(packed))) = held.map(|on| controller.times(on)) {
        why += &format!(": {:.1} us, and {:.1} us on all", micros(packed), micros(full));
    }
    if figures.packed > 0 {
        why += &format!("; {} of {} packed executions were cut", figures.cut, figures.packed);
    }
    if crew::known().is_none() {
        why += "; packing has ended";
    }
    Some(Adaptation {
        state: controller.state().to_owned(),
        threads,
        configuration,
        why,
        reduced: figures.packed,
        gained: Some(figures.gained as f64 * 1e-9),
        packed: ratios(decided, contexts),
        ..Adaptation::default()
    })
}

/// The usual times on fewer contexts, over the one with all contexts.
fn ratios(decided: &Decided, contexts: u32) -> Vec<(u32, f64)> {
    let of = |(at, (on, _)): (usize, &(Configuration, Target))| {
        Some((on.threads().min(contexts), decided.controller.ratio(at)?))
    };
    decided.targets.iter().enumerate().filter_map(of).collect()
}
