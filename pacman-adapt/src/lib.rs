//! Chooses how many threads, and on which contexts, the next execution of a phase uses.
//!
//! An [`Adapter`] is asked before an execution and told after it. Each phase has a
//! [`Controller`]: it samples what may be better, verifies it, holds it, checks now and then
//! that the default is still worse, and starts again when the phase drifts. A [`RegretBudget`]
//! bounds what all that may cost. `docs/research/adaptation.md` has the rules, their assumptions and
//! what they came out as.
//! [`predict`] has the predictors, [`phases`] simulated phases to try them on.
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
mod energy;
mod error;
mod fit;
mod guided;
mod known;
mod objective;
pub mod phases;
pub mod predict;
mod record;
mod regret_budget;
mod search;

pub use actuator::{Actuator, ScopedThreads};
pub use adapter::{Adapter, Builder, Choice, Phase};
pub use candidates::{Candidates, places};
pub use controller::{Controller, Rules, State};
pub use energy::{Microjoules, Rapl};
pub use error::{Error, ErrorKind, Result};
pub use objective::{Custom, Execution, Objective};
#[doc(hidden)]
pub use regret_budget::{RegretBudget, RegretLimits};

// The example of README.md is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
