//! A line per core and interval.

use super::meter::Activity;
use super::source::Basis;
use pacman_report::records::csv;

/// The first line, for cores with at most `contexts` contexts.
pub(super) fn heading(contexts: usize) -> String {
    let only = (0..contexts).map(|context| format!("only_{context}"));
    let before = ["until_s", "core", "cpus", "idle"].map(str::to_owned);
    let after = ["shared", "uncertainty", "skew_s", "step_s", "method"].map(str::to_owned);
    csv([before.into_iter().chain(only).chain(after)])
}

/// An interval; a core with fewer contexts leaves the fields of the others empty.
pub(super) fn rows(basis: &Basis, activity: &Activity, contexts: usize) -> String {
    csv(activity.cores.iter().map(|core| {
        let split = &core.split;
        let cpus: Vec<String> = core.cpus.iter().map(u32::to_string).collect();
        let share = |state: f64| format!("{:.4}", split.share(state));
        let only = (0..contexts)
            .map(|context| split.only.get(context).copied().map_or_else(String::new, share));
        let mut fields =
            vec![format!("{:.3}", activity.until), core.core.to_string(), cpus.join(" ")];
        fields.push(share(split.idle));
        fields.extend(only);
        fields.extend([share(split.shared), share(split.uncertainty)]);
        fields.extend([activity.skew(core), basis.step].map(|time| format!("{time:.9}")));
        fields.push(basis.method.to_string());
        fields
    }))
}
