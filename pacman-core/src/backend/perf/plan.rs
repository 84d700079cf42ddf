//! Assigns the events of a session to kernel counters.

mod cycle_counter;

use std::ops::Range;
use std::sync::Arc;

use super::group::{Ask, Member};
use super::topdown;
use crate::arch::UserReads;
use crate::backend::summed::{Sum, sums};
use crate::backend::{MAX_EVENTS, Target, too_many};
use crate::event::{self, Event, KernelAccounting, Software, Source, Term};
use crate::platform::CoreTypePmu;
use crate::platform::PerfPermissions;
use crate::seam::Errno;
use pacman_events::encode::TopDown;
use pacman_events::few;
use pacman_events::{Error, ErrorKind, Result};

/// Whether a counter group is pinned to the hardware counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// The group is on the counters whenever the thread runs; otherwise reading it is an error.
    /// So counts are exact.
    #[default]
    Pinned,
    /// The kernel may multiplex the group with others. Counts are raw, and a reading also has
    /// the times that the group was enabled and running.
    Multiplexed,
    /// As [`Multiplexed`](Sharing::Multiplexed), for event sets that rotate. A group that was never
    /// on the counters is read without an error: its running time is 0.
    Rotating,
}

/// The counters of a set of events, in the order of reading.
///
/// Hardware counters come first, because the leader decides on which PMU the group lives; among
/// them SLOTS leads fields of `PERF_METRICS`. Software counters follow, then the kernel's accounting.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    parts: Vec<Part>,
    pub(super) members: Vec<Member>,
    /// The first members, whose counts belong to no event: a reading begins behind them.
    pub(super) unread: usize,
    /// The groups of the members: one, but on a hybrid.
    pub(super) groups: Vec<GroupPlan>,
    /// The counts that come from the kernel's accounting, with their positions behind those of all members.
    pub(super) accounting: Vec<(usize, KernelAccounting)>,
    /// The sums that turn counts into events; `None` if each count is an event, in order.
    pub(super) sums: Option<Vec<Sum>>,
    pub(super) sharing: Sharing,
    /// How members get leave for user reads, [`Missing`](UserReads::Missing) where they get none. They
    /// require a pinned group, only hardware events, and counters on every core type.
    pub(super) user_reads: UserReads,
    /// An event counts on all core types of a hybrid, so its count claims all of a thread's time.
    pub(super) claims_all_time: bool,
}

/// Members that the kernel puts on counters together.
#[derive(Clone, Debug)]
pub(super) struct GroupPlan {
    pub(super) members: Range<usize>,
    /// The PMU of the only core type that counts them; `None` for a group that counts on all cores.
    pub(super) core_type: Option<Arc<CoreTypePmu>>,
}

impl GroupPlan {
    /// Whether the group can count on the cores of `target`, which for threads are all.
    pub(super) fn counts(&self, target: Target) -> bool {
        match (&self.core_type, target) {
            (Some(core_type), Target::Context(cpu)) => core_type.cpus().contains(cpu),
            _ => true,
        }
    }

    /// Whether it is the group of a core type and counts on cores of `target`.
    pub(super) fn is_of_core_of(&self, target: Target) -> bool {
        self.core_type.is_some() && self.counts(target)
    }
}

