//! Reads the topology through the hwloc library, or says that this build left hwloc out.

#[cfg(not(feature = "hwloc"))]
mod disabled;
#[cfg(feature = "hwloc")]
mod enabled;

#[cfg(not(feature = "hwloc"))]
pub(crate) use self::disabled::read;
#[cfg(feature = "hwloc")]
pub(crate) use self::enabled::read;
