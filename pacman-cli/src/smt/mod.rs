//! `pacman-pmu smt`: how often no, one or several contexts of each core are active.

mod command;
mod csv;
mod idle;
mod json;
mod meter;
mod picture;
mod run;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::time::Duration;

use pacman_core::Topology;

use crate::refusal;

/// Show how often no, one or several contexts of each core are active.
///
/// Measures until COMMAND ends, until --duration is over or until interrupted, and then sums up.
/// The figures come from the kernel's idle times of every context, which need no privilege. On
/// cores with one context they are exact; with more, idle times bound how long contexts ran
/// together, short intervals more tightly, and the figure shown within the bounds is that of
/// contexts that do not heed each other.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{FORMATS}"))]
pub(crate) struct SmtArgs {
    /// How often to look, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(100..=3_600_000))]
    interval: u64,

    /// Stop measuring after S seconds; a COMMAND still runs to its end
    #[arg(long, value_name = "S", value_parser = seconds)]
    duration: Option<Duration>,

    /// Print the summary and every interval as JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,

    /// Print a line of CSV per core and interval, as they come
    #[arg(long)]
    csv: bool,

    /// Only the summary: no live bars on a terminal, which a COMMAND that prints would tear
    #[arg(long)]
    quiet: bool,

    /// Write to FILE, which leaves standard output to COMMAND
    #[arg(long, short, value_name = "FILE")]
    output: Option<std::path::PathBuf>,

    /// The program to measure beside, with its arguments; its exit status becomes this one's
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Measures and writes; the exit status is COMMAND's.
pub(crate) fn smt(args: &SmtArgs, out: &mut dyn Write) -> io::Result<u8> {
    let topology = match Topology::detect() {
        Ok(topology) => topology,
        Err(error) => {
            refusal::complain(&error.to_string());
            return Ok(UNREADABLE);
        }
    };
    match &args.output {
        None => {
            let plain = args.quiet || args.json || args.csv;
            let redraws = std::env::var_os("TERM").is_some_and(|name| name != "dumb");
            let live = !plain && redraws && io::stdout().is_terminal();
            run::run(args, &topology, live, out)
        }
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                let problem = format!("cannot create {}: {error}", path.display());
                io::Error::new(ErrorKind::InvalidInput, problem)
            })?;
            let mut file = BufWriter::new(file);
            let status = run::run(args, &topology, false, &mut file)?;
            file.flush().map(|()| status)
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=1e9).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "seconds from 0.1 are needed".into())
}

/// The exit status when the machine does not tell its contexts or their idle times.
const UNREADABLE: u8 = 1;

const EXAMPLES: &str = "\
Examples:
  pacman-pmu smt                              live, until Ctrl-C
  pacman-pmu smt --duration 10 --json
  pacman-pmu smt --interval 200 -- make -j8   beside a program, until it ends
  pacman-pmu smt --csv -o activity.csv -- ./program

Exit status:
  0    done; with a COMMAND its own, or 128 and the number of the signal that ended it
  1    this system does not tell its contexts, or their idle times
  2    bad input
  4    the answer could not be written
  126  COMMAND could not be run
  127  COMMAND was not found";

const FORMATS: &str = "\
JSON:
  source, method   where the figures are from, and what they are made of
  step_seconds     the step in which the source counts
  seconds          how long was measured
  cores            a list of core, package, cpus, active (a list: how much of the time each
                   context was, alone or not) and the states below
  intervals        a list of seconds (at the end, since the begin) and cores, as above
  notes            what must be known to read the figures
  exit_status      COMMAND's, or null
  A core's states, as parts of the time:
  idle             no context was active
  only             a list: this context was active and no other
  shared           two contexts or more were active
  bounds           the same fields, each with the least and the most it can be
  uncertainty      by how much the source's steps may have moved any of them

CSV:
  seconds,core,cpus,idle,only_0,...,shared,uncertainty";
