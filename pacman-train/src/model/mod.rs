//! `pacman-pmu train`, `predict` and `evaluate`: models of how many threads a phase should use.

mod contenders;
mod evaluate;
mod file;
mod help;
#[cfg(test)]
mod measured_tests;
mod percent;
mod predict;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod train;

#[cfg(test)]
pub(crate) use evaluate::Document as EvaluateDocument;
pub(crate) use evaluate::{EvaluateArgs, evaluate};
#[cfg(test)]
pub(crate) use predict::Document as PredictDocument;
pub(crate) use predict::{PredictArgs, predict};
#[cfg(test)]
pub(crate) use train::Summary;
pub(crate) use train::{TrainArgs, train};
