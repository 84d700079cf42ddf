//! Options for the models to train and their data.

use std::path::PathBuf;

use pacman_adapt::predict::training::{
    Contender, Dataset, LinearOptions, MixtureOptions, Plan, RidgeOptions, Terms,
};
use pacman_adapt::predict::{Configuration, Target};

use pacman_events::shown::shown;

use super::table::{Defaults, Table};
use pacman_cli::counts::named;
use pacman_cli::error::{self, CliError, CliResult};

/// The selection of the table's rows.
#[derive(Debug, Default, clap::Args)]
pub(super) struct DataArgs {
    /// The measured programs, CSV in long form; - is standard input
    #[arg(value_name = "DATA.csv")]
    pub(super) data: PathBuf,

    /// The machine: one of the table's, or the one that was measured if the table does not name any
    #[arg(long, value_name = "NAME")]
    pub(super) measured_on: Option<String>,

    /// Use these configurations only, such as 1,2,4,8
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) configs: Option<Vec<Configuration>>,

    /// Leave a program out; may be given several times
    #[arg(long, value_name = "APP")]
    pub(super) without: Vec<String>,
}

/// The options of learning.
#[derive(Debug, clap::Args)]
pub(super) struct LearnArgs {
    /// The target: time, or ipc (needs instructions and cycles)
    #[arg(long, value_name = "time|ipc", default_value = "time", value_parser = target)]
    pub(super) target: Target,

    /// Let ridge (1 to 3) or mixture (1 to 16) sample N configurations of its choice [default: 3]
    #[arg(long, value_name = "N", conflicts_with = "at")]
    pub(super) samples: Option<usize>,

    /// Train for an adapter: sample only configurations with at least half of all contexts, and
    /// minimise the regret instead of the error of times. Such samples cost an adapter little
    #[arg(long, conflicts_with = "at")]
    pub(super) wide: bool,

    /// Let ridge sample these configurations, such as 24,12,1; all contexts must be one of them
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) at: Option<Vec<Configuration>>,

    /// The events whose rates are features; "none" for times alone [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) events: Option<Vec<String>>,

    /// Let ridge use the events' rates and their products instead of logarithms; only for many more
    /// phases than products
    #[arg(long)]
    pub(super) products: bool,
}

impl DataArgs {
    /// Reads the table, and names its unused columns on standard error.
    pub(super) fn read(&self) -> CliResult<Table> {
        let defaults = Defaults { machine: self.measured_on.as_deref(), program: None };
        let mut table = Table::read(&self.data, &defaults)?;
        if !table.unused.is_empty() {
            let names = table.unused.join(", ");
            let data = named(&self.data);
            error::complain(format!("{data}: not used, because they are not numbers: {names}"));
        }
        table.without(&self.without)?;
        Ok(table)
    }

    /// One machine's rows, after saying on standard error which programs are left out.
    pub(super) fn dataset(&self, table: &Table, machine: &str) -> CliResult<Dataset> {
        let data = Dataset::of(machine, &table.rows, self.configs.as_deref())
            .map_err(|error| CliError::bad_input(error).within(named(&self.data)))?;
        if !data.left_out().is_empty() {
            let programs = data.left_out().join(", ");
            error::complain(format!("{}: left out: {programs}", shown(machine)));
        }
        Ok(data)
    }
}

impl LearnArgs {
    pub(super) fn ridge(&self) -> Contender {
        let plan = match &self.at {
            Some(at) => Plan::At(at.clone()),
            None if self.wide => Plan::Wide(self.samples.unwrap_or(SAMPLES)),
            None => Plan::Count(self.samples.unwrap_or(SAMPLES)),
        };
        let terms = if self.products { Terms::Products } else { Terms::Logarithms };
        let events = self.events();
        Contender::Ridge(RidgeOptions { target: self.target, plan, events, terms })
    }

    pub(super) fn mixture(&self) -> Contender {
        let samples = self.samples.unwrap_or(SAMPLES);
        Contender::Mixture(MixtureOptions { samples, wide: self.wide })
    }

    pub(super) fn linear(&self) -> Contender {
        Contender::Linear(LinearOptions { target: self.target, events: self.events() })
    }

    /// Refuses the first given option that has no meaning for this method.
    pub(super) fn suits(&self, contender: &Contender) -> CliResult<()> {
        let (samples, at) = (self.samples.is_some(), self.at.is_some());
        let (why, given): (&str, &[(&str, bool)]) = match contender {
            Contender::Linear(_) | Contender::Mixture(_) if self.products => (
                "is for ridge, and the other methods have terms of their own",
                &[("--products", true)],
            ),
            Contender::Linear(_) => (
                "is for ridge and mixture, and a linear model has no choice of samples",
                &[("--samples", samples), ("--wide", self.wide), ("--at", at)],
            ),
            Contender::Mixture(_) if at => (
                "is for ridge, and a mixture chooses each sample by the times of those before it",
                &[("--at", at)],
            ),
            Contender::Mixture(_) => (
                "is for ridge and linear, and a mixture is one of times",
                &[
                    ("--target ipc", self.target == Target::Ipc),
                    ("--events", self.events().is_some_and(|events| !events.is_empty())),
                ],
            ),
            _ => return Ok(()),
        };
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(CliError::BadInput(format!(
                "{option} {why}: leave it out, or add --method ridge"
            ))),
            None => Ok(()),
        }
    }

    fn events(&self) -> Option<Vec<String>> {
        let named = |events: &Vec<String>| match events.as_slice() {
            [none] if none == "none" => Vec::new(),
            some => some.to_vec(),
        };
        self.events.as_ref().map(named)
    }
}

const SAMPLES: usize = 3;

fn target(text: &str) -> CliResult<Target> {
    match text {
        "time" => Ok(Target::Time),
        "ipc" => Ok(Target::Ipc),
        _ => Err(CliError::bad_input("time or ipc is needed")),
    }
}
