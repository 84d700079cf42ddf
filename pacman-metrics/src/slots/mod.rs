//! Issue slots by category (top-down analysis, level 1), and whether SMT off would pay.
//!
//! [`SlotShares`] has the categories of one thread or of one core. They come from the metrics
//! `topdown-…` of the [`language`](crate::language), which know how each processor counts them.
//! [`smt_off`] bounds the speed of a core without its SMT from the shares of its threads.

mod shares;
mod smt_off;

pub use self::shares::SlotShares;
pub use self::smt_off::{SiblingSlots, SmtOff, Verdict, smt_off};
