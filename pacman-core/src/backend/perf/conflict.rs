//! Why a group did not fit: the exact allocator's answer for the same events, and the counters that
//! a sibling may hold.

use pacman_events::allocate::{Alternative, Conflict, EventConstraints, Pmu, Resource, allocate};
use pacman_events::encode::{ExtraReg, Rings, Scope};
use pacman_events::partition::Partition;

use super::group::{Ask, Group, HEADER, Member};
use crate::arch::UserReads;
use crate::backend::{MAX_EVENTS, Target};
use crate::event::Hardware;
use crate::platform;
use crate::platform::PerfPermissions;
use crate::seam::PerfSys;
use pacman_topology::Topology;
use pacman_topology::current_cpu;

/// Why the kernel may have refused the last of `members` beside the others, and the remedy: one
/// sentence without its full stop.
pub(super) fn advice(members: &[Member], permissions: &PerfPermissions) -> String {
    let Some(asked) = Asked::of(members, permissions) else {
        return "the PMU has no counter left for it; count fewer events at a time".into();
    };
    match asked.placed() {
        Err(conflict) => explained(&conflict),
        Ok(()) => "this processor could count them at once, but the kernel finds no placement for \
                   them in this order; change it, or count fewer events at a time"
            .into(),
    }
}

/// The owner of the counters that `members` lost after they were opened, and the remedy: one
/// sentence without its full stop.
///
/// The kernel tries a new group on an empty PMU. The NMI watchdog, other groups and the sibling
/// matter only when the group is to run.
pub(super) fn competitor<S: PerfSys + Clone>(
    sys: &S,
    members: &[Member],
    target: Target,
    permissions: &PerfPermissions,
) -> String {
    let unknown = || permissions.competitor().into();
    let Some(asked) = Asked::of(members, permissions).filter(|_| !permissions.is_hybrid()) else {
        return unknown();
    };
    if let Err(conflict) = asked.placed() {
        return explained(&conflict);
    }
    // The sibling's counters cannot be read. But the group can be tried without the parts that
    // siblings share. If it then gets its counters, it did not lack counters.
    let here = sys.is_real() && target == Target::Caller;
    let sibling = || if here { sibling_here() } else { None }.unwrap_or("the sibling".into());
    match asked.rival().map(|conflict| conflict.resource().clone()) {
        Some(Resource::Registers { registers }) if fits(sys, &asked.unshared(), target) => format!(
            "{} is one register for all siblings of a core, and {} counts with another value in \
             it; rotate event sets, or count the same event on both",
            registers[0],
            sibling()
        ),
        Some(Resource::Erratum { name }) if fits(sys, &asked.halved(), target) => format!(
            "erratum {name} keeps memory-retired events (D0 to D3) and what the sibling counts \
             off the same counters, and {} counts; rotate event sets, or count fewer events on both",
            sibling()
        ),
        _ => unknown(),
    }
}

/// As [`competitor`], of a group that counts on one core type of a hybrid.
pub(super) fn competitor_on_core_type(members: &[Member], permissions: &PerfPermissions) -> String {
    // A trial would fail for want of the core type, if the thread is on another one now.
    match Asked::of(members, permissions).map(|asked| asked.placed()) {
        Some(Err(conflict)) => explained(&conflict),
        _ => permissions.holder().into(),
    }
}

/// A group's hardware events, as the allocator sees them.
struct Asked<'a> {
    pmu: Pmu,
    members: Vec<(&'a Member, Hardware, EventConstraints)>,
}

