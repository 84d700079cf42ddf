//! `pacman-pmu train`, `predict` and `evaluate`: models of how many threads a phase should use.

mod contenders;
mod evaluate;
mod file;
mod help;
mod percent;
mod predict;
pub(crate) mod progress;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod train;

pub(crate) use evaluate::{EvaluateArgs, evaluate};
pub(crate) use predict::{PredictArgs, predict};
pub(crate) use train::{TrainArgs, train};
