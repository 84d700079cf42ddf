//! `pacman-pmu metrics`: the metrics, the models that can count them, and their values.

mod list;
#[cfg(test)]
mod tests;
mod value;

use std::io::Write;
use std::path::{Path, PathBuf};

use pacman_core::platform::Platform;
use pacman_events::allocate::Pmu;
use pacman_metrics::language::{Metric, builtin};

use crate::counts;
use crate::error::{CliError, CliResult};
use crate::events::{Loaded, Tables};
use crate::plan::Switch;
use crate::report_counts;
#[cfg(test)]
pub(crate) use list::Document as Listing;
#[cfg(test)]
pub(crate) use value::Computed;

/// List metrics and whether a model can count them, or compute metrics from counts.
///
/// A metric is a formula over the counts of one context. --file adds your own metrics, one on each
/// line: "NAME | UNIT | EXPRESSION | TEXT". An expression has + - * / ( ) min max, numbers and event
/// names. Quote a name with other characters than letters, digits and _ . : =. The names TSC,
/// NANOSECONDS, BASE_HZ and CONTEXTS are not events but values of a sample. CONTEXTS are the contexts
/// of the core that ran all the time; the counts are then the sums over them.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct MetricsArgs {
    /// Metrics to show or to compute [default: all]
    #[arg(value_name = "NAME", conflicts_with = "list")]
    names: Vec<String>,
    /// List all metrics (the default)
    #[arg(long, conflicts_with = "counts")]
    list: bool,
    /// Which processor and tables
    #[command(flatten)]
    tables: Tables,
    /// Whether siblings are enabled
    #[arg(long, value_enum, default_value = "on")]
    smt: Switch,
    /// A file of more metrics; - is standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Compute from counts: a JSON report of stat, run or a session, or lines of "event,count" with the
    /// names of the expressions; - is standard input
    #[arg(long, value_name = "FILE")]
    counts: Option<PathBuf>,
    /// The region or phase of the report, if it has several
    #[arg(long, value_name = "NAME", requires = "counts")]
    phase: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists, shows or computes.
pub(crate) fn metrics(
    args: &MetricsArgs,
    machine: &dyn Platform,
    out: &mut dyn Write,
) -> CliResult {
    let both = [&args.file, &args.counts];
    if both.iter().all(|file| file.as_deref().is_some_and(counts::is_standard_input)) {
        return Err(CliError::bad_input("--file and --counts cannot both be standard input"));
    }
    let loaded = args.tables.load(machine)?;
    let own = own(args.file.as_deref(), &loaded)?;
    let all: Vec<&Metric> = builtin().iter().chain(&own).collect();
    let chosen = choose(&all, &args.names)?;
    if let Some(file) = &args.counts {
        let text = report_counts::read(file, args.phase.as_deref())?;
        let file = counts::named(file);
        let counts = counts::parse(&text).map_err(|error| error.within(&file))?;
        let named = !args.names.is_empty();
        return value::values(&chosen, &counts, &file, named, args.json, out);
    }
    let pmu = Pmu::of(loaded.cpu(), args.smt == Switch::On);
    list::list(&chosen, &loaded, &pmu, !args.names.is_empty(), args.json, out)
}

/// The user's metrics; every event is some model's, and no name one of the library's.
fn own(file: Option<&Path>, loaded: &Loaded) -> CliResult<Vec<Metric>> {
    let Some(file) = file else { return Ok(Vec::new()) };
    let text = counts::read(file)?;
    let own = Metric::read_all(&counts::named(file), &text).map_err(CliError::bad_input)?;
    for metric in &own {
        if builtin().iter().any(|known| known.name() == metric.name()) {
            let (origin, name) = (metric.origin(), metric.name());
            let why = format!("{origin}: {name} is a metric of the library already");
            return Err(CliError::BadInput(why));
        }
        metric.check_names(|event| loaded.resolve(event)).map_err(CliError::bad_input)?;
    }
    Ok(own)
}

/// The metrics of these names, or all; a name may have several definitions.
fn choose<'m>(all: &[&'m Metric], names: &[String]) -> CliResult<Vec<&'m Metric>> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let mut chosen = Vec::new();
    for name in names {
        let before = chosen.len();
        chosen.extend(all.iter().copied().filter(|metric| metric.name() == name));
        if chosen.len() == before {
            let near = pacman_events::nearest(name, all.iter().map(|metric| metric.name()));
            let hint = match near.as_slice() {
                [] => "pacman-pmu metrics lists all".to_owned(),
                near => format!("nearest: {}", near.join(", ")),
            };
            return Err(CliError::BadInput(format!("no metric {name}; {hint}")));
        }
    }
    Ok(chosen)
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu metrics --list --cpu skl          the metrics that Skylake can count
  pacman-pmu metrics l2-mpki                   one metric: formula, source, events
  pacman-pmu metrics ipc --counts counts.csv
  pacman-pmu metrics ipc --counts report.json --phase 'main, region 0'
  printf 'INSTRUCTIONS,3000\\nCYCLES,2000\\n' | pacman-pmu metrics ipc --counts -
  pacman-pmu metrics topdown-retiring --cpu zen4
  pacman-pmu metrics --file my.metrics --cpu hsw --json

Exit status:
  0  done
  1  a named metric cannot be computed from the counts
  2  bad input: one line on standard error gives file, line and reason
  4  the answer could not be written";

const JSON: &str = include_str!("../help/metrics.txt");
