//! Predictors of the best number of threads for the next execution of a phase.
//!
//! A [`Predictor`] gets the samples so far and returns the next [`Step`]: sample a configuration,
//! verify one, or decide. All predictors are pure functions of samples.
//!
//! - [`HillClimb`] searches without a model. [`BestSeen`] samples only the configuration with all
//!   contexts.
//! - `Ridge`, `Mixture` and `Linear` predict (feature `models`). A `Model` is one of them with the
//!   identities of its machine and training data, and has a text form for files.
//! - `training` makes and evaluates them (feature `training`).
//!
//! `docs/research/prediction.md` has the method, the protocol of its measurement and the results.
//!
//! ```
//! use pacman_adapt::predict::{Configuration, HillClimb, Predictor, Sample, Step};
//!
//! // A phase whose memory is saturated by two threads.
//! let seconds = |on: Configuration| 4.0 / f64::from(on.threads().min(2));
//! let on: Result<Vec<_>, _> = [1, 2, 4, 8].into_iter().map(Configuration::new).collect();
//! let search = HillClimb::new(on?)?;
//! let mut samples = Vec::new();
//! let decision = loop {
//!     match search.step(&samples)? {
//!         Step::Decide { configuration, .. } => break configuration,
//!         Step::Sample { configuration, .. } | Step::Verify { configuration, .. } => {
//!             samples.push(Sample::new(configuration, seconds(configuration))?);
//!         }
//!     }
//! };
//! assert_eq!(seconds(decision), 2.0);
//! # Ok::<(), pacman_adapt::Error>(())
//! ```

mod configuration;
#[cfg(feature = "models")]
mod feature;
#[cfg(feature = "models")]
mod fingerprint;
mod lattice;
#[cfg(feature = "models")]
mod linear;
mod machine;
#[cfg(feature = "models")]
mod mixture;
#[cfg(feature = "models")]
mod model;
#[cfg(feature = "models")]
mod ridge;
mod sample;
mod search;
mod seen;
mod smt_level;
mod step;
#[cfg(feature = "training")]
pub mod training;
#[cfg(feature = "models")]
mod verify;

pub use configuration::Configuration;
#[cfg(feature = "models")]
pub use feature::{Feature, Target};
#[cfg(feature = "models")]
pub use linear::Linear;
pub use machine::{machine_name, machine_share};
#[cfg(feature = "models")]
pub use mixture::Mixture;
#[cfg(feature = "models")]
pub use model::{CrossValidation, Method, Model};
#[cfg(feature = "models")]
pub use ridge::Ridge;
pub use sample::Sample;
pub use search::HillClimb;
pub use seen::BestSeen;
pub use smt_level::smt_levels;
pub(crate) use step::without_counts;
pub use step::{Forecast, Predictor, Step};
