//! The layouts that Python has of the tables of this package, and the manual's table of states.

use pacman_metrics::language::named;
use pacman_regions::Cause;

use super::held;
use crate::run::{THREAD_STATES, ThreadState, columns_of_states};

/// The causes of sites in words, for the schema.
pub(crate) fn causes() -> String {
    let words: Vec<String> = causes_of_all().map(|cause| format!("`{}`", cause.word())).collect();
    let (last, others) = words.split_last().expect("there are causes");
    format!("Construct: {} or {last}.", others.join(", "))
}

fn causes_of_all() -> impl Iterator<Item = Cause> {
    THREAD_STATES.iter().flat_map(|state| state.causes).map(|(cause, _)| *cause)
}

/// The table of the manual.
fn table() -> String {
    let row = |state: &ThreadState| {
        let causes: Vec<String> =
            state.causes.iter().map(|(cause, _)| format!("`{}`", cause.word())).collect();
        let column = match state.name {
            "start" => "`starting_s`".to_owned(),
            name => format!("`{name}_s`"),
        };
        format!("| {} | {} | {column} | {} |\n", state.title, state.about, causes.join(", "))
    };
    let rows: String = THREAD_STATES.iter().map(row).collect();
    format!("\n| state | is | CSV | `cause` of a site in JSON |\n|---|---|---|---|\n{rows}\n")
}

/// The columns of CSV.
fn columns() -> String {
    let column = |name: String| {
        let is_own = |state: &&ThreadState| format!("{}_s", state.name) == name;
        let causes = THREAD_STATES.iter().find(is_own).map_or(&[][..], |state| state.causes);
        let causes: Vec<&str> = causes.iter().map(|(cause, _)| cause.word()).collect();
        match causes.len() {
            0 | 1 => format!("`{name}`"),
            _ => format!("`{name}` ({})", causes.join(", ")),
        }
    };
    columns_of_states().into_iter().map(column).collect::<Vec<_>>().join(", ")
}

/// Replaces what is between two marks of a page.
fn hold_part(file: &str, begin: &str, end: &str, part: &str) {
    let page = held::read(file);
    let (before, rest) = page.split_once(begin).expect("the page has the place of the part");
    let (_, after) = rest.split_once(end).expect("the part has an end");
    held::hold_file(file, &format!("{before}{begin}{part}{end}{after}"));
}

/// Python's table for pictures.
fn python() -> String {
    let tuple = |words: &[String]| match words {
        [] => "()".to_owned(),
        [only] => format!("({only},)"),
        several => format!("({})", several.join(", ")),
    };
    let row = |state: &ThreadState| {
        let causes: Vec<String> =
            state.causes.iter().map(|(cause, _)| format!("\"{}\"", cause.word())).collect();
        format!("    (\"{}\", \"{}\", {}),\n", state.name, state.colours[0], tuple(&causes))
    };
    let rows: String = THREAD_STATES.iter().map(row).collect();
    format!(
        "\"\"\"States of threads, from the table of pacman-report, whose tests write this file.\"\"\"\n\n\
         from __future__ import annotations\n\nfrom typing import Tuple\n\n\
         #: In the order of the bars: name, colour as on the HTML page, causes of waits.\n\
         STATES: Tuple[Tuple[str, str, Tuple[str, ...]], ...] = (\n{rows})\n"
    )
}

/// Python's formula of the figure that its table of phases has.
fn metrics() -> String {
    let ipc = named("ipc").expect("it is built in");
    format!(
        "\"\"\"Formulas of the built-in metrics that the table of phases has; tests of pacman-report write this file.\"\"\"\n\n\
         #: Instructions per cycle, by the names of events.\nIPC = \"{}\"\n",
        ipc.expression()
    )
}

#[test]
fn python_has_the_formula_of_instructions_per_cycle() {
    held::hold_file("../python/src/pacman_pmu/metrics.py", &metrics());
}

#[test]
fn the_manual_and_python_have_the_table_of_states() {
    hold_part("observe.md", "<!-- states of threads -->\n", "<!-- end of states -->\n", &table());
    hold_part("output.md", "<!-- columns of states -->", "<!-- end of columns -->", &columns());
    held::hold_file("../python/src/pacman_pmu/thread_states.py", &python());
}
