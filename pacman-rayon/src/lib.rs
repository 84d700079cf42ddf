//! Rayon pools whose size follows the phase.
//!
//! An [`AdaptivePool`] makes a rayon pool for each candidate size at its first use. It binds the
//! workers to the hardware contexts of their configuration. If it has a session, it attaches them.
//! [`AdaptivePhase::run`] installs a closure in the pool that the controller chose, and reports the
//! time to the controller. [`worker_times`] has the busy and idle time of each worker.
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
mod observer;
mod pool;
mod workers;

pub use observer::{WorkerTimes, worker_times};
pub use pool::{AdaptivePhase, AdaptivePool};

// The examples of README.md are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
