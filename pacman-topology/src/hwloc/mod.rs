//! Topology through the hwloc library, or the news that it was left out.

#[cfg(not(feature = "hwloc"))]
mod disabled;
#[cfg(feature = "hwloc")]
mod enabled;

#[cfg(not(feature = "hwloc"))]
pub(crate) use self::disabled::read;
#[cfg(feature = "hwloc")]
pub(crate) use self::enabled::read;
