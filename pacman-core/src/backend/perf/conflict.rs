//! Why a group did not fit: what the exact allocator says of the same events.

use pacman_events::allocate::{Demand, Pmu, allocate};
use pacman_events::encode::Rings;

use super::group::{Ask, Member};
use super::standing::Standing;

/// Why the kernel may have refused the last of `members` beside the others, and what
/// helps; one sentence without its full stop.
pub(super) fn advice(members: &[Member], standing: &Standing) -> String {
    let none_left = || "the PMU has no counter left for it; count fewer events at a time".into();
    let Some(model) = members.iter().find_map(|m| Some(m.encoding.as_ref()?.cpu)) else {
        return none_left();
    };
    if model.facts().general.is_empty() {
        // The table of any processor: its counters are not known.
        return none_left();
    }
    let mut pmu = Pmu::of(model, standing.smt);
    if standing.watchdog {
        pmu = pmu.with_watchdog();
    }
    let demands: Vec<Demand> = members
        .iter()
        .filter_map(|member| {
            let Ask::Hardware(hardware) = member.ask else { return None };
            let rings = Rings { user: hardware.user, kernel: hardware.kernel };
            Some(Demand::of(member.encoding.as_ref()?, &pmu, rings))
        })
        .collect();
    match allocate(&pmu, &demands) {
        Err(conflict) => {
            // Written for the siblings of a core; here there is one thread.
            let ours = |text: &str| text.replace(" of thread 0", "");
            format!("{}; what helps: {}", ours(conflict.cause()), ours(conflict.remedy()))
        }
        Ok(_) => "this processor could count them at once, but the kernel finds no placement for \
                  them in this order; change it, or count fewer events at a time"
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::perf::Sharing;
    use crate::backend::perf::plan::Plan;
    use crate::event::Event;
    use pacman_events::CpuModel;

    fn advice_on(cpu: &str, names: &[&str], smt: bool) -> String {
        let cpu = CpuModel::named(cpu).unwrap();
        let events: Vec<Event> = names.iter().map(|name| Event::on(cpu, name).unwrap()).collect();
        let mut standing = Standing::read_under(std::path::Path::new("/nowhere"));
        standing.smt = smt;
        let plan = Plan::new(&events, Sharing::Exclusive, &standing).unwrap();
        advice(&plan.members, &standing)
    }

    #[test]
    fn the_resource_and_the_remedy_are_named() {
        let five = ["r412e", "r4f2e", "r00c4", "r00c5", "r0108"];
        assert_eq!(
            advice_on("hsw", &five, true),
            "5 events need counters 0-3, which are not enough; what helps: turn SMT off in the \
             firmware, which gives a context 8 general counters; or take turns: r108 in one \
             execution, the others in the next"
        );
        let escr = advice_on("p4", &["BRANCH_MISSES", "INSTRUCTIONS", "UOPS_RETIRED"], true);
        assert!(escr.contains("CRU_ESCR0") && escr.contains("take turns"), "{escr}");
    }

    #[test]
    fn a_greedy_kernel_is_told_from_a_full_pmu() {
        // Linux's driver has one ESCR a unit for each thread; the hardware has two.
        let feasible = advice_on("p4", &["INSTRUCTIONS", "UOPS_RETIRED"], true);
        assert!(feasible.starts_with("this processor could count them"), "{feasible}");
    }

    #[test]
    fn without_a_table_nothing_is_made_up() {
        let generic = CpuModel::generic().name();
        assert_eq!(
            advice_on(generic, &["CYCLES", "INSTRUCTIONS"], true),
            "the PMU has no counter left for it; count fewer events at a time"
        );
    }
}
