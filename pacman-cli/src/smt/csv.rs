//! A line per core and interval.

use std::fmt::Write;

use super::meter::Activity;
use super::source::Basis;

/// The first line, for cores of up to so many contexts.
pub(super) fn heading(contexts: usize) -> String {
    let only: String = (0..contexts).map(|context| format!("only_{context},")).collect();
    format!("seconds,core,cpus,idle,{only}shared,uncertainty,skew_seconds,step_seconds,method\n")
}

/// An interval; a core with fewer contexts leaves the fields of the others empty.
pub(super) fn rows(basis: &Basis, activity: &Activity, contexts: usize) -> String {
    let mut text = String::new();
    for core in &activity.cores {
        let split = &core.split;
        let cpus: Vec<String> = core.cpus.iter().map(u32::to_string).collect();
        let mut row = format!("{:.3},{},{}", activity.until, core.core, cpus.join(" "));
        let mut field = |state: Option<f64>| {
            let share = state.map(|state| format!("{:.4}", split.share(state)));
            // A string takes whatever is written to it.
            let _ = write!(row, ",{}", share.unwrap_or_default());
        };
        field(Some(split.idle));
        (0..contexts).for_each(|context| field(split.only.get(context).copied()));
        field(Some(split.shared));
        field(Some(split.uncertainty));
        text += &row;
        let (skew, step) = (activity.skew(core), basis.step);
        let _ = writeln!(text, ",{skew:.9},{step:.9},{}", basis.method);
    }
    text
}
