//! When regions ran, and how many threads were in them: stacked areas over time.

use std::fmt::Write;

use serde::Serialize;

use super::colour::{COLOURS, colour};
use super::escape::{escaped, script_data};
use crate::run::report::ProcessReport;
use crate::run::text::{number, seconds};

/// The threads of some regions over time, in bins.
#[derive(Debug)]
struct Band {
    class: String,
    label: String,
    /// The number that its bar has, too.
    mark: String,
    threads: Vec<f64>,
}

/// The data of the pointer's readout.
#[derive(Serialize)]
struct Data<'a> {
    bin: f64,
    labels: Vec<&'a str>,
    classes: Vec<&'a str>,
    threads: Vec<Vec<f64>>,
}

/// The section, with its data for the pointer's readout.
pub(super) fn section(process: &ProcessReport, place: usize) -> String {
    let Some((bin, bands)) = bands(process) else {
        return "<section class=\"timeline\"><h2>Over time</h2><p>The run was too short for a \
                timeline.</p></section>\n"
            .into();
    };
    let bins = bands[0].threads.len();
    let sums: Vec<f64> =
        (0..bins).map(|at| bands.iter().map(|band| band.threads[at]).sum()).collect();
    let highest = sums.iter().copied().fold(f64::from(process.threads), f64::max).ceil();
    let mut floor = vec![0.0; bins];
    let (mut areas, mut marks) = (String::new(), String::new());
    for band in &bands {
        let top: Vec<f64> = floor.iter().zip(&band.threads).map(|(low, own)| low + own).collect();
        areas.push_str(&format!(
            "<path class=\"area {}\" vector-effect=\"non-scaling-stroke\" d=\"{}\"><title>{}</title></path>",
            band.class,
            outline(&floor, &top, highest),
            escaped(&band.label)
        ));
        marks.push_str(&mark(band, &floor, highest));
        floor = top;
    }
    let whole = bin * bins as f64;
    let round = |value: &f64| (value * 100.0).round() / 100.0;
    let data = Data {
        bin,
        labels: bands.iter().map(|band| &*band.label).collect(),
        classes: bands.iter().map(|band| &*band.class).collect(),
        threads: bands.iter().map(|band| band.threads.iter().map(round).collect()).collect(),
    };
    format!(
        "<section class=\"timeline\"><div class=\"head\"><h2>Over time</h2>{TOOLS}</div>\
         <p class=\"hint\">Threads in regions. <span class=\"if-scripted\">{READING}</span></p>\
         <div class=\"plot\"><div class=\"y\">{}</div>\
         <div class=\"area-box\" tabindex=\"0\" role=\"img\" aria-label=\"Threads in regions over \
         {}, by region\"><svg viewBox=\"0 0 {bins} 100\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\">{areas}</svg>{}<div class=\"marks\">{marks}</div>\
         <div class=\"cursor\" hidden></div><div class=\"tip\" hidden></div></div>\
         <div class=\"x\">{}</div></div>\
         <p class=\"readout\" aria-live=\"polite\">&nbsp;</p>\
         <ul class=\"legend\">{}</ul>\
         <script type=\"application/json\" id=\"timeline-{place}\">{}</script></section>\n",
        vertical_axis(highest),
        escaped(&seconds(whole)),
        capacity(process, highest),
        horizontal_axis(whole),
        legend(&bands),
        script_data(&data),
    )
}

/// Bands and the length of their bins; those beyond the colours are one.
fn bands(process: &ProcessReport) -> Option<(f64, Vec<Band>)> {
    let timeline = &process.timeline;
    let longest = timeline.rows.iter().map(|row| row.thread_seconds.len()).max()?;
    if timeline.bin <= 0.0 || longest == 0 {
        return None;
    }
    let lived = (process.process.seconds / timeline.bin).ceil() as usize;
    let bins = longest.max(lived.min(longest.saturating_mul(MOST_SILENCE)));
    // A page of bins finer than its pixels is only slow.
    let together = bins.div_ceil(MOST_BINS);
    let bin = timeline.bin * together as f64;
    let threads = |thread_seconds: &[f64]| -> Vec<f64> {
        let parts = thread_seconds.chunks(together).map(|part| part.iter().sum::<f64>() / bin);
        let mut threads: Vec<f64> = parts.collect();
        threads.resize(bins.div_ceil(together), 0.0);
        threads
    };
    let mut bands: Vec<Band> = Vec::new();
    let mut rest: Option<(usize, Vec<f64>)> = None;
    for row in &timeline.rows {
        let own = threads(&row.thread_seconds);
        if row.region < COLOURS {
            bands.push(Band {
                class: colour(row.region),
                label: process.regions[row.region].name.short(),
                mark: (row.region + 1).to_string(),
                threads: own,
            });
        } else {
            let (regions, sum) = rest.get_or_insert_with(|| (0, vec![0.0; own.len()]));
            *regions += 1;
            sum.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
        }
    }
    bands.extend(rest.map(|(regions, threads)| Band {
        class: "cx".into(),
        label: number(regions, "other region"),
        mark: String::new(),
        threads,
    }));
    Some((bin, bands))
}

