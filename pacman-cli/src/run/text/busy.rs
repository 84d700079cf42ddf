//! Programs whose threads had no processor of their own.

use super::amount::{number, share};
use crate::run::report::{Crowd, Report};
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
        let ran =
            format!("they ran {} of the time in which they could run", share(process.processor_share()?));
        Some(clean(&match Crowd::around(process, report.observed()) {
            Some(crowd) => format!(
                "There were more threads than processors, {} on {}, so threads{who} had none of their own: {ran}. \
                 Times and waits are in part those of a busy machine. {}.",
                crowd.threads,
                crowd.contexts,
                crowd_help(crowd)
            ),
            None => format!(
                "Threads{who} had no processor of their own: {ran}. Times and waits are in part those of a busy \
                 machine: use fewer threads, or an idle machine."
            ),
        }))
    });
    busy.collect()
}

/// The advice to a user whose processes have more threads than there are contexts.
pub(in crate::run) fn crowd_help(crowd: Crowd) -> String {
    format!(
        "To help: use at most {} in all, by OMP_NUM_THREADS={}; or OMP_WAIT_POLICY=passive, with which threads that \
         wait give their processor up",
        number(crowd.contexts as usize, "thread"),
        (crowd.contexts as usize / crowd.processes).max(1)
    )
}
