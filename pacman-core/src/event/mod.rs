//! Events by name, as a program requests them of a session.
//!
//! Names follow the grammar of [`pacman_events`]: a portable preset in capitals, a
//! vendor's name with unit masks, a raw code `rXXXX`, `cpu/event=0x3c/`, or one of
//! the kernel's software events; `NAME[:modifier…]`.

mod by_platform;
mod group;
pub mod installed;
pub mod machine;
mod resolve;
mod resolved;
mod software;

pub(crate) use resolve::empty;
pub use resolved::{Event, Hardware, Source, Term};
pub(crate) use software::KernelAccounting;
pub use software::Software;
