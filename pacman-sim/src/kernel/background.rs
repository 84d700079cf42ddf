//! Time that passes on all contexts at once, for those who count whole contexts.

use pacman_events::few;

use super::file::{What, Whose};
use super::state::{SOMEBODY, State, scaled};
use crate::background::{CoreActivity, activity};
use crate::hardware::{Activity, Ring, Slice};

impl State {
    /// Lets `time` nanoseconds pass on every core that has a counter of a whole context. The core's
    /// contexts follow the timetable, and no thread of this process runs there meanwhile.
    pub(crate) fn advance(&mut self, time: u64) {
        let (begin, end) = (self.now, self.now + time);
        self.now = end;
        let counted = self.cores_counted();
        for core in &counted {
            self.clear(*core);
        }
        self.charge_wide(time);
        for core in counted {
            let mut now = begin;
            while now < end {
                // No counter can overflow twice in so little time.
                let until = end.min(now + LONGEST);
                for (active, time) in self.timetabled(core, now, until) {
                    self.pass_core(core, time, &active);
                }
                now = until;
            }
        }
    }

    /// The combinations of active siblings of `core` between two times, each with its total time.
    /// The order does not matter to counters.
    fn timetabled(&self, core: usize, begin: u64, end: u64) -> Vec<(Vec<bool>, u64)> {
        let mut states: Vec<(Vec<bool>, u64)> = Vec::new();
        let mut now = begin;
        while now < end {
            let plans = (0..self.cores[core].contexts()).map(|n| activity(core, n, now));
            let plans: Vec<(bool, u64)> = plans.collect();
            let until = plans.iter().map(|(_, until)| *until).min().unwrap_or(end).min(end);
            let active: Vec<bool> = plans.iter().map(|(active, _)| *active).collect();
            match states.iter_mut().find(|(known, _)| *known == active) {
                Some((_, time)) => *time += until - now,
                None => states.push((active, until - now)),
            }
            now = until;
        }
        states
    }

    /// Lets the time pass until `end`, unless it is later already.
    pub(crate) fn let_pass_until(&mut self, end: u64) {
        self.advance(end.saturating_sub(self.now));
    }

    /// The time of the machine's TSC.
    pub(crate) fn tsc(&self) -> u64 {
        (u128::from(self.now) * u128::from(self.spec.tsc_mhz) / 1000) as u64
    }

    /// The activity of the contexts of `core` by the timetable so far.
    pub(crate) fn activity_of(&self, core: usize) -> CoreActivity {
        self.activity[core].clone()
    }

    /// Whether a context of the core of `cpu` is counted whole.
    pub(super) fn is_counted_whole(&self, cpu: u32) -> bool {
        self.cores_counted().contains(&self.contexts[cpu as usize].core)
    }

    fn cores_counted(&self) -> Vec<usize> {
        let counted = self.files.values().filter_map(|file| match file.whose {
            Whose::Context(cpu) => self.contexts.get(cpu as usize).map(|context| context.core),
            Whose::Task(_) => None,
        });
        let mut cores: Vec<usize> = counted.collect();
        few::sort(&mut cores);
        cores.dedup();
        cores
    }

    /// Takes this process's threads off a core.
    fn clear(&mut self, core: usize) {
        for cpu in 0..self.contexts.len() {
            let context = &self.contexts[cpu];
            if context.core == core && context.running != Some(SOMEBODY) {
                self.occupy(cpu as u32, SOMEBODY);
            }
        }
    }

    /// Lets `time` pass on a core on which these siblings are active.
    fn pass_core(&mut self, core: usize, time: u64, active: &[bool]) {
        let spec = self.spec;
        // Clocks are scaled as totals, so that no rounding adds up.
        let total = self.activity[core].total;
        let ticks = |mhz: u64| scaled(total + time, mhz) - scaled(total, mhz);
        let (core_cycles, reference) = (ticks(spec.core_mhz), ticks(spec.tsc_mhz));
        let slice = Slice {
            ring: Ring::User,
            instructions: core_cycles * 1000 / spec.cycles_per_1000,
            core_cycles,
            reference_cycles: reference,
            reference,
            signals: &[],
        };
        let of = |active: &bool| match active {
            true => Activity::Active(slice),
            false => Activity::Halted { reference },
        };
        let activity: Vec<Activity<'_>> = active.iter().map(of).collect();
        self.cores[core].pass(&activity);
        self.activity[core].add(time, active);
        self.handle_overflows(core);
    }

    /// Adds to the times of every enabled event of a whole context.
    fn charge_wide(&mut self, time: u64) {
        for (fd, file) in self.files.iter_mut().filter(|(_, file)| file.enabled) {
            let Whose::Context(cpu) = file.whose else { continue };
            let on = self.contexts.get(cpu as usize).is_some_and(|it| it.on.contains(fd));
            file.times[0] += time;
            let counted = matches!(file.what, What::Software(_)) || on;
            file.times[1] += if counted && !file.failed { time } else { 0 };
        }
    }
}

/// Nanoseconds that pass at once, at most.
const LONGEST: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use crate::kernel::Machine;
    use pacman_core::Session;
    use pacman_topology::CpuSet;

    #[test]
    fn long_times_count_as_many_short_ones() {
        let of = |steps: u64| {
            let machine = Machine::scripted("haswell").unwrap();
            let session = Session::builder("background-steps").on(&machine);
            let events = "REF_CYCLES:uk,CPU_CLK_UNHALTED.REF_XCLK_ANY:uk,CYCLES:uk";
            let cpus = CpuSet::from_list("0").unwrap();
            let mut all = session.events(events).system_wide(&cpus).unwrap();
            let first = *all.sample()[0].as_ref().unwrap();
            (0..steps).for_each(|_| machine.advance(6_000_000_000 / steps));
            let last = *all.sample()[0].as_ref().unwrap();
            ([0, 1, 2].map(|event| last.count_since(&first, event)), machine.core_activity(0))
        };
        let (long, truth) = of(1);
        let (short, same) = of(48);
        assert_eq!((truth.alone[0], truth.neither), (1_800_000_000, 1_200_000_000));
        assert_eq!(truth, same);
        assert_eq!(&long[..2], &[3_600_000_000 * 34 / 10, 4_800_000_000 / 10]);
        assert_eq!(long, short);
    }

    #[test]
    fn a_thread_that_holds_events_it_does_not_count_is_not_seen() {
        let machine = Machine::live("haswell").unwrap();
        let session = Session::builder("background-watcher").on(&machine);
        let cpus = CpuSet::from_list("0").unwrap();
        // The session keeps a group of the caller's open, and never enables it.
        let mut all = session.events("REF_CYCLES:uk").system_wide(&cpus).unwrap();
        assert_eq!(machine.current_cpu(), 0);
        let first = *all.sample()[0].as_ref().unwrap();
        while machine.core_activity(0).total < 50_000_000 {
            std::hint::black_box(machine.tsc());
        }
        let counted = all.sample()[0].as_ref().unwrap().count_since(&first, 0);
        let truth = machine.core_activity(0);
        let most = (truth.alone[0] + truth.together) as f64 * 3.4;
        assert!(counted as f64 <= most + 1.0, "{counted} of {truth:?}");
    }
}
