//! The state of one execution of a region.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use super::call::{Call, TeamMode};
use super::time::TeamTime;
use crate::adapted::{TeamChoice, has_bound};
use crate::function::Function;
use crate::region::Region;
use crate::runtime::Runtime;

/// The data that the members of a team get instead of the program's own.
///
/// Members read one cache line; thread 0 writes to another.
#[repr(C, align(64))]
pub(crate) struct Team {
    /// libgomp looks for a region's reductions in the first word of its data.
    pub(crate) first: *mut c_void,
    pub(crate) runtime: &'static Runtime,
    pub(crate) region: Option<&'static Region>,
    pub(crate) body: *const c_void,
    /// The argument of the body: its data, or the first of `words` words for LLVM's bodies.
    pub(crate) data: *mut c_void,
    /// In the upper half the executions that this one stands for, less one: less than none for an execution
    /// inside of another one of the same region. Otherwise, without a budget, no instruction sets it.
    words: Cell<u64>,
    /// The address of the primary thread's worker; null in leagues, where each team has a primary.
    pub(crate) primary: *const (),
    /// Null unless the team is adapted.
    pub(crate) adapted: Cell<*const AdaptedRun>,
    pub(crate) own: Own,
}

/// The part of a team that only its primary thread uses.
pub(crate) struct Own {
    /// The nesting depth around the team.
    pub(crate) depth: u32,
    /// The team of the body in which it was started, if the depth is above 0; null if the library does not know it.
    pub(crate) outer: MaybeUninit<*const Team>,
    /// The size of the team.
    pub(crate) size: Cell<u32>,
    /// See [`Team::mode`].
    mode: Cell<TeamMode>,
    /// The time of the call, in ticks.
    pub(crate) begun: Cell<u64>,
    /// The ticks of the body in a team of one that did nothing else; otherwise [`UNKNOWN`].
    pub(crate) ticks: Cell<u64>,
}

pub(crate) const UNKNOWN: u64 = u64::MAX;

/// An adapted execution.
pub(crate) struct AdaptedRun {
    pub(crate) choice: TeamChoice,
    /// The sums of the members' times, if wanted.
    pub(crate) time: TeamTime,
}

impl AdaptedRun {
    /// Whether members must read this run. If not, they need not touch the stack of the primary thread.
    /// To fetch a line of that stack takes as long as the rest of an observed region.
    pub(crate) fn concerns_members(&self) -> bool {
        let TeamChoice { places, affinity, wants_busy, .. } = &self.choice;
        places.is_some() || affinity.is_some() || has_bound() || *wants_busy
    }
}

impl Team {
    /// The team of a call by a thread at nesting `depth`; `primary` is the address of its worker, if the
    /// team is observed. Inlined, so that nothing is copied.
    #[inline(always)]
    pub(crate) fn new(
        call: &Call,
        runtime: &'static Runtime,
        region: Option<&'static Region>,
        depth: u32,
        primary: *const (),
    ) -> Team {
        let first = match call.entry {
            // SAFETY: the compiler passes data that the runtime reads as well.
            Function::GOMP_parallel_reductions => unsafe { *call.data.cast::<*mut c_void>() },
            _ => ptr::null_mut(),
        };
        let primary = match call.entry {
            Function::GOMP_teams_reg => ptr::null(),
            _ => primary,
        };
        let Call { body, data, words, .. } = *call;
        let adapted = Cell::new(ptr::null());
        let (size, begun, ticks) = (Cell::new(1), Cell::new(0), Cell::new(UNKNOWN));
        let outer = MaybeUninit::uninit();
        let mode = Cell::new(TeamMode::Unobserved);
        let (words, own) =
            (Cell::new(words as u64), Own { depth, outer, size, mode, begun, ticks });
        Team { first, runtime, region, body, data, words, primary, adapted, own }
    }

    /// The team of a call that is not observed.
    pub(crate) fn unobserved(call: &Call, runtime: &'static Runtime) -> Team {
        Team::new(call, runtime, None, 0, ptr::null())
    }

    /// The number of words for LLVM's body.
    #[inline(always)]
    pub(crate) fn words(&self) -> usize {
        self.words.get() as u32 as usize
    }

    /// The executions that this one stands for; see [`Sampler`](crate::sampling::Sampler).
    #[inline(always)]
    pub(crate) fn weight(&self) -> u32 {
        ((self.words.get() >> 32) as u32).wrapping_add(1)
    }

    /// Whether it is inside of an execution of the same region, which has its time.
    pub(crate) fn is_within(&self) -> bool {
        self.weight() == 0
    }

    /// Whether `innermost` or a team around it runs `region`.
    ///
    /// # Safety
    /// `innermost` is null, or of a team in whose body the calling thread is.
    pub(crate) unsafe fn is_any_of(innermost: *const Team, region: &Region) -> bool {
        // SAFETY: as the caller guarantees.
        let mut next = unsafe { innermost.as_ref() };
        while let Some(team) = next {
            if team.region.is_some_and(|own| ptr::eq(own, region)) {
                return true;
            }
            next = match team.own.depth {
                0 => None,
                // SAFETY: a team at a depth above 0 has it, and it outlives that team.
                _ => unsafe { team.own.outer.assume_init().as_ref() },
            };
        }
        false
    }

    /// Sets the executions that this one stands for; none for one inside of another one of the same region.
    pub(crate) fn set_weight(&self, weight: u32) {
        self.words
            .set(u64::from(self.words.get() as u32) | u64::from(weight.wrapping_sub(1)) << 32);
    }

    /// How the members run the body, where it is not the body that says so.
    pub(crate) fn mode(&self) -> TeamMode {
        self.own.mode.get()
    }

    pub(crate) fn set_mode(&self, mode: TeamMode) {
        self.own.mode.set(mode);
    }

    /// The calling thread's number in the team.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.runtime.ask_or(Function::omp_get_thread_num, 0)
    }

    /// The runtime's function of that name, or `otherwise`.
    #[inline]
    pub(crate) fn real_or(&self, function: Function, otherwise: *mut c_void) -> *mut c_void {
        self.runtime.real_or(function, otherwise)
    }

    /// The runtime's function of that name.
    #[inline]
    pub(crate) fn real(&self, function: Function) -> Option<*mut c_void> {
        self.runtime.real(function)
    }
}
