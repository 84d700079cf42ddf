//! The registers of one hardware context, from taking them over to giving them back.

use std::sync::Once;

use super::CpuLocation;
use super::claims::{self, Key, RegisterClaims};
use super::explain::{Access, Explain};
use super::signal::Handlers;
use super::undo::{self, Programming, UndoLog, writes};
use super::undo_log::{Before, FORKED, GIVEN_BACK};
use crate::seam::{Errno, MsrIo};
use pacman_events::registers::{
    CounterSlot, RegisterGuard, RegisterInvariant, RegisterProgram, RegisterSharing, RegisterWrite,
};
use pacman_events::{Error, Result};

/// Programmed registers. Dropping it restores them.
#[derive(Debug)]
pub(super) struct ProgrammedContext<M: MsrIo + Clone> {
    io: M,
    site: CpuLocation,
    program: RegisterProgram,
    standing: Vec<RegisterInvariant>,
    log: &'static UndoLog,
    claimed: Vec<Key>,
    saved: Vec<Saved>,
    released: bool,
}

#[derive(Clone, Copy, Debug)]
struct Saved {
    before: Before,
    /// The key of the claim, unless only some of the register's bits are held.
    key: Option<Key>,
}

impl<M: MsrIo + Clone> ProgrammedContext<M> {
    /// Takes the registers that `program` needs on `site`, or none of them.
    pub(super) fn take(
        io: &M,
        site: CpuLocation,
        program: &RegisterProgram,
    ) -> Result<ProgrammedContext<M>> {
        let mut claims = claims::lock();
        let explain = Explain { site, names: &program.names };
        let fitted = program.fitted(|msr, bits| match io.read(site.cpu, msr) {
            Ok(value) => Ok(value & bits == bits),
            Err(Errno(libc::EIO)) => Ok(false),
            Err(errno) => Err(explain.refused(Access::Read, msr, errno)),
        })?;
        let programming = Programming::begin().ok_or_else(|| explain.ending())?;
        let log =
            programming.take(site.cpu, io.descriptor(site.cpu)).ok_or_else(|| explain.no_log())?;
        let mut holding = ProgrammedContext {
            io: io.clone(),
            site,
            standing: fitted.invariants(),
            program: fitted,
            log,
            claimed: Vec::new(),
            saved: Vec::new(),
            released: false,
        };
        install_atfork();
        claims.handlers.enter();
        match holding.program_all(&mut claims) {
            Ok(()) => Ok(holding),
            Err(error) => {
                holding.give_back(&mut claims, &programming, true);
                Err(error)
            }
        }
    }

    /// The place of each event's counter.
    pub(super) fn slots(&self) -> &[CounterSlot] {
        &self.program.slots
    }

    pub(super) fn io(&self) -> &M {
        &self.io
    }

    pub(super) fn site(&self) -> CpuLocation {
        self.site
    }

