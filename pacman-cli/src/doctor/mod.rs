//! `pacman-pmu doctor`: what this machine can count and what is in the way.

pub(crate) mod checks;
mod json;
mod status;
mod style;
#[cfg(test)]
mod tests;
mod text;

use std::io::Write;

use crate::doctor::checks::Diagnosis;
use crate::document;
use crate::error::CliResult;

use status::exit_status;
use style::Style;

/// Explain what this machine can count, and what is in the way.
///
/// Opens every kind of event for itself, as a session would, and lets it count; then tells apart
/// why something did not work and names the command that would help. Nothing is changed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{JSON}"))]
pub(crate) struct DoctorArgs {
    /// Print the same findings as JSON
    #[arg(long)]
    json: bool,
}

/// Examines this process on this machine and writes what was found.
pub(crate) fn doctor(args: &DoctorArgs, out: &mut dyn Write) -> CliResult {
    let diagnosis = Diagnosis::examine();
    if args.json {
        document::write(out, &json::diagnosis(&diagnosis))?;
    } else {
        out.write_all(text::diagnosis(&diagnosis, &Style::of_stdout()).as_bytes())?;
    }
    Ok(exit_status(diagnosis.verdict))
}

const EXAMPLES: &str = "\
Examples:
  pacman-pmu doctor
  pacman-pmu doctor --json | jq -r '.findings[].help[].command'
  pacman-pmu doctor > /dev/null && echo 'hardware counting works'

Exit status:
  0  hardware counting works
  1  nothing can be counted
  2  bad input
  3  only software events work
  4  the answer could not be written";

const JSON: &str = "\
JSON:
  verdict      hardware, software-only or nothing
  exit_status  the number that goes with it
  cause        why the verdict is no better; null for hardware
  text         the verdict in words
  findings     a list, in the order in which things were tried, of
    subject    system-call, hardware-events, hardware-group, kernel-mode, user-reads,
               software-events, ledgers, descriptors, locked-memory, watchdog, hybrid,
               virtual-machine, container, cpu-limits or clock-source
    tried      what was done to find out
    outcome    works, in-the-way (can be moved), missing (cannot) or noted (a fact)
    text       how it went, in words
    cause      why something did not work, else null: capability, counters-taken,
               descriptor-limit, hybrid-cores, locked-memory, no-ledger, no-perf-events,
               no-pmu-in-vm, not-offered, not-tried, paranoid, pmu-not-driven, rdpmc-off,
               seccomp, security-module, silent-pmu, system-descriptors, too-few-counters,
               unexplained, unsupported-architecture, user-namespace or watchdog
    help       a list of remedies, the nearest first, none on a simulated machine: when it is the
               one to take, and the command, option or setting";
