//! A region that runs as it did before, until something changes.
//!
//! Most executions are like those before: the region is held at a choice, or left alone because it is
//! short. Each thread that starts its teams keeps the facts for the next execution on one cache line.
//! It compares the [configuration epoch](process::config_epoch) instead of checking every condition.
//! This matters because a body of 20 microseconds evicts most of the nearest cache. Each line of code
//! or data that a decision touches then takes as long as dozens of instructions.
//!
//! While a region is held, its controller only counts and watches for drift. Sixteen executions
//! reported together tell it as much as single ones. A longer execution is reported at once.
//!
//! The members of a [group](crate::adapt) add their executions to the sums of their thread instead.

use std::cell::Cell;

use super::pool::Pool;
use crate::function::Function;
use crate::process;

/// The decision for a region, as one of the threads that start its teams keeps it.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct CachedDecision {
    /// The configuration epoch for which the decision is valid; [`NEVER`] if it is not.
    valid_in: Cell<u32>,
    /// Longer executions, in ticks, are reported at once.
    high: Cell<u32>,
    kind: Cell<DecisionKind>,
    /// The entry for which the decision is valid.
    entry: Cell<Option<Function>>,
    /// The generation of the region's choice that this decision is from.
    generation: Cell<u32>,
    /// Executions that are not reported yet.
    count: Cell<u8>,
    /// Low bits that their times are noted without, so that 16 bits hold `high`.
    shift: Cell<u8>,
    ticks: [Cell<u16>; BATCH - 1],
    /// For a member of a group: the ticks of a usual execution with the program's own team; 0 if unknown.
    usual: Cell<u32>,
}

/// Executions that are reported together.
pub(crate) const BATCH: usize = 16;

const _: () = assert!(size_of::<CachedDecision>() == 64, "a cache line");

/// How a region runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecisionKind {
    /// The threads of a team by default; 0 if unknown.
    pub(crate) default: u32,
    /// The number of threads for the real entry; 0 leaves it to the runtime.
    pub(crate) threads: u32,
    pub(crate) by: DecidedBy,
    /// The runtime ends threads and starts others where teams change their size.
    pub(crate) pooled: bool,
    /// The team has more threads than there are contexts.
    pub(crate) oversubscribes: bool,
}

/// The controller that decides how a region runs, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DecidedBy {
    /// Nothing: the region is left alone.
    Nothing,
    /// The controller of the region.
    #[default]
    Controller,
    /// The controller of the group that the region belongs to.
    Group,
}

impl DecisionKind {
    /// Whether members must not share a context, so that a team before it with more threads than there
    /// are contexts matters.
    pub(crate) fn needs_contexts(self) -> bool {
        !(self.by == DecidedBy::Nothing || self.oversubscribes || self.threads == 1)
    }

    /// The size of the team.
    pub(crate) fn size(self) -> u32 {
        if self.threads > 0 { self.threads } else { self.default }
    }
}

impl Default for CachedDecision {
    fn default() -> CachedDecision {
        CachedDecision {
            valid_in: Cell::new(NEVER),
            high: Cell::default(),
            kind: Cell::default(),
            entry: Cell::default(),
            generation: Cell::default(),
            count: Cell::default(),
            shift: Cell::default(),
            ticks: [const { Cell::new(0) }; BATCH - 1],
            usual: Cell::default(),
        }
    }
}

/// No configuration epoch.
pub(crate) const NEVER: u32 = 0;

impl CachedDecision {
    /// Whether the decision is valid for the next execution: a call of `entry` that asks for `threads`.
    ///
    /// `is_plain` answers whether the calling thread is outside of regions and has no request of its
    /// own. `oversubscribed` says whether its latest team had more threads than there are contexts.
    #[inline(always)]
    pub(crate) fn is_valid(
        &self,
        entry: Function,
        threads: u32,
        is_plain: impl FnOnce() -> bool,
        oversubscribed: &Cell<bool>,
    ) -> bool {
        self.valid_in.get() == process::config_epoch()
            && self.entry.get() == Some(entry)
            && threads == 0
            && is_plain()
            // Members that share a context must be spread before a team that fits the machine.
            && !(oversubscribed.get() && self.kind.get().needs_contexts())
    }

    /// The number of threads for the real entry; 0 leaves it to the runtime.
    #[inline(always)]
    pub(crate) fn threads(&self) -> u32 {
        self.kind.get().threads
    }

    /// An execution took `ticks` with a team of `size`. False if this execution and the noted ones
    /// must be reported.
    #[inline(always)]
    pub(crate) fn ended(
        &self,
        pool: &Pool,
        oversubscribed: &Cell<bool>,
        size: u32,
        ticks: u64,
    ) -> bool {
        let kind = self.kind.get();
        let as_ever = size == kind.size()
            && ticks <= u64::from(self.high.get())
            && !(kind.pooled && pool.changes_to(size))
            && match kind.by {
                DecidedBy::Nothing => true,
                DecidedBy::Controller => self.note(ticks),
                DecidedBy::Group => match self.usual.get() {
                    0 => self.note(ticks),
                    usual => pool.group_sums.add(ticks, usual),
                },
            };
        if as_ever && size > 1 {
            oversubscribed.set(kind.oversubscribes);
        }
        as_ever
    }

