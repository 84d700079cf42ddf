//! Trains models on measured programs, and evaluates them.
//!
//! A [`Dataset`] is one machine's programs, each with a sample at each configuration. [`ridge`],
//! [`mixture`](mixture()) and [`linear`] fit models to it. [`evaluate`] leaves out one program
//! after the other, and follows the predictor to its decision for each. The protocol is in
//! `docs/research/prediction.md`.
//!
//! ```
//! use pacman_adapt::predict::training::{Dataset, RidgeOptions, Row, ridge};
//! use pacman_adapt::predict::{Predictor, Sample};
//!
//! // Programs whose serial part goes from none to a third.
//! let mut rows = Vec::new();
//! for program in 0..6u32 {
//!     let serial = f64::from(program) / 15.0;
//!     for threads in [1u32, 2, 4, 8] {
//!         let seconds = serial + (1.0 - serial) / f64::from(threads);
//!         let sample = Sample::new(threads.to_string().parse()?, seconds)?;
//!         let line = rows.len() as u64 + 2;
//!         let (machine, program) = ("m".into(), program.to_string());
//!         rows.push(Row { line, machine, program, phase: None, run: None, sample });
//!     }
//! }
//! let data = Dataset::of("m", &rows, None)?;
//! let model = ridge(&data, &RidgeOptions::default())?;
//!
//! let samples: Result<Vec<_>, _> =
//!     model.plan().iter().map(|&on| Sample::new(on, 0.1 + 0.9 / f64::from(on.threads()))).collect();
//! for forecast in model.forecast(&samples?)? {
//!     let truth = 0.1 + 0.9 / f64::from(forecast.configuration.threads());
//!     assert!((forecast.seconds / truth - 1.0).abs() < 0.05, "{forecast:?}");
//! }
//! # Ok::<(), pacman_adapt::Error>(())
//! ```

mod dataset;
mod evaluate;
mod fit;
mod linear;
mod mixture;
mod ridge;
mod selection;

pub use dataset::{Dataset, Program, Row, machines};
pub use evaluate::{Baseline, Contender, Evaluation, Score, evaluate};
pub use linear::{LinearOptions, linear};
pub use mixture::{MixtureOptions, mixture};
pub use ridge::{Plan, RidgeOptions, Terms, ridge};
