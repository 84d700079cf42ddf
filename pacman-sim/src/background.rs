//! The timetable of a simulated machine's other programs.

/// The length of the timetable in nanoseconds. Then it repeats.
const PERIOD: u64 = 10_000_000;

/// The begin and end of a sibling's activity, in tenths of the period. The first two siblings of a
/// core are both active for three tenths of the time. Neighbouring cores have different times.
const ACTIVE: [[(u64, u64); 4]; 3] = [
    [(0, 6), (3, 8), (5, 9), (1, 4)],
    [(1, 9), (4, 7), (0, 5), (2, 8)],
    [(2, 5), (2, 5), (6, 8), (0, 3)],
];

/// Whether sibling `number` of `core` is active at `time`, and a time until which that does not
/// change.
pub(super) fn activity(core: usize, number: u8, time: u64) -> (bool, u64) {
    let (from, to) = ACTIVE[core % ACTIVE.len()][usize::from(number) % 4];
    let (from, to) = (from * PERIOD / 10, to * PERIOD / 10);
    let (begin, now) = (time - time % PERIOD, time % PERIOD);
    if now < from {
        (false, begin + from)
    } else if now < to {
        (true, begin + to)
    } else {
        // It is inactive until the next period's begin, or longer.
        (false, begin + PERIOD)
    }
}

/// The active times of a core's contexts, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreActivity {
    /// The time that has passed.
    pub total: u64,
    /// For each sibling, the time that it was active and all others were halted.
    pub alone: Vec<u64>,
    /// The time that two or more siblings were active.
    pub together: u64,
    /// The time that all siblings were halted.
    pub neither: u64,
}

impl CoreActivity {
    pub(super) fn of(siblings: usize) -> CoreActivity {
        CoreActivity { alone: vec![0; siblings], ..CoreActivity::default() }
    }

    /// Adds a stretch of time in which these siblings were active.
    pub(super) fn add(&mut self, time: u64, active: &[bool]) {
        self.total += time;
        match active.iter().filter(|active| **active).count() {
            0 => self.neither += time,
            1 => {
                let who = active.iter().position(|active| *active).expect("one is");
                self.alone[who] += time;
            }
            _ => self.together += time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timetable_moves_on_and_keeps_its_shares() {
        for (core, siblings) in ACTIVE.iter().enumerate() {
            for (number, (from, to)) in (0u8..).zip(siblings) {
                let (mut time, mut active) = (0, 0);
                while time < 7 * PERIOD {
                    let (is, until) = activity(core, number, time);
                    assert!(until > time, "time stands still at {time}");
                    active += if is { until - time } else { 0 };
                    time = until;
                }
                assert_eq!(active, 7 * (to - from) * PERIOD / 10);
            }
        }
    }

    #[test]
    fn every_stretch_is_accounted_for() {
        let mut core = CoreActivity::of(2);
        core.add(5, &[true, false]);
        core.add(7, &[true, true]);
        core.add(11, &[false, false]);
        let alone = vec![5, 0];
        assert_eq!(core, CoreActivity { total: 23, alone, together: 7, neither: 11 });
    }
}