impl<'a> Asked<'a> {
    /// `None` where the counters of this processor are not known.
    fn of(members: &'a [Member], permissions: &PerfPermissions) -> Option<Asked<'a>> {
        let model = members.iter().find_map(|m| Some(m.encoding.as_ref()?.cpu))?;
        if model.facts().general.is_empty() {
            return None;
        }
        let mut pmu = Pmu::of(model, permissions.smt);
        if permissions.watchdog {
            pmu = pmu.with_watchdog();
        }
        let asked = members.iter().filter_map(|member| {
            let Ask::Hardware(hardware) = member.ask else { return None };
            let demand = EventConstraints::of(member.encoding.as_ref()?, &pmu, rings(hardware));
            Some((member, hardware, demand))
        });
        let members = asked.collect();
        Some(Asked { pmu, members })
    }

    fn demands(&self) -> Vec<EventConstraints> {
        self.members.iter().map(|(.., demand)| demand.clone()).collect()
    }

    /// Whether the events fit on a context whose siblings count nothing.
    fn placed(&self) -> Result<(), Conflict> {
        allocate(&self.pmu, &self.demands()).map(drop)
    }

    /// The conflict with the worst case of a sibling's events, if that takes anything away from
    /// this group.
    fn rival(&self) -> Option<Conflict> {
        let plain = EventConstraints::new("plain", [Alternative::general(self.pmu.general())]);
        let crowd = vec![plain.clone(); self.pmu.general().len() as usize];
        let mut rivals = vec![vec![plain.excluding_sibling()], crowd];
        rivals.extend(self.members.iter().filter_map(|member| self.other_values(member)));
        let against = |rival| Partition::ByDemand.plan(&self.pmu, &[self.demands(), rival]).err();
        rivals.into_iter().filter(|_| self.pmu.contexts() > 1).find_map(against)
    }

    /// This event with other values, one for each register that can hold its value. `None` if
    /// siblings do not share these registers.
    fn other_values(
        &self,
        member: &(&Member, Hardware, EventConstraints),
    ) -> Option<Vec<EventConstraints>> {
        let encoding = member.0.encoding.as_ref()?;
        let extra = encoding.extra.filter(|extra| extra.scope == Scope::Core)?;
        let other = |number| {
            let mut rival = (**encoding).clone();
            let value = extra.value ^ number;
            rival.extra = Some(ExtraReg::new(value, extra.scope, extra.choices()));
            EventConstraints::of(&rival, &self.pmu, rings(member.1))
        };
        Some((1..=extra.choices().len() as u64).map(other).collect())
    }

    /// The group with plain events for those that need a shared register.
    fn unshared(&self) -> Vec<Member> {
        let shares = |member: &Member| {
            let encoding = member.encoding.as_ref();
            encoding.and_then(|it| it.extra).is_some_and(|extra| extra.scope == Scope::Core)
        };
        let unshared =
            |(member, hardware, _): &(&Member, Hardware, EventConstraints)| match shares(member) {
                true => plain(member, *hardware),
                false => (*member).clone(),
            };
        self.members.iter().map(unshared).collect()
    }

    /// Plain events, as many as always fit under the erratum.
    fn halved(&self) -> Vec<Member> {
        let members = self.members.iter().take(self.pmu.general().len() as usize / 2);
        members.map(|(member, hardware, _)| plain(member, *hardware)).collect()
    }
}

fn rings(hardware: Hardware) -> Rings {
    Rings { user: hardware.user, kernel: hardware.kernel }
}

/// An event that any general counter of an Intel processor counts without further registers: the
/// architectural event "LLC misses".
fn plain(member: &Member, hardware: Hardware) -> Member {
    let ask = Ask::Hardware(Hardware { config: 0x412e, config1: 0, config2: 0, ..hardware });
    Member { name: member.name.clone(), ask, encoding: None }
}

/// Whether the kernel puts the group on its counters now.
fn fits<S: PerfSys + Clone>(sys: &S, members: &[Member], target: Target) -> bool {
    let opened = Group::open(sys, members, target, true, UserReads::Missing);
    let Ok(group) = opened else { return false };
    let mut answer = [0; HEADER + MAX_EVENTS];
    let words = HEADER + members.len();
    group.enable().is_ok() && group.read(&mut answer[..words]) == Ok(words)
}

/// The sibling of the context that the calling thread runs on, by number.
fn sibling_here() -> Option<String> {
    let cpu = current_cpu()?;
    let here = Topology::of(platform::host()).ok()?;
    let others: Vec<String> = here
        .siblings_of(cpu)
        .iter()
        .filter(|other| **other != cpu)
        .map(|other| format!("cpu {other}"))
        .collect();
    (!others.is_empty()).then(|| format!("{}, the sibling of cpu {cpu},", others.join(" or ")))
}

fn explained(conflict: &Conflict) -> String {
    // The allocator writes for the siblings of a core, but here there is one thread.
    let ours = |text: &str| text.replace(" of thread 0", "");
    format!("{}; what helps: {}", ours(conflict.cause()), ours(conflict.remedy()))
}

#[cfg(test)]
mod tests {
    use std::os::fd::RawFd;
    use std::path::Path;
    use std::ptr::NonNull;
    use std::sync::Arc;

