//! The options of the command line.

use std::fs;

pub(crate) const USAGE: &str = "\
usage: snoop-filter [--kilobytes N] [--passes N] [--trials N] [--threads N] [--event NAME]
                    [--machine NAME]

Reads a block that fits the private caches on every core, on other memory in each trial.
  --kilobytes N   size of a thread's block (default: three quarters of the L2)
  --passes N      reads of the block in a trial (default 2000)
  --trials N      trials (default 8)
  --threads N     threads (default: one for each core)
  --event NAME    event to count (default: L2_LINES_IN.ALL, else L2_MISSES)
  --machine NAME  simulated machine, whose counts are simulated too";

pub(crate) struct Options {
    pub(crate) kilobytes: usize,
    pub(crate) passes: usize,
    pub(crate) trials: usize,
    pub(crate) threads: Option<usize>,
    pub(crate) events: Option<String>,
}

impl Options {
    /// `None` if the arguments ask for the usage.
    pub(crate) fn from_arguments() -> Result<Option<Options>, String> {
        let (mut kilobytes, mut threads, mut events) = (None, None, None);
        let (mut passes, mut trials) = (2000, 8);
        let mut machine = None;
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            if matches!(argument.as_str(), "-h" | "--help") {
                return Ok(None);
            }
            let value = arguments.next().ok_or(format!("{argument} needs a value"));
            match argument.as_str() {
                "--kilobytes" => kilobytes = Some(number(&value?)?),
                "--passes" => passes = number(&value?)?,
                "--trials" => trials = number(&value?)?,
                "--threads" => threads = Some(number(&value?)?),
                "--event" => events = Some(value?),
                "--machine" => machine = Some(value?),
                other => return Err(format!("no option {other:?}; --help shows all")),
            }
        }
        // Before anything is counted: event names and places are those of the machine.
        machine
            .map_or_else(pacman_sim::install, |name| pacman_sim::simulate(&name))
            .map_err(|error| error.to_string())?;
        let kilobytes = match kilobytes {
            Some(kilobytes) => kilobytes,
            None => l2_kilobytes().map(|l2| l2 * 3 / 4).ok_or(
                "cannot read the size of the L2 from /sys/devices/system/cpu; give --kilobytes",
            )?,
        };
        Ok(Some(Options { kilobytes, passes, trials, threads, events }))
    }
}

/// A number from 1 to a million.
fn number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    number.ok_or(format!("{text:?} is not a number from 1 to 1000000"))
}

/// The size of the first CPU's L2 cache.
fn l2_kilobytes() -> Option<usize> {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    caches.flatten().find_map(|cache| {
        let read = |file| fs::read_to_string(cache.path().join(file)).ok();
        let is_l2 = read("level")?.trim() == "2";
        is_l2.then(|| read("size")?.trim().strip_suffix('K')?.parse().ok())?
    })
}
