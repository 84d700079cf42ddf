//! The articles' numbers, and schedules whose truth is known.

mod arm;
mod budget;
mod formulas;
mod language;
mod measured;
mod quality;
mod slots;
mod smt;
mod smt_recipe;
mod smt_scale;
mod tiles;
