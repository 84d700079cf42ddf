//! Slots and fields of `PERF_METRICS`, as Linux counts them (arch/x86/events/intel/core.c,
//! `intel_update_topdown_event` and `icl_set_topdown_event_period`).
//!
//! Both registers start at 0. A read of the group adds to each count and sets both to 0 again. When the
//! group leaves its counters, Linux adds the registers to the counts and saves them. It writes them
//! back when the group returns, so that user mode sees no interruption.

use std::os::fd::RawFd;

use pacman_events::encode::TopDown;

use super::file::CounterLocation;
use super::state::State;

impl State {
    /// The group that counts fields on `cpu` now, by its leader: SLOTS has one counter.
    fn topdown_leader(&self, cpu: u32) -> Option<RawFd> {
        let on = self.contexts[cpu as usize].on.iter();
        on.copied().find(|fd| {
            let file = self.files.get(fd);
            file.is_some_and(|file| file.topdown && file.part() == Some(TopDown::Slots))
        })
    }

    /// Adds the registers' increase since they were saved to the counts. Returns both registers.
    fn add_topdown(&mut self, cpu: u32, leader: RawFd) -> [u64; 2] {
        let context = &self.contexts[cpu as usize];
        let pmu = &self.cores[context.core];
        let read = |msr| pmu.read(context.number, msr).expect("the model has it");
        let now = [read(SLOTS), read(PERF_METRICS)];
        let saved = self.files[&leader].saved;
        for fd in self.files[&leader].members.clone() {
            let Some(file) = self.files.get_mut(&fd).filter(|file| file.topdown) else { continue };
            let Some(part) = file.part() else { continue };
            // A fraction that was rounded down must not lower the count.
            file.count += share(part, now).saturating_sub(share(part, saved));
        }
        now
    }

    /// Reads the group of `leader`, which sets its registers to 0.
    pub(super) fn read_topdown(&mut self, leader: RawFd) {
        let Some(cpu) = self.cpu_of(self.files[&leader].whose) else { return };
        if self.topdown_leader(cpu) != Some(leader) {
            return;
        }
        self.add_topdown(cpu, leader);
        self.begin_topdown(cpu, leader, [0; 2]);
    }

    /// Takes the group off the counters of `cpu`.
    pub(super) fn save_topdown(&mut self, cpu: u32) {
        let Some(leader) = self.topdown_leader(cpu) else { return };
        let now = self.add_topdown(cpu, leader);
        self.begin_topdown(cpu, leader, [0; 2]);
        self.set_topdown_enable(cpu, false);
        for fd in self.files[&leader].members.clone() {
            if let Some(file) = self.files.get_mut(&fd).filter(|file| file.topdown) {
                (file.location, file.stale, file.saved) = (None, true, now);
            }
        }
    }

    /// Gives the group the counters of `cpu` again.
    pub(super) fn restore_topdown(&mut self, cpu: u32) {
        let Some(leader) = self.topdown_leader(cpu) else { return };
        self.begin_topdown(cpu, leader, self.files[&leader].saved);
        self.set_topdown_enable(cpu, true);
        for fd in self.files[&leader].members.clone() {
            let Some(file) = self.files.get_mut(&fd).filter(|file| file.topdown) else { continue };
            if !file.takes_counter() {
                let register = CounterLocation { msr: PERF_METRICS, index: METRICS_INDEX, seen: 0 };
                file.location = Some(register);
            }
            file.stale = true;
        }
    }

    fn begin_topdown(&mut self, cpu: u32, leader: RawFd, [slots, metrics]: [u64; 2]) {
        let context = &self.contexts[cpu as usize];
        let pmu = &mut self.cores[context.core];
        // In this order: the fractions are of the slots.
        for (msr, value) in [(SLOTS, slots), (PERF_METRICS, metrics)] {
            pmu.write(context.number, msr, value).expect("it held this before");
        }
        if let Some(file) = self.files.get_mut(&leader) {
            file.saved = [slots, metrics];
        }
    }

    fn set_topdown_enable(&mut self, cpu: u32, on: bool) {
        let context = &self.contexts[cpu as usize];
        let pmu = &mut self.cores[context.core];
        let global = pmu.read(context.number, GLOBAL_CTRL).expect("the model has it") & !ENABLE;
        let global = global | if on { ENABLE } else { 0 };
        pmu.write(context.number, GLOBAL_CTRL, global).expect("a driver's value does not fault");
    }
}

/// The slots of a part, from both registers.
fn share(part: TopDown, [slots, metrics]: [u64; 2]) -> u64 {
    match part {
        TopDown::Slots => slots,
        TopDown::Field(field) => {
            let fraction = metrics >> (8 * u32::from(field)) & 0xff;
            (u128::from(slots) * u128::from(fraction) / 255) as u64
        }
    }
}

/// Fixed counter 3.
const SLOTS: u32 = 0x30c;
const PERF_METRICS: u32 = 0x329;
const METRICS_INDEX: u32 = 1 << 29;
const GLOBAL_CTRL: u32 = 0x38f;
/// `PERF_METRICS` counts.
const ENABLE: u64 = 1 << 48;
