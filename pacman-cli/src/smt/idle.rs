//! How long each context has been idle, as an unprivileged process can learn it.
//!
//! `/proc/stat` is the source. Its `idle` and `iowait` hold an idle period that still lasts, and
//! kernels that stop the tick of an idle context measure both by the clock, though they are
//! printed in steps of 10 ms. Two finer sources were passed over, because both are late:
//! `/sys/.../cpuidle/state*/time` (microseconds) learns of an idle period when it ends, and
//! `/proc/schedstat` (nanoseconds) of a running thread when it is switched away, so a thread
//! that never yields looks idle. The nanoseconds in `/proc/timer_list` are root's.

use std::collections::BTreeMap;
use std::time::Instant;
use std::{fs, io};

/// Where the figures come from.
pub(super) const SOURCE: &str = "/proc/stat";

/// The state of every context's clocks at one moment.
#[derive(Clone, Debug)]
pub(super) struct IdleClocks {
    /// When it was read: within half of `took` of this.
    pub(super) at: Instant,
    /// How long reading took, in seconds.
    pub(super) took: f64,
    /// By logical CPU.
    pub(super) contexts: BTreeMap<u32, ContextClocks>,
}

/// One context's clocks, in seconds since the system started.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ContextClocks {
    /// Idle, waiting for a disk or not.
    pub(super) idle: f64,
    /// Wanted, and not given by the hypervisor.
    pub(super) stolen: f64,
}

impl IdleClocks {
    /// Reads them now.
    pub(super) fn read() -> io::Result<IdleClocks> {
        let begin = Instant::now();
        let text = fs::read_to_string(SOURCE)?;
        let took = begin.elapsed();
        let contexts = parse(&text, 1.0 / step());
        if contexts.is_empty() {
            let problem = format!("{SOURCE} lists no CPU");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(IdleClocks { at: begin + took / 2, took: took.as_secs_f64(), contexts })
    }
}

/// The step in which the source counts, in seconds.
pub(super) fn step() -> f64 {
    // SAFETY: sysconf has no preconditions.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { 1.0 / ticks as f64 } else { 0.01 }
}

/// How far an idle time between two readings may be off by the steps alone: `idle` and `iowait`
/// are rounded down each, at both ends.
pub(super) fn resolution() -> f64 {
    2.0 * step()
}

/// The `cpuN` lines: user, nice, system, idle, iowait, irq, softirq, steal, in ticks.
pub(super) fn parse(text: &str, ticks_per_second: f64) -> BTreeMap<u32, ContextClocks> {
    let context = |line: &str| {
        let mut fields = line.strip_prefix("cpu")?.split_ascii_whitespace();
        // The sum over all contexts has no number.
        let cpu = line.chars().nth(3)?.is_ascii_digit().then(|| fields.next())??.parse().ok()?;
        let ticks: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let seconds =
            |at: usize| ticks.get(at).map_or(0.0, |&count| count as f64 / ticks_per_second);
        let idle = seconds(IDLE) + seconds(IOWAIT);
        (ticks.len() > IDLE).then(|| (cpu, ContextClocks { idle, stolen: seconds(STEAL) }))
    };
    text.lines().filter_map(context).collect()
}

const IDLE: usize = 3;
const IOWAIT: usize = 4;
const STEAL: usize = 7;
