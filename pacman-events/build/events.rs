//! Event tables, and the blob they are packed into.
//!
//! ```text
//! records   6 bytes each: (u16 select, u16 value, u16 traits) of an event, shared by all rows that agree
//! words     u64 each: the selects and values
//! traits    12 bytes each: where and how an event counts
//! choices   16 bytes each: four pairs (u16 select, u16 msr) of one extra register
//! texts     u32 each: offset << 8 | length into the pool
//! rows      4 bytes each: (u16 name, u16 record), one run per table sorted by name
//! pool      the text
//! ```
//! Little endian throughout. Traits are: u16 counters, u16 counters with SMT off, u16 errata (a text;
//! 0xffff: none), u16 choices (0xffff: none), u16 flags, u8 fixed (0xff: none), u8 unused. Records have
//! few different words and traits, so that numbers of them take a third of the space.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

use crate::models::{Model, Models};
use crate::tsv::{self, Fault, Row, number};

const FLAGS: [&str; 7] = ["alone", "pebs", "deprecated", "core", "node", "pair", "topdown"];
/// A field of `PERF_METRICS`, which takes no counter.
const TOPDOWN: u16 = 1 << 6;
const NONE: u16 = 0xffff;

/// Names that differ only in this are one name: case, and `:` for `.`.
pub(crate) fn fold(name: &str) -> String {
    name.to_ascii_lowercase().replace(':', ".")
}

/// An event without its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Record {
    select: u64,
    choices: Vec<(u16, u16)>,
    value: u64,
    counters: u16,
    smt_off: u16,
    fixed: u8,
    flags: u16,
    errata: String,
}

/// Per model, its events by folded name, and the rows that correct them.
pub(crate) struct Events {
    tables: Vec<BTreeMap<String, (String, Record)>>,
    corrections: Vec<Row>,
}

pub(crate) struct Packed {
    pub(crate) blob: Vec<u8>,
    /// The names of all tables, sorted by `fold`; rows have their numbers.
    pub(crate) names: Vec<String>,
    pub(crate) layout: String,
    pub(crate) spans: Vec<(usize, usize)>,
}

pub(crate) fn read(data: &Path, models: &Models) -> Result<Events, Fault> {
    let columns = &["event", "select", "counters", "smt_off", "fixed", "value", "flags", "errata"];
    let mut corrections = Corrections::read(data)?;
    let mut tables = Vec::new();
    for model in &models.all {
        let mut events = BTreeMap::new();
        if let Some(directory) = directory(model) {
            let file = format!("{directory}/{}.tsv", model.table);
            for mut row in tsv::read(data, &file, columns)? {
                corrections.apply(&model.table, &mut row)?;
                add(&mut events, model, &row)?;
            }
        }
        tables.push(events);
    }
    corrections.all_applied()?;
    let corrections = corrections.0.into_iter().map(|(row, _)| row).collect();

    let columns = &["tables", "event", "select", "counters", "smt_off", "flags", "source"];
    for mut row in tsv::read(data, "additions.tsv", columns)? {
        row.required("source")?;
        for column in ["fixed", "value", "errata"] {
            row.set(column, "-");
        }
        for table in row.list("tables") {
            let index = models.position(&table);
            let index = index.ok_or_else(|| row.fault(format!("no table {table}")))?;
            add(&mut tables[index], &models.all[index], &row)?;
        }
    }
    Ok(Events { tables, corrections })
}

/// The list that each model's table has its events from: the first line of its file, without the licence. Empty where
/// there is no table.
pub(crate) fn sources(data: &Path, models: &Models) -> Result<Vec<String>, Fault> {
    let source = |model: &Model| match (directory(model), model.family) {
        (Some(directory), _) => {
            tsv::first_comment(data, &format!("{directory}/{}.tsv", model.table))
        }
        (None, "NetBurst") => tsv::first_comment(data, "netburst/events.tsv"),
        (None, _) => Ok(String::new()),
    };
    models.all.iter().map(source).collect()
}

