//! A runtime of the program whose calls did not come by.

use crate::interpose::has_interposed;
use crate::mappings::Mapping;
use crate::module;
use crate::notes;
use crate::runtime::Runtime;

/// Notes a loaded runtime of whose calls none passed this library, with its address and the possible reasons.
///
/// A program whose regions are all serial starts no team. It calls its runtime all the same.
pub(crate) fn note() {
    if has_interposed() || !Runtime::known().is_empty() {
        return;
    }
    const NAMES: [&str; 3] = ["libgomp.so", "libomp.so", "libiomp5.so"];
    // Only in a namespace of the loader's own it is not in this one's list, which takes no system call.
    if let Some((path, address)) = module::named(&NAMES).or_else(|| Mapping::named(&NAMES)) {
        notes::note(format!(
            "{} is loaded at {address:#x}, and none of the calls that are observed came by: either there \
             was none, or they were bound past the library (by RTLD_DEEPBIND, or to a runtime linked \
             statically)",
            path.display()
        ));
    }
}
