//! What stands in for hwloc in a build without it.

use crate::error::{Error, ErrorKind, Result};
use crate::topology::Topology;

pub(in crate::topology) fn read() -> Result<Topology> {
    Err(Error::new(
        ErrorKind::Unsupported,
        "cannot read the topology through hwloc: this build left hwloc out; build pacman-core with \
         --features hwloc, or use what /sys says",
    ))
}
