//! The articles' numbers, and schedules whose truth is known.

mod budget;
mod smt;
mod smt_scale;