/// The directory of a model's table. NetBurst's events have files of their own form.
fn directory(model: &Model) -> Option<&'static str> {
    match model.family {
        "Intel" | "Knc" => Some("intel"),
        "Amd" => Some("amd"),
        "Arm" => Some("arm"),
        "Niagara" => Some("niagara"),
        "Power" => Some("power"),
        "S390x" => Some("s390x"),
        _ => None,
    }
}

fn add(
    events: &mut BTreeMap<String, (String, Record)>,
    model: &Model,
    row: &Row,
) -> Result<(), Fault> {
    let name = row.required("event")?;
    if name.len() > 255 || !name.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(row.fault("an event's name is at most 255 printable characters"));
    }
    // The look-up treats these as modifiers before it searches the tables.
    if fold(name).split('.').any(|part| part.starts_with("c=") || part.starts_with("thr=")) {
        return Err(row.fault("a unit mask is spelt like the modifier c=N or thr=N"));
    }
    let record = record(model, row)?;
    match events.insert(fold(name), (name.to_owned(), record)) {
        Some(_) => Err(row.fault(format!("{name} stands twice in the table"))),
        None => Ok(()),
    }
}

fn record(model: &Model, row: &Row) -> Result<Record, Fault> {
    let (select, choices) = select(row)?;
    let set = |column: &str, of: u64| -> Result<u16, Fault> {
        let counters = row.optional_number(column)?.unwrap_or(0);
        if counters & !of != 0 {
            return Err(
                row.fault(format!("{column} {counters:#x} has counters {} lacks", model.table))
            );
        }
        u16::try_from(counters)
            .map_err(|_| row.fault(format!("{column} is wider than 16 counters")))
    };
    let fixed = row.optional_number("fixed")?;
    if let Some(fixed) = fixed {
        if fixed > 63 || model.fixed >> fixed & 1 == 0 {
            return Err(row.fault(format!("{} has no fixed counter {fixed}", model.table)));
        }
    }
    let mut flags = 0;
    for flag in row.list("flags") {
        let bit = FLAGS.iter().position(|known| *known == flag);
        flags |= 1 << bit.ok_or_else(|| row.fault(format!("no flag {flag}")))?;
    }
    let value = row.optional_number("value")?;
    if model.family == "Intel" && value.is_some() == choices.is_empty() {
        return Err(row.fault("an extra register and its value go together"));
    }
    if model.family == "Amd" && select & 0x7b_0000 != 0 {
        return Err(row.fault("select has bits of other fields than event, unit mask and filter"));
    }
    let record = Record {
        select,
        choices,
        value: value.unwrap_or(0),
        counters: set("counters", model.general)?,
        smt_off: set("smt_off", model.smt_off)?,
        fixed: fixed.map_or(0xff, |fixed| fixed as u8),
        flags,
        errata: row.text("errata").to_owned(),
    };
    if record.counters & !record.smt_off != 0 {
        return Err(row.fault("counters with SMT on that are closed with SMT off"));
    }
    if model.family == "Arm" && select > 0xffff {
        return Err(row.fault("the event of PMEVTYPER has 16 bits"));
    }
    // A counter of IBM Z counts one event, so the event's number is its counter.
    let takes_counter = record.smt_off != 0 || fixed.is_some() || model.family == "S390x";
    if record.flags & TOPDOWN != 0 && (takes_counter || record.select & !0x700 != 0x8000) {
        return Err(row.fault("a field of PERF_METRICS has select 0x8000 to 0x8700 and no counter"));
    }
    if !takes_counter && record.flags & TOPDOWN == 0 {
        return Err(row.fault("no counter can count it"));
    }
    Ok(record)
}

/// `0x10e`, or `0x1b7@0x1a6|0x1bb@0x1a7`: selectors with the register each needs.
fn select(row: &Row) -> Result<(u64, Vec<(u16, u16)>), Fault> {
    select_of(row, "select")
}

