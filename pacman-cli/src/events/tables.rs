//! The options for a processor and its event tables.

use std::path::PathBuf;

use clap::Args;
use pacman_core::input::{self, MOST_BYTES};
use pacman_core::platform::{Platform, pmus_in};
use pacman_events::encode::PerfAttr;
use pacman_events::shown::shown_path;
use pacman_events::{CpuModel, ResolveError, Resolver, SysfsPmu, UserTable};

use crate::error::{CliError, CliResult};

/// The options for a processor and its event tables.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Tables {
    /// Table of events, such as skl, p4-prescott or zen4 [default: this machine's]
    #[arg(long, value_name = "NAME")]
    pub(crate) cpu: Option<String>,
    /// A JSON file in perfmon's format; its names come before those of the table
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// The directory that describes the PMUs of PMU/TERM=N/ names [default: this machine's]
    #[arg(long, value_name = "DIR")]
    pub(crate) devices: Option<PathBuf>,
}

/// Tables that were read and can resolve names.
pub(crate) struct Loaded {
    cpu: CpuModel,
    user: Option<UserTable>,
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
        let cpu = match &self.cpu {
            Some(name) => CpuModel::named(name).ok_or_else(|| {
                let near = match CpuModel::nearest(name).as_slice() {
                    [] => String::new(),
                    names => format!("nearest: {}; ", names.join(", ")),
                };
                CliError::BadInput(format!(
                    "no table {name}; {near}pacman-pmu list --cpus shows all"
                ))
            })?,
            None => machine.cpu_model(),
        };
        let user = match &self.events {
            Some(file) => {
                let named = shown_path(file);
                let text = input::read_text(file, MOST_BYTES)
                    .map_err(|error| CliError::BadInput(format!("cannot read {named}: {error}")))?;
                let table = UserTable::from_perfmon_json(cpu, &text);
                Some(table.map_err(|refusal| CliError::bad_input(refusal).within(named))?)
            }
            None => None,
        };
        let devices = self.devices.as_deref();
        let mut pmus = devices.map_or_else(|| machine.pmus(), pmus_in);
        let numbers = pmus.iter().map(|pmu| (pmu.name().to_owned(), pmu.kind())).collect();
        // This machine's PMU `cpu` does not describe the `cpu` of another model.
        if devices.is_none() && cpu != machine.cpu_model() {
            pmus.retain(|pmu| !pmu.name().starts_with("cpu"));
        }
        Ok(Loaded { cpu, user, pmus, numbers })
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

    /// The names of the user's own table.
    pub(crate) fn user_names(&self) -> impl Iterator<Item = &str> {
        self.user.iter().flat_map(UserTable::names)
    }

    /// Resolves a name to an event or expression.
    pub(crate) fn resolve(&self, name: &str) -> Result<pacman_events::Resolved, ResolveError> {
        let resolver = Resolver::new(self.cpu).with_pmus(&self.pmus);
        match &self.user {
            Some(table) => resolver.with_table(table).resolve(name),
            None => resolver.resolve(name),
        }
    }
}
