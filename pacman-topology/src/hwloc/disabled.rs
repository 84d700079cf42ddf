//! The replacement of hwloc in a build without it.

use crate::Topology;
use pacman_events::{Error, ErrorKind, Result};

pub(crate) fn read() -> Result<Topology> {
    Err(Error::new(
        ErrorKind::Unsupported,
        "cannot read the topology through hwloc: this build left hwloc out; build pacman-topology with \
         --features hwloc, or use what /sys says",
    ))
}
