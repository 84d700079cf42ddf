//! `pacman-pmu budget`: where a context's cycles went, and what its core has left.

pub(crate) mod counts;
mod json;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;
use std::path::PathBuf;

use pacman_metrics::budget::{Budget, CostTable};

use crate::counts::named;
use crate::error::{CliError, CliResult};
use crate::events;
use crate::report_counts;
use crate::terminal::Fitted;
use counts::Counts;
#[cfg(test)]
pub(crate) use json::Document;
use pacman_report::document;

/// Show the cost of stalls when contexts share the issue slots of a core.
///
/// Reads counts of one context as lines of "event,count" or from a JSON report of stat, run or a
/// session, and multiplies each count by the cost of its event on the model. The cycles of the run are the count "cycles", or follow from --seconds.
/// The command ignores empty lines, lines that begin with # and a first line "event,count".
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct BudgetArgs {
    /// The model: niagara1 or niagara2
    #[arg(long, value_name = "MODEL")]
    cpu: String,

    /// The clock in Hz, such as 1.2e9
    #[arg(long, value_name = "HZ", value_parser = positive)]
    clock: f64,

    /// The run's time in seconds, if the file has no "cycles"
    #[arg(long, value_name = "S", value_parser = positive)]
    seconds: Option<f64>,

    /// The counts; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The region or phase of the report, if it has several
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,
}

/// Reads the counts and writes the budget.
pub(crate) fn budget(args: &BudgetArgs, out: &mut dyn Write) -> CliResult {
    let table = table(&args.cpu)?;
    let budget = compute(args, table, &report_counts::read(&args.file, args.phase.as_deref())?)?;
    if args.json {
        document::write(out, &json::budget(&budget, table, args.clock))?;
    } else {
        Fitted::stdout(out).write_all(text::budget(&budget, table, args.clock).as_bytes())?;
    }
    Ok(0)
}

fn compute(args: &BudgetArgs, table: &CostTable, text: &str) -> CliResult<Budget> {
    let file = named(&args.file);
    let counts = Counts::parse(text, table).map_err(|error| error.within(&file))?;
    let cycles = match (counts.cycles, args.seconds) {
        (Some(_), Some(_)) => {
            let why = format!("{file} has cycles, and --seconds was given too");
            return Err(CliError::BadInput(why));
        }
        (Some(cycles), None) => cycles,
        (None, Some(seconds)) => (seconds * args.clock).round() as u64,
        (None, None) => {
            let why = "has no count of \"cycles\"; --seconds can tell them instead";
            return Err(CliError::BadInput(format!("{file} {why}")));
        }
    };
    let counts: Vec<(&str, u64)> =
        counts.events.iter().map(|(event, count)| (*event, *count)).collect();
    Budget::of(table, &counts, cycles, args.clock).map_err(CliError::bad_input)
}

fn table(name: &str) -> CliResult<&'static CostTable> {
    CostTable::of(events::model(name)?).map_err(CliError::bad_input)
}

fn positive(text: &str) -> CliResult<f64> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err(CliError::bad_input("a number above 0 is needed")),
    }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu budget --cpu niagara1 --clock 1.2e9 niagara.csv
  printf 'DC_miss,16829760\\nInstr_cnt,87048958\\n' |
    pacman-pmu budget --cpu niagara1 --clock 1.2e9 --seconds 0.53 -

Exit status:
  0  done
  2  bad input: one line on standard error gives the place and the reason
  4  the answer could not be written";

const JSON: &str = include_str!("../help/budget.txt");
