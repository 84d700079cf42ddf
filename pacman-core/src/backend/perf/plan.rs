//! Assigns the events of a session to kernel counters.

use super::group::{Ask, Member};
use super::permissions::PerfPermissions;
use super::sharing::Sharing;
use super::sys::Errno;
use super::topdown;
use crate::backend::MAX_EVENTS;
use crate::backend::summed::{Sum, sums};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{self, Event, KernelAccounting, Software, Source};
use pacman_events::encode::TopDown;

/// The counters of a set of events, in the order of reading.
///
/// Hardware counters come first, because the leader decides on which PMU the group lives; among
/// them SLOTS leads fields of `PERF_METRICS`. Software counters follow, then the kernel's accounting.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    parts: Vec<Part>,
    pub(super) members: Vec<Member>,
    /// The counts that come from the kernel's accounting, with their positions in a reading.
    pub(super) accounting: Vec<(usize, KernelAccounting)>,
    /// The sums that turn counts into events; `None` if each count is an event, in order.
    pub(super) sums: Option<Vec<Sum>>,
    pub(super) sharing: Sharing,
    /// Whether to map counter pages. This requires x86-64, a pinned group, only hardware
    /// events, and counters on every core type.
    pub(super) pages: bool,
}

/// A counter's part in an event.
#[derive(Clone, Debug)]
struct Part {
    place: usize,
    /// 0 for a counter that the group needs and the event does not.
    coefficient: i64,
    way: CountSource,
}

#[derive(Clone, Debug)]
enum CountSource {
    Member(Member),
    KernelAccounting(KernelAccounting),
}

impl Plan {
    pub(super) fn new(
        events: &[Event],
        sharing: Sharing,
        permissions: &PerfPermissions,
    ) -> Result<Plan> {
        if events.is_empty() {
            return Err(event::empty());
        }
        let mut parts = Vec::new();
        for (place, event) in events.iter().enumerate() {
            match event.source() {
                Source::Hardware(terms) => parts.extend(terms.iter().map(|term| Part {
                    place,
                    coefficient: term.coefficient,
                    way: CountSource::Member(Member {
                        // A single counter keeps the requested name; a term of a sum has its own.
                        name: match terms.len() {
                            1 => event.name().to_string(),
                            _ => term.encoding.name.to_string(),
                        },
                        ask: Ask::Hardware(term.hardware),
                        encoding: Some(Box::new(term.encoding.clone())),
                    }),
                })),
                Source::Software(software) => parts.push(Part {
                    place,
                    coefficient: 1,
                    way: way(event.name(), *software, permissions),
                }),
            }
        }
        // The kernel counts fields of PERF_METRICS in a group that SLOTS leads.
        if let Some((place, slots)) = topdown::missing_slots(events)? {
            let way = CountSource::Member(slots);
            parts.push(Part { place, coefficient: 0, way });
        }
        if parts.len() > MAX_EVENTS {
            return Err(too_many(events.len(), parts.len()));
        }
        // RDPMC faults for a counter that a hybrid's other core type lacks. A binding does not
        // exclude that core type, because another program may move the thread.
        let pages = cfg!(target_arch = "x86_64")
            && sharing == Sharing::Pinned
            && events.iter().all(Event::is_hardware)
            && !permissions.is_hybrid();
        Ok(Plan::arrange(parts, sharing, pages))
    }

    /// The names of the events that have kernel counters, separated by commas.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|member| member.name.as_str()).collect();
        names.join(", ")
    }

    /// The place and part of each member of top-down analysis, SLOTS first; empty where no field of
    /// `PERF_METRICS` is counted, since SLOTS alone is a counter like others.
    pub(super) fn topdown(&self) -> Vec<(usize, TopDown)> {
        let members = self.members.iter().enumerate();
        let parts = members.filter_map(|(at, member)| Some((at, topdown::part(member)?)));
        let parts: Vec<(usize, TopDown)> = parts.collect();
        if parts.iter().any(|(_, part)| matches!(part, TopDown::Field(_))) { parts } else { vec![] }
    }

    /// Whether the plan has a hardware counter.
    pub(super) fn counts_hardware(&self) -> bool {
        self.members.iter().any(|member| matches!(member.ask, Ask::Hardware(_)))
    }

    fn arrange(mut parts: Vec<Part>, sharing: Sharing, pages: bool) -> Plan {
        parts.sort_by_key(|part| match &part.way {
            CountSource::Member(member) if topdown::part(member) == Some(TopDown::Slots) => 0,
            CountSource::Member(Member { ask: Ask::Hardware(_), .. }) => 1,
            CountSource::Member(_) => 2,
            CountSource::KernelAccounting(_) => 3,
        });
        let (mut members, mut accounting) = (Vec::new(), Vec::new());
        for (slot, part) in parts.iter().enumerate() {
            match &part.way {
                CountSource::Member(member) => members.push(member.clone()),
                CountSource::KernelAccounting(ledger) => accounting.push((slot, *ledger)),
            }
        }
        let sums = sums(parts.iter().map(|part| (part.place, part.coefficient)));
        Plan { parts, members, accounting, sums, sharing, pages }
    }

    /// The plan with a refused event counted by the kernel's accounting instead.
    ///
    /// `None` if the accounting lacks the event, or if `errno` does not mean that opening
    /// the counter was forbidden.
    pub(super) fn without(&self, member: usize, errno: Errno) -> Option<Plan> {
        let forbidden = [libc::EACCES, libc::EPERM, libc::ENOSYS].contains(&errno.0);
        let Ask::Software(Software { otherwise: Some(ledger), .. }) = self.members[member].ask
        else {
            return None;
        };
        let mut parts = self.parts.clone();
        // Members come first, in the order of the parts.
        parts[member].way = CountSource::KernelAccounting(ledger);
        forbidden.then(|| Plan::arrange(parts, self.sharing, self.pages))
    }
}

