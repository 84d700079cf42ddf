//! The page: one static document with a report in JSON, which its script draws.

mod condense;
mod members;
mod packed;
mod spread;
#[cfg(test)]
mod tests;

use super::json;
use super::report::{Report, THREAD_STATES, ThreadState};
use packed::Packed;

/// The page of a report.
pub(super) fn of(report: &Report) -> String {
    with(json::line(report).as_bytes()).expect("the report is JSON")
}

/// The page of a report's JSON document.
pub fn with(document: &[u8]) -> serde_json::Result<String> {
    let mut room = ROOM;
    loop {
        let packed = Packed::of(&condense::within(document, room)?);
        if packed.text.len() <= MOST || room < LEAST_ROOM {
            return Ok(filled(&packed));
        }
        room /= 2;
    }
}

fn filled(packed: &Packed) -> String {
    fill(TITLE, STYLE, packed, SCRIPT)
}

/// Another page of the same kind, whose script reads a JSON document.
pub(crate) fn assembled(title: [&str; 2], style: &str, document: &[u8], script: &str) -> String {
    fill(title, style, &Packed::of(document), script)
}

/// The template with title, style, script and document in the places of its marks.
fn fill([title, instead]: [&str; 2], style: &str, packed: &Packed, script: &str) -> String {
    let style = format!("{style}{}", states());
    let parts = [
        ("<!--title-->", title),
        ("<!--style-->", style.as_str()),
        ("<!--instead-->", instead),
        ("<!--form-->", packed.form),
        ("<!--document-->", &packed.text),
        ("<!--script-->", script),
    ];
    let (mut page, mut rest) = (String::with_capacity(packed.text.len() + (1 << 17)), TEMPLATE);
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).expect("the template has the mark once");
        page.push_str(before);
        page.push_str(part);
        rest = after;
    }
    page + rest
}

/// The colours and patterns of states.
fn states() -> String {
    let colours = |which: usize| -> String {
        let of = |state: &ThreadState| format!("--s-{}: {};", state.name, state.colours[which]);
        THREAD_STATES.iter().map(of).collect()
    };
    let pattern = |state: &ThreadState| {
        let colour = format!("var(--s-{})", state.name);
        format!(
            ".s-{} {{ background: {}; }}\n",
            state.name,
            state.pattern.replace("COLOUR", &colour)
        )
    };
    let patterns: String = THREAD_STATES.iter().map(pattern).collect();
    format!(
        ":root {{ {} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}\n{patterns}",
        colours(0),
        colours(1)
    )
}

const TEMPLATE: &str = include_str!("page.html");
/// The title, and what shows a report without a script.
const TITLE: [&str; 2] = ["report", "run -o report.txt</code> writes it."];
const STYLE: &str = concat!(include_str!("page.css"), include_str!("pictures.css"));
const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("amounts.js"),
    include_str!("elements.js"),
    include_str!("tables.js"),
    include_str!("columns.js"),
    include_str!("states.js"),
    include_str!("bands.js"),
    include_str!("timeline.js"),
    include_str!("summary.js"),
    include_str!("efficiency.js"),
    include_str!("regions.js"),
    include_str!("sections.js"),
    include_str!("page.js"),
    include_str!("reading.js"),
    "})();\n",
);
/// Bytes of the document in the page; style and script take less than 100 kB more.
const MOST: usize = 2_900_000;
/// Bytes of JSON that single threads, and the rest of the regions, may take before it is packed.
const ROOM: usize = 2_500_000;
const LEAST_ROOM: usize = 10_000;
