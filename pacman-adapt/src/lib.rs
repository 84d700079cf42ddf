//! Chooses the number of threads and their contexts for the next execution of a phase.
//!
//! A program asks its [`Adapter`] before an execution, and reports the cost after it. Each phase
//! has a [`Controller`]. It samples promising configurations, and verifies and holds the best. It
//! checks at times that the default is still worse, and starts over when the phase drifts. A
//! [`RegretBudget`] limits the cost of all that. `docs/research/adaptation.md` has the rules, their
//! assumptions and results. [`predict`] has the predictors, and [`phases`] simulated phases to
//! evaluate them.
//!
//! For: authors of runtimes and thread pools, and researchers with prediction models.
//!
//! ```
//! use pacman_adapt::Adapter;
//! use pacman_topology::Topology;
//!
//! let adapter = Adapter::builder(Topology::detect()?).max_threads(64).build()?;
//! let sweep = adapter.phase("sweep")?;
//! for _ in 0..3 {
//!     let choice = sweep.begin();
//!     let begun = std::time::Instant::now();
//!     std::thread::scope(|scope| {
//!         (0..choice.threads()).for_each(|_| drop(scope.spawn(|| std::hint::black_box(1))));
//!     });
//!     sweep.end(choice, begun.elapsed())?;
//! }
//! assert!(!sweep.why().contains('\n'));
//! # Ok::<(), pacman_adapt::Error>(())
//! ```

mod actuator;
mod adapter;
mod candidates;
mod controller;
mod evidence;
mod fit;
mod laws;
mod machine;
mod objective;
#[doc(hidden)]
pub mod packing;
pub mod phases;
mod places;
mod posterior;
pub mod predict;
mod reason;
mod regret_budget;
mod table;

pub use actuator::{Actuator, ScopedThreads};
pub use adapter::{Adapter, Builder, Choice, Phase};
pub use candidates::Candidates;
pub use controller::{Controller, Rules, State};
pub use evidence::Evidence;
pub use objective::{Execution, Objective};
pub use pacman_events::{Error, ErrorKind, Result};
pub use pacman_topology::energy::{EnergyCounters, EnergyReading, Rapl};
pub use places::{has_places, places};
#[doc(hidden)]
pub use regret_budget::{RegretBudget, RegretLimits};

// The example of README.md is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