fn way(name: &str, software: Software, permissions: &PerfPermissions) -> CountSource {
    match software.otherwise {
        Some(ledger) if !permissions.may_count_kernel() => CountSource::KernelAccounting(ledger),
        _ => CountSource::Member(Member {
            name: name.to_string(),
            ask: Ask::Software(software),
            encoding: None,
        }),
    }
}

#[cold]
fn too_many(events: usize, counters: usize) -> Error {
    let need =
        if counters > events { format!(", which need {counters} counters") } else { String::new() };
    Error::new(
        ErrorKind::TooManyEvents,
        format!(
            "cannot count {events} events at once{need}: {MAX_EVENTS} is the most; \
             split them over several sessions or runs"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use pacman_events::CpuModel;

    fn plan(cpu: &str, names: &[&str], paranoid: i32) -> Plan {
        let cpu = CpuModel::named(cpu).unwrap();
        let events: Vec<Event> = names.iter().map(|name| Event::on(cpu, name).unwrap()).collect();
        let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
        permissions.paranoid = Some(paranoid);
        Plan::new(&events, Sharing::Pinned, &permissions).unwrap()
    }

    fn members(plan: &Plan) -> Vec<&str> {
        plan.members.iter().map(|member| member.name.as_str()).collect()
    }

    #[test]
    fn hardware_leads_and_counts_find_their_places() {
        let plan = plan("skl", &["task-clock", "CYCLES", "page-faults", "INSTRUCTIONS"], 1);
        assert_eq!(members(&plan), ["CYCLES", "INSTRUCTIONS", "task-clock", "page-faults"]);
        let to: Vec<usize> = plan.sums.unwrap().iter().map(|sum| sum.to).collect();
        assert_eq!(to, [1, 3, 0, 2]);
        assert!(!plan.pages, "software needs the kernel anyway");
    }

    #[test]
    fn plain_hardware_is_read_as_it_stands() {
        let plan = plan("skl", &["CYCLES", "INSTRUCTIONS"], 2);
        assert_eq!(plan.sums, None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn no_counter_of_a_hybrid_is_read_in_user_mode() {
        let cpu = CpuModel::named("skl").unwrap();
        let events = [Event::on(cpu, "CYCLES").unwrap()];
        let mut permissions = PerfPermissions::read_under(std::path::Path::new("/nowhere"));
        let pages = |permissions: &PerfPermissions| {
            Plan::new(&events, Sharing::Pinned, permissions).unwrap().pages
        };
        assert!(pages(&permissions), "all cores are alike");
        permissions.hybrid = true;
        assert!(!pages(&permissions), "CPUID tells where /sys is out of sight, as in a container");
        (permissions.hybrid, permissions.pmus) =
            (false, vec!["cpu_atom".into(), "cpu_core".into()]);
        assert!(!pages(&permissions));
    }

    #[test]
    fn an_expression_takes_a_counter_a_term() {
        let plan = plan("p4", &["INSTRUCTIONS", "STALL_CYCLES"], 2);
        assert_eq!(plan.members.len(), 3);
        let sums = plan.sums.unwrap();
        assert_eq!(sums[1], Sum { from: 1, to: 1, coefficient: 1 });
        assert_eq!(sums[2], Sum { from: 2, to: 1, coefficient: -1 });
    }

    #[test]
    fn what_may_not_be_opened_comes_from_the_ledgers() {
        let unprivileged = plan("skl", &["context-switches", "task-clock"], 2);
        assert_eq!(members(&unprivileged), ["task-clock"]);
        assert_eq!(unprivileged.accounting, [(1, KernelAccounting::ContextSwitches)]);
        let refused = plan("skl", &["task-clock", "page-faults"], 1);
        let again = refused.without(1, Errno(libc::EPERM)).unwrap();
        assert_eq!(members(&again), ["task-clock"]);
        assert_eq!(again.accounting, [(1, KernelAccounting::PageFaults)]);
        assert!(refused.without(0, Errno(libc::EPERM)).is_none(), "the clock has no ledger");
        assert!(refused.without(1, Errno(libc::EMFILE)).is_none(), "nobody forbade it");
    }
}
