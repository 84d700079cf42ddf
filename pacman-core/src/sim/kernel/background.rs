//! Time that passes on all contexts at once, for those who count whole contexts.

use super::file::Whose;
use super::{SOMEBODY, State, scaled};
use crate::sim::background::{CoreActivity, activity};
use crate::sim::hardware::{Activity, Ring, Slice};

impl State {
    /// Lets `time` nanoseconds pass on every core of which a whole context is counted: its
    /// contexts follow the timetable, and no thread of this process runs there meanwhile.
    pub(in crate::sim) fn let_pass(&mut self, time: u64) {
        let (begin, end) = (self.now, self.now + time);
        self.now = end;
        for core in self.cores_counted() {
            self.clear(core);
            let mut now = begin;
            while now < end {
                let plans = (0..self.cores[core].contexts()).map(|n| activity(core, n, now));
                let plans: Vec<(bool, u64)> = plans.collect();
                let until = plans.iter().map(|(_, until)| *until).min().unwrap_or(end).min(end);
                let active: Vec<bool> = plans.iter().map(|(active, _)| *active).collect();
                self.pass_core(core, until - now, &active);
                now = until;
            }
        }
    }

    /// Lets the time go on to `end`, if it is not there yet.
    pub(in crate::sim) fn let_pass_until(&mut self, end: u64) {
        self.let_pass(end.saturating_sub(self.now));
    }

    /// The time of the machine's TSC.
    pub(in crate::sim) fn tsc(&self) -> u64 {
        (u128::from(self.now) * u128::from(self.shape.tsc_mhz) / 1000) as u64
    }

    /// What the contexts of `core` have done by the timetable so far.
    pub(in crate::sim) fn activity_of(&self, core: usize) -> CoreActivity {
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
        cores.sort_unstable();
        cores.dedup();
        cores
    }

    /// Takes this process's threads off a core.
    fn clear(&mut self, core: usize) {
        for cpu in 0..self.contexts.len() {
            let context = &mut self.contexts[cpu];
            if context.core == core && context.running != Some(SOMEBODY) {
                context.running = Some(SOMEBODY);
                self.schedule(cpu as u32);
            }
        }
    }

    /// Lets `time` pass on a core on which these siblings are active.
    fn pass_core(&mut self, core: usize, time: u64, active: &[bool]) {
        let shape = self.shape;
        // Clocks are scaled as totals, so that no rounding adds up.
        let total = self.activity[core].total;
        let ticks = |mhz: u64| scaled(total + time, mhz) - scaled(total, mhz);
        let (core_cycles, reference) = (ticks(shape.core_mhz), ticks(shape.tsc_mhz));
        let slice = Slice {
            ring: Ring::User,
            instructions: core_cycles * 1000 / shape.cycles_per_1000,
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
        for cpu in 0..self.contexts.len() {
            if self.contexts[cpu].core == core {
                self.charge(cpu as u32, time);
            }
        }
        self.handle_overflows(core);
    }
}