    use pacman_events::CpuModel;
    use parking_lot::Mutex;
    use perf_event_open_sys::bindings::perf_event_attr;

    use super::*;
    use crate::backend::perf::plan::Plan;
    use crate::backend::perf::{Errno, RawCount, Register, Sharing};
    use crate::event::Event;

    fn members_on(cpu: &str, names: &[&str], permissions: &PerfPermissions) -> Vec<Member> {
        let cpu = CpuModel::named(cpu).unwrap();
        let events: Vec<Event> = names.iter().map(|name| Event::on(cpu, name).unwrap()).collect();
        Plan::new(&events, Sharing::Pinned, permissions).unwrap().members
    }

    fn permissions(smt: bool) -> PerfPermissions {
        let mut permissions = PerfPermissions::read_under(Path::new("/nowhere"));
        permissions.smt = smt;
        permissions
    }

    fn advice_on(cpu: &str, names: &[&str], smt: bool) -> String {
        let permissions = permissions(smt);
        advice(&members_on(cpu, names, &permissions), &permissions)
    }

    /// A kernel that opens everything, but runs only the groups that `runs` admits by the
    /// configurations of their members.
    #[derive(Clone)]
    struct Starving {
        runs: fn(&[(u64, u64)]) -> bool,
        opened: Arc<Mutex<Vec<(u64, u64)>>>,
    }

    impl PerfSys for Starving {
        fn is_real(&self) -> bool {
            false
        }

        fn open(&self, attr: &mut perf_event_attr, _: Target, _: RawFd) -> Result<RawFd, Errno> {
            // SAFETY: every event of these tests keeps its extra register there.
            let extra = unsafe { attr.__bindgen_anon_3.config1 };
            self.opened.lock().push((attr.config, extra));
            Ok(self.opened.lock().len() as RawFd)
        }

        fn id(&self, fd: RawFd) -> Result<u64, Errno> {
            Ok(fd as u64)
        }

        fn close(&self, _: RawFd) {
            self.opened.lock().pop().expect("closed once");
        }

        fn disable_group(&self, _: RawFd) -> Result<(), Errno> {
            Ok(())
        }

        fn enable_group(&self, _: RawFd) -> Result<(), Errno> {
            Ok(())
        }

        fn read(&self, _: RawFd, into: &mut [u64]) -> Result<usize, Errno> {
            Ok(if (self.runs)(&self.opened.lock()) { into.len() } else { 0 })
        }

        fn reserve(&self, _: usize) -> Result<NonNull<u8>, Errno> {
            Err(Errno(libc::EPERM))
        }

        unsafe fn map(&self, _: RawFd, _: NonNull<u8>, _: usize) -> Result<(), Errno> {
            unreachable!("nothing is reserved")
        }

        unsafe fn release(&self, _: NonNull<u8>, _: usize) {
            unreachable!("nothing is reserved")
        }

        unsafe fn read_counter(&self, _: Register) -> RawCount {
            unreachable!("nothing is mapped")
        }
    }

    fn competitor_on(
        cpu: &str,
        names: &[&str],
        permissions: &PerfPermissions,
        runs: fn(&[(u64, u64)]) -> bool,
    ) -> String {
        let sys = Starving { runs, opened: Arc::default() };
        let found =
            competitor(&sys, &members_on(cpu, names, permissions), Target::Caller, permissions);
        assert!(sys.opened.lock().is_empty(), "what was tried is closed again");
        found
    }

