//! The recording of this process, put together when it ends.

use std::os::unix::ffi::OsStrExt;

use pacman_regions::{
    Ending, Overhead, Process, Recording, Region, Row, Runtime, Site, Team, Timeline, TimelineRow,
    VERSION,
};

use crate::adapt;
use crate::counting::Plan;
use crate::process;
use crate::region;
use crate::rows::{self, HostedSum, RowSum};
use crate::runtime;
use crate::timeline::Held;

/// All that was counted in `ticks` since the process began.
pub(crate) fn of_this_process(ending: Ending, ticks: u64, pid: u32, parent: u32) -> Recording {
    let scale = process::clock().nanos_per_tick() * 1e-9;
    let sums = rows::sums();
    let first = process::first();
    let regions = region::all();
    // Hosted rows only: an execution under way has rows of threads but is in no region yet.
    let ran = |region: &&&region::Region| sums.hosted.contains_key(&region.number);
    let recorded: Vec<&region::Region> = regions.iter().filter(ran).copied().collect();
    let plan = Plan::made();
    let events = plan.map_or_else(Plan::wished, |plan| plan.events.clone());
    let counted = plan.map(|plan| plan.counted.as_slice()).unwrap_or_default();
    let hosted = |number| sums.hosted.get(&number);
    Recording {
        version: VERSION,
        process: Process { pid, parent, command: command(), seconds: ticks as f64 * scale, ending },
        runtimes: runtime::Runtime::known()
            .iter()
            .map(|known| Runtime { family: known.family, path: known.path.clone(), version: None })
            .collect(),
        threads: first.as_ref().map_or(0, |first| first.threads),
        contexts: first.as_ref().map_or(0, |first| first.cpus.len() as u32),
        overhead: Overhead {
            nanoseconds: first.as_ref().map(|first| first.overhead.0 as f64 * scale * 1e9),
            reads: first.as_ref().map_or("none", |first| first.overhead.1).to_owned(),
        },
        timeline: timeline(recorded.iter().filter_map(|region| hosted(region.number)), scale),
        regions: recorded
            .iter()
            .filter_map(|region| {
                let rows = sums.rows.range((region.number, 0)..=(region.number, u32::MAX));
                let rows =
                    rows.map(|(&(_, thread), sum)| row(thread, sum, counted, events.len(), scale));
                let rows = rows.collect();
                Some(recorded_region(region, hosted(region.number)?, rows, scale))
            })
            .collect(),
        events,
        notes: process::notes(),
    }
}

fn recorded_region(region: &region::Region, sum: &HostedSum, rows: Vec<Row>, scale: f64) -> Region {
    let mut teams: Vec<Team> = sum
        .teams
        .iter()
        .map(|&(threads, executions, ticks)| Team {
            threads,
            executions,
            seconds: ticks as f64 * scale,
        })
        .collect();
    teams.sort_by_key(|team| team.threads);
    let widest = teams.last().map_or(1, |team| team.threads);
    let bias = region.module.bias;
    Region {
        site: Site {
            module: region.module.path.clone(),
            address: region.body.wrapping_sub(bias),
            source: region.source.clone(),
        },
        entry: region.entry.name().to_owned(),
        runtime: region.runtime.index(),
        executions: sum.executions,
        nested: sum.nested,
        seconds: sum.ticks as f64 * scale,
        shortest: sum.shortest as f64 * scale,
        longest: sum.longest as f64 * scale,
        teams,
        rows,
        adaptation: adapt::outcome(region, widest),
    }
}

fn row(thread: u32, sum: &RowSum, counted: &[usize], events: usize, scale: f64) -> Row {
    let mut counts = vec![None; events];
    if sum.counted > 0 {
        counted.iter().zip(&sum.counts).for_each(|(&event, &count)| counts[event] = Some(count));
    }
    Row {
        thread,
        executions: sum.executions,
        seconds: sum.ticks as f64 * scale,
        cpu: sum.cpu,
        moves: sum.moves,
        counted: sum.counted,
        counts,
    }
}

/// The rows of regions that ran outside of others, all in bins of one length.
fn timeline<'a>(hosted: impl Iterator<Item = &'a HostedSum>, scale: f64) -> Timeline {
    let rows: Vec<(usize, &Held)> = hosted
        .enumerate()
        .filter(|(_, sum)| sum.bins.ticks.iter().any(|&ticks| ticks > 0))
        .map(|(region, sum)| (region, &sum.bins))
        .collect();
    let shift = rows.iter().map(|(_, held)| held.shift).max().unwrap_or(0);
    let seconds = |ticks: &[u64]| -> Vec<f64> {
        let used = ticks.iter().rposition(|&ticks| ticks > 0).map_or(0, |last| last + 1);
        ticks[..used].iter().map(|&ticks| ticks as f64 * scale).collect()
    };
    let rows = rows.into_iter().map(|(region, held)| {
        let held = held.clone().folded(shift);
        let (seconds, thread_seconds) = (seconds(&held.ticks), seconds(&held.thread_ticks));
        TimelineRow { region, seconds, thread_seconds }
    });
    Timeline { rows: rows.collect(), bin: (1u64 << shift) as f64 * scale }
}

fn command() -> Vec<String> {
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    words.map(|word| std::ffi::OsStr::from_bytes(word).to_string_lossy().into_owned()).collect()
}
