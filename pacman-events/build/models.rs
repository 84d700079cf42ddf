//! `models.tsv` and `cpuid.tsv`: the tables, and the processors they describe.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use crate::tsv::{self, Fault, Row, number};

/// One table of events.
pub(crate) struct Model {
    pub(crate) table: String,
    pub(crate) family: &'static str,
    pub(crate) groups: Vec<String>,
    pub(crate) general: u64,
    pub(crate) smt_off: u64,
    pub(crate) fixed: u64,
    aliases: Vec<String>,
    /// The rest of its row of the static.
    rust: String,
}

pub(crate) struct Models {
    pub(crate) all: Vec<Model>,
    cpuid: Vec<Cpuid>,
}

struct Cpuid {
    vendor: String,
    family: u64,
    models: (u64, u64),
    steppings: (u64, u64),
    core: &'static str,
    table: usize,
}

const FAMILIES: &[(&str, &str)] = &[
    ("amd", "Amd"),
    ("arm", "Arm"),
    ("generic", "Generic"),
    ("intel", "Intel"),
    ("knc", "Knc"),
    ("netburst", "NetBurst"),
    ("niagara", "Niagara"),
    ("power", "Power"),
    ("s390x", "S390x"),
];

pub(crate) fn read(data: &Path) -> Result<Models, Fault> {
    let columns = &[
        "table",
        "aliases",
        "family",
        "groups",
        "smt",
        "general",
        "smt_off",
        "fixed",
        "width",
        "offcore",
        "erratum",
        "any_thread",
        "pmu",
        "title",
    ];
    let mut names = HashSet::new();
    let mut all = Vec::new();
    for row in tsv::read(data, "models.tsv", columns)? {
        let model = model(&row)?;
        for name in model.aliases.iter().chain([&model.table]) {
            if !names.insert(name.clone()) {
                return Err(row.fault(format!("{name} names two tables")));
            }
        }
        all.push(model);
    }
    let columns = &["vendor", "family", "models", "steppings", "core", "table"];
    let rows = tsv::read(data, "cpuid.tsv", columns)?;
    let cpuid = rows.iter().map(|row| cpuid(row, &all)).collect::<Result<Vec<_>, _>>()?;
    Ok(Models { all, cpuid })
}

fn model(row: &Row) -> Result<Model, Fault> {
    let (smt, width, pmu) = (row.number("smt")?, row.number("width")?, row.text("pmu"));
    let scopes = [("thread", "Thread"), ("core", "Core"), ("-", "Thread")];
    let offcore = row.one_of("offcore", &scopes)?;
    let erratum = row.one_of("erratum", &[("yes", true), ("no", false)])?;
    let any_thread =
        row.one_of("any_thread", &[("yes", "Yes"), ("fixed", "Fixed"), ("no", "No")])?;
    let title = row.required("title")?;
    let model = Model {
        table: row.required("table")?.to_owned(),
        aliases: row.list("aliases"),
        family: row.one_of("family", FAMILIES)?,
        groups: row.list("groups"),
        general: row.number("general")?,
        smt_off: row.number("smt_off")?,
        fixed: row.number("fixed")?,
        rust: format!(
            "title: {title:?}, smt: {smt}, width: {width}, offcore: Scope::{offcore}, \
             erratum: {erratum}, any_thread: AnyThread::{any_thread}, pmu: {pmu:?}"
        ),
    };
    if model.table != model.table.to_lowercase() {
        return Err(row.fault("table names are lower case"));
    }
    if model.general & !model.smt_off != 0 {
        return Err(row.fault("counters with SMT on that are absent with SMT off"));
    }
    if !matches!(smt, 1 | 2 | 4 | 8) {
        return Err(row.fault(format!("{smt} contexts per core")));
    }
    Ok(model)
}

fn cpuid(row: &Row, models: &[Model]) -> Result<Cpuid, Fault> {
    let range = |column: &str| -> Result<(u64, u64), Fault> {
        let cell = row.text(column);
        let (low, high) = cell.split_once('-').unwrap_or((cell, cell));
        match (cell, number(low), number(high)) {
            ("", _, _) => Ok((0, 0xffff)),
            (_, Some(low), Some(high)) if low <= high && high < 0x1_0000 => Ok((low, high)),
            _ => Err(row.fault(format!("{column} is {cell:?}, not a range below 65536"))),
        }
    };
    let name = row.required("table")?;
    let table = models.iter().position(|model| model.table == name);
    Ok(Cpuid {
        vendor: row.required("vendor")?.to_owned(),
        family: row.number("family")?,
        models: range("models")?,
        steppings: range("steppings")?,
        core: row.one_of(
            "core",
            &[
                ("-", "None"),
                ("core", "Some(CoreKind::Performance)"),
                ("atom", "Some(CoreKind::Efficient)"),
                ("lowpower", "Some(CoreKind::LowPower)"),
            ],
        )?,
        table: table.ok_or_else(|| row.fault(format!("no table {name}")))?,
    })
}

impl Models {
    pub(crate) fn position(&self, table: &str) -> Option<usize> {
        self.all.iter().position(|model| model.table == table)
    }

    /// The models of a group or a single table's name.
    pub(crate) fn within(&self, place: &str) -> Vec<usize> {
        let in_place = |m: &Model| m.table == place || m.groups.iter().any(|g| g == place);
        (0..self.all.len()).filter(|&index| in_place(&self.all[index])).collect()
    }

    /// The models of `*`, a table's name, or a group: some groups have the name of their first table.
    pub(crate) fn named(&self, place: &str) -> Vec<usize> {
        match (place, self.position(place)) {
            ("*", _) => (0..self.all.len()).collect(),
            (_, Some(table)) => vec![table],
            (group, None) => self.within(group),
        }
    }

    /// The statics of `cpu.rs`; `spans` are first row and number of rows per table, `sources` the lists they are from.
    pub(crate) fn to_rust(&self, spans: &[(usize, usize)], sources: &[String]) -> String {
        let mut rust = String::from("pub(crate) static MODELS: &[ModelRow] = &[\n");
        for ((model, (first, count)), source) in self.all.iter().zip(spans).zip(sources) {
            writeln!(
                rust,
                "ModelRow {{ table: {:?}, aliases: &{:?}, family: Family::{}, general: {:#x}, \
                 smt_off: {:#x}, fixed: {:#x}, {}, rows: ({first}, {count}), source: {source:?} }},",
                model.table,
                model.aliases,
                model.family,
                model.general,
                model.smt_off,
                model.fixed,
                model.rust,
            )
            .expect("writing to a string");
        }
        rust.push_str("];\npub(crate) static CPUIDS: &[CpuidRow] = &[\n");
        for row in &self.cpuid {
            writeln!(
                rust,
                "CpuidRow {{ vendor: {:?}, family: {}, models: {:?}, steppings: {:?}, core: {}, \
                 table: {} }},",
                row.vendor, row.family, row.models, row.steppings, row.core, row.table,
            )
            .expect("writing to a string");
        }
        rust.push_str("];\n");
        rust
    }
}
