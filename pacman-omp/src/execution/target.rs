//! The runtime and the region that a call is for.

use std::ffi::{CStr, c_char};

use crate::adapt;
use crate::first_region;
use crate::function::Function;
use crate::interpose;
use crate::isolation::isolated;
use crate::process;
use crate::region::{self, Region};
use crate::runtime::Runtime;

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
        let found = isolated(|| interpose::runtime_for(body, entry));
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
