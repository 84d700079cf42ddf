//! The articles' numbers, and schedules whose truth is known.

mod budget;
mod clockticks;
mod language;
mod measured;
mod quality;
mod rates;
mod slots;
mod smt;
mod smt_recipe;
mod smt_scale;
mod stalls;
mod tiles;
mod utilisation;