/// A counter's part in an event.
#[derive(Clone, Debug)]
struct Part {
    place: usize,
    /// 0 for a counter that the group needs and the event does not.
    coefficient: i64,
    source: CountSource,
    core_type: Option<Arc<CoreTypePmu>>,
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
                    source: CountSource::Member(Member {
                        name: member_name(event, terms, term),
                        ask: Ask::Hardware(term.hardware),
                        encoding: Some(Box::new(term.encoding.clone())),
                    }),
                    core_type: term.core_type.clone(),
                })),
                Source::Software(software) => parts.push(Part {
                    place,
                    coefficient: 1,
                    source: source_of(event.name(), *software, permissions),
                    core_type: None,
                }),
            }
        }
        // The kernel counts fields of PERF_METRICS in a group that SLOTS leads.
        if let Some(slots) = topdown::missing_slots(events)? {
            let source = CountSource::Member(slots.member);
            let (place, core_type) = (slots.place, slots.core_type);
            parts.push(Part { place, coefficient: 0, source, core_type });
        }
        if permissions.shares_cycle_counter {
            cycle_counter::take(&mut parts);
        }
        let by_core_type = parts.iter().any(|part| part.core_type.is_some());
        if by_core_type && sharing != Sharing::Pinned {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "cannot let the kernel multiplex groups on a hybrid processor: time off the \
                 counters and time on the other core type would look the same; rotate event sets",
            ));
        }
        // A user read faults for a counter that a hybrid's other core type lacks. A binding does not
        // exclude that core type, because another program may move the thread.
        let possible = sharing == Sharing::Pinned
            && events.iter().all(Event::is_hardware)
            && !by_core_type
            && !permissions.is_hybrid();
        let user_reads = match permissions.user_reads {
            offered @ (UserReads::ByPage | UserReads::OnRequest) if possible => offered,
            _ => UserReads::Missing,
        };
        let plan = Plan {
            claims_all_time: events.iter().any(|event| event.core_types().len() > 1),
            ..Plan::arrange(parts, sharing, user_reads)
        };
        let counters = plan.members.len() + plan.accounting.len();
        if counters.max(events.len()) > MAX_EVENTS {
            let need = match counters > events.len() {
                true => format!(", which need {counters} counters"),
                false if by_core_type => ", those of each core type among them".into(),
                false => String::new(),
            };
            return Err(too_many(events.len(), &need));
        }
        Ok(plan)
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

    /// Whether a group counts on one core type of a hybrid only.
    pub(super) fn is_by_core_type(&self) -> bool {
        self.groups.iter().any(|group| group.core_type.is_some())
    }

    fn arrange(mut parts: Vec<Part>, sharing: Sharing, user_reads: UserReads) -> Plan {
        let core_types = core_types(&parts);
        let by_core_type = |part: &Part| core_types.iter().position(|it| part.is_of(it));
        few::sort_by_key(&mut parts, |part| match (&part.source, by_core_type(part)) {
            (CountSource::Member(member), Some(number)) => (0, number, !topdown::leads(member)),
            (CountSource::Member(member @ Member { ask: Ask::Hardware(_), .. }), None) => {
                (1, 0, !topdown::leads(member))
            }
            (CountSource::Member(_), None) => (2, 0, false),
            (CountSource::KernelAccounting(_), _) => (3, 0, false),
        });
        let (mut members, mut accounting) = (Vec::<Member>::new(), Vec::new());
        let (mut slots, mut fillers) = (Vec::new(), Vec::new());
        for part in &parts {
            match &part.source {
                CountSource::Member(member) => {
                    // An event and its part on one core type are one counter there, but not with one that takes PMCCNTR.
                    let counts = part.core_type.is_some() && part.coefficient != 0;
                    let same = |(at, known): (usize, &Member)| {
                        (!fillers.contains(&at) && known.asks_the_same_as(member)).then_some(at)
                    };
                    let shared =
                        if counts { members.iter().enumerate().find_map(same) } else { None };
                    fillers.extend(Some(members.len()).filter(|_| part.coefficient == 0));
                    slots.push(shared.unwrap_or(members.len()));
                    if shared.is_none() {
                        members.push(member.clone());
                    }
                }
                CountSource::KernelAccounting(account) => {
                    slots.push(members.len() + accounting.len());
                    accounting.push((slots[slots.len() - 1], *account));
                }
            }
        }
        let groups = groups(&parts, &slots, members.len(), &core_types);
        let unread = usize::from(parts.first().is_some_and(cycle_counter::is_left_out));
        let shares = slots.iter().zip(&parts).skip(unread);
        let sums = sums(shares.map(|(slot, part)| Sum {
            from: *slot - unread,
            to: part.place,
            coefficient: part.coefficient,
        }));
        let claims_all_time = false;
        Plan {
            parts,
            members,
            unread,
            groups,
            accounting,
            sums,
            sharing,
            user_reads,
            claims_all_time,
        }
    }

    /// The plan with a refused event counted by the kernel's accounting instead.
    ///
    /// `None` if the accounting lacks the event, or if `errno` does not mean that opening
    /// the counter was forbidden.
    pub(super) fn without(&self, member: usize, errno: Errno) -> Option<Plan> {
        let forbidden = [libc::EACCES, libc::EPERM, libc::ENOSYS].contains(&errno.0);
        let Ask::Software(Software { otherwise: Some(account), .. }) = self.members[member].ask
        else {
            return None;
        };
        let mut parts = self.parts.clone();
        // No other part has the counter of a software event.
        let part = parts.iter_mut().find(|part| match &part.source {
            CountSource::Member(own) => own.name == self.members[member].name,
            CountSource::KernelAccounting(_) => false,
        })?;
        part.source = CountSource::KernelAccounting(account);
        let claims_all_time = self.claims_all_time;
        forbidden.then(|| Plan {
            claims_all_time,
            ..Plan::arrange(parts, self.sharing, self.user_reads)
        })
    }
}

impl Part {
    fn is_of(&self, core_type: &CoreTypePmu) -> bool {
        self.core_type.as_deref() == Some(core_type)
    }
}

/// The core types that count parts, in the order of their first ones.
fn core_types(parts: &[Part]) -> Vec<Arc<CoreTypePmu>> {
    let mut types: Vec<Arc<CoreTypePmu>> = Vec::new();
    for core_type in parts.iter().filter_map(|part| part.core_type.as_ref()) {
        if !types.contains(core_type) {
            types.push(Arc::clone(core_type));
        }
    }
    types
}

/// A group for each core type, and one for the members that count on all cores: software events
/// in the group of a core type would stand still on the others.
fn groups(
    parts: &[Part],
    slots: &[usize],
    members: usize,
    core_types: &[Arc<CoreTypePmu>],
) -> Vec<GroupPlan> {
    let mut groups = Vec::new();
    let mut begin = 0;
    for core_type in core_types {
        let own = parts.iter().zip(slots).filter(|(part, _)| part.is_of(core_type));
        let end = own.map(|(_, slot)| slot + 1).max().unwrap_or(begin);
        let core_type = Some(Arc::clone(core_type));
        groups.push(GroupPlan { members: begin..end, core_type });
        begin = end;
    }
    if begin < members {
        groups.push(GroupPlan { members: begin..members, core_type: None });
    }
    groups
}

/// A single counter is named as its event was asked for, a sum's by its own name.
fn member_name(event: &Event, terms: &[Term], term: &Term) -> String {
    let beside = terms.iter().filter(|other| other.core_type == term.core_type).count();
    let name = match beside {
        1 => event.name().to_string(),
        _ => term.encoding.name.to_string(),
    };
    match &term.core_type {
        Some(core_type) if event.core_type().is_none() => format!("{}/{name}/", core_type.name()),
        _ => name,
    }
}

fn source_of(name: &str, software: Software, permissions: &PerfPermissions) -> CountSource {
    match software.otherwise {
        Some(account) if !permissions.may_count_kernel() => CountSource::KernelAccounting(account),
        _ => CountSource::Member(Member {
            name: name.to_string(),
            ask: Ask::Software(software),
            encoding: None,
        }),
    }
}

#[cfg(test)]
mod tests;
