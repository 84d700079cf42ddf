//! The times in which no, one or both contexts of a core were active.
//!
//! Two siblings at half load may alternate, or run together and then be idle together. Their own
//! utilisations do not differ between the two cases, but a count for the whole core does. Let `any`
//! be the time in which at least one context was active:
//!
//! | state | ticks of the TSC |
//! |---|---|
//! | neither | `tsc − any` |
//! | only 0 | `tsc − neither − ref1` |
//! | only 1 | `tsc − neither − ref0` |
//! | both | `ref0 + ref1 − any` |
//!
//! The four sum to `tsc`. They come from an article (John McCalpin, *Using hardware performance
//! counters to determine how often both logical processors are active on an Intel CPU*, 2018). It
//! prints the last line as `any − ref0 − ref1`, which is its negative.
//!
//! `any` has several sources, one function each:
//!
//! - [`any_thread`]: one count of `REF_XCLK` with the AnyThread bit, scaled ([`Scale`]); also a
//!   fixed counter with that bit, whose scale is 1.
//! - [`one_thread_active`]: each context's count of cycles in which it alone was active.
//! - [`distributed`]: the sum of `REF_DISTRIBUTED` over the siblings, from Ice Lake on.
//! - [`idle_periods`]: the periods in which each context was idle, from the kernel's idle
//!   tracepoints.
//! - [`idle_times`]: the total idle time of each context, which the kernel has without a PMU. For
//!   more than one context it gives only bounds of the states.
//! - [`alone_shares`]: the same, and the part of its cycles in which each of two contexts had the core alone.
//!
//! A [`Recipe`] has the method for a processor, and names the events.
//!
//! All functions return a [`Split`], for any number of contexts per core.

mod counters;
mod idle;
mod recipe;
mod scale;
mod split;

pub use self::counters::{ContextReading, CoreReading, any_thread, distributed, one_thread_active};
pub use self::idle::{alone_shares, idle_periods, idle_times};
pub use self::recipe::Recipe;
pub use self::scale::{Clocks, Crystal, Scale};
pub use self::split::{Bounds, Method, Split};
