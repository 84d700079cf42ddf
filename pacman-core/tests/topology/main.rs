//! Topologies: real machines from their `/sys`, limits, made-up machines, hwloc.

mod hwloc;
mod limits;
mod machines;
mod synthetic;
mod tree;
