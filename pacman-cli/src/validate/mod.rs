//! `pacman-pmu validate`: which counters of this machine can be believed, and how far.

mod checks;
mod json;
mod progress;
mod text;

use std::io::Write;
use std::path::PathBuf;

use crate::error::{CliError, CliResult};
use crate::overwritten::Before;
use crate::terminal::Terminal;
use crate::validate::checks::{Check, Outcome, Validator};
use pacman_core::platform;
use pacman_events::CpuId;
use pacman_report::document;

#[cfg(test)]
pub(crate) use json::Document;
use progress::Progress;

/// Compare counters with known counts, and show how accurate each counter is.
///
/// Runs small kernels with known numbers of instructions, branches, loads, misses, faults, switches
/// and so on. Counts them several times, as a session does, and compares. A counter is exact, right
/// within some per cent, wrong by a constant factor, or unusable. The table also has the events that
/// cannot be counted here, with the reason. Other work on the machine disturbs caches and clocks, so
/// run this on a quiet machine. One event takes seconds, and all take some minutes. A terminal on
/// standard error shows the progress.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct ValidateArgs {
    /// The events, EVENT or EVENT@KERNEL, separated by commas [default: all with a known count]
    #[arg(short, long, value_name = "EVENTS")]
    events: Option<String>,

    /// The number of times that each kernel is counted
    #[arg(long, value_name = "N", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u16).range(3..=1000))]
    repeat: u16,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,

    /// Write the report to a file too, as JSON if its name ends in .json, else as text
    #[arg(short, long, value_name = "REPORT")]
    output: Option<PathBuf>,
}

/// Validates and writes the report.
pub(crate) fn validate(args: &ValidateArgs, out: &mut dyn Write) -> CliResult {
    if let Some(machine) = platform::current().simulation() {
        return Err(CliError::BadInput(format!(
            "cannot validate on simulated machine {}: its counts are made up; leave --machine out",
            machine.name
        )));
    }
    let checks = match &args.events {
        Some(list) => Check::parse_list(list).map_err(CliError::bad_input)?,
        None => Check::defaults(),
    };
    // Minutes of work must not end with a file that cannot be written.
    let unwritable = |path: &PathBuf, error| CliError::unwritable(path, &error);
    let file = args.output.as_ref().map(|path| {
        Before::now(path).map(|before| (path, before)).map_err(|error| unwritable(path, error))
    });
    let file = file.transpose()?;
    let validator = Validator::new().map_err(CliError::refused)?;
    let report = run(&validator, &checks, usize::from(args.repeat));
    if let Some((path, before)) = file {
        let json = path.extension().is_some_and(|extension| extension == "json");
        let text = render(&report, json, usize::MAX);
        before.write(text.as_bytes()).map_err(|error| unwritable(path, error))?;
    }
    out.write_all(render(&report, args.json, Terminal::stdout().width()).as_bytes())?;
    Ok(exit_status(&report))
}

/// The validated events, and the machine.
#[derive(Debug)]
struct Report {
    machine: String,
    /// The event table's name and the processor's in words.
    table: (&'static str, &'static str),
    cpu_id: Option<CpuId>,
    cpu: u32,
    repeats: usize,
    outcomes: Vec<Outcome>,
}

/// 0 when everything that was counted can be used, 1 when something cannot or nothing was.
fn exit_status(report: &Report) -> u8 {
    let mut counted = report.outcomes.iter().filter_map(|outcome| outcome.result.as_ref().ok());
    let nothing = counted.clone().next().is_none();
    u8::from(nothing || counted.any(|counted| !counted.verdict.is_usable()))
}

fn run(validator: &Validator, checks: &[Check], repeats: usize) -> Report {
    let mut progress = Progress::on_stderr(checks.len(), repeats);
    let outcomes = checks
        .iter()
        .map(|check| {
            progress.begin(check);
            validator.validate(check, repeats, &mut |done| progress.repeat(done))
        })
        .collect();
    let model = validator.model();
    Report {
        machine: validator.machine_name().to_string(),
        table: (model.name(), model.title()),
        cpu_id: validator.cpu_id(),
        cpu: validator.place().cpu(),
        repeats,
        outcomes,
    }
}

fn render(report: &Report, json: bool, width: usize) -> String {
    if json { document::text(&json::report(report)) } else { text::report(report, width) }
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu validate
  pacman-pmu validate -e INSTRUCTIONS,L1D_MISSES --repeat 50
  pacman-pmu validate -e r20c4@taken-branches
                              any event, on a kernel of your choice
  pacman-pmu validate --json -o counters.json
                              keep the report, with every repeat

Exit status:
  0  all tried counters can be used, some perhaps after division by a factor
  1  a counter cannot be used, or nothing could be counted
  2  bad input: one line on standard error gives the reason
  4  the answer could not be written";

const JSON: &str = include_str!("../help/validate.txt");
