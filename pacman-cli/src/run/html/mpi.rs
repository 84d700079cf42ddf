//! MPI over all processes: TALP's factors as bars, and the calls.

use super::escape::escaped;
use super::tables::{column, sortable, sorted_by};
use super::tree;
use crate::run::report::{MpiCall, MpiFactors, Report};
use crate::run::text::{mpi_meaning, mpi_name, seconds, share};
use crate::stat::grouped;

/// The sections; empty without timed MPI calls.
pub(super) fn section(report: &Report) -> String {
    let mpi = &report.overview.mpi;
    if mpi.calls.is_empty() {
        return String::new();
    }
    let factors = MpiFactors::of(&mpi.times).map_or_else(String::new, |factors| picture(&factors));
    let all = mpi.seconds();
    let row = |call: &MpiCall| {
        let count = call.count + call.inside_count;
        let inside = (call.inside_count > 0).then_some(call.inside_seconds);
        format!(
            "<tr><th scope=\"row\">{}</th>{}{}<td data-v=\"{count}\">{}</td>{}{}</tr>",
            escaped(&call.name),
            sorted_by(Some(call.total()), seconds),
            sorted_by((all > 0.0).then(|| call.total() / all), share),
            grouped(count),
            sorted_by(Some(call.total() / count.max(1) as f64), seconds),
            sorted_by(inside, seconds),
        )
    };
    let heading = [
        column("function", ""),
        column("in MPI", "all processes"),
        column("share", "of their time"),
        column("calls", ""),
        column("each", "mean"),
        column("in regions", ""),
    ];
    let rows: String = mpi.calls.iter().map(row).collect();
    factors + &sortable("MPI calls", "", "calls", &heading.concat(), &rows)
}

fn picture(factors: &MpiFactors) -> String {
    let (name, value, words) = match factors.parallel {
        Some(parallel) => {
            ("parallel efficiency", parallel, "useful work in the time of all threads")
        }
        None => ("MPI efficiency", factors.mpi, "time outside of MPI"),
    };
    let row = |(at, (factor, value)): (usize, (_, f64))| {
        let class = if at == 0 && value < tree::WORTH_A_MARK { "factor worst" } else { "factor" };
        tree::row(class, mpi_name(factor), value, mpi_meaning(factor))
    };
    let rows: String = factors.factors().into_iter().enumerate().map(row).collect();
    format!(
        "<section class=\"tree\"><h2>Efficiency of {} MPI processes</h2><ol class=\"factors\">{}</ol>\
         <p class=\"hint\">The product of these factors, worst first:</p>\
         <ol class=\"factors product\">{rows}</ol></section>\n",
        factors.processes,
        tree::row("whole", name, value, words),
    )
}
