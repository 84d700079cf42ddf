//! What this process can count on this machine, and what is in the way.
//!
//! Nothing is guessed from settings alone: every kind of event is opened for the
//! calling thread exactly as a session opens it, and has to count. Settings only
//! explain what failed, because one `errno` has many causes.
//!
//! ```
//! use pacman_core::doctor::{Diagnosis, Verdict};
//!
//! let diagnosis = Diagnosis::examine();
//! if diagnosis.verdict != Verdict::Hardware {
//!     let cause = diagnosis.reason().expect("a machine that cannot count has a reason");
//!     println!("{}: {}", diagnosis.verdict, cause.text);
//! }
//! ```

mod cause;
mod diagnosis;
mod examine;
mod finding;
mod limits;
mod recorder;
mod remedy;
mod surroundings;
#[cfg(test)]
mod tests;
mod trial;

pub use cause::Cause;
pub use diagnosis::{Diagnosis, Verdict};
pub use finding::{Check, Finding, Help, Outcome};
pub use surroundings::Limits;