    const NEHALEM: &str = "OFFCORE_RESPONSE_0.DEMAND_DATA_RD.ANY_DRAM";
    const SOMEBODY: &str = "another profiler holds the counters; end it or count fewer events";

    #[test]
    fn a_register_that_the_sibling_holds_is_named() {
        // The sibling has another value in OFFCORE_RSP_0, and counters are free.
        let runs = |opened: &[(u64, u64)]| opened.iter().all(|(_, extra)| *extra == 0);
        let on = |cpu, name, smt| competitor_on(cpu, &["CYCLES", name], &permissions(smt), runs);
        assert_eq!(
            on("nhm-ep", NEHALEM, true),
            "OFFCORE_RSP_0 is one register for all siblings of a core, and the sibling counts \
             with another value in it; rotate event sets, or count the same event on both"
        );
        assert_eq!(on("nhm-ep", NEHALEM, false), SOMEBODY, "there is no sibling");
        let haswell = "OFFCORE_RESPONSE.DEMAND_DATA_RD.L3_HIT.HITM_OTHER_CORE";
        assert_eq!(on("hsw", haswell, true), SOMEBODY, "each sibling has registers of its own");
        // Nothing gets a counter, so the register is not the cause.
        let full = competitor_on("nhm-ep", &[NEHALEM], &permissions(true), |_| false);
        assert_eq!(full, SOMEBODY);
    }

    #[test]
    fn what_the_erratum_closes_is_told_from_a_full_pmu() {
        let erratum = "erratum HSD29 keeps memory-retired events (D0 to D3) and what the sibling \
                       counts off the same counters, and the sibling counts; rotate event sets, or count \
                       fewer events on both";
        let half_is_free = |opened: &[(u64, u64)]| {
            opened.len() <= 2 && opened.iter().all(|(config, _)| config & 0xfc != 0xd0)
        };
        for names in [&["r81d0"][..], &["r412e", "r4f2e", "r0280"]] {
            assert_eq!(competitor_on("hsw", names, &permissions(true), half_is_free), erratum);
            assert_eq!(competitor_on("hsw", names, &permissions(true), |_| false), SOMEBODY);
            assert_eq!(competitor_on("skl", names, &permissions(true), half_is_free), SOMEBODY);
        }
        assert_eq!(
            competitor_on("hsw", &["r412e", "r4f2e"], &permissions(true), half_is_free),
            SOMEBODY,
            "two plain events always have counters"
        );
        let alone =
            competitor_on("hsw", &["r81d0", "r412e", "r4f2e"], &permissions(true), half_is_free);
        assert!(alone.starts_with("by erratum HSD29"), "{alone}");
    }

    #[test]
    fn the_watchdog_is_named_when_it_makes_the_difference() {
        let mut watched = permissions(true);
        watched.watchdog = true;
        let all = ["INSTRUCTIONS", "CYCLES", "REF_CYCLES", "r412e", "r4f2e", "r0280", "r0485"];
        let full = competitor_on("skl", &all, &watched, |_| false);
        assert!(full.contains("stop the NMI watchdog (sysctl kernel.nmi_watchdog=0)"), "{full}");
        let fewer = competitor_on("skl", &all[..6], &watched, |_| false);
        assert!(fewer.contains("and another profiler may hold more"), "{fewer}");
    }

    #[test]
    fn the_resource_and_the_remedy_are_named() {
        let five = ["r412e", "r4f2e", "r00c4", "r00c5", "r0108"];
        assert_eq!(
            advice_on("hsw", &five, true),
            "5 events need counters 0-3, which are not enough; what helps: turn SMT off in the \
             firmware, which gives a context 8 general counters; or rotate event sets: r108 in one \
             execution, the others in the next"
        );
        let escr = advice_on("p4", &["BRANCH_MISSES", "INSTRUCTIONS", "UOPS_RETIRED"], true);
        assert!(escr.contains("CRU_ESCR0") && escr.contains("rotate event sets"), "{escr}");
    }

    #[test]
    fn a_greedy_kernel_is_told_from_a_full_pmu() {
        // Linux's driver has one ESCR per unit for each thread; the hardware has two.
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