fn select_of(row: &Row, column: &str) -> Result<(u64, Vec<(u16, u16)>), Fault> {
    let cell = row.required(column)?;
    let fault = || row.fault(format!("{column} is {cell:?}, not CONFIG or CONFIG@MSR|…"));
    if !cell.contains('@') {
        return Ok((number(cell).ok_or_else(fault)?, Vec::new()));
    }
    let mut filter = None;
    let mut choices = Vec::new();
    for choice in cell.split('|') {
        let (config, msr) = choice.split_once('@').ok_or_else(fault)?;
        let config = number(config).ok_or_else(fault)?;
        let msr = number(msr).and_then(|msr| u16::try_from(msr).ok()).ok_or_else(fault)?;
        // The registers differ in event and unit mask; the filter of the count belongs to the
        // event.
        if *filter.get_or_insert(config >> 16) != config >> 16 {
            return Err(row.fault("the registers' selectors differ beyond event and unit mask"));
        }
        choices.push((config as u16, msr));
    }
    if choices.len() > 4 {
        return Err(row.fault("more than four registers to choose from"));
    }
    Ok((filter.unwrap_or(0) << 16 | u64::from(choices[0].0), choices))
}

/// `corrections.tsv`: corrections of faults in the sources.
struct Corrections(Vec<(Row, bool)>);

impl Corrections {
    fn read(data: &Path) -> Result<Self, Fault> {
        let columns = &["table", "event", "column", "was", "now", "reason"];
        let rows = tsv::read(data, "corrections.tsv", columns)?;
        Ok(Corrections(rows.into_iter().map(|row| (row, false)).collect()))
    }

    fn apply(&mut self, table: &str, row: &mut Row) -> Result<(), Fault> {
        for (correction, applied) in &mut self.0 {
            if correction.text("table") != table || correction.text("event") != row.text("event") {
                continue;
            }
            let column = correction.required("column")?.to_owned();
            if row.text(&column) != correction.text("was") {
                return Err(correction.fault(format!("{column} is {:?} there", row.text(&column))));
            }
            row.set(&column, correction.required("now")?);
            *applied = true;
        }
        Ok(())
    }

    fn all_applied(&self) -> Result<(), Fault> {
        match self.0.iter().find(|(_, applied)| !applied) {
            Some((correction, _)) => Err(correction.fault("corrects no row")),
            None => Ok(()),
        }
    }
}

impl Events {
    /// The static of `corrections.rs`: a vendor's newer list has the same faults.
    pub(crate) fn corrections_to_rust(&self) -> Result<String, Fault> {
        let mut rust = String::from("pub(crate) static CORRECTIONS: &[Correction] = &[\n");
        for row in &self.corrections {
            if row.text("column") != "select" {
                return Err(
                    row.fault("only select is corrected in a user's list too: extend user_table")
                );
            }
            let side = |column: &str| -> Result<String, Fault> {
                let (select, mut choices) = select_of(row, column)?;
                choices.resize(4, (0, 0));
                Ok(format!("({select:#x}, {choices:?})"))
            };
            writeln!(
                rust,
                "Correction {{ table: {:?}, event: {:?}, was: {}, now: {} }},",
                row.required("table")?,
                row.required("event")?,
                side("was")?,
                side("now")?,
            )
            .expect("writing to a string");
        }
        Ok(rust + "];\n")
    }

    /// Whether the table has the event; `name` in any spelling.
    pub(crate) fn contains(&self, model: usize, name: &str) -> bool {
        self.tables[model].contains_key(&fold(name))
    }

    /// The event select of all rows with this event's unit masks; `None` if there are none or it differs.
    pub(crate) fn code(&self, model: usize, event: &str) -> Option<u64> {
        let prefix = fold(event) + ".";
        let rows = self.tables[model].iter().filter(|(name, _)| name.starts_with(&prefix));
        let mut codes = rows.map(|(_, (_, record))| record.select & 0xf_0000_00ff);
        let first = codes.next()?;
        codes.all(|code| code == first).then_some(first)
    }

