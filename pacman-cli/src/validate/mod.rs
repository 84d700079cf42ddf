//! `pacman-pmu validate`: which counters of this machine can be believed, and how far.

mod checks;
mod json;
mod progress;
mod report;
mod text;

use std::io::Write;
use std::path::PathBuf;

use crate::document;
use crate::error::{CliError, CliResult};
use crate::validate::checks::{Check, Validator};
use pacman_core::{atomic_write, platform};

use progress::Progress;
use report::{Report, exit_status};

/// Count what is known by construction, and say how far each counter can be believed.
///
/// Runs small kernels whose instructions, branches, loads, misses, faults, switches and so on are
/// known beforehand, counts them as a session would, several times, and compares. A counter is
/// exact, right within some per cent, wrong by a factor that is always the same, or unusable; what
/// cannot be counted here is in the table too, with the reason. Other work on the machine disturbs
/// caches and clocks: the quieter, the closer. All events take some minutes, one takes seconds; a
/// terminal on standard error shows how far it is.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct ValidateArgs {
    /// The events, EVENT or EVENT@KERNEL, separated by commas; else all whose count a kernel knows
    #[arg(short, long, value_name = "EVENTS")]
    events: Option<String>,

    /// How often each kernel is counted
    #[arg(long, value_name = "N", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u16).range(3..=1000))]
    repeat: u16,

    /// Print the same as JSON
    #[arg(long)]
    json: bool,

    /// Keep the report in a file too: as JSON if its name ends in .json, else as text
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
    if let Some(path) = &args.output {
        atomic_write::check(path).map_err(|error| CliError::unwritable(path, &error))?;
    }
    let validator = Validator::new().map_err(CliError::refused)?;
    let report = run(&validator, &checks, usize::from(args.repeat));
    if let Some(path) = &args.output {
        let json = path.extension().is_some_and(|extension| extension == "json");
        atomic_write::write(path, render(&report, json).as_bytes())
            .map_err(|error| CliError::unwritable(path, &error))?;
    }
    out.write_all(render(&report, args.json).as_bytes())?;
    Ok(exit_status(&report))
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

fn render(report: &Report, json: bool) -> String {
    if json { document::text(&json::report(report)) } else { text::report(report) }
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
  0  every counter that was tried can be used, some perhaps after dividing by a factor
  1  a counter cannot be used, or nothing could be counted
  2  bad input: one line on standard error says what and why
  4  the answer could not be written";

const JSON: &str = "\
JSON:
  processor      name, table (of events), title, and vendor, family, model and stepping; null
                 without CPUID
  cpu            the one that the kernels ran on
  repeats        of each kernel
  exit_status    the number that goes with the verdicts
  events         a list, in the order of the table, of
    event        the name
    kernel       what made it happen
    unit         of its counts; null where the event is not known here
    native       expression: the native events and codes that were counted; errata: their
                 numbers; caveat: what differs from the name's meaning; null for Linux's own events
    verdict      exact, within, over, under, unusable or not-countable
    text         the verdict in words, or why it is not countable here
    factor, spread
                 of over and under: the truth times factor is counted; spread is the range of
                 factors as a part of it
    error        of within: the most that a count can be off, as a part of the truth
    read_path    rdpmc or read; null where not countable
    doubt        null, or why the counts may be wrong: the kernel's driver is not trusted here
    disturbed    repeats during which other programs had the cpu, on kernels that suffer from it;
                 null where not countable
    samples      a list of low and high (what truly happened is between) and counted; the counts
                 of the kernel's way in and out are taken off";