    #[inline(always)]
    fn note(&self, ticks: u64) -> bool {
        let count = self.count.get();
        let Some(place) = self.ticks.get(usize::from(count)) else { return false };
        place.set((ticks >> self.shift.get()) as u16);
        self.count.set(count + 1);
        true
    }

    /// Calls `each` with the ticks of every noted execution, and forgets them.
    pub(crate) fn drain(&self, each: impl FnMut(u64)) {
        let count = usize::from(self.count.take());
        let shift = self.shift.get();
        // The middle of the times that have this note.
        let ticks = |noted: &Cell<u16>| (u64::from(noted.get()) << shift) + (1 << shift >> 1);
        self.ticks[..count].iter().map(ticks).for_each(each);
    }

    /// How the region runs, if known.
    pub(crate) fn kind(&self) -> Option<DecisionKind> {
        let kind = self.kind.get();
        (kind.default > 0).then_some(kind)
    }

    /// How the region is held, if the choice of `generation` still holds it.
    pub(crate) fn held_in(&self, generation: u32) -> Option<DecisionKind> {
        self.decided_by(DecidedBy::Controller, generation)
    }

    /// How a member runs, if the choice of its group's `generation` still holds.
    pub(crate) fn grouped_in(&self, generation: u32) -> Option<DecisionKind> {
        self.decided_by(DecidedBy::Group, generation)
    }

    fn decided_by(&self, by: DecidedBy, generation: u32) -> Option<DecisionKind> {
        self.kind().filter(|kind| kind.by == by && self.generation.get() == generation)
    }

    /// Whether a group decides how the region runs.
    pub(crate) fn is_grouped(&self) -> bool {
        self.kind().is_some_and(|kind| kind.by == DecidedBy::Group)
    }

    /// Sets the ticks of a usual execution with the program's own team.
    pub(crate) fn set_usual(&self, ticks: u32) {
        self.usual.set(ticks);
    }

    /// Whether the region is left alone.
    pub(crate) fn is_left_alone(&self) -> bool {
        self.kind().is_some_and(|kind| kind.by == DecidedBy::Nothing)
    }

    /// Sets how the region runs, by the choice of `generation`. Executions longer than `high` ticks
    /// are reported at once.
    pub(crate) fn hold(&self, kind: DecisionKind, generation: u32, high: u64) {
        // The notes have room for 32 bits, less the shift.
        let Ok(high) = u32::try_from(high) else { return self.forget() };
        self.high.set(high);
        self.shift.set((u32::BITS - u16::BITS).saturating_sub(high.leading_zeros()) as u8);
        if (self.kind.get(), self.generation.get()) != (kind, generation) {
            self.valid_in.set(NEVER);
            self.kind.set(kind);
            self.generation.set(generation);
            self.count.set(0);
        }
        // Notes with the old shift would be misread.
        debug_assert_eq!(self.count.get(), 0);
    }

    /// Marks the decision valid for `entry` until the epoch changes.
    pub(crate) fn validate(&self, epoch: u32, entry: Function) {
        self.valid_in.set(epoch);
        self.entry.set(Some(entry));
    }

