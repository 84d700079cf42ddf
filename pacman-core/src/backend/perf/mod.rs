//! Counting through Linux's `perf_event_open(2)`.
//!
//! Each thread has one group, opened at attach, enabled once and never toggled. A phase is the
//! difference of two readings. The owner reads hardware groups with RDPMC if the kernel allows it,
//! everything else with one `read(2)`. On a hybrid processor each thread has a group for each core
//! type (module `hybrid`).

mod accounting;
mod backend;
mod conflict;
mod explain;
mod group;
mod hybrid;
mod live;
mod page;
mod plan;
mod prepared;
mod reader;
mod sys;
mod target;
mod task;
mod topdown;
mod trust;
mod user_reads;

pub use crate::arch::{RawCount, Register, UserReads};
pub use crate::platform::{PerfPermissions, TRUST_DRIVER, trust_driver, trusts_driver};
pub use crate::seam::{Errno, PAGE, PerfSys};
pub use backend::{PerfBackend, backend_on};
pub use plan::Sharing;
pub use sys::Kernel;

pub(crate) use live::{generation, install_atfork};