/// The outline between two lines of steps; the picture is 100 high. Steps of one height are one.
fn outline(low: &[f64], high: &[f64], highest: f64) -> String {
    // Hundredths of the picture's units, because decimals of a float take ten times as long.
    let y = |threads: f64| (10_000.0 - 10_000.0 * threads / highest).round().max(0.0) as u64;
    let mut path = String::from("M0 ");
    let mut last = y(high[0]);
    push_hundredths(&mut path, last);
    let mut step = |at: usize, threads: f64| {
        let own = y(threads);
        if own != last {
            _ = path.write_fmt(format_args!("H{at}V"));
            push_hundredths(&mut path, own);
            last = own;
        }
    };
    let steps = high.iter().enumerate();
    steps.for_each(|(at, value)| step(at, *value));
    low.iter().enumerate().rev().for_each(|(at, value)| step(at + 1, *value));
    path + "H0Z"
}

fn push_hundredths(text: &mut String, value: u64) {
    _ = text.write_fmt(format_args!("{}.{:02}", value / 100, value % 100));
}

/// A band's number, if there is room for it somewhere.
fn mark(band: &Band, floor: &[f64], highest: f64) -> String {
    let bins = band.threads.len();
    // The longest stretch in which the height and the distance from the axis stay the same.
    let mut widest = 0..0;
    let mut begin = 0;
    for at in 1..=bins {
        let goes_on = at < bins
            && (band.threads[at] - band.threads[begin]).abs() < 0.05 * highest
            && (floor[at] - floor[begin]).abs() < 0.05 * highest;
        if !goes_on {
            if band.threads[begin] / highest > ROOM && at - begin > widest.len() {
                widest = begin..at;
            }
            begin = at;
        }
    }
    if band.mark.is_empty() || (widest.len() as f64) < BREADTH * bins as f64 {
        return String::new();
    }
    let left = 100.0 * (widest.start + widest.end) as f64 / 2.0 / bins as f64;
    let bottom = 100.0 * (floor[widest.start] + band.threads[widest.start] / 2.0) / highest;
    format!(
        "<span class=\"mark\" style=\"left:{left:.2}%;bottom:{bottom:.2}%\" aria-hidden=\"true\">{}\
         </span>",
        band.mark
    )
}

fn capacity(process: &ProcessReport, highest: f64) -> String {
    let contexts = f64::from(process.contexts);
    if contexts > highest || contexts == 0.0 {
        return String::new();
    }
    format!(
        "<div class=\"capacity\" style=\"bottom:{:.2}%\"><span>{}</span></div>",
        100.0 * contexts / highest,
        number(process.contexts as usize, "context")
    )
}

fn vertical_axis(highest: f64) -> String {
    let step = (highest / 4.0).ceil().max(1.0);
    let mut ticks = String::new();
    let mut value = 0.0;
    while value <= highest {
        ticks.push_str(&format!(
            "<span style=\"bottom:{:.2}%\">{value:.0}</span>",
            100.0 * value / highest
        ));
        value += step;
    }
    ticks
}

fn horizontal_axis(whole: f64) -> String {
    // 1, 2 or 5 of a power of ten, for about six ticks.
    let rough = whole / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|step| *step >= rough).unwrap_or(whole);
    let mut ticks = String::new();
    let mut count = 0;
    while f64::from(count) * step <= whole * 1.0001 {
        let at = f64::from(count) * step;
        let label = if count == 0 { "0".into() } else { seconds(at) };
        ticks.push_str(&format!(
            "<span style=\"left:{:.2}%\">{}</span>",
            100.0 * at / whole,
            escaped(&label)
        ));
        count += 1;
    }
    ticks
}

fn legend(bands: &[Band]) -> String {
    let entry = |band: &Band| {
        format!(
            "<li><i class=\"swatch {}\"></i>{}<span>{}</span></li>",
            band.class,
            if band.mark.is_empty() { String::new() } else { format!("<b>{}</b> ", band.mark) },
            escaped(&band.label)
        )
    };
    bands.iter().map(entry).collect()
}

/// The buttons, which need the script.
const TOOLS: &str = "<div class=\"tools if-scripted\" role=\"group\" aria-label=\"Part of the time\">\
    <button type=\"button\" data-do=\"in\" aria-label=\"Zoom in\">+</button>\
    <button type=\"button\" data-do=\"out\" aria-label=\"Zoom out\">−</button>\
    <button type=\"button\" data-do=\"left\" aria-label=\"Earlier\">←</button>\
    <button type=\"button\" data-do=\"right\" aria-label=\"Later\">→</button>\
    <button type=\"button\" data-do=\"all\">all</button></div>";
const READING: &str = "Click the picture, then zoom by the wheel or <kbd>+</kbd> and <kbd>−</kbd>; \
    drag it or use <kbd>Shift</kbd> and the arrow keys to move; <kbd>0</kbd> shows all.";
/// Bins of the picture at most.
const MOST_BINS: usize = 512;
/// A process that sleeps long after its last region is not drawn to its end.
const MOST_SILENCE: usize = 4;
/// The part of the height from which on a number fits in.
const ROOM: f64 = 0.12;
/// The part of the width from which on it does.
const BREADTH: f64 = 0.018;
