//! Programs whose threads had no processor of their own.

use super::amount::share;
use crate::run::report::Report;
use crate::stat::clean;

/// The first lines of the report: what the machine did to the program comes before what the program
/// did. Empty if each thread had a processor.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let several = report.observed().count() > 1;
    let busy = report.observed().filter(|process| process.lacks_processors()).filter_map(|process| {
        let who = match several {
            true => format!(" of {} (process {})", process.program(), process.process.pid),
            false => String::new(),
        };
        Some(clean(&format!(
            "Threads{who} had no processor of their own: they ran {} of the time in which they could \
             run. Times and waits are in part those of a busy machine: use fewer threads, or an idle \
             machine.",
            share(process.processor_share()?)
        )))
    });
    busy.collect()
}
