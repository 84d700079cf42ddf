//! Finds counts that are impossible on a processor, and leaves them out of every sum.

#[cfg(test)]
mod tests;

use pacman_core::report::implausible;
use pacman_regions::{Machine, Recording, Row};

/// A thread of a region whose counts were left out.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Index in [`Recording::regions`].
    pub region: usize,
    /// Number in the team.
    pub thread: u32,
    /// The reason, for [`note`].
    pub why: String,
}

/// The note on a thread whose counts were left out. It follows the thread's name.
pub fn note(why: &str) -> String {
    format!("its counts are impossible and are left out of all sums: {why}")
}

/// Nanoseconds before and after an execution in which counters run, but which its time does not
/// include.
const ENDS: f64 = 1000.0;

/// Removes the counts of each thread of a region if one of them is impossible in the thread's time.
///
/// All counts of such a thread are removed, because the same reads gave them.
pub fn leave_out(recording: &mut Recording) -> Vec<LeftOut> {
    let events = KnownEvents::of(recording);
    let mut left_out = Vec::new();
    for (at, region) in recording.regions.iter_mut().enumerate() {
        for row in &mut region.rows {
            if let Some(why) = events.leave_out(row) {
                left_out.push(LeftOut { region: at, thread: row.thread, why });
            }
        }
    }
    left_out
}

/// As [`leave_out`], for phases; `region` is the index in [`Recording::phases`].
pub(crate) fn leave_out_of_phases(recording: &mut Recording) -> Vec<LeftOut> {
    let events = KnownEvents::of(recording);
    let mut left_out = Vec::new();
    for (at, phase) in recording.phases.iter_mut().enumerate() {
        for thread in &mut phase.threads {
            if let Some(why) = events.leave_out(&mut thread.row) {
                left_out.push(LeftOut { region: at, thread: thread.row.thread, why });
            }
        }
    }
    left_out
}

/// The facts that limit counts.
struct KnownEvents {
    /// Name and unit of each event, and whether hardware counts it.
    events: Vec<(String, String, bool)>,
    /// Whether time limits counts: the clock of this machine does not measure a simulated one's time.
    timed: bool,
}

impl KnownEvents {
    fn of(recording: &Recording) -> KnownEvents {
        let facts = recording.events.iter().map(|event| event.facts.clone());
        let known = facts.map(|facts| (facts.canonical, facts.unit, facts.is_hardware));
        let is_simulated = |machine: &Machine| machine.simulated.is_some();
        KnownEvents {
            events: known.collect(),
            timed: !recording.machine.as_ref().is_some_and(is_simulated),
        }
    }

    /// Removes the counts of a row if one of them is impossible; answers why.
    fn leave_out(&self, row: &mut Row) -> Option<String> {
        let nanoseconds = if self.timed {
            (row.seconds * 1e9 + ENDS * row.counted as f64) as u64
        } else {
            i64::MAX as u64
        };
        let (events, counts): (Vec<_>, Vec<u64>) = self
            .events
            .iter()
            .zip(&row.counts)
            .enumerate()
            .filter_map(|(event, ((name, unit, hardware), count))| {
                // An estimate may go beyond the time of the row. Its counts did not.
                let counted = match row.counted_share(event) {
                    Some(share) if (*count)? <= i64::MAX as u64 => {
                        ((*count)? as f64 * share) as u64
                    }
                    _ => (*count)?,
                };
                Some(((name.as_str(), unit.as_str(), *hardware), counted))
            })
            .unzip();
        let why = implausible(&events, nanoseconds, &counts)?;
        row.counts.fill(None);
        row.states.iter_mut().for_each(|states| states.counts.fill(None));
        Some(why)
    }
}