    pub(super) fn log(&self) -> &'static UndoLog {
        self.log
    }

    pub(super) fn explain(&self) -> Explain<'_> {
        Explain { site: self.site, names: &self.program.names }
    }

    /// Checks that the counters still count the programmed events.
    pub(super) fn verify(&self) -> Result<()> {
        for RegisterInvariant { msr, mask, value } in &self.standing {
            if self.read(*msr)? & mask != *value {
                return Err(self.explain().reprogrammed(*msr));
            }
            self.io.between_loads();
        }
        Ok(())
    }

    /// The error if the thread may no longer read.
    #[cold]
    pub(super) fn elsewhere(&self, now: u32) -> Error {
        match self.log.bound() {
            FORKED => self.explain().forked(),
            GIVEN_BACK => self.explain().given_back(),
            _ => self.explain().moved(now),
        }
    }

    pub(super) fn read(&self, msr: u32) -> Result<u64> {
        self.io
            .read(self.site.cpu, msr)
            .map_err(|errno| self.explain().refused(Access::Read, msr, errno))
    }

    fn program_all(&mut self, claims: &mut RegisterClaims) -> Result<()> {
        self.claim(claims)?;
        self.check_guards()?;
        for at in 0..self.program.writes.len() {
            let write = self.program.writes[at];
            if !self.program.writes[..at].iter().any(|earlier| earlier.msr == write.msr) {
                self.save(claims, &write)?;
            }
        }
        for at in 0..self.program.writes.len() {
            self.write(self.program.writes[at])?;
        }
        // A handler that no longer waits may have restored the registers written so far.
        if self.log.is_undone() { Err(self.elsewhere(self.site.cpu)) } else { Ok(()) }
    }

    /// Checks that no other session and no other PACMAN process holds the registers.
    fn claim(&mut self, claims: &RegisterClaims) -> Result<()> {
        for at in 0..self.program.writes.len() {
            let RegisterWrite { msr, value, sharing } = self.program.writes[at];
            if matches!(sharing, RegisterSharing::Bits(_))
                || self.claimed.iter().any(|key| key.2 == msr)
            {
                continue;
            }
            if !claims.allows(self.key(msr, sharing), sharing, value) {
                return Err(self.explain().held_here(msr));
            }
            let key = self.key(msr, sharing);
            if let Err(process) = self.io.claim(key.1, msr) {
                return Err(self.explain().held_by(msr, process));
            }
            self.claimed.push(key);
        }
        Ok(())
    }

    fn check_guards(&self) -> Result<()> {
        let shows = |guard: &RegisterGuard| -> Result<Option<u64>> {
            let value = self.read(guard.msr)?;
            Ok((value & guard.mask == guard.pattern).then_some(value))
        };
        for guard in &self.program.guards {
            if let Some(value) = shows(guard)? {
                return Err(self.explain().enabled(guard, value, self.io.watchdog()));
            }
        }
        for guard in &self.program.relies {
            if shows(guard)?.is_none() {
                return Err(self.explain().asleep(guard));
            }
        }
        Ok(())
    }

    fn save(&mut self, claims: &mut RegisterClaims, write: &RegisterWrite) -> Result<()> {
        let now = self.read(write.msr)?;
        let saved = match write.sharing {
            RegisterSharing::Bits(mask) => Saved {
                before: Before { msr: write.msr, mask: self.bits(write.msr, mask), value: now },
                key: None,
            },
            sharing => {
                let key = self.key(write.msr, sharing);
                let value = claims.hold(key, sharing, write.value, now, self.log);
                Saved { before: Before { msr: write.msr, mask: u64::MAX, value }, key: Some(key) }
            }
        };
        self.saved.push(saved);
        if self.log.note(saved.before) { Ok(()) } else { Err(self.explain().no_log()) }
    }

    /// All bits of a shared register that the program holds.
    fn bits(&self, msr: u32, first: u64) -> u64 {
        self.program.writes.iter().filter(|write| write.msr == msr).fold(first, |all, write| {
            match write.sharing {
                RegisterSharing::Bits(mask) => all | mask,
                _ => all,
            }
        })
    }

    fn write(&self, write: RegisterWrite) -> Result<()> {
        let value = match write.sharing {
            RegisterSharing::Bits(mask) => self.read(write.msr)? & !mask | write.value & mask,
            _ => write.value,
        };
        self.io
            .write(self.site.cpu, write.msr, value)
            .map_err(|errno| self.explain().refused(Access::Write(value), write.msr, errno))
    }

    /// Restores what was saved, in the order of saving: enables first.
    ///
    /// Registers that a handler gave back are not `programmed`: another program may hold them.
    fn give_back(
        &mut self,
        claims: &mut RegisterClaims,
        programming: &Programming,
        programmed: bool,
    ) {
        self.released = true;
        for Saved { before, key } in self.saved.drain(..) {
            let last = key.is_none_or(|key| claims.release(key, self.log));
            if !(last && programmed) {
                continue;
            }
            let now = match before.mask {
                u64::MAX => Ok(0),
                _ => self.io.read(self.site.cpu, before.msr),
            };
            // A failure needs no action: the context went offline, and returns with fresh
            // registers.
            let _ = now.and_then(|now| {
                (0..writes(before.msr))
                    .try_for_each(|_| self.io.write(self.site.cpu, before.msr, before.merged(now)))
            });
        }
        for key in self.claimed.drain(..) {
            // A sibling in this process may still hold a shared register.
            if !claims.holds(key) {
                self.io.release(key.1, key.2);
            }
        }
        programming.leave(self.log);
        claims.handlers.leave();
    }

    fn key(&self, msr: u32, sharing: RegisterSharing) -> Key {
        (self.io.machine(), self.scope(sharing), msr)
    }

    /// The context that represents all contexts with the register.
    fn scope(&self, sharing: RegisterSharing) -> u32 {
        if self.program.per_core || sharing == RegisterSharing::Alike {
            self.site.core
        } else {
            self.site.cpu
        }
    }
}

impl<M: MsrIo + Clone> Drop for ProgrammedContext<M> {
    fn drop(&mut self) {
        // A forked child holds nothing, and its copy of the lock's owner may be gone.
        if self.log.bound() == FORKED || self.released {
            return;
        }
        let mut claims = claims::lock();
        // If the process is about to end, a handler has restored them.
        if let Some(programming) = Programming::begin() {
            let programmed = !self.log.is_undone();
            self.give_back(&mut claims, &programming, programmed);
        }
    }
}

/// Registers the handlers of forks, once.
pub(crate) fn install_atfork() {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(|| {
        let (before, in_parent) = (claims::before_fork, claims::in_parent);
        // SAFETY: the functions live as long as the program. `in_child` makes no call that is
        // forbidden between fork and exec.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn in_child() {
    undo::disown_all();
    claims::in_child(Handlers::disown);
}
