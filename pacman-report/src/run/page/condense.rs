//! A report within the room that a page has.
//!
//! A short report is as it is. Of a long one the regions that lose most time keep their threads; the others have the
//! distribution over them. Regions with little time and processes behind the first ones go without details. What is
//! left out of a process is counted in its member `left_out`.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::members::{Member, Members};
use super::spread;
use crate::document;
use crate::run::json as run_json;

/// The document, with so many bytes for threads and as many for the rest of the regions.
///
/// # Errors
/// If the document's processes are no list of objects.
pub(super) fn within(document: &[u8], room: usize) -> serde_json::Result<Cow<'_, [u8]>> {
    let mut whole: Members = serde_json::from_slice(document)?;
    let texts = whole.list("processes")?;
    let mut processes: Vec<Members> = Vec::with_capacity(texts.len());
    let mut detailed = 0;
    for text in texts {
        let process = Members::read(text)?;
        let has = |name| process.list(name).is_ok_and(|list| !list.is_empty());
        detailed += usize::from(has("regions") || has("phases"));
        processes.push(process);
    }
    let is_short = document.len() <= room;
    // Reports of earlier versions have no table of states.
    let has_states = whole.text("thread_states").is_some();
    if is_short && has_states {
        return Ok(document.into());
    }
    if !has_states {
        whole.set("thread_states", Member::Made(run_json::states_value()));
    }
    if is_short {
        return text_of(&whole);
    }
    let shared = room / detailed.clamp(1, DETAILED);
    for (place, process) in processes.iter_mut().enumerate() {
        condense(process, if place < DETAILED { shared } else { 0 })?;
    }
    whole.set("processes", Member::List(processes));
    text_of(&whole)
}

fn text_of(whole: &Members<'_>) -> serde_json::Result<Cow<'static, [u8]>> {
    let mut text = Vec::new();
    document::write_line(&mut text, whole).map_err(serde_json::Error::io)?;
    Ok(text.into())
}

fn condense(process: &mut Members, room: usize) -> serde_json::Result<()> {
    let texts = process.list("regions")?;
    let count = texts.len();
    let blamed = process.value::<Value>("headline").and_then(|one| one["region"].as_u64());
    let mut regions = Vec::new();
    let mut left = room;
    for text in texts.into_iter().take(ROWS) {
        let region = Members::read(text)?;
        let own =
            region.length() - BY_THREAD.iter().map(|name| length(region.text(name))).sum::<usize>();
        if own > left {
            break;
        }
        left -= own;
        regions.push(region);
    }
    let mut order: Vec<usize> = (0..regions.len()).collect();
    let costs: Vec<f64> = regions.iter().map(lost).collect();
    order.sort_by(|one, other| costs[*other].total_cmp(&costs[*one]));
    order.sort_by_key(|at| Some(*at as u64) != blamed);
    let (mut left, mut spread) = (room, 0);
    for at in order {
        let region = &mut regions[at];
        let own: usize = BY_THREAD.iter().map(|name| length(region.text(name))).sum();
        if own <= left {
            left -= own;
        } else {
            summarize(region);
            spread += 1;
        }
    }
    let left_out = json!({"regions": count - regions.len(), "threads_of_regions": spread});
    process.set("regions", Member::List(regions));
    process.set("left_out", Member::Made(left_out));
    if length(process.text("phases")) > left {
        process.remove("phases");
    }
    if room == 0 {
        ["timeline", "sites"].iter().for_each(|name| process.remove(name));
    } else if let Some(timeline) = process.value("timeline") {
        process.set("timeline", Member::Made(few_bands(timeline)));
    }
    Ok(())
}

/// Seconds that the region loses, as far as its report says.
fn lost(region: &Members) -> f64 {
    let time: f64 = region.value("time_s").unwrap_or(0.0);
    let efficiency: Option<Value> = region.value("efficiency");
    let parallel = efficiency.and_then(|one| one["parallel"].as_f64());
    time * parallel.map_or_else(|| region.value("waiting").unwrap_or(0.0), |useful| 1.0 - useful)
}

/// Replaces the threads by their distribution.
fn summarize(region: &mut Members) {
    if let Some(threads) = region.value::<Value>("threads") {
        region.set("spread", Member::Made(spread::of(&threads)));
        region.remove("threads");
    }
    if let Some(slots) = region.value::<Value>("slots") {
        let spread = slots.get("threads").map(spread::of);
        let slots = json!({"smt_off": slots.get("smt_off"), "spread": spread});
        region.set("slots", Member::Made(slots));
    }
    if let Some(open) = region.value::<Value>("open") {
        region.set("open", Member::Made(json!({"time_s": open.get("time_s")})));
    }
}

/// The bands that the picture has: those of the first regions, and one of all others together.
fn few_bands(timeline: Value) -> Value {
    let rows = timeline["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let times = |row: &Value| -> Vec<f64> {
        let times = row["thread_time_s"].as_array().into_iter().flatten();
        times.map(|time| time.as_f64().unwrap_or(0.0)).collect()
    };
    let is_own = |row: &&Value| row["region"].as_u64().is_some_and(|region| region < BANDS);
    let (own, others): (Vec<&Value>, Vec<&Value>) = rows.iter().partition(is_own);
    let mut bands: Vec<Value> = own
        .into_iter()
        .map(|row| json!({"region": row["region"], "thread_time_s": rounded(&times(row))}))
        .collect();
    let mut sum = Vec::new();
    for row in &others {
        let own = times(row);
        sum.resize(own.len().max(sum.len()), 0.0);
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }
    if !others.is_empty() {
        bands.push(json!({"regions": others.len(), "thread_time_s": rounded(&sum)}));
    }
    json!({"bin_s": timeline["bin_s"], "rows": bands})
}

/// Microseconds are finer than a pixel.
fn rounded(times: &[f64]) -> Vec<f64> {
    times.iter().map(|time| (time * 1e6).round() / 1e6).collect()
}

fn length(text: Option<&RawValue>) -> usize {
    text.map_or(0, |text| text.get().len())
}

/// Members of a region whose length grows with its threads.
const BY_THREAD: [&str; 3] = ["threads", "slots", "open"];
/// Processes with details of their own.
const DETAILED: usize = 16;
/// Regions of a process: a table of more rows is of no use.
const ROWS: usize = 500;
/// Bands of the picture over time that can be told from each other.
const BANDS: u64 = 8;
