//! The decoded form of logs.

use std::collections::BTreeMap;

use super::sorted::Sorted;
use crate::arena::format::LINE;
use crate::arena::log_block::{ENTRIES, FIXED, IS_COUNTED, IS_WAIT, word};
use crate::{ExecutionLog, LoggedExecution, LoggedWait, Region};

/// The logs of a process. Entries whose region or construct is in no row are left out: the process ended
/// before.
pub(super) fn logs(
    sorted: &Sorted<'_>,
    regions: &[(u32, Region)],
    sites: &BTreeMap<u32, usize>,
    scale: f64,
) -> Vec<ExecutionLog> {
    let regions: BTreeMap<u32, usize> =
        regions.iter().enumerate().map(|(at, (number, _))| (*number, at)).collect();
    let seconds = |ticks: u64| ticks as f64 * scale;
    let logs = sorted.logs.values().map(|blocks| {
        let mut log = ExecutionLog::default();
        for entry in blocks.iter().flat_map(|block| entries(block)) {
            let [what, begin, ticks, more, own, counts @ ..] = entry else { continue };
            let (begin, length) = (seconds(*begin), seconds(*ticks));
            if what & IS_WAIT != 0 {
                let Some(&site) = sites.get(&(*what as u32)) else { continue };
                let tasks = seconds(*more).min(length);
                log.waits.push(LoggedWait { site, begin, seconds: length, tasks });
                continue;
            }
            let Some(&region) = regions.get(&(*what as u32)) else { continue };
            let counts = if more & IS_COUNTED == 0 { vec![] } else { by_event(sorted, counts) };
            let (thread, weight) = ((what >> 32) as u32, (*more as u32).max(1));
            log.executions.push(LoggedExecution {
                region,
                thread,
                begin,
                seconds: length,
                own_work: seconds(*own),
                weight,
                counts,
            });
        }
        log
    });
    logs.filter(|log| !log.executions.is_empty() || !log.waits.is_empty()).collect()
}

/// The words of each entry of a block.
fn entries(block: &[u64]) -> impl Iterator<Item = &[u64]> {
    let stride = usize::try_from(block[word::STRIDE]).unwrap_or(usize::MAX).max(FIXED);
    let used = usize::try_from(block[word::USED]).unwrap_or(ENTRIES).min(ENTRIES);
    block[LINE..].chunks_exact(stride.min(block.len())).take(used)
}

/// The counts in the order of the process's events.
fn by_event(sorted: &Sorted<'_>, counts: &[u64]) -> Vec<Option<u64>> {
    let mut all = vec![None; sorted.events.len()];
    for (event, count) in sorted.only_set().into_iter().flatten().zip(counts) {
        all[*event] = Some(*count);
    }
    all
}
