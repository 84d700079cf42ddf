//! An overview over several processes: a bar for each, in their order.

use super::escape::escaped;
use super::states::Parts;
use super::title;
use super::verdict;
use crate::run::report::ProcessReport;
use crate::run::text::{seconds, share};

/// The section; empty for one process.
pub(super) fn overview(processes: &[&ProcessReport]) -> String {
    if processes.len() < 2 {
        return String::new();
    }
    let longest = |process: &&ProcessReport| Parts::of_process(process).sum();
    let whole = processes.iter().map(longest).fold(0.0, f64::max);
    let row = |(place, process): (usize, &&ProcessReport)| {
        let name = escaped(&title::process(process));
        let name = match place < DETAILED {
            true => format!("<a href=\"#{}\">{name}</a>", title::process_id(place)),
            false => name,
        };
        let parts = Parts::of_process(process);
        let verdict = verdict::of(&[process]).map_or("", |verdict| verdict.kind.words());
        format!(
            "<tr><th scope=\"row\">{name}<small>{}</small></th><td class=\"bar-cell\">{}</td>\
             <td data-v=\"{}\">{}</td><td data-v=\"{:.5}\">{}</td><td class=\"words\">{verdict}</td>\
             </tr>",
            escaped(process.program()),
            parts.bar(whole, &title::process(process)),
            process.process.seconds,
            escaped(&seconds(process.process.seconds)),
            parts.working(),
            escaped(&share(parts.working())),
        )
    };
    let rows: String = processes.iter().enumerate().map(row).collect();
    let mut all = Parts::default();
    processes.iter().for_each(|process| all.add_all(&Parts::of_process(process), 1.0));
    let rest = match processes.len() {
        ..=DETAILED => String::new(),
        several => format!(
            "<p class=\"hint\">Details are of the first {DETAILED} of {several} processes; JSON and \
             CSV have all.</p>"
        ),
    };
    format!(
        "<section class=\"processes\"><h2>Processes</h2>{}<div class=\"wide\" tabindex=\"0\" \
         role=\"region\" aria-label=\"Processes\"><table class=\"sortable\"><thead><tr>\
         <th scope=\"col\">process</th><th scope=\"col\" class=\"words\">time of all threads</th>\
         <th scope=\"col\">run</th><th scope=\"col\">useful</th>\
         <th scope=\"col\" class=\"words\">costs most</th></tr></thead><tbody>{rows}</tbody></table>\
         </div>{rest}</section>\n",
        all.legend(),
    )
}

/// Processes with sections of their own.
pub(super) const DETAILED: usize = 16;
