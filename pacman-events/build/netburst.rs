//! NetBurst's four tables: ESCRs, events with their unit masks, metrics and texts.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use crate::events::fold;
use crate::models::Models;
use crate::tsv::{self, Fault, Row};

pub(crate) struct NetBurst {
    escrs: Vec<Escr>,
    events: Vec<Event>,
    metrics: Vec<Metric>,
}

struct Escr {
    name: String,
    msr: u64,
    select: u64,
    counters: u64,
    half: u64,
}

struct Event {
    name: String,
    linux: Option<u64>,
    event_select: u64,
    escr_select: u64,
    halves: [Option<usize>; 2],
    independent: bool,
    models: u64,
    tags: String,
    masks: Vec<Mask>,
    aliases: Vec<String>,
    text: String,
}

struct Mask {
    name: String,
    bit: u64,
    status: &'static str,
    aliases: Vec<String>,
}

struct Metric {
    name: String,
    /// Its row of the static.
    rust: String,
}

type Texts = HashMap<String, (Vec<String>, String)>;

pub(crate) fn read(data: &Path, models: &Models) -> Result<NetBurst, Fault> {
    debug_assert!(models.all.iter().any(|model| model.family == "NetBurst"));
    let mut texts = Texts::new();
    for row in tsv::read(data, "netburst/texts.tsv", &["event", "aliases", "text"])? {
        let text = row.required("text")?.to_owned();
        texts.insert(row.required("event")?.to_owned(), (row.list("aliases"), text));
    }
    let escrs = escrs(data)?;
    let events = events(data, &escrs, &mut texts)?;
    let metrics = metrics(data, &escrs, &events, &mut texts)?;
    Ok(NetBurst { escrs, events, metrics })
}

fn escrs(data: &Path) -> Result<Vec<Escr>, Fault> {
    let columns = &["escr", "msr", "select", "counters", "half", "models"];
    let mut escrs: Vec<Escr> = Vec::new();
    for row in tsv::read(data, "netburst/escrs.tsv", columns)? {
        let mut counters = 0;
        for counter in row.list("counters") {
            let number: u64 = counter.parse().map_err(|_| row.fault("counters are numbers"))?;
            if number > 17 {
                return Err(row.fault(format!("no counter {number}")));
            }
            counters |= 1 << number;
        }
        let escr = Escr {
            name: row.required("escr")?.to_owned(),
            msr: row.number("msr")?,
            select: row.number("select")?,
            counters,
            half: row.number("half")?,
        };
        // A counter maps a select to one ESCR only; with two a CCCR would be ambiguous.
        let clash = escrs.iter().find(|e| e.select == escr.select && e.counters & counters != 0);
        if let Some(other) = clash {
            return Err(row.fault(format!("shares select and counters with {}", other.name)));
        }
        escrs.push(escr);
    }
    Ok(escrs)
}

fn halves(row: &Row, escrs: &[Escr], select: Option<u64>) -> Result<[Option<usize>; 2], Fault> {
    let mut halves = [None; 2];
    for (half, column) in ["half0", "half1"].into_iter().enumerate() {
        let name = row.text(column);
        if name.is_empty() {
            continue;
        }
        let index = escrs.iter().position(|escr| escr.name == name);
        let index = index.ok_or_else(|| row.fault(format!("no ESCR {name}")))?;
        if escrs[index].half != half as u64 {
            return Err(row.fault(format!("{name} is in the other half")));
        }
        if select.is_some_and(|select| select != escrs[index].select) {
            return Err(row.fault(format!("{name} belongs to select {}", escrs[index].select)));
        }
        halves[half] = Some(index);
    }
    Ok(halves)
}

fn events(data: &Path, escrs: &[Escr], texts: &mut Texts) -> Result<Vec<Event>, Fault> {
    let columns = &[
        "event",
        "linux",
        "event_select",
        "escr_select",
        "half0",
        "half1",
        "threads",
        "models",
        "tags",
    ];
    let mut events = Vec::new();
    for row in tsv::read(data, "netburst/events.tsv", columns)? {
        let name = row.required("event")?.to_owned();
        let select = row.number("escr_select")?;
        let mut models = 0;
        for model in row.list("models") {
            models |= 1 << model.parse::<u32>().map_err(|_| row.fault("models are numbers"))?;
        }
        let (aliases, text) =
            texts.remove(&name).ok_or_else(|| row.fault(format!("{name} has no text")))?;
        if row.number("event_select")? > 0x3f {
            return Err(row.fault("event select is wider than 6 bits"));
        }
        events.push(Event {
            linux: row.optional_number("linux")?,
            event_select: row.number("event_select")?,
            escr_select: select,
            halves: halves(&row, escrs, Some(select))?,
            independent: row.one_of("threads", &[("TS", false), ("TI", true)])?,
            models,
            tags: row.text("tags").to_owned(),
            masks: Vec::new(),
            aliases,
            text,
            name,
        });
    }
    for row in
        tsv::read(data, "netburst/masks.tsv", &["event", "mask", "bit", "status", "aliases"])?
    {
        let event = row.required("event")?;
        let mask = Mask {
            name: row.required("mask")?.to_owned(),
            bit: row.number("bit")?,
            status: row.one_of(
                "status",
                &[
                    ("documented", "Documented"),
                    ("field", "Field"),
                    ("reserved", "Reserved"),
                    ("unnamed", "Unnamed"),
                ],
            )?,
            aliases: row.list("aliases"),
        };
        if mask.bit > 15 {
            return Err(row.fault("an event mask has bits 0 to 15"));
        }
        let event = events.iter_mut().find(|e| e.name == event);
        let event = event.ok_or_else(|| row.fault("no such event"))?;
        if event.masks.iter().any(|m| m.bit == mask.bit || fold(&m.name) == fold(&mask.name)) {
            return Err(row.fault("the bit or the name is taken"));
        }
        event.masks.push(mask);
    }
    events.sort_by_key(|event| fold(&event.name));
    Ok(events)
}

