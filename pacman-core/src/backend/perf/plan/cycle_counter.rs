//! The cycle counter of Arm's processors, which threads of a core share.

use super::{CountSource, Part};
use crate::backend::perf::group::Member;

/// Adds a counter on each core type that takes `PMCCNTR_EL0` before cycles do, which then get a numbered counter: that
/// one counts the context's cycles. Linux's driver gives the cycle counter to the first event of cycles in a group
/// (`armv8pmu_get_event_idx`). A core type without siblings would not need it, and loses a counter.
pub(super) fn take(parts: &mut Vec<Part>) {
    let mut fillers: Vec<Part> = Vec::new();
    for part in parts.iter() {
        let CountSource::Member(cycles) = &part.source else { continue };
        let is_taken = fillers.iter().any(|filler| filler.core_type == part.core_type);
        if cycles.counts_arm_cycles() && !is_taken {
            let filler = Member { name: "PMCCNTR_EL0".into(), ..cycles.clone() };
            fillers.push(Part {
                coefficient: 0,
                source: CountSource::Member(filler),
                ..part.clone()
            });
        }
    }
    parts.splice(0..0, fillers);
}

/// Whether [`take`] made the part, and reads can begin behind it: those of core types read each group whole.
pub(super) fn is_left_out(part: &Part) -> bool {
    match &part.source {
        CountSource::Member(member) => {
            part.core_type.is_none() && part.coefficient == 0 && member.counts_arm_cycles()
        }
        CountSource::KernelAccounting(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Event, PerfPermissions, Plan, Sharing};
    use pacman_events::CpuModel;

    #[test]
    fn cycles_leave_a_counter_that_siblings_share_to_another_event() {
        let generic = CpuModel::generic();
        let names = ["INSTRUCTIONS", "task-clock", "CYCLES"];
        let events: Vec<Event> =
            names.iter().map(|name| Event::on(generic, name).unwrap()).collect();
        let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
        (permissions.paranoid, permissions.shares_cycle_counter) = (Some(1), true);
        let on = |events: &[Event]| Plan::new(events, Sharing::Pinned, &permissions).unwrap();
        let plan = on(&events);
        assert_eq!(plan.names(), "PMCCNTR_EL0, INSTRUCTIONS, CYCLES, task-clock");
        assert!(plan.members[0].asks_the_same_as(&plan.members[2]));
        let counted: Vec<_> = plan.sums.unwrap().iter().map(|sum| (sum.from, sum.to)).collect();
        assert_eq!(counted, [(0, 0), (1, 2), (2, 1)], "the first counter belongs to no event");
        assert_eq!(plan.unread, 1);
        let hardware = on(&[events[0].clone(), events[2].clone()]);
        assert_eq!((hardware.unread, hardware.sums), (1, None), "each count read is an event");
        let without_cycles = on(&events[..2]);
        assert_eq!(without_cycles.names(), "INSTRUCTIONS, task-clock");
        assert_eq!(without_cycles.unread, 0);
    }
}