    pub(crate) fn pack(&self) -> Packed {
        let mut spellings: BTreeMap<&str, &str> = BTreeMap::new();
        for (folded, (name, _)) in self.tables.iter().flatten() {
            spellings.entry(folded).or_insert(name);
        }
        let mut pool = Pool::default();
        let numbers: HashMap<&str, u16> =
            spellings.keys().enumerate().map(|(index, folded)| (*folded, index as u16)).collect();
        assert!(numbers.len() < usize::from(NONE), "names are numbered with 16 bits");

        let mut records = Interned::default();
        let mut words = Interned::default();
        let mut traits = Interned::default();
        let mut choices = Interned::default();
        let mut texts = Interned::default();
        let mut rows = Vec::new();
        let mut spans = Vec::new();
        for table in &self.tables {
            spans.push((rows.len() / 4, table.len()));
            for (folded, (_, record)) in table {
                let choice = if record.choices.is_empty() {
                    NONE
                } else {
                    choices.number(record.choices.clone())
                };
                let errata = if record.errata.is_empty() {
                    NONE
                } else {
                    texts.number(record.errata.clone())
                };
                let number = records.number([
                    words.number(record.select),
                    words.number(record.value),
                    traits.number(record.traits(errata, choice)),
                ]);
                rows.extend(numbers[folded.as_str()].to_le_bytes());
                rows.extend(number.to_le_bytes());
            }
        }
        let choices: Vec<u8> = choices.all.iter().flat_map(|list| choice_bytes(list)).collect();
        let records: Vec<u8> =
            records.all.iter().flatten().flat_map(|number| number.to_le_bytes()).collect();
        let words: Vec<u8> = words.all.iter().flat_map(|word| word.to_le_bytes()).collect();
        let texts: Vec<u8> =
            texts.all.iter().flat_map(|text| pool.add(text).to_le_bytes()).collect();

        let mut blob = Vec::new();
        let mut layout = String::new();
        let parts = [
            ("RECORDS", records),
            ("WORDS", words),
            ("TRAITS", traits.all.concat()),
            ("CHOICES", choices),
            ("TEXTS", texts),
            ("ROWS", rows),
            ("POOL", pool.text),
        ];
        for (name, part) in parts {
            writeln!(
                layout,
                "pub(crate) const {name}: (usize, usize) = ({}, {});",
                blob.len(),
                part.len()
            )
            .expect("writing to a string");
            blob.extend(part);
        }
        let names = spellings.into_values().map(str::to_owned).collect();
        Packed { blob, names, layout, spans }
    }
}

impl Record {
    fn traits(&self, errata: u16, choices: u16) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(12);
        for half in [self.counters, self.smt_off, errata, choices, self.flags] {
            bytes.extend(half.to_le_bytes());
        }
        bytes.extend([self.fixed, 0]);
        bytes
    }
}

fn choice_bytes(list: &[(u16, u16)]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (index, (select, msr)) in list.iter().enumerate() {
        bytes[index * 4..][..2].copy_from_slice(&select.to_le_bytes());
        bytes[index * 4 + 2..][..2].copy_from_slice(&msr.to_le_bytes());
    }
    bytes
}

/// Values numbered in the order of their first appearance.
struct Interned<T> {
    all: Vec<T>,
    numbers: HashMap<T, u16>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    fn number(&mut self, value: T) -> u16 {
        let next = u16::try_from(self.all.len()).expect("at most 65535 distinct values");
        *self.numbers.entry(value.clone()).or_insert_with(|| {
            self.all.push(value);
            next
        })
    }
}

/// All text in one run, referred to by `offset << 8 | length`.
#[derive(Default)]
struct Pool {
    text: Vec<u8>,
}

impl Pool {
    fn add(&mut self, text: &str) -> u32 {
        let offset = u32::try_from(self.text.len()).expect("a pool below 16 MB");
        assert!(offset < 1 << 24 && text.len() < 256, "offset and length share 32 bits");
        self.text.extend(text.as_bytes());
        offset << 8 | text.len() as u32
    }
}