fn metrics(
    data: &Path,
    escrs: &[Escr],
    events: &[Event],
    texts: &mut Texts,
) -> Result<Vec<Metric>, Fault> {
    let columns = &[
        "metric",
        "linux",
        "pebs_enable",
        "matrix_vert",
        "upstream",
        "masks",
        "half0",
        "half1",
        "downstream",
        "tagged",
    ];
    let find = |row: &Row, column: &str| {
        let name = row.text(column);
        let index = events.iter().position(|event| event.name == name);
        index.ok_or_else(|| row.fault(format!("no event {name}")))
    };
    let mut metrics = Vec::new();
    for row in tsv::read(data, "netburst/metrics.tsv", columns)? {
        let upstream = if row.text("upstream").is_empty() {
            None
        } else {
            let index = find(&row, "upstream")?;
            let mut bits = 0;
            for name in row.list("masks") {
                let mask = events[index].masks.iter().find(|mask| mask.name == name);
                bits |= 1 << mask.ok_or_else(|| row.fault(format!("no unit mask {name}")))?.bit;
            }
            Some((index, bits))
        };
        let replay = match row.optional_number("pebs_enable")? {
            Some(enable) => Some((enable, row.number("matrix_vert")?)),
            None => None,
        };
        let name = row.required("metric")?.to_owned();
        let (aliases, text) =
            texts.remove(&name).ok_or_else(|| row.fault(format!("{name} has no text")))?;
        let linux = row.optional_number("linux")?;
        let select = upstream.map(|(index, _)| events[index].escr_select);
        let halves = halves(&row, escrs, select)?;
        let downstream = find(&row, "downstream")?;
        let tagged = row.one_of("tagged", &[("yes", true), ("no", false)])?;
        let rust = format!(
            "MetricRow {{ name: {name:?}, aliases: &{aliases:?}, text: {text:?}, linux: {linux:?}, \
             replay: {replay:?}, upstream: {upstream:?}, halves: {halves:?}, \
             downstream: {downstream}, tagged: {tagged} }},\n"
        );
        metrics.push(Metric { name, rust });
    }
    metrics.sort_by_key(|metric| fold(&metric.name));
    Ok(metrics)
}

impl NetBurst {
    pub(crate) fn contains(&self, name: &str) -> bool {
        let base = fold(name.split([':', '.']).next().unwrap_or(name));
        self.events.iter().any(|event| fold(&event.name) == base)
            || self.metrics.iter().any(|metric| fold(&metric.name) == base)
    }

    pub(crate) fn to_rust(&self) -> String {
        let mut rust = String::from("pub(crate) static ESCRS: &[EscrRow] = &[\n");
        for escr in &self.escrs {
            writeln!(
                rust,
                "EscrRow {{ name: {:?}, msr: {:#x}, counters: {:#x} }},",
                escr.name, escr.msr, escr.counters,
            )
            .expect("writing to a string");
        }
        rust.push_str("];\npub(crate) static EVENTS: &[EventRow] = &[\n");
        for event in &self.events {
            let masks: Vec<_> =
                event.masks.iter().map(|mask| (1u32 << mask.bit, mask.name.as_str())).collect();
            let mask_aliases: Vec<_> = event
                .masks
                .iter()
                .flat_map(|mask| mask.aliases.iter().map(|a| (1u32 << mask.bit, a.as_str())))
                .collect();
            let statuses: Vec<_> =
                event.masks.iter().map(|mask| format!("MaskStatus::{}", mask.status)).collect();
            let tags = match event.tags.as_str() {
                "" => "Tags::None".to_owned(),
                "downstream" => "Tags::Counted".to_owned(),
                "upstream" => "Tags::Only".to_owned(),
                partner => {
                    let index = self.events.iter().position(|event| event.name == partner);
                    format!("Tags::Beside({})", index.expect("partners are events"))
                }
            };
            writeln!(
                rust,
                "EventRow {{ name: {:?}, aliases: &{:?}, text: {:?}, linux: {:?}, event_select: {}, \
                 escr_select: {}, halves: {:?}, independent: {}, models: {:#x}, tags: {tags}, \
                 masks: &{masks:?}, mask_aliases: &{mask_aliases:?}, statuses: &[{}] }},",
                event.name, event.aliases, event.text, event.linux, event.event_select,
                event.escr_select, event.halves, event.independent, event.models,
                statuses.join(", "),
            )
            .expect("writing to a string");
        }
        rust.push_str("];\npub(crate) static METRICS: &[MetricRow] = &[\n");
        rust.extend(self.metrics.iter().map(|metric| metric.rust.as_str()));
        rust.push_str("];\n");
        rust
    }
}
