//! The share of the machine that this process's teams may use, beside others that share too.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pacman_core::{Topology, system_calls};
use pacman_regions::Segment;
use pacman_regions::sharing::{Mask, Member, Owner, Table};

use crate::arena;
use crate::isolation::isolated;
use crate::notes;
use crate::process;
use crate::region;

/// Seconds after which a process looks again whether the others live. Their coming and going by the table
/// is seen at once.
const PATIENCE: f64 = 0.1;

/// This process among those that share.
#[derive(Debug)]
pub(super) struct Sharing {
    table: Table<'static>,
    mask: Mask,
    contexts: u32,
    /// The process that has the slot, in bits of [`Owner`]: a forked child takes one of its own.
    owner: AtomicU64,
    /// The largest default team so far.
    wants: AtomicU32,
    share: AtomicU32,
    generation: AtomicU64,
    /// The ticks at which to look again, and between two looks.
    next: AtomicU64,
    patience: u64,
}

impl Sharing {
    /// Takes part through the segment that the command has made. `None`, with a note, if that cannot be.
    pub(super) fn join(
        segment: &Segment,
        topology: &Topology,
        seconds_per_tick: f64,
    ) -> Option<Sharing> {
        let refused = |why: &str| notes::note(format!("the machine is not shared: {why}"));
        let words = arena::attach_whole(segment).map_err(|why| refused(&why)).ok()?;
        let Some(table) = Table::new(words) else {
            refused("the memory has another format");
            return None;
        };
        let allowed = topology.allowed();
        let mut mask = Mask::default();
        for cpu in allowed.iter() {
            match mask.get_mut(cpu as usize / 64) {
                Some(bits) => *bits |= 1 << (cpu % 64),
                None => {
                    refused("the machine has too many contexts");
                    return None;
                }
            }
        }
        Some(Sharing {
            table,
            mask,
            contexts: allowed.len() as u32,
            owner: AtomicU64::new(0),
            wants: AtomicU32::new(0),
            share: AtomicU32::new(u32::MAX),
            generation: AtomicU64::new(0),
            next: AtomicU64::new(0),
            patience: (PATIENCE / seconds_per_tick) as u64,
        })
    }

    /// The most threads that a team may have now. `u32::MAX` if no other process shares.
    #[inline]
    pub(super) fn share(&self) -> u32 {
        self.share.load(Ordering::Relaxed)
    }

    /// Looks at the others if that is due at `now`. The program's teams have `default` threads. True if the
    /// share has changed.
    pub(super) fn look(&self, now: u64, default: u32) -> bool {
        // ATOMICS: two threads may look at the same time, and find the same.
        let is_due = self.table.generation() != self.generation.load(Ordering::Relaxed)
            || now >= self.next.load(Ordering::Relaxed)
            || default > self.wants.load(Ordering::Relaxed);
        if !is_due || system_calls::are_forbidden() {
            return false;
        }
        self.next.store(now.saturating_add(self.patience), Ordering::Relaxed);
        isolated(|| self.look_now(default))
    }

    #[cold]
    fn look_now(&self, default: u32) -> bool {
        let Some(owner) = self.owner().or_else(|| Owner::of_process(std::process::id())) else {
            return false;
        };
        let before = self.wants.fetch_max(default, Ordering::Relaxed);
        let wants = before.max(default);
        let member = Member { owner, wants, mask: self.mask };
        let is_new = self.owner.swap(owner.to_bits(), Ordering::Relaxed) != owner.to_bits();
        if (is_new || wants > before) && self.table.enter(&member, Owner::is_alive).is_none() {
            notes::note("the machine is not shared: too many processes do".to_owned());
            return false;
        }
        // Before the look: what changes meanwhile is seen next time.
        self.generation.store(self.table.generation(), Ordering::Relaxed);
        let (share, others) = self.table.share(&member, Owner::is_alive);
        let share = if others == 0 { u32::MAX } else { share };
        if share < wants {
            notes::note(format!(
                "the machine was shared: beside other programs teams had at most their share of the {} \
                 contexts",
                self.contexts
            ));
        }
        self.share.swap(share, Ordering::Relaxed) != share
    }

    /// This process as an owner, if it has a slot.
    fn owner(&self) -> Option<Owner> {
        let owner = Owner::from_bits(self.owner.load(Ordering::Relaxed))?;
        (owner.number() == std::process::id()).then_some(owner)
    }

    /// This process ends, or becomes another program. Only stores numbers.
    pub(super) fn leave(&self) {
        if let Some(owner) = self.owner() {
            self.table.leave(owner);
        }
    }
}

/// The program's teams have `default` threads. All decisions are made again if the share has changed.
#[inline]
pub(super) fn look(sharing: Option<&Sharing>, now: impl FnOnce() -> u64, default: u32) {
    if sharing.is_some_and(|sharing| sharing.look(now(), default)) {
        isolated(|| region::all().iter().for_each(|region| region.adapted.advance_generation()));
        process::advance_config_epoch();
    }
}
