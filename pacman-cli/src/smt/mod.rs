//! `pacman-pmu smt`: how often no, one or several contexts of each core are active.

mod alone;
mod command;
mod counters;
mod csv;
mod idle;
mod json;
mod meter;
mod options;
mod picture;
mod run;
mod source;
#[cfg(test)]
mod tests;
mod tsc;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use pacman_core::Topology;
use pacman_core::platform::{self, PlatformRef};

use crate::error::{CliError, CliResult};
use crate::overwritten::Before;
use crate::terminal::Terminal;

use alone::AloneShares;
use command::Watch;
use counters::Counters;
use idle::IdleTimes;
use options::MethodArg;

#[cfg(test)]
pub(crate) use json::Document;
pub(crate) use options::SmtArgs;

/// The chosen method.
enum Chosen {
    Counters(Counters),
    AloneShares(AloneShares),
    Idle(IdleTimes),
}

/// Measures and writes; the exit status is COMMAND's.
pub(crate) fn smt(args: &SmtArgs, out: &mut dyn Write) -> CliResult {
    let topology = Topology::detect().map_err(CliError::refused)?;
    let mut chosen = choose(args.method, &topology, platform::current())?;
    // Lives until the answer is written, so that no signal takes it away.
    let mut watch = Watch::new()?;
    let mut measure = |live: bool, out: &mut dyn Write| match &mut chosen {
        Chosen::Counters(counters) => run::run(args, &topology, counters, &mut watch, live, out),
        Chosen::AloneShares(alone) => run::run(args, &topology, alone, &mut watch, live, out),
        Chosen::Idle(idle) => run::run(args, &topology, idle, &mut watch, live, out),
    };
    let unwritable = |path: &Path, error: io::Error| CliError::unwritable(path, &error);
    match &args.output {
        None => {
            let plain = args.quiet || args.json || args.csv;
            let status = measure(!plain && Terminal::stdout().redraws, out)?;
            out.flush()?;
            Ok(status)
        }
        // Others may read its rows as they come.
        Some(path) if args.csv => {
            let file = File::create(path).map_err(|error| unwritable(path, error))?;
            let mut file = BufWriter::new(file);
            let status = measure(false, &mut file)?;
            file.flush().map_err(|error| unwritable(path, error))?;
            Ok(status)
        }
        Some(path) => {
            let before = Before::now(path).map_err(|error| unwritable(path, error))?;
            let mut report = Vec::new();
            let status = measure(false, &mut report)?;
            before.write(&report).map_err(|error| unwritable(path, error))?;
            Ok(status)
        }
    }
}

/// The source that was asked for, or the better one that there is; or a line that says why there
/// is none.
fn choose(method: MethodArg, topology: &Topology, platform: &PlatformRef) -> CliResult<Chosen> {
    let simulated = platform.simulation().map(|label| label.name);
    let real = "the idle times in /proc/stat are those of this machine and not of the simulated";
    match (method, simulated) {
        (MethodArg::Idle, Some(name)) => {
            Err(CliError::Refused(format!("cannot measure by idle times: {real} {name}")))
        }
        (MethodArg::Idle, None) => Ok(Chosen::Idle(IdleTimes::default())),
        (MethodArg::Counters, _) => counted(topology, platform, None),
        (MethodArg::Auto, _) => match (counted(topology, platform, Some(COUNTED)), simulated) {
            (Ok(counted), _) => Ok(counted),
            (Err(problem), Some(name)) => {
                Err(CliError::Refused(format!("{problem}; and {real} {name}")))
            }
            (Err(problem), None) => Ok(Chosen::Idle(IdleTimes {
                choice: Some(format!(
                    "idle times were chosen, because there are no counters: {problem}"
                )),
            })),
        },
    }
}

const COUNTED: &str =
    "counters were chosen: idle times would only bound how long siblings ran together";

/// The facts that this machine's counters give, and why they were chosen.
fn counted(topology: &Topology, platform: &PlatformRef, choice: Option<&str>) -> CliResult<Chosen> {
    if let Some(alone) = AloneShares::open(topology, platform) {
        return alone.map(|alone| Chosen::AloneShares(alone.because(choice)));
    }
    Counters::open(topology, platform).map(|counters| Chosen::Counters(counters.because(choice)))
}