    /// Drops the decision.
    pub(crate) fn forget(&self) {
        self.valid_in.set(NEVER);
        self.kind.set(DecisionKind::default());
        self.count.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: DecisionKind = DecisionKind {
        default: 4,
        threads: 2,
        by: DecidedBy::Controller,
        pooled: false,
        oversubscribes: false,
    };
    const ENTRY: Function = Function::GOMP_parallel;

    /// The state of a thread that starts teams.
    #[derive(Default)]
    struct Thread {
        pool: Pool,
        oversubscribed: Cell<bool>,
    }

    impl Thread {
        fn may_run(&self, cached: &CachedDecision) -> bool {
            cached.is_valid(ENTRY, 0, || true, &self.oversubscribed)
        }

        fn ended(&self, cached: &CachedDecision, size: u32, ticks: u64) -> bool {
            cached.ended(&self.pool, &self.oversubscribed, size, ticks)
        }
    }

    fn drained(cached: &CachedDecision) -> Vec<u64> {
        let mut all = Vec::new();
        cached.drain(|ticks| all.push(ticks));
        all
    }

    fn held(kind: DecisionKind) -> CachedDecision {
        let cached = CachedDecision::default();
        cached.hold(kind, 1, 100);
        cached.validate(process::config_epoch(), ENTRY);
        cached
    }

    /// One test for all that depends on the process's epoch, which other tests would change.
    #[test]
    fn a_decision_is_valid_until_a_condition_changes() {
        let thread = Thread::default();
        assert!(!thread.may_run(&CachedDecision::default()), "nothing is known");
        let cached = held(HELD);
        assert!(thread.may_run(&cached));
        let other = Function::GOMP_parallel_loop_static;
        assert!(!cached.is_valid(other, 0, || true, &thread.oversubscribed));
        assert!(!cached.is_valid(ENTRY, 3, || true, &thread.oversubscribed), "a clause asks for 3");
        assert!(!cached.is_valid(ENTRY, 0, || false, &thread.oversubscribed), "a push, or nesting");

        thread.oversubscribed.set(true);
        assert!(!thread.may_run(&cached), "members that share a context must be spread");
        assert!(thread.may_run(&held(DecisionKind { oversubscribes: true, ..HELD })));
        assert!(
            thread.may_run(&held(DecisionKind { by: DecidedBy::Nothing, ..HELD })),
            "it spreads nobody"
        );
        thread.oversubscribed.set(false);

        cached.hold(HELD, 1, 200);
        assert!(thread.may_run(&cached), "the same choice again");
        cached.hold(HELD, 2, 200);
        assert!(!thread.may_run(&cached), "another choice, not validated yet");
        cached.validate(process::config_epoch(), ENTRY);
        assert!(thread.may_run(&cached));
        process::may_change_teams();
        assert!(!thread.may_run(&cached));
    }

    #[test]
    fn executions_wait_until_there_are_sixteen() {
        let thread = Thread::default();
        let cached = held(HELD);
        let noted: Vec<u64> = (1..20).take_while(|&t| thread.ended(&cached, 2, t)).collect();
        assert_eq!(noted, (1..16).collect::<Vec<u64>>(), "the sixteenth is reported with them");
        assert_eq!(drained(&cached), noted);
        assert_eq!(drained(&cached), Vec::<u64>::new(), "once");
        assert!(thread.ended(&cached, 2, 8));
        assert_eq!(drained(&cached), [8]);
    }

    #[test]
    fn long_executions_are_noted_to_a_part_in_thirty_thousand() {
        let thread = Thread::default();
        for high in [100, 0xffff, 0x1_0000, 70_000, 1 << 20, (1 << 20) + 1, u64::from(u32::MAX)] {
            let cached = CachedDecision::default();
            cached.hold(HELD, 1, high);
            let ticks = [1, high / 3, high - 1, high];
            assert!(ticks.iter().all(|&ticks| thread.ended(&cached, 2, ticks)));
            for (noted, ticks) in drained(&cached).into_iter().zip(ticks) {
                assert!(noted.abs_diff(ticks) <= high >> 16, "{noted} of {ticks} below {high}");
            }
        }
    }

    #[test]
    fn unusual_executions_are_reported_at_once() {
        let thread = Thread::default();
        let cached = held(HELD);
        assert!(thread.ended(&cached, 2, 100));
        assert!(!thread.ended(&cached, 2, 101) && !thread.ended(&cached, 2, 1 << 40));
        assert!(!thread.ended(&cached, 4, 50), "it did not get the chosen threads");
        assert_eq!(drained(&cached), [100]);
        let pooled = held(DecisionKind { pooled: true, ..HELD });
        assert!(!thread.ended(&pooled, 2, 50), "the team before had another size");
        let alone = held(DecisionKind { by: DecidedBy::Nothing, ..HELD });
        assert!((0..20).all(|_| thread.ended(&alone, 2, 50)) && drained(&alone).is_empty());
    }

    #[test]
    fn a_team_sets_whether_it_oversubscribes_the_machine() {
        let thread = Thread::default();
        for (size, oversubscribes) in [(4, true), (1, true), (4, false)] {
            let cached = held(DecisionKind {
                default: size,
                threads: 0,
                oversubscribes: size > 1 && oversubscribes,
                ..HELD
            });
            assert!(thread.ended(&cached, size, 1));
            let now = thread.oversubscribed.get();
            assert_eq!(now, oversubscribes, "a team of one leaves the others where they are");
        }
    }

    #[test]
    fn members_of_a_group_add_to_its_sums_once_their_usual_time_is_known() {
        let thread = Thread::default();
        let sums = &thread.pool.group_sums;
        sums.set_due(100);
        let member = held(DecisionKind { by: DecidedBy::Group, ..HELD });
        assert!((0..15).all(|_| thread.ended(&member, 2, 9)) && !thread.ended(&member, 2, 9));
        assert_eq!((drained(&member).len(), sums.add_and_take(0, 0)), (15, None));
        member.set_usual(30);
        assert!((0..3).all(|_| thread.ended(&member, 2, 20)));
        assert!(!thread.ended(&member, 2, 20), "the fourth is usually the 120th tick");
        assert!(!thread.ended(&member, 4, 1), "it did not get the chosen threads");
        assert_eq!(
            sums.add_and_take(20, 30),
            Some((80, 120)),
            "what is reported was not in the sums"
        );
        assert_eq!(sums.add_and_take(1, 99), None, "they begin anew");
        assert_eq!((member.held_in(1), member.grouped_in(1).is_some()), (None, true));
    }

    #[test]
    fn a_choice_for_long_executions_is_not_cached() {
        let cached = held(HELD);
        assert_eq!((cached.held_in(1), cached.held_in(2)), (Some(HELD), None));
        cached.hold(HELD, 1, 1 << 32);
        assert_eq!(cached.held_in(1), None);
    }
}
