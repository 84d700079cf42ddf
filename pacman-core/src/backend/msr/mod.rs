//! Counting by programming the processor's registers directly.

mod device;
mod io;

pub use device::DevMsr;
pub use io::{Errno, MsrIo};
