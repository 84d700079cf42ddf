//! The runtime and the region that a call is for, its place among others, and its team.

use std::ffi::{CStr, c_char};
use std::ptr;

use pacman_regions::arena::Nested;

use crate::adapt;
use crate::first_region;
use crate::function::Function;
use crate::interpose;
use crate::isolation::isolated;
use crate::listed;
use crate::phases::kernels;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;
use crate::seen::Seen;
use crate::team::{Call, Team};
use crate::worker::Worker;

/// The runtime and the region that a call is for.
pub(super) struct CallTarget {
    pub(super) runtime: &'static Runtime,
    /// `None` if nothing is observed, or too many regions are.
    pub(super) region: Option<&'static Region>,
}

impl CallTarget {
    pub(super) fn known(region: &'static Region) -> CallTarget {
        CallTarget { runtime: region.runtime, region: Some(region) }
    }

    /// Finds them for a region that is not known yet; `None` without a runtime.
    #[cold]
    pub(super) fn of(entry: Function, body: u64, source: *const c_char) -> Option<CallTarget> {
        if !process::is_observed() || region::are_enough() {
            return interpose::known_runtime_for(body, entry)
                .map(|runtime| CallTarget { runtime, region: None });
        }
        interpose::note_interposed();
        let found = isolated(|| {
            // The members of its team may not be able to.
            listed::look();
            interpose::runtime_for(body, entry)
        });
        // After an error of this library the region still runs with the program's team.
        let runtime = found.or_else(|| interpose::known_runtime_for(body, entry))?;
        // SAFETY: LLVM's descriptions are constant C strings of the program.
        let source = (!source.is_null()).then(|| unsafe { CStr::from_ptr(source) });
        let source = source.map(|text| text.to_string_lossy().into_owned());
        first_region::meet(runtime, 1);
        Some(CallTarget {
            runtime,
            region: isolated(|| adapt::enter_region(body, entry, runtime, source)),
        })
    }
}

/// The region that stands for `base` within the kernel that the thread runs; `base` outside of kernels. Kokkos has one
/// function for all kernels with the same functor, so a region with a label is one of its own.
pub(super) fn labelled(base: &'static Region, worker: &Worker) -> &'static Region {
    let label = match worker.phases.label() {
        // A member of a kernel's team starts a region: its kernel belongs to the primary thread.
        0 if worker.depth() > 0 => kernels::only(),
        own => own,
    };
    if label == 0 {
        return base;
    }
    let known = region::find(region::key(base.body(), label));
    // Without place for another region the executions stay with the one that has no label.
    known.or_else(|| isolated(|| adapt::enter_labelled(base, label))).unwrap_or(base)
}

/// The place of the next execution of `region` on the calling thread, among those around it.
#[inline(always)]
pub(super) fn nested(region: &Region, worker: &Worker) -> Nested {
    match worker.depth() {
        0 => Nested::No,
        // SAFETY: the thread is inside of a body of that team, which does not end before it.
        _ if unsafe { Team::is_any_of(worker.team.get(), region) } => Nested::Within,
        _ => Nested::Inside,
    }
}

/// The team of a call whose region is observed, at that place.
#[inline(always)]
pub(super) fn observed_team(
    call: &Call,
    region: &'static Region,
    worker: &Worker,
    nested: Nested,
) -> Team {
    let depth = worker.depth();
    let mut team =
        Team::new(call, region.runtime, Some(region), depth, ptr::from_ref(worker).cast());
    if nested != Nested::No {
        worker.saw(Seen::NESTED);
        team.own.outer.write(worker.team.get());
        if nested == Nested::Within {
            team.set_weight(0);
        }
    }
    team
}
