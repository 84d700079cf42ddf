//! The rotation of groups that wait for counters.

use super::state::State;

impl State {
    /// Instructions until the thread's groups rotate; `None` while no group waits.
    pub(super) fn until_rotation(&self, tid: i32) -> Option<u64> {
        let task = self.tasks.get(&tid)?;
        let context = &self.contexts[task.cpu as usize];
        let waits = |leader: &&i32| {
            let file = &self.files[*leader];
            let rotates = file.enabled && !file.failed && !file.pinned;
            rotates
                && file.members.iter().any(|fd| self.files[fd].takes_counter())
                && !context.on.contains(leader)
        };
        task.leaders.iter().find(waits)?;
        let left = ROTATION - task.ran % ROTATION;
        // The time of 1000 instructions, as `retire` has it.
        let time = self.spec.cycles_per_1000 * 1000 / self.spec.core_mhz;
        Some(left * 1000 / time + 1)
    }

    /// Puts the thread's first group that is not pinned behind the others, as Linux does.
    pub(super) fn rotate(&mut self, tid: i32) {
        let leaders = self.task(tid).leaders.clone();
        let Some(first) = leaders.iter().position(|leader| !self.files[leader].pinned) else {
            return;
        };
        let cpu = self.task(tid).cpu;
        self.task(tid).leaders[first..].rotate_left(1);
        self.schedule(cpu);
    }
}

/// Nanoseconds of a thread between two rotations: Linux's default.
const ROTATION: u64 = 4_000_000;
