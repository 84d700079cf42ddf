//! Bars of regions by time, and the panel of each with its threads.

use super::colour::colour;
use super::detail;
use super::escape::escaped;
use crate::run::report::{ProcessReport, RegionReport};
use crate::run::text::{number, seconds, share};

/// The section: a list to choose from, and the chosen region's panel.
pub(super) fn section(process: &ProcessReport, place: usize) -> String {
    let longest = process.regions.first().map_or(0.0, |region| region.seconds);
    let item = |(at, region): (usize, &RegionReport)| {
        format!("<li>{}</li>", bar(region, at, place, longest, process.threads))
    };
    let regions: Vec<String> = process.regions.iter().enumerate().map(item).collect();
    let (first, rest) = regions.split_at(regions.len().min(SHOWN));
    let mut list = format!("<ol class=\"regions\">{}</ol>", first.concat());
    if !rest.is_empty() {
        let time: f64 = process.regions[SHOWN..].iter().map(|region| region.seconds).sum();
        list.push_str(&format!(
            "<details class=\"more\"><summary>{} more regions, {} together</summary>\
             <ol class=\"regions\" start=\"{}\">{}</ol></details>",
            rest.len(),
            escaped(&seconds(time)),
            SHOWN + 1,
            rest.concat()
        ));
    }
    let panels: String = process
        .regions
        .iter()
        .enumerate()
        .map(|(at, region)| detail::panel(process, region, at, place))
        .collect();
    format!(
        "<section class=\"where\"><h2>Where the time goes</h2>\
         <p class=\"hint\"><i class=\"key solid\"></i>working <i class=\"key hatched\"></i>lost to \
         waiting for each other. Choose a region to see its threads.</p>\
         <div class=\"columns\"><div>{list}</div><div class=\"panels\">{panels}</div></div>\
         </section>\n"
    )
}

/// One region: a button with its bar.
fn bar(region: &RegionReport, at: usize, place: usize, longest: f64, default: u32) -> String {
    let width = if longest > 0.0 { 100.0 * region.seconds / longest } else { 0.0 };
    let lost = 100.0 * region.waiting.unwrap_or(0.0);
    let code = region.place().map_or_else(String::new, |code| {
        format!(" <span class=\"place\">{}</span>", escaped(&code))
    });
    let nested = match region.nested {
        0 => "",
        _ => " <span class=\"tag\">nested</span>",
    };
    let chosen = region.adaptation.as_ref().map_or_else(String::new, |adaptation| {
        let (threads, narrow) = (adaptation.threads, adaptation.threads < default);
        let words = match narrow {
            true => format!("adapted: {threads} of {default} threads"),
            false => format!("keeps {}", number(threads as usize, "thread")),
        };
        format!(" <span class=\"tag{}\">{words}</span>", if narrow { " chosen" } else { "" })
    });
    let waiting =
        region.waiting.map_or_else(String::new, |waiting| format!(", {} waiting", share(waiting)));
    format!(
        "<button type=\"button\" class=\"region\" data-region=\"{at}\" aria-pressed=\"false\" \
         aria-controls=\"panel-{place}-{at}\"><span class=\"title\"><i class=\"swatch {colour}\">\
         </i><b class=\"number\">{}</b> <span class=\"name\" title=\"{}\">{}</span>{code}{nested}{chosen}</span>\
         <span class=\"track\"><span class=\"bar {colour}\" style=\"width:{width:.2}%\">\
         <span class=\"lost\" style=\"width:{lost:.2}%\"></span></span></span>\
         <span class=\"amount\"><b>{}</b> {}{waiting}</span></button>",
        at + 1,
        escaped(&region.name.text),
        escaped(&region.name.short()),
        escaped(&seconds(region.seconds)),
        region.share.map_or_else(String::new, share),
        colour = colour(at),
    )
}

/// Regions in the list before the rest is folded away.
const SHOWN: usize = 12;
