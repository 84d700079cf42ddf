//! Finds counts that are impossible on a processor, and leaves them out of every sum.

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

#[cfg(test)]
mod tests {
    use pacman_regions::{
        Ending, Overhead, Process, Region, Row, Runtime, RuntimeFamily, Site, Timeline,
    };

    use super::*;
    use crate::run::tests::made::described;

    /// A region that takes a second on each thread, with these counts of CYCLES and INSTRUCTIONS.
    fn recording(counts: &[[Option<u64>; 2]]) -> Recording {
        let row = |(thread, counts): (usize, &[Option<u64>; 2])| Row {
            thread: thread as u32,
            executions: 10,
            seconds: 1.0,
            cpu: None,
            moves: 0,
            counted: 10,
            counts: counts.to_vec(),
            margins: Vec::new(),
            counted_by_event: Vec::new(),
            states: None,
        };
        let region = Region {
            site: Site { module: "/bin/x".into(), identity: None, address: 1, source: None },
            entry: "GOMP_parallel".into(),
            runtime: 0,
            executions: 10,
            sampling: None,
            nested: 0,
            within: 0,
            starters: 1,
            outer: 1.0,
            seconds: 1.0,
            shortest: 0.1,
            longest: 0.1,
            teams: Vec::new(),
            rows: counts.iter().enumerate().map(row).collect(),
            adaptation: None,
            energy: None,
            label: None,
            open: Vec::new(),
        };
        let process = Process {
            began: 0.0,
            pid: 7,
            parent: 1,
            command: vec!["x".into()],
            seconds: 2.0,
            ending: Ending::Exit,
            host: None,
            rank: None,
        };
        let runtime =
            Runtime { family: RuntimeFamily::Libgomp, path: "libgomp.so.1".into(), version: None };
        let event = described;
        Recording {
            process,
            runtimes: vec![runtime],
            threads: 2,
            contexts: 2,
            machine: None,
            events: vec![event("CYCLES"), event("INSTRUCTIONS")],
            sets: Vec::new(),
            overhead: Overhead::default(),
            energy: None,
            roots: 1,
            regions: vec![region],
            phases: Vec::new(),
            timeline: Timeline::default(),
            waits: None,
            logs: Vec::new(),
            scheduling: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn impossible_counts_go_with_their_reason_and_the_others_stay() {
        let right = [Some(3_000_000_000), Some(6_000_000_000)];
        let wrapped = [Some(1 << 40), Some(6_000_000_000)];
        let backwards = [Some(5), Some(1_046_036u64.wrapping_neg())];
        let mut seen = recording(&[right, wrapped, backwards, [None, None]]);
        let left_out = leave_out(&mut seen);
        let of: Vec<(u32, &str)> =
            left_out.iter().map(|one| (one.thread, one.why.as_str())).collect();
        assert_eq!(of.len(), 2, "{of:?}");
        assert!(of[0].0 == 1 && of[0].1.starts_with("CYCLES came to 1099511627776, "), "{of:?}");
        assert_eq!(of[1], (2, "INSTRUCTIONS went backwards by 1046036"));
        let rows = &seen.regions[0].rows;
        assert_eq!(rows[0].counts, right);
        assert!(rows[1..].iter().all(|row| row.counts == [None, None]));
        assert!(leave_out(&mut seen).is_empty(), "nothing is left out twice");
    }

    #[test]
    fn time_limits_no_count_of_a_simulated_machine() {
        let mut seen = recording(&[[Some(1 << 40), Some(1 << 40)]]);
        let simulated = Some("a simulated machine".to_owned());
        seen.machine = Some(Machine { simulated, ..Machine::default() });
        assert!(leave_out(&mut seen).is_empty());
        seen.machine = Some(Machine::default());
        assert_eq!(leave_out(&mut seen).len(), 1);
    }

    #[test]
    fn short_executions_may_count_their_ends() {
        let mut seen = recording(&[[Some(8_000_000), Some(20_000)]]);
        seen.regions[0].rows[0] =
            Row { seconds: 1e-6, counted: 10_000, ..seen.regions[0].rows[0].clone() };
        assert!(leave_out(&mut seen).is_empty(), "800 cycles each");
    }
}
