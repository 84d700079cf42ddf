//! Rayon pools whose size follows the phase.
//!
//! An [`AdaptivePool`] has a rayon pool for each candidate size, made when it is first wanted.
//! Their workers are bound to the hardware contexts of their configuration and attached to a
//! session, if one is given. [`AdaptivePhase::run`] installs a closure in the pool that the
//! controller chose, and tells it how long that took.
//!
//! ```
//! use pacman_core::Topology;
//! use pacman_adapt::Adapter;
//! use pacman_rayon::AdaptivePool;
//! use rayon::prelude::*;
//!
//! let pool = AdaptivePool::new(Adapter::builder(Topology::detect()?))?;
//! let squares = pool.phase("squares")?;
//! let sum: u64 = squares.run(|| (0..1000u64).into_par_iter().map(|n| n * n).sum())?;
//! assert_eq!(sum, 332_833_500);
//! println!("{}", squares.why());
//! # Ok::<(), pacman_core::Error>(())
//! ```

mod change;
mod pool;
mod workers;

pub use pool::{AdaptivePhase, AdaptivePool};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
