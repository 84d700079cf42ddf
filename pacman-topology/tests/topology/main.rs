//! Topologies: real machines from their `/sys`, limits, made-up machines, hwloc.

mod caches;
mod caveats;
mod hwloc;
mod limits;
mod machines;
mod power;
mod quotas;
mod synthetic;
#[allow(dead_code, reason = "each test binary and feature uses its part of the helper")]
mod tree;
