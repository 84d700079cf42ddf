//! The decoded form of waits.

use std::collections::BTreeMap;
use std::mem::offset_of;

use super::records::{Owned, site_of, word};
use super::region::times;
use super::sorted::Sorted;
use super::sums::PrimarySum;
use crate::arena::cells;
use crate::arena::payload::Cursor;
use crate::arena::wait_row::state;
use crate::{Cause, OutsideWaits, Region, Scheduling, Site, States, Wait, WaitSite, Waits};

/// The waits of a process, `None` if they were not timed, and the index of each construct by its number.
/// Puts each thread's states into its row.
pub(super) fn waits(
    owned: &BTreeMap<u64, Owned<'_>>,
    owner: u64,
    (sorted, process): (&Sorted<'_>, &[u64]),
    regions: &mut [(u32, Region)],
    scale: f64,
) -> (Option<Waits>, BTreeMap<u32, usize>) {
    let get = |offset: usize| word(process, offset);
    if get(offset_of!(cells::Process, waits)) == 0 {
        return (None, BTreeMap::new());
    }
    let mut sites = Sites { owned, owner, known: BTreeMap::new(), all: Vec::new() };
    for (number, region) in regions {
        let sum = sorted.primary_stats.get(number);
        let factor = sum.map_or(1.0, PrimarySum::factor);
        let (exact, scale) = (scale, scale * sum.map_or(1.0, PrimarySum::time_factor));
        for row in &mut region.rows {
            let own =
                sorted.waits.range((*number, row.thread, 0)..=(*number, row.thread, u32::MAX));
            let mut states =
                States { counts: vec![None; sorted.events.len()], ..States::default() };
            let mut has_lost_clock = false;
            for (&(_, _, site), &(count, ticks)) in own {
                let seconds = ticks as f64 * scale;
                // The clocks of the two are read one after the other: a little below 0 is 0.
                let off = || (seconds - count as f64 * 1e-9 * factor).max(0.0);
                match site {
                    state::STARTING => states.starting = seconds,
                    state::LATE_TASKS => states.late_tasks = seconds,
                    state::DROPPED => states.dropped = count,
                    state::UNSEEN_TASKS => states.unseen_tasks = count,
                    state::COUNTED => {
                        states.counted = count;
                        let events = sorted.only_set().into_iter().flatten();
                        events.for_each(|&event| states.counts[event] = Some(0));
                    }
                    state::USEFUL_TIME => {
                        (states.useful_off, states.waiting_off) = (Some(off()), Some(0.0));
                    }
                    // After `USEFUL_TIME`, which every part has.
                    state::WAITING_TIME => {
                        states.waiting_off = states.useful_off.map(|_| off());
                    }
                    state::CLOCK_LOST => has_lost_clock = count > 0,
                    // After `COUNTED`. Without it the sums lack waits.
                    state::COUNTS..state::SITES => {
                        let events = sorted.only_set().unwrap_or_default();
                        let event = events.get((site - state::COUNTS) as usize);
                        if let Some(sum) = event.and_then(|event| states.counts[*event].as_mut()) {
                            *sum = ticks;
                        }
                    }
                    state::SITES.. if count > 0 => {
                        let count = times(count, factor);
                        states.waits.push(Wait { site: sites.place(site), count, seconds });
                    }
                    _ => {}
                }
            }
            if has_lost_clock {
                (states.useful_off, states.waiting_off) = (None, None);
            }
            // A thread that lost its processor in the library's own work did so in no state.
            let waiting: f64 = states.waits.iter().map(|wait| wait.seconds).sum();
            let useful = (row.seconds - waiting).max(0.0) + states.late_tasks;
            states.useful_off = states.useful_off.map(|off| off.min(useful));
            states.waiting_off = states.waiting_off.map(|off| off.min(waiting));
            row.states = Some(states);
        }
        for part in &mut region.open {
            let own = (*number, part.thread, state::SITES)..=(*number, part.thread, u32::MAX);
            let waits = sorted.open_waits.range(own).map(|(&(_, _, site), &(count, ticks))| {
                let seconds = ticks as f64 * exact;
                Wait { site: sites.place(site), count, seconds }
            });
            part.waits = waits.collect();
        }
    }
    let several_roots = get(offset_of!(cells::Process, several_roots)) != 0;
    let root = get(offset_of!(cells::Process, root)).checked_sub(1);
    let outside = outside(sorted, &mut sites, root, scale);
    (Some(Waits { sites: sites.all, several_roots, outside }), sites.known)
}

/// The waits outside of regions. `root` is the thread that starts regions.
fn outside(
    sorted: &Sorted<'_>,
    sites: &mut Sites<'_, '_>,
    root: Option<u64>,
    scale: f64,
) -> Vec<OutsideWaits> {
    let mut threads: Vec<OutsideWaits> = Vec::new();
    for (&(_, thread, site), &(count, ticks)) in sorted.waits.range((state::OUTSIDE, 0, 0)..) {
        if count == 0 || (site < state::SITES && site != state::DROPPED) {
            continue;
        }
        if threads.last().is_none_or(|last| last.thread != thread) {
            let starts_regions = root == Some(thread.into());
            threads.push(OutsideWaits { thread, starts_regions, waits: Vec::new(), dropped: 0 });
        }
        let Some(last) = threads.last_mut() else { continue };
        match site {
            state::DROPPED => last.dropped = count,
            _ => last.waits.push(Wait {
                site: sites.place(site),
                count,
                seconds: ticks as f64 * scale,
            }),
        }
    }
    threads
}

/// The kernel's account of the process's threads.
pub(super) fn scheduling(process: &[u64]) -> Option<Scheduling> {
    let seconds = |offset: usize| word(process, offset) as f64 * 1e-9;
    let ran = seconds(offset_of!(cells::Process, ran));
    let delayed = seconds(offset_of!(cells::Process, delayed));
    (ran > 0.0).then_some(Scheduling { ran, delayed })
}

/// The constructs of a process, in the order of first use.
struct Sites<'a, 'w> {
    owned: &'a BTreeMap<u64, Owned<'w>>,
    owner: u64,
    known: BTreeMap<u32, usize>,
    all: Vec<WaitSite>,
}

impl Sites<'_, '_> {
    fn place(&mut self, number: u32) -> usize {
        *self.known.entry(number).or_insert_with(|| {
            let known = site_of(self.owned, self.owner, number).and_then(site);
            let unknown = WaitSite { site: Site::default(), cause: Cause::Worksharing, call: None };
            self.all.push(known.unwrap_or(unknown));
            self.all.len() - 1
        })
    }
}

fn site(record: &[u64]) -> Option<WaitSite> {
    let mut cursor = Cursor(&record[2..]);
    let (cause, address) = (Cause::numbered(cursor.number()?)?, cursor.number()?);
    let (module, identity) = cursor.module()?;
    let site = Site { module, identity, address, source: None };
    Some(WaitSite { site, cause, call: cursor.optional()? })
}
