//! The options for a processor and its event tables.

use std::path::{Path, PathBuf};

use clap::Args;
use pacman_core::event::installed::{self, Installed};
use pacman_core::input::{self, MOST_BYTES};
use pacman_core::platform::{Platform, pmus_in};
use pacman_events::encode::PerfAttr;
use pacman_events::shown::shown_path;
use pacman_events::{CpuModel, ListSource, ResolveError, Resolved, Resolver, SysfsPmu, UserTable};

use crate::error::{CliError, CliResult};

/// The options for a processor and its event tables.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Tables {
    /// Table of events, such as skl, p4-prescott or zen4 [default: this machine's]
    #[arg(long, value_name = "NAME")]
    pub(crate) cpu: Option<String>,
    /// A JSON file in perfmon's format, in place of an installed list; its names come before those of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// The directory that describes the PMUs of PMU/TERM=N/ names [default: this machine's]
    #[arg(long, value_name = "DIR")]
    pub(crate) devices: Option<PathBuf>,
}

/// Tables that were read and can resolve names.
pub(crate) struct Loaded {
    cpu: CpuModel,
    /// The user's file, and its events.
    user: Option<(PathBuf, UserTable)>,
    /// The installed table, unless the user brings one.
    installed: Option<&'static Installed>,
    /// The PMUs that names may use.
    pmus: Vec<SysfsPmu>,
    /// The numbers of this machine's PMUs, by name.
    numbers: Vec<(String, u32)>,
}

impl Tables {
    /// Reads the tables that the options name.
    ///
    /// # Errors
    /// `BadInput` for an unknown table or an unreadable file.
    pub(crate) fn load(&self, machine: &dyn Platform) -> CliResult<Loaded> {
        let cpu = named(self.cpu.as_deref(), machine)?;
        let user = match &self.events {
            Some(file) => Some((file.clone(), read(cpu, file)?)),
            None => None,
        };
        let installed = match &user {
            None => installed::table(cpu),
            Some(_) => None,
        };
        let devices = self.devices.as_deref();
        let mut pmus = devices.map_or_else(|| machine.pmus(), pmus_in);
        let numbers = pmus.iter().map(|pmu| (pmu.name().to_owned(), pmu.kind())).collect();
        // This machine's PMU `cpu` does not describe the `cpu` of another model.
        if devices.is_none() && cpu != machine.cpu_model() {
            pmus.retain(|pmu| !pmu.name().starts_with("cpu"));
        }
        Ok(Loaded { cpu, user, installed, pmus, numbers })
    }
}

impl Loaded {
    /// The processor for which names are resolved.
    pub(crate) fn cpu(&self) -> CpuModel {
        self.cpu
    }

    /// The value of `attr.type`; `None` if the PMU is on another machine, which gives the number.
    pub(crate) fn perf_type(&self, attr: &PerfAttr) -> Option<u32> {
        let Some(name) = attr.pmu else { return Some(attr.kind) };
        self.numbers.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind)
    }

    /// The names of the table that the user brings or has installed.
    pub(crate) fn user_names(&self) -> impl Iterator<Item = &str> {
        self.table().into_iter().flat_map(UserTable::names)
    }

    /// Whether that table has the event, so that the shipped one is not searched for it.
    pub(crate) fn replaces(&self, event: &str) -> bool {
        self.table().is_some_and(|table| table.has(event))
    }

    /// The installed table, if names are searched there.
    pub(crate) fn installed(&self) -> Option<&'static Installed> {
        self.installed
    }

    /// The file of the option, and the list that it has.
    pub(crate) fn file(&self) -> Option<(&Path, ListSource)> {
        let (file, table) = self.user.as_ref()?;
        let name = file.file_name().map_or("".into(), |name| name.to_string_lossy());
        Some((file, table.source(&name)))
    }

    /// The table before the shipped one.
    fn table(&self) -> Option<&UserTable> {
        let brought = self.user.as_ref().map(|(_, table)| table);
        brought.or(self.installed.map(|installed| &installed.content.table))
    }

    /// Resolves a name to an event or expression.
    pub(crate) fn resolve(&self, name: &str) -> Result<Resolved, ResolveError> {
        let resolver = Resolver::new(self.cpu).with_pmus(&self.pmus);
        match self.table() {
            Some(table) => resolver.with_table(table).resolve(name),
            None => resolver.resolve(name),
        }
    }
}

/// The table of this name, or this machine's.
pub(super) fn named(cpu: Option<&str>, machine: &dyn Platform) -> CliResult<CpuModel> {
    cpu.map_or_else(|| Ok(machine.cpu_model()), model)
}

/// The table of this name.
pub(crate) fn model(name: &str) -> CliResult<CpuModel> {
    CpuModel::named(name).ok_or_else(|| {
        let near = match CpuModel::nearest(name).as_slice() {
            [] => String::new(),
            names => format!("nearest: {}; ", names.join(", ")),
        };
        CliError::BadInput(format!("no table {name}; {near}pacman-pmu list --cpus shows all"))
    })
}

/// The events of a file in perfmon's format.
pub(super) fn read(cpu: CpuModel, file: &Path) -> CliResult<UserTable> {
    let named = shown_path(file);
    let text = input::read_text(file, MOST_BYTES)
        .map_err(|error| CliError::BadInput(format!("cannot read {named}: {error}")))?;
    let table = UserTable::from_perfmon_json(cpu, &text);
    table.map_err(|refusal| CliError::bad_input(refusal).within(named))
}
