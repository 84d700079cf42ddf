//! The registers that this process holds, over all of its sessions.
//!
//! The allocator's proof covers one plan. Two sessions, or two plans for the siblings of
//! one core, may conflict, and this table detects that. A register belongs to one session,
//! or to several that need the same value in it. The last of them restores the value that
//! the first one found.

use std::collections::BTreeMap;

use super::signal::Handlers;
use super::undo::UndoLog;
use crate::fork::{ForkGuard, Lock, Locked};
use pacman_events::registers::RegisterSharing;

/// A register of a context or a core of a machine: machine, context, number.
pub(super) type Key = (u64, u32, u32);

/// Every register that is held, and the signal handlers that protect them.
#[derive(Debug)]
pub(super) struct RegisterClaims {
    held: BTreeMap<Key, Entry>,
    pub(super) handlers: Handlers,
}

#[derive(Debug)]
struct Entry {
    sharing: RegisterSharing,
    value: u64,
    before: u64,
    holders: Vec<&'static UndoLog>,
}

impl Entry {
    /// Whether it is programmed. It is not after a handler has restored it for all holders.
    fn is_programmed(&self) -> bool {
        !self.holders.iter().all(|log| log.is_undone())
    }
}

impl RegisterClaims {
    /// Whether `value` can be held this way now.
    pub(super) fn allows(&self, key: Key, sharing: RegisterSharing, value: u64) -> bool {
        let alike = |entry: &Entry| {
            sharing == RegisterSharing::Alike
                && entry.sharing == RegisterSharing::Alike
                && entry.value == value
        };
        self.held.get(&key).is_none_or(alike)
    }

    /// Holds a register with the content `now` for the owner of `log`;
    /// [`allows`](RegisterClaims::allows) must have returned true. Returns the value to restore.
    pub(super) fn hold(
        &mut self,
        key: Key,
        sharing: RegisterSharing,
        value: u64,
        now: u64,
        log: &'static UndoLog,
    ) -> u64 {
        let new = Entry { sharing, value, before: now, holders: Vec::new() };
        let entry = self.held.entry(key).or_insert(new);
        if !entry.is_programmed() {
            entry.before = now;
        }
        entry.holders.push(log);
        entry.before
    }

    /// Whether a session of this process holds it.
    pub(super) fn holds(&self, key: Key) -> bool {
        self.held.contains_key(&key)
    }

    /// Releases a register. Returns whether the caller must restore it, because no other holder has
    /// it programmed.
    pub(super) fn release(&mut self, key: Key, log: &'static UndoLog) -> bool {
        let Some(entry) = self.held.get_mut(&key) else { return true };
        entry.holders.retain(|holder| !std::ptr::eq(*holder, log));
        let last = !entry.is_programmed();
        if entry.holders.is_empty() {
            self.held.remove(&key);
        }
        last
    }
}

static CLAIMS: Lock<RegisterClaims> =
    Lock::new(RegisterClaims { held: BTreeMap::new(), handlers: Handlers::NONE });
/// The claims, while its thread forks.
static HELD: ForkGuard<Locked<'static, RegisterClaims>> = ForkGuard::new();

/// Locks the claims: held while counters are opened and while they are given back.
pub(super) fn lock() -> Locked<'static, RegisterClaims> {
    CLAIMS.lock()
}

pub(super) extern "C" fn before_fork() {
    // SAFETY: this one lock.
    unsafe { HELD.put(CLAIMS.lock()) };
}

pub(super) extern "C" fn in_parent() {
    // SAFETY: put there by `before_fork` on this thread.
    drop(unsafe { HELD.take() });
}

/// Empties the claims in a forked child, which holds nothing.
pub(super) fn in_child(disown: fn(&mut Handlers)) {
    // SAFETY: put there by `before_fork`; this is the child's only thread.
    let mut claims = unsafe { HELD.take() };
    disown(&mut claims.handlers);
    // Forgotten, not freed: nothing is allocated or freed between fork and exec.
    std::mem::forget(std::mem::take(&mut claims.held));
}
