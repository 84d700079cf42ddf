//! The articles' numbers, and schedules whose truth is known.

mod smt;
mod smt_scale;
