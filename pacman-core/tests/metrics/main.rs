//! The articles' numbers, and schedules whose truth is known.

mod budget;
mod clockticks;
mod discard;
mod language;
mod rates;
mod smt;
mod smt_recipe;
mod smt_scale;
mod stalls;
mod tiles;
mod utilisation;
